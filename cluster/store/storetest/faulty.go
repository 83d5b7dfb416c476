package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/cluster/store"
)

// Fault is a kind of failure of an operation.
type Fault int

const (
	None   Fault = iota
	Before       // an error without any effect
	After        // an error after the full effect
	Torn         // Create creates half of the object and fails; Open returns the first half
	Again        // Create creates the object, then reports that it exists, as after an unnoticed retry
	Turned       // Open returns a wrong byte once; Create stores a wrong byte, without an error
	Stale        // List omits every other key
	Hidden       // Create reports an existing object although there is none, as some servers do briefly
)

// Operations of a bucket.
const (
	Create = "create"
	Open   = "open"
	List   = "list"
	Delete = "delete"
)

// Faults returns the faults of operation op that are possible without losing acknowledged data.
func Faults(op string) []Fault {
	switch op {
	case Create:
		return []Fault{Before, After, Torn, Again}
	case Open:
		return []Fault{Before, Torn, Turned}
	case List:
		return []Fault{Before, Stale}
	}
	return []Fault{Before, After}
}

// ErrInjected is wrapped by all errors of injected faults.
var ErrInjected = errors.New("injected fault")

// Faulty is a bucket with faults. It calls Decide before each operation, with the key or prefix.
type Faulty struct {
	store.Bucket
	Decide func(op, key string) Fault
}

func injected(op, key string) error { return fmt.Errorf("%s %s: %w", op, key, ErrInjected) }

// Create implements [store.Bucket].
func (f *Faulty) Create(ctx context.Context, key string, parts [][]byte) error {
	fault := f.Decide(Create, key)
	if fault == Before {
		return injected(Create, key)
	}
	if fault == Hidden {
		return fmt.Errorf("%s: %w", key, store.ErrExists)
	}
	b := bytes.Join(parts, nil)
	switch fault {
	case Torn:
		b = b[:len(b)/2]
	case Turned:
		b[len(b)*2/3] ^= 0x10
	}
	err := f.Bucket.Create(ctx, key, [][]byte{b})
	switch {
	case err != nil || fault == None || fault == Turned:
		return err
	case fault == Again:
		return fmt.Errorf("%s: %w", key, store.ErrExists)
	}
	return injected(Create, key)
}

// Open implements [store.Bucket].
func (f *Faulty) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	fault := f.Decide(Open, key)
	if fault == Before {
		return nil, 0, injected(Open, key)
	}
	r, size, err := f.Bucket.Open(ctx, key)
	if err != nil || fault == None {
		return r, size, err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, 0, err
	}
	switch fault {
	case Torn:
		b = b[:len(b)/2]
	case Turned:
		b[len(b)*2/3] ^= 0x10
	}
	return io.NopCloser(bytes.NewReader(b)), size, nil
}

// List implements [store.Bucket].
func (f *Faulty) List(ctx context.Context, prefix string, yield func(string, int64) error) error {
	fault := f.Decide(List, prefix)
	if fault == Before {
		return injected(List, prefix)
	}
	n := 0
	return f.Bucket.List(ctx, prefix, func(key string, bytes int64) error {
		if n++; fault == Stale && n%2 == 0 {
			return nil
		}
		return yield(key, bytes)
	})
}

// Delete implements [store.Bucket].
func (f *Faulty) Delete(ctx context.Context, key string) error {
	fault := f.Decide(Delete, key)
	if fault == Before {
		return injected(Delete, key)
	}
	if err := f.Bucket.Delete(ctx, key); err != nil || fault == None {
		return err
	}
	return injected(Delete, key)
}
