// Package chaos has what tests break a store with: a bucket in memory, and one that fails when and how the test says.
package chaos

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

// Memory is a bucket in memory. Its zero value is empty.
type Memory struct {
	mu      sync.Mutex
	objects map[string][]byte
}

// Create implements [store.Bucket].
func (m *Memory) Create(_ context.Context, key string, parts [][]byte) error {
	return m.put(key, bytes.Join(parts, nil))
}

func (m *Memory) put(key string, b []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.objects[key]; ok {
		return fmt.Errorf("%s: %w", key, store.ErrExists)
	}
	if m.objects == nil {
		m.objects = map[string][]byte{}
	}
	m.objects[key] = b
	return nil
}

// Open implements [store.Bucket].
func (m *Memory) Open(_ context.Context, key string) (io.ReadCloser, int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b, ok := m.objects[key]
	if !ok {
		return nil, 0, fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	}
	return io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
}

// Keys returns all keys, ascending.
func (m *Memory) Keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}

// List implements [store.Bucket].
func (m *Memory) List(_ context.Context, prefix string, yield func(string, int64) error) error {
	for _, key := range m.Keys() {
		if !strings.HasPrefix(key, prefix) {
			continue
		}
		if err := yield(key, m.Size(key)); err != nil {
			return err
		}
	}
	return nil
}

// Size returns the length of an object, 0 where there is none.
func (m *Memory) Size(key string) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(len(m.objects[key]))
}

// Flip changes the bits of mask in one byte of an object.
func (m *Memory) Flip(key string, at int64, mask byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b := bytes.Clone(m.objects[key]) // readers have the old one
	b[at] ^= mask
	m.objects[key] = b
}

// Delete implements [store.Bucket].
func (m *Memory) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, key)
	return nil
}

// Close implements [store.Bucket].
func (m *Memory) Close() error { return nil }
