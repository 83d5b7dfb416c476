package store

import (
	"context"
	"errors"
	"io"
)

// Bucket holds objects. After Create has returned nil, all readers see the object. Goroutines and
// processes may use a bucket concurrently.
type Bucket interface {
	// Create creates an object whose contents are the concatenated parts. If the key exists, it
	// leaves the object unchanged and returns an error that wraps ErrExists. After any other error
	// the object may or may not exist.
	Create(ctx context.Context, key string, parts [][]byte) error

	// Open returns a reader and the size of an object. If there is no such object, the error wraps
	// fs.ErrNotExist.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)

	// List calls yield with the key and size of each object whose key begins with prefix, in
	// ascending order. It stops at the first error of yield.
	List(ctx context.Context, prefix string, yield func(key string, bytes int64) error) error

	// Delete removes an object. It returns nil if the object doesn't exist.
	Delete(ctx context.Context, key string) error

	Close() error
}

// ErrExists means that an object already exists. Errors of [Bucket].Create may wrap it.
var ErrExists = errors.New("the object already exists")
