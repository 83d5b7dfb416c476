package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/internal/musttest"
)

// buckets returns a bucket of each kind that needs no server.
func buckets(t *testing.T) map[string]store.Bucket {
	t.Helper()
	all := map[string]store.Bucket{"test": &storetest.MemoryBucket{}}
	for name, url := range map[string]string{"folder": t.TempDir(), "file": "file://" + t.TempDir(), "mem": "mem://"} {
		b := musttest.Get(store.OpenBucket(t.Context(), url))(t)
		t.Cleanup(func() { b.Close() })
		all[name] = b
	}
	return all
}

// pattern returns n bytes in which no two 1 MiB blocks are equal.
func pattern(n int) []byte {
	b := make([]byte, n)
	x := uint32(1)
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}

func put(t *testing.T, s *store.Store, name string, data []byte) {
	t.Helper()
	_, err := s.Put(t.Context(), name, data)
	musttest.NoError(t, err)
}

// Get returns the bytes written by Put, for sizes around the block size, in one or several parts. A
// second Put finds the object, and fails if the contents differ.
func TestPutGet(t *testing.T) {
	for kind, b := range buckets(t) {
		s := store.New(b)
		for _, n := range []int{0, 1, 1000, 1<<20 - 1, 1 << 20, 1<<20 + 1, 5<<20 + 7} {
			name, data := fmt.Sprintf("results/of/%d", n), pattern(n)
			musttest.WantError(s.Get(t.Context(), name, nil))(t, kind+": an object before it is stored", store.ErrMissing)
			there, err := s.Put(t.Context(), name, data[:n/3], nil, data[n/3:])
			if there || err != nil {
				t.Fatalf("%s: Put = %v, %v", kind, there, err)
			}
			got, err := s.Get(t.Context(), name, make([]byte, 10, 2000))
			if err != nil || !bytes.Equal(got, data) {
				t.Fatalf("%s: %d bytes come back as %d, error %v", kind, n, len(got), err)
			}
			if there, err := s.Put(t.Context(), name, data); !there || err != nil {
				t.Errorf("%s: the second Put = %v, %v", kind, there, err)
			}
			musttest.WantError(s.Put(t.Context(), name, append(data, 1)))(t, kind+": other bytes of the same name")
		}
		names := func() (all []string) {
			musttest.NoError(t, s.List(t.Context(), "results/of/1", func(o store.Object) error {
				all = append(all, fmt.Sprint(o.Name, " ", o.NumAttempts))
				return nil
			}))
			return all
		}
		want := "[results/of/1 1 results/of/1000 1 results/of/1048575 1 results/of/1048576 1 results/of/1048577 1]"
		if got := fmt.Sprint(names()); got != want {
			t.Errorf("%s: List gives %s, expected %s", kind, got, want)
		}
		if n, _, err := s.Delete(t.Context(), "results/of/1"); n != 5 || err != nil || len(names()) != 0 {
			t.Errorf("%s: Delete = %d, %v, leaves %v", kind, n, err, names())
		}
	}
}

// Each flipped bit or changed length of an object is detected, and the error names the object. The
// next Put creates another attempt and keeps the damaged attempt. Get returns the new attempt.
func TestDamage(t *testing.T) {
	m := &storetest.MemoryBucket{}
	s := store.New(m)
	data := pattern(100)
	put(t, s, "x/1", data)
	good := m.Get("x/1.a0")
	found := func(bad []byte) {
		t.Helper()
		m.Set("x/1.a0", bad)
		_, err := s.Get(t.Context(), "x/1", nil)
		damaged := (*store.DamagedError)(nil)
		if !errors.As(err, &damaged) || damaged.Key != "x/1.a0" || !errors.Is(err, store.ErrMissing) {
			t.Fatalf("damage isn't found or named: %v", err)
		}
	}
	for i := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		found(bad)
	}
	for n := range len(good) {
		found(good[:n])
	}
	found(append(bytes.Clone(good), 0))
	found(bytes.Repeat([]byte{0}, len(good)))
	// another object under this name
	put(t, s, "x/2", data)
	found(m.Get("x/2.a0"))

	damaged := m.Get("x/1.a0")
	if there, err := s.Put(t.Context(), "x/1", data); there || err != nil {
		t.Errorf("mending: Put = %v, %v", there, err)
	}
	if got, err := s.Get(t.Context(), "x/1", nil); err != nil || !bytes.Equal(got, data) {
		t.Errorf("after mending: error %v", err)
	}
	if bad, err := s.Check(t.Context(), "x/1", nil); err != nil || len(bad) != 1 {
		t.Errorf("Check finds %v, error %v", bad, err)
	}
	if !bytes.Equal(m.Get("x/1.a0"), damaged) {
		t.Error("the damaged attempt was changed")
	}
	for k := range store.MaxAttempts {
		m.Set(fmt.Sprintf("x/3.a%d", k), []byte("?"))
	}
	musttest.WantError(s.Put(t.Context(), "x/3", data))(t, "all attempts damaged", "100 attempts")
}

// If eight goroutines write an object concurrently, one creates it and none fails.
func TestOneOfManyWrites(t *testing.T) {
	for kind, b := range buckets(t) {
		s := store.New(b)
		for round := range 20 {
			var made atomic.Int32
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					there, err := s.Put(t.Context(), fmt.Sprintf("o/%d", round), pattern(1000))
					if err != nil {
						t.Errorf("%s: %v", kind, err)
					}
					if !there {
						made.Add(1)
					}
				})
			}
			all.Wait()
			if made.Load() != 1 {
				t.Errorf("%s: %d of 8 made the object", kind, made.Load())
			}
		}
	}
}

// After any fault while an object is written, a later Put repairs it. Acknowledged objects exist,
// unless the bucket loses them.
func TestFaults(t *testing.T) {
	data := pattern(1000)
	for fault := storetest.NoFault; fault <= storetest.FalseExists; fault++ {
		m := &storetest.MemoryBucket{}
		count := 0
		s := store.New(&storetest.FaultyBucket{Bucket: m, Decide: func(operation, _ string) storetest.Fault {
			if operation == storetest.OpCreate {
				if count++; count == 1 {
					return fault
				}
			}
			return storetest.NoFault
		}})
		_, err := s.Put(t.Context(), "x", data)
		// The object exists although writing it returned an error.
		failed := fault == storetest.FailBefore || fault == storetest.Truncate
		if failed != (err != nil) {
			t.Errorf("fault %d: error %v", fault, err)
		}
		if got, err := s.Get(t.Context(), "x", nil); (err != nil) != (failed || fault == storetest.CorruptByte) ||
			err == nil && !bytes.Equal(got, data) {
			t.Errorf("fault %d: Get gives an error %v", fault, err)
		}
		if _, err := s.Put(t.Context(), "x", data); err != nil {
			t.Errorf("fault %d, again: %v", fault, err)
		}
		if got, err := s.Get(t.Context(), "x", nil); err != nil || !bytes.Equal(got, data) {
			t.Errorf("fault %d, again: Get gives an error %v", fault, err)
		}
	}
}

// A folder never shows incomplete objects, and other files in the folder aren't listed.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	s := musttest.Get(store.Create(t.Context(), dir))(t)
	put(t, s, "a/b", []byte("x"))
	for _, name := range []string{"a/b", "a/b.a", "a/b.a01", "a/b.a100", "a/stranger.txt", "making/0.a0"} {
		musttest.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	count := 0
	err := s.List(t.Context(), "", func(o store.Object) error { count++; return nil })
	if err != nil || count != 1 {
		t.Errorf("%d objects, error %v", count, err)
	}
	half := filepath.Join(dir, "making", "0123456789abcdef")
	musttest.NoError(t, os.WriteFile(half, nil, 0o666))
	musttest.NoError(t, s.Sweep())
	left, err := os.ReadDir(filepath.Join(dir, "making"))
	if err != nil || len(left) != 1 || left[0].Name() != "0.a0" {
		t.Errorf("Sweep leaves %v, error %v, expected the stranger alone", left, err)
	}
	musttest.NoError(t, s.List(t.Context(), "nowhere/", func(store.Object) error { return errors.New("one") }))
}

// A symbolic link out of the store is never followed.
func TestFolderLinks(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	s := musttest.Get(store.Create(t.Context(), dir))(t)
	put(t, s, "results/a", []byte("x"))
	musttest.NoError(t, os.Rename(filepath.Join(dir, "results"), filepath.Join(outside, "results")))
	if err := os.Symlink(filepath.Join(outside, "results"), filepath.Join(dir, "results")); err != nil {
		t.Skip(err)
	}
	musttest.WantError(s.Put(t.Context(), "results/b", []byte("y")))(t, "making an object outside the store")
	if b, err := s.Get(t.Context(), "results/a", nil); err == nil || errors.Is(err, store.ErrMissing) {
		t.Errorf("%q is read outside the store, error %v", b, err)
	}
	musttest.WantError(s.List(t.Context(), "results/", func(store.Object) error { return nil }))(t,
		"listing objects outside the store")
	musttest.WantError(s.Delete(t.Context(), "results/"))(t, "deleting objects outside the store")
	if left, err := os.ReadDir(filepath.Join(outside, "results")); err != nil || len(left) != 1 {
		t.Errorf("outside the store there are %v, error %v, expected what was there", left, err)
	}
	// Listing a link within the store is an error; skipping it would hide an object.
	put(t, s, "jobs/a", []byte("x"))
	file := filepath.Join(dir, "jobs", "a.a0")
	musttest.NoError(t, os.Rename(file, filepath.Join(dir, "content")))
	musttest.NoError(t, os.Symlink(filepath.Join("..", "content"), file))
	musttest.WantError(s.List(t.Context(), "jobs/", func(store.Object) error { return nil }))(t, "listing a link")
}

// If the store's folder has been removed, listing it is an error.
func TestFolderGone(t *testing.T) {
	dir := t.TempDir()
	put(t, musttest.Get(store.Create(t.Context(), dir))(t), "jobs/a", []byte("x"))
	s := musttest.Get(store.Open(t.Context(), dir))(t)
	musttest.NoError(t, os.RemoveAll(dir))
	musttest.WantError(s.List(t.Context(), "jobs/", func(store.Object) error { return nil }))(t, "listing objects")
}

func TestNames(t *testing.T) {
	s := store.New(&storetest.MemoryBucket{})
	for _, name := range []string{"", "/", "a/", "/a", "a//b", "..", "a/../b", "a b", "ä", "a\\b", "a:b",
		strings.Repeat("a", 600)} {
		musttest.WantError(s.Put(t.Context(), name, nil))(t, fmt.Sprintf("name %q", name))
		if _, err := s.Get(t.Context(), name, nil); err == nil || errors.Is(err, store.ErrMissing) {
			t.Errorf("name %q: error %v", name, err)
		}
	}
}

// Cached copies are used, replaced if damaged, and limited in total size.
func TestCache(t *testing.T) {
	m, dir := &storetest.MemoryBucket{}, t.TempDir()
	reads := 0
	s := store.New(&storetest.FaultyBucket{Bucket: m, Decide: func(operation, _ string) storetest.Fault {
		if operation == storetest.OpOpen {
			reads++
		}
		return storetest.NoFault
	}})
	c := musttest.Get(store.NewCache(dir, 2500))(t)
	get := func(name string, wantReads int) {
		t.Helper()
		reads = 0
		b, err := c.Get(t.Context(), s, name)
		if err != nil || !bytes.Equal(b, pattern(1000)) || reads != wantReads {
			t.Errorf("%s: %d bytes, %d reads of the store, expected %d; error %v", name, len(b), reads, wantReads, err)
		}
	}
	for _, name := range []string{"f/1", "f/2", "f/3", "f/4"} {
		put(t, s, name, pattern(1000))
	}
	get("f/1", 1)
	get("f/1", 0)
	path := filepath.Join(dir, "f+1.object")
	b := musttest.Get(os.ReadFile(path))(t)
	b[700] ^= 1
	musttest.NoError(t, os.WriteFile(path, b, 0o666))
	get("f/1", 1)
	get("f/1", 0)
	get("f/2", 1)
	get("f/3", 1) // evicts f/1
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%d copies, expected 2 within 2500 bytes; error %v", len(entries), err)
	}
	// Incomplete copies of killed processes count towards the size and are evicted. Other files
	// aren't.
	begun, stranger := filepath.Join(dir, ".f+9.object.123.tmp"), filepath.Join(dir, ".x.123.tmp")
	for _, path := range []string{begun, stranger} {
		err := os.WriteFile(path, pattern(1000), 0o666)
		musttest.NoError(t, errors.Join(err, os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0))))
	}
	get("f/4", 1)
	musttest.WantError(os.Stat(begun))(t, "the copy of a killed process", fs.ErrNotExist)
	if _, err := os.Stat(stranger); err != nil {
		t.Errorf("another program's file: %v", err)
	}
	musttest.WantError(c.Get(t.Context(), s, "f/none"))(t, "an object that isn't in the store", store.ErrMissing)
	musttest.WantError(store.NewCache(dir, 0))(t, "a cache of 0 bytes")
}
