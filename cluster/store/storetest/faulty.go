package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/cluster/store"
)

// Fault is a kind of failure of a bucket operation.
type Fault int

const (
	NoFault     Fault = iota
	FailBefore        // the operation returns an error without any effect
	FailAfter         // the operation returns an error after the full effect
	Truncate          // Create creates half of the object and fails; Open returns the first half
	CreateTwice       // Create creates the object, then reports that it exists, as after an unnoticed retry
	CorruptByte       // Open returns a wrong byte once; Create stores a wrong byte, without an error
	OmitKeys          // List omits every other key
	FalseExists       // Create reports an existing object although there is none, as some servers do briefly
)

// Operations of a bucket.
const (
	OpCreate = "create"
	OpOpen   = "open"
	OpList   = "list"
	OpDelete = "delete"
)

// Faults returns the faults of operation op that don't lose acknowledged data.
func Faults(op string) []Fault {
	switch op {
	case OpCreate:
		return []Fault{FailBefore, FailAfter, Truncate, CreateTwice}
	case OpOpen:
		return []Fault{FailBefore, Truncate, CorruptByte}
	case OpList:
		return []Fault{FailBefore, OmitKeys}
	}
	return []Fault{FailBefore, FailAfter}
}

// ErrInjected is wrapped by the errors of injected faults, except CreateTwice and FalseExists.
var ErrInjected = errors.New("injected fault")

// FaultyBucket injects faults into the operations of a bucket. Before each operation, it calls
// Decide with the operation and its key or prefix. Decide returns the fault to inject.
type FaultyBucket struct {
	store.Bucket
	Decide func(op, key string) Fault
}

func newFault(op, key string) error { return fmt.Errorf("%s %s: %w", op, key, ErrInjected) }

// Create implements [store.Bucket].
func (f *FaultyBucket) Create(ctx context.Context, key string, parts [][]byte) error {
	fault := f.Decide(OpCreate, key)
	if fault == FailBefore {
		return newFault(OpCreate, key)
	}
	if fault == FalseExists {
		return fmt.Errorf("%s: %w", key, store.ErrExists)
	}
	b := bytes.Join(parts, nil)
	switch fault {
	case Truncate:
		b = b[:len(b)/2]
	case CorruptByte:
		b[len(b)*2/3] ^= 0x10
	}
	err := f.Bucket.Create(ctx, key, [][]byte{b})
	switch {
	case err != nil || fault == NoFault || fault == CorruptByte:
		return err
	case fault == CreateTwice:
		return fmt.Errorf("%s: %w", key, store.ErrExists)
	}
	return newFault(OpCreate, key)
}

// Open implements [store.Bucket].
func (f *FaultyBucket) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	fault := f.Decide(OpOpen, key)
	if fault == FailBefore {
		return nil, 0, newFault(OpOpen, key)
	}
	r, size, err := f.Bucket.Open(ctx, key)
	if err != nil || fault == NoFault {
		return r, size, err
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, 0, err
	}
	switch fault {
	case Truncate:
		b = b[:len(b)/2]
	case CorruptByte:
		b[len(b)*2/3] ^= 0x10
	}
	return io.NopCloser(bytes.NewReader(b)), size, nil
}

// List implements [store.Bucket].
func (f *FaultyBucket) List(ctx context.Context, prefix string, yield func(string, int64) error) error {
	fault := f.Decide(OpList, prefix)
	if fault == FailBefore {
		return newFault(OpList, prefix)
	}
	n := 0
	return f.Bucket.List(ctx, prefix, func(key string, bytes int64) error {
		if n++; fault == OmitKeys && n%2 == 0 {
			return nil
		}
		return yield(key, bytes)
	})
}

// Delete implements [store.Bucket].
func (f *FaultyBucket) Delete(ctx context.Context, key string) error {
	fault := f.Decide(OpDelete, key)
	if fault == FailBefore {
		return newFault(OpDelete, key)
	}
	if err := f.Bucket.Delete(ctx, key); err != nil || fault == NoFault {
		return err
	}
	return newFault(OpDelete, key)
}
