package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// View reads and checks ranges of an object. It must not be used concurrently.
type View struct {
	store *Store
	name  string

	attempt  int     // number of the current attempt
	bad      []error // errors of damaged attempts
	file     io.ReadCloser
	readerAt io.ReaderAt
	frame    frame
	buf      []byte
}

// OpenView opens an object. The view reads ranges into buf if buf is large enough. OpenView reads
// the whole object unless the bucket has random access, like a folder or the bucket of
// [Store.WithLocalCopies]. It returns the errors of [Store.Get], but checks only the header. The
// caller must close the view.
func (s *Store) OpenView(ctx context.Context, name string, buf []byte) (*View, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	v := &View{store: s, name: name, attempt: -1, buf: buf}
	if err := v.next(ctx); err != nil {
		return nil, err
	}
	return v, nil
}

func (v *View) next(ctx context.Context) (err error) {
	v.attempt, v.bad, err = v.store.firstIntact(v.name, v.attempt+1, v.bad,
		func(key string) error { return v.open(ctx, key) })
	return err
}

func (v *View) open(ctx context.Context, key string) error {
	if err := v.Close(); err != nil {
		return err
	}
	r, size, err := v.store.bucket.Open(ctx, key)
	if err != nil {
		return fmt.Errorf("store: %s: %w", key, err)
	}
	at, ok := r.(io.ReaderAt)
	if !ok {
		var b []byte
		b, err = io.ReadAll(r)
		at = bytes.NewReader(b)
	}
	if err == nil {
		v.frame, err = readHeader(io.NewSectionReader(at, 0, size), size, key)
	}
	if err != nil {
		return errors.Join(withKey(key, err), r.Close())
	}
	v.readerAt = at
	v.file = r
	return nil
}

// ReadRange returns bytes lo to hi-1 of the object. The slice is valid until the next call.
// ReadRange reads and checks the 1 MiB blocks that contain these bytes. If a block is damaged,
// ReadRange continues with the next attempt. Its errors include the errors of [Store.Get].
func (v *View) ReadRange(ctx context.Context, lo, hi int64) ([]byte, error) {
	for {
		if lo < 0 || hi < lo || hi > v.frame.payload {
			return nil, fmt.Errorf("store: object %s: byte range [%d, %d) is not within [0, %d)", v.name, lo, hi,
				v.frame.payload)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		first := lo / blockBytes * blockBytes
		end := min((hi+blockBytes-1)/blockBytes*blockBytes, v.frame.payload)
		if int64(cap(v.buf)) < end-first {
			v.buf = make([]byte, end-first)
		}
		b := v.buf[:end-first]
		err := v.frame.read(io.NewSectionReader(v.readerAt, v.frame.begin+first, end-first), first, b)
		if err == nil {
			return b[lo-first : hi-first], nil
		}
		key := attemptKey(v.name, v.attempt)
		err = withKey(key, err)
		if damaged := (*DamagedError)(nil); !errors.As(err, &damaged) {
			return nil, err
		}
		v.bad = append(v.bad, err)
		if err := v.next(ctx); err != nil {
			return nil, err
		}
	}
}

// Len returns the size of the object in bytes.
func (v *View) Len() int64 { return v.frame.payload }

// Close closes the view.
func (v *View) Close() error {
	if v.file == nil {
		return nil
	}
	err := v.file.Close()
	v.file = nil
	return err
}
