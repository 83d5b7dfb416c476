//go:build !nocloud

package store

// Clouds' own libraries are 850 packages, none of whose goroutines is ours: the race detector goes without them.
import (
	"context"
	"errors"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"google.golang.org/api/googleapi"
)

func init() {
	denied = func(err error) bool {
		of := (*googleapi.Error)(nil)
		return errors.As(err, &of) && of.Code != http.StatusNotFound
	}
	wholeList = func(as func(any) bool) error {
		var options *[]func(*s3.Options)
		if as(&options) {
			*options = append(*options, s3.WithAPIOptions(func(s *middleware.Stack) error {
				return s.Initialize.Add(middleware.InitializeMiddlewareFunc("WholeList", wholePage), middleware.Before)
			}))
		}
		return nil
	}
}

// wholePage refuses an answer of S3 that isn't a page of a list. The library takes any text, such as an error or
// what a proxy says, for a list without objects, and a page that doesn't say where the next begins for the last.
func wholePage(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	out, data, err := next.HandleInitialize(ctx, in)
	page, ok := out.Result.(*s3.ListObjectsV2Output)
	if err == nil && ok && (page.IsTruncated == nil || *page.IsTruncated && page.NextContinuationToken == nil) {
		err = errors.New("the service's answer is no list of objects, or doesn't say where the list goes on")
	}
	return out, data, err
}
