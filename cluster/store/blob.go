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

// cloud implements Bucket with a gocloud.dev bucket.
type cloud struct{ b *blob.Bucket }

// Create implements Bucket. The service rejects an existing key (If-None-Match on S3). Create calls
// Upload, because a writer to Azure panics if the service rejects the key.
func (c cloud) Create(ctx context.Context, key string, parts [][]byte) error {
	opt := &blob.WriterOptions{
		IfNotExist: true, ContentType: "application/octet-stream", DisableContentTypeDetection: true,
	}
	all := make([]io.Reader, len(parts))
	for i, p := range parts {
		all[i] = bytes.NewReader(p)
	}
	return exists(c.b.Upload(ctx, key, io.MultiReader(all...), opt))
}

// exists wraps a service's error with ErrExists if the error means that the object exists.
func exists(err error) error {
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return fmt.Errorf("%w: %w", ErrExists, clean(err))
	}
	return clean(err)
}

// clean redacts credentials in a service's error. For example, if Azure is unreachable, the error
// contains the request's SAS token.
func clean(err error) error {
	if err == nil {
		return nil
	}
	return redacted{err}
}

// Open implements Bucket.
func (c cloud) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	r, err := c.b.NewReader(ctx, key, nil)
	if notThere(err) {
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	if err != nil {
		return nil, 0, clean(err)
	}
	return cleaned{r}, r.Size(), nil
}

// List implements Bucket.
func (c cloud) List(ctx context.Context, prefix string, yield func(string, int64) error) error {
	for all := c.b.List(&blob.ListOptions{Prefix: prefix, BeforeList: wholeList}); ; {
		o, err := all.Next(ctx)
		if err == io.EOF { // a wrapped io.EOF is a closed connection, not the end of the list
			return nil
		}
		if err != nil {
			return clean(err)
		}
		if err := yield(o.Key, o.Size); err != nil {
			return err
		}
	}
}

// Delete implements Bucket.
func (c cloud) Delete(ctx context.Context, key string) error {
	err := c.b.Delete(ctx, key)
	if notThere(err) {
		return nil
	}
	return clean(err)
}

// Close implements Bucket.
func (c cloud) Close() error { return c.b.Close() }

// These functions are set by clouds.go, which links the services' libraries.
var (
	wholeList func(as func(any) bool) error       // adds a check for complete list pages to S3 requests
	denied    = func(error) bool { return false } // reports whether a NotFound error means denied access
)

// cleaned reads an object and redacts errors. It also hides a service's io.ErrUnexpectedEOF, which
// callers would interpret as a damaged object.
type cleaned struct{ io.ReadCloser }

func (r cleaned) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != io.EOF {
		err = clean(err)
	}
	return n, err
}

// notThere reports whether an error means that an object doesn't exist. Google also returns
// NotFound if access is denied, and Azure if the host name doesn't exist.
func notThere(err error) bool {
	name := (*net.DNSError)(nil)
	return gcerrors.Code(err) == gcerrors.NotFound && !errors.As(err, &name) && !denied(err)
}
