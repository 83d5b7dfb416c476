package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/tiles/atomicfile"
)

// Cache keeps copies of recently read objects in a local folder, up to a total size. Several
// processes may share the folder. Damaged copies are read again from the store.
type Cache struct {
	dir      string
	maxBytes int64
}

// NewCache returns a cache of the given size in bytes. It creates the folder dir if needed.
func NewCache(dir string, bytes int64) (*Cache, error) {
	if bytes <= 0 {
		return nil, fmt.Errorf("store: cache size must be positive, got %d bytes", bytes)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("store: cache: %w", err)
	}
	return &Cache{dir, bytes}, nil
}

// copySuffix is the file name suffix of copies. Killed processes may leave incomplete copies, whose
// names contain the suffix. Other files in the folder are ignored.
const copySuffix = ".object"

// Get is like [Store.Get], but returns the local copy if it is intact. The name must determine the
// contents. If the copy can't be written, Get still returns the object.
func (c *Cache) Get(ctx context.Context, s *Store, name string) ([]byte, error) {
	path := c.path(name)
	if b, err := c.load(path, name); err == nil {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // marks the copy as recently used
		return b, nil
	}
	b, err := s.Get(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	h := header(name, [][]byte{b})
	if size := int64(len(h) + len(b)); size <= c.maxBytes {
		_ = c.save(path, h, b)
		c.evict()
	}
	return b, nil
}

func (c *Cache) path(name string) string {
	var flat []byte
	for _, b := range []byte(name) {
		if b == '/' {
			b = '+'
		}
		flat = append(flat, b)
	}
	return filepath.Join(c.dir, string(flat)+copySuffix)
}

func (c *Cache) load(path, name string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readFrame(f, info.Size(), name, nil)
}

func (c *Cache) save(path string, parts ...[]byte) error {
	f, err := atomicfile.Create(path, "")
	if err != nil {
		return err
	}
	defer f.Abort()
	for _, p := range parts {
		if _, err := f.Write(p); err != nil {
			return err
		}
	}
	return f.CommitUnsynced()
}

// evict deletes the least recently used copies until the total size is within the limit. It may
// delete a copy that another process is creating.
func (c *Cache) evict() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var copies []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), copySuffix) && !strings.Contains(e.Name(), copySuffix+".") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			copies = append(copies, info)
			total += info.Size()
		}
	}
	slices.SortFunc(copies, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range copies {
		if total <= c.maxBytes {
			return
		}
		err := os.Remove(filepath.Join(c.dir, info.Name()))
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			total -= info.Size()
		}
	}
}
