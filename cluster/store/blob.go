package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

type cloudBucket struct{ bucket *blob.Bucket }

// Create implements Bucket. The service rejects an existing key (If-None-Match on S3). Create calls
// Upload, because a writer to Azure panics if the service rejects the key.
func (c cloudBucket) Create(ctx context.Context, key string, parts [][]byte) error {
	opt := &blob.WriterOptions{
		IfNotExist: true, ContentType: "application/octet-stream", DisableContentTypeDetection: true,
	}
	all := make([]io.Reader, len(parts))
	for i, p := range parts {
		all[i] = bytes.NewReader(p)
	}
	return wrapExists(c.bucket.Upload(ctx, key, io.MultiReader(all...), opt))
}

// wrapExists wraps a service's error with ErrExists if the error means that the object exists.
func wrapExists(err error) error {
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return fmt.Errorf("%w: %w", ErrExists, redactError(err))
	}
	return redactError(err)
}

// redactError redacts credentials in a service's error. For example, if Azure is unreachable, the
// error contains the request's SAS token.
func redactError(err error) error {
	if err == nil {
		return nil
	}
	return redactedError{err}
}

// Open implements Bucket.
func (c cloudBucket) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	r, err := c.bucket.NewReader(ctx, key, nil)
	if isNotExist(err) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, 0, redactError(err)
	}
	return redactingReader{r}, r.Size(), nil
}

// List implements Bucket.
func (c cloudBucket) List(ctx context.Context, prefix string, yield func(string, int64) error) error {
	for all := c.bucket.List(&blob.ListOptions{Prefix: prefix, BeforeList: addListCheck}); ; {
		o, err := all.Next(ctx)
		if err == io.EOF { // a wrapped io.EOF is a closed connection, not the end of the list
			return nil
		}
		if err != nil {
			return redactError(err)
		}
		if err := yield(o.Key, o.Size); err != nil {
			return err
		}
	}
}

// Delete implements Bucket.
func (c cloudBucket) Delete(ctx context.Context, key string) error {
	err := c.bucket.Delete(ctx, key)
	if isNotExist(err) {
		return nil
	}
	return redactError(err)
}

// Close implements Bucket.
func (c cloudBucket) Close() error { return c.bucket.Close() }

// These functions are set by clouds.go, which links the services' libraries.
var (
	addListCheck   func(as func(any) bool) error       // adds a check for complete list pages to S3 requests
	isAccessDenied = func(error) bool { return false } // reports whether a NotFound error means that access is denied
)

// redactingReader reads an object and redacts errors. It also hides a service's
// io.ErrUnexpectedEOF, which callers would interpret as a damaged object.
type redactingReader struct{ io.ReadCloser }

func (r redactingReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != io.EOF {
		err = redactError(err)
	}
	return n, err
}

// isNotExist reports whether an error means that an object doesn't exist. Google also returns
// NotFound if access is denied. Azure also returns NotFound if the host name doesn't exist.
func isNotExist(err error) bool {
	name := (*net.DNSError)(nil)
	return gcerrors.Code(err) == gcerrors.NotFound && !errors.As(err, &name) && !isAccessDenied(err)
}
