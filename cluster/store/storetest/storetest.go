// Package storetest provides buckets for tests: in memory, and with injected faults.
package storetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/gramengine/gram/cluster/store"
)

// MemoryBucket is a bucket in memory. The zero value is empty.
type MemoryBucket struct {
	mu      sync.Mutex
	objects map[string][]byte
}

// Create implements store.Bucket.
func (m *MemoryBucket) Create(ctx context.Context, key string, parts [][]byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[key]; ok {
		return fmt.Errorf("%s: %w", key, store.ErrExists)
	}
	m.set(key, bytes.Join(parts, nil))
	return nil
}

func (m *MemoryBucket) set(key string, b []byte) {
	if m.objects == nil {
		m.objects = map[string][]byte{}
	}
	m.objects[key] = b
}

// Open implements store.Bucket.
func (m *MemoryBucket) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.objects[key]
	if !ok {
		return nil, 0, fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

// Keys returns the keys of all objects, in ascending order.
func (m *MemoryBucket) Keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}

// List implements store.Bucket.
func (m *MemoryBucket) List(ctx context.Context, prefix string, yield func(string, int64) error) error {
	for _, key := range m.Keys() {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := yield(key, int64(len(m.Get(key)))); err != nil {
			return err
		}
	}
	return nil
}

// Get returns a copy of an object's contents, or nil if the object doesn't exist.
func (m *MemoryBucket) Get(key string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.objects[key])
}

// Set creates or replaces an object, to simulate damage.
func (m *MemoryBucket) Set(key string, b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.set(key, b)
}

// Delete implements store.Bucket.
func (m *MemoryBucket) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return nil
}

// Close implements store.Bucket.
func (*MemoryBucket) Close() error { return nil }
