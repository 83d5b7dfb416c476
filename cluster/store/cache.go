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

// Cache keeps copies of objects in a folder of this machine, those that were read last, within a
// bound. Several processes may share it. A copy that is damaged is read again from the store.
type Cache struct {
	dir   string
	bytes int64
}

// NewCache returns a cache in a folder, which is made where there is none, of at most so many bytes.
func NewCache(dir string, bytes int64) (*Cache, error) {
	if bytes <= 0 {
		return nil, fmt.Errorf("store: a cache of %d bytes, expected a number above 0", bytes)
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("store: cache: %w", err)
	}
	return &Cache{dir, bytes}, nil
}

// suffix is that of copies; the names of those in the making, which a killed process leaves, have it in
// the middle. Other files in the folder are left alone.
const suffix = ".object"

// Get is that of the store, from the copy where there is one. Objects are known by name alone, so it
// is for those whose names have their digests. An error of the cache's folder is none of Get: the
// object then isn't kept.
func (c *Cache) Get(ctx context.Context, s *Store, name string) ([]byte, error) {
	path := c.path(name)
	if b, err := c.load(path, name); err == nil {
		now := time.Now()
		_ = os.Chtimes(path, now, now) // which were read last, as far as the machine's clock says
		return b, nil
	}
	b, err := s.Get(ctx, name, nil)
	if err != nil {
		return nil, err
	}
	h := header(name, [][]byte{b})
	if size := int64(len(h) + len(b)); size <= c.bytes {
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
	return filepath.Join(c.dir, string(flat)+suffix)
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

// evict removes the copies that were read longest ago, until the rest is within the bound. Another
// process may do so at the same time, or lose one that it is making.
func (c *Cache) evict() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var copies []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) && !strings.Contains(e.Name(), suffix+".") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
			copies = append(copies, info)
			total += info.Size()
		}
	}
	slices.SortFunc(copies, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, info := range copies {
		if total <= c.bytes {
			return
		}
		err := os.Remove(filepath.Join(c.dir, info.Name()))
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			total -= info.Size()
		}
	}
}
