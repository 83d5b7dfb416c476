package store

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"
)

// WithLocalCopies returns a store with the same objects, in which a [View] has random access.
// Objects in a folder aren't copied. Other objects are downloaded when they are first opened, and
// stored in a temporary file in dir. The caller must close the returned store, which deletes the
// file. The store s stays open.
func (s *Store) WithLocalCopies(dir string) (*Store, error) {
	if b, ok := s.bucket.(folderBucket); ok {
		return New(b), nil
	}
	f, err := os.CreateTemp(dir, ".fetched.*.tmp")
	if err != nil {
		return nil, err
	}
	named := os.Remove(f.Name()) != nil // some systems can't remove open files
	return New(&copyingBucket{Bucket: s.bucket, file: f, removeOnClose: named, copies: map[string]*localCopy{}}), nil
}

type copyingBucket struct {
	Bucket
	file          *os.File
	removeOnClose bool

	mu     sync.Mutex
	end    int64 // file size in bytes
	copies map[string]*localCopy
}

type localCopy struct {
	mu   sync.Mutex
	file *io.SectionReader // contents; nil until copied
	size int64             // object size reported by the bucket
}

// Open implements Bucket.
func (n *copyingBucket) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	n.mu.Lock()
	c := n.copies[key]
	if c == nil {
		c = &localCopy{}
		n.copies[key] = c
	}
	n.mu.Unlock()
	c.mu.Lock() // waits while another goroutine copies the object
	defer c.mu.Unlock()
	if c.file == nil {
		if err := n.fetch(ctx, key, c); err != nil {
			return nil, 0, err
		}
	}
	return localReader{io.NewSectionReader(c.file, 0, c.file.Size())}, c.size, nil
}

type localReader struct{ *io.SectionReader }

// Close implements io.Closer.
func (localReader) Close() error { return nil }

func (n *copyingBucket) fetch(ctx context.Context, key string, c *localCopy) error {
	r, size, err := n.Bucket.Open(ctx, key)
	if err != nil {
		return err
	}
	defer r.Close()
	n.mu.Lock()
	begin := n.end
	n.end += size
	n.mu.Unlock()
	// An object that is shorter than size is later reported as damaged.
	length, err := io.CopyBuffer(io.NewOffsetWriter(n.file, begin), io.LimitReader(r, size), make([]byte, blockBytes))
	if err != nil {
		return err
	}
	c.file, c.size = io.NewSectionReader(n.file, begin, length), size
	return nil
}

// Close implements Bucket.
func (n *copyingBucket) Close() error {
	err := n.file.Close()
	if n.removeOnClose {
		err = errors.Join(err, os.Remove(n.file.Name()))
	}
	return err
}
