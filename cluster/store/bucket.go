package store

import (
	"context"
	"errors"
	"io"
)

// Bucket is a place for objects. An object that Create has made without an error is there for all
// who look for it. A Bucket may be used concurrently, and by other processes at the same time.
type Bucket interface {
	// Create makes an object of the bytes of all parts. Where there is one of that key, the error
	// wraps ErrExists, and it stays as it is. After any other error there may be an object or none.
	Create(ctx context.Context, key string, parts [][]byte) error

	// Open returns an object's bytes and how many they are. Where there is none the error wraps
	// fs.ErrNotExist.
	Open(ctx context.Context, key string) (io.ReadCloser, int64, error)

	// List calls yield with the key and size of each object whose key begins with prefix, ascending.
	// An error of yield ends it.
	List(ctx context.Context, prefix string, yield func(key string, bytes int64) error) error

	// Delete removes an object. To remove one that isn't there is no error.
	Delete(ctx context.Context, key string) error

	Close() error
}

// ErrExists is wrapped by the error of [Bucket].Create for an object that is there.
var ErrExists = errors.New("there is such an object already")
