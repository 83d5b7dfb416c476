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

// cloud is a bucket of gocloud.dev.
type cloud struct{ b *blob.Bucket }

// Create implements Bucket. The store itself refuses a second object of a key (If-None-Match on
// S3). It takes Upload, since a writer to Azure panics where the store refuses the object.
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

// exists puts ErrExists into an error that says so.
func exists(err error) error {
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return fmt.Errorf("%w: %w", ErrExists, clean(err))
	}
	return clean(err)
}

// clean returns an error of a service whose text has no credentials: that of Azure, when it can't be
// reached, has the parameters of a request, SAS token and all.
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
		if err == io.EOF { // and no error that wraps it: a service that hangs up isn't the end of the list
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

// What clouds.go knows of the services' libraries, where these are there.
var (
	wholeList func(as func(any) bool) error       // makes an answer that is no page of a list an error
	denied    = func(error) bool { return false } // an error that isn't of an object that isn't there
)

// cleaned reads an object. An error of its service is never io.ErrUnexpectedEOF, which would say that the object ends.
type cleaned struct{ io.ReadCloser }

func (r cleaned) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != io.EOF {
		err = clean(err)
	}
	return n, err
}

// notThere reports whether an error says that there is no such object. Google also says NotFound if it denies access,
// and Azure if the host name isn't found.
func notThere(err error) bool {
	name := (*net.DNSError)(nil)
	return gcerrors.Code(err) == gcerrors.NotFound && !errors.As(err, &name) && !denied(err)
}
