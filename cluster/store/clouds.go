//go:build !nocloud

package store

// `make race` excludes these packages, because their goroutines don't run code of this module.
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
	isAccessDenied = func(err error) bool {
		of := (*googleapi.Error)(nil)
		return errors.As(err, &of) && of.Code != http.StatusNotFound
	}
	addListCheck = func(as func(any) bool) error {
		var options *[]func(*s3.Options)
		if as(&options) {
			*options = append(*options, s3.WithAPIOptions(func(s *middleware.Stack) error {
				return s.Initialize.Add(middleware.InitializeMiddlewareFunc("WholeList", checkListPage), middleware.Before)
			}))
		}
		return nil
	}
}

// checkListPage fails if an S3 response isn't a complete list page. The AWS library accepts any
// text, such as a proxy's error, as an empty list. It accepts a truncated page without a
// continuation token as the last page.
func checkListPage(ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler) (
	middleware.InitializeOutput, middleware.Metadata, error,
) {
	out, data, err := next.HandleInitialize(ctx, in)
	page, ok := out.Result.(*s3.ListObjectsV2Output)
	if err == nil && ok && (page.IsTruncated == nil || *page.IsTruncated && page.NextContinuationToken == nil) {
		err = errors.New("the response is not a list of objects, or has no token for the next page")
	}
	return out, data, err
}
