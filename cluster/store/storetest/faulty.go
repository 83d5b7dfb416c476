package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/cluster/store"
)

// Fault is how an operation fails.
type Fault int

const (
	None   Fault = iota
	Before       // an error, and nothing was done
	After        // all was done, and then an error
	Torn         // Create makes an object of half the bytes, and then an error; Open gives half of them, and then the end
	Again        // Create has made the object, and says that there was one, as after a retry that nobody sees
	Turned       // Open gives one byte changed, which is right the next time; Create makes it so, without an error
	Stale        // List leaves out every other key
	Hidden       // Create makes nothing and says that there is an object, as some servers do while another makes it
)

// The operations of a bucket.
const (
	Create = "create"
	Open   = "open"
	List   = "list"
	Delete = "delete"
)

// Faults returns those that an operation may have where a store keeps what it has acknowledged, until it rots.
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

// ErrInjected is wrapped by the errors of faults.
var ErrInjected = errors.New("injected fault")

// Faulty is a bucket whose operations fail as Decide says, which is asked once before each, with its key or prefix.
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
