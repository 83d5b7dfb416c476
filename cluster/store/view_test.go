package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/internal/musttest"
)

// near returns a store from WithLocalCopies for s, and its folder.
func near(t *testing.T, s *store.Store) (*store.Store, string) {
	t.Helper()
	dir := t.TempDir()
	return musttest.Get(s.WithLocalCopies(dir))(t), dir
}

// For all buckets, also with local copies, ReadRange returns the requested bytes of the object. No
// file remains.
func TestView(t *testing.T) {
	const n = 3<<20 + 7
	data := pattern(n)
	for kind, b := range buckets(t) {
		far := store.New(b)
		put(t, far, "of/a", data)
		by, dir := near(t, far)
		for _, s := range []*store.Store{far, by} {
			v, err := s.OpenView(t.Context(), "of/a", make([]byte, 3, 2<<20))
			if err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if v.Len() != n {
				t.Errorf("%s: %d bytes, expected %d", kind, v.Len(), n)
			}
			for _, at := range [][2]int64{
				{0, n}, {0, 0}, {n, n}, {5, 6}, {1 << 20, 2 << 20}, {1<<20 - 1, 1<<20 + 1}, {3 << 20, n},
			} {
				if got, err := v.ReadRange(t.Context(), at[0], at[1]); err != nil || !bytes.Equal(got, data[at[0]:at[1]]) {
					t.Errorf("%s: bytes %v come as %d others, error %v", kind, at, len(got), err)
				}
			}
			for _, at := range [][2]int64{{-1, 1}, {2, 1}, {0, n + 1}} {
				musttest.WantError(v.ReadRange(t.Context(), at[0], at[1]))(t, fmt.Sprintf("%s: bytes %v", kind, at))
			}
			musttest.NoError(t, v.Close())
			for _, name := range []string{"of/b", "of/"} {
				if _, err := s.OpenView(t.Context(), name, nil); err == nil ||
					(name == "of/b") != errors.Is(err, store.ErrMissing) {
					t.Errorf("%s: View of %s gives an error %v", kind, name, err)
				}
			}
		}
		musttest.NoError(t, by.Close())
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v is left, error %v", kind, left, err)
		}
	}
}

// A damaged block is read from the next attempt, if any. Otherwise the error names the block's
// object.
func TestViewDamage(t *testing.T) {
	m, data := &storetest.MemoryBucket{}, pattern(3<<20)
	s := store.New(m)
	put(t, s, "x", data)
	bad := m.Get("x.a0")
	bad[len(bad)-1<<20-1] ^= 16 // the last byte of the second MiB
	m.Set("x.a0", bad)
	part := func(s *store.Store, lo, hi int64) error {
		v, err := s.OpenView(t.Context(), "x", nil)
		if err != nil {
			return err
		}
		defer v.Close()
		b, err := v.ReadRange(t.Context(), lo, hi)
		if err == nil && !bytes.Equal(b, data[lo:hi]) {
			t.Errorf("bytes %d to %d are others", lo, hi)
		}
		return err
	}
	named := func(err error, key string) {
		t.Helper()
		damaged := (*store.DamagedError)(nil)
		if !errors.As(err, &damaged) || damaged.Key != key || !errors.Is(err, store.ErrMissing) {
			t.Errorf("error %v, expected damage of %s", err, key)
		}
	}
	by, _ := near(t, s)
	for _, s := range []*store.Store{s, by} {
		if err := part(s, 0, 1<<20); err != nil {
			t.Errorf("the first MiB: %v", err)
		}
		_, whole := s.Get(t.Context(), "x", nil)
		for _, err := range []error{whole, part(s, 0, 1<<20+1)} {
			named(err, "x.a0")
			damaged := (*store.DamagedError)(nil)
			if at := int64(len(bad) - 2<<20); errors.As(err, &damaged) && damaged.Offset != at {
				t.Errorf("damage at byte %d, expected %d", damaged.Offset, at)
			}
		}
	}
	put(t, s, "x", data)
	for _, s := range []*store.Store{s, by} {
		if err := part(s, 0, 3<<20); err != nil {
			t.Errorf("after mending: %v", err)
		}
	}
	for _, cut := range []int{0, 10, 60, len(bad) - 1} {
		m.Set("x.a0", bad[:cut])
		m.Set("x.a1", append(bytes.Clone(bad), 0))
		by, _ := near(t, s)
		for _, s := range []*store.Store{s, by} {
			named(part(s, 0, 1), "x.a0")
		}
		by.Close()
	}
}

// A store with local copies fetches an object once for concurrent readers, and again after an
// error.
func TestNearFetchesOnce(t *testing.T) {
	m := &storetest.MemoryBucket{}
	var opened atomic.Int32
	far := store.New(&storetest.FaultyBucket{Bucket: m, Decide: func(operation, _ string) storetest.Fault {
		if operation == storetest.OpOpen && opened.Add(1) == 1 {
			return storetest.FailBefore
		}
		return storetest.NoFault
	}})
	names := []string{"a", "b", "c"}
	for _, name := range names {
		put(t, far, name, append([]byte(name), pattern(2<<20)...))
	}
	s, _ := near(t, far)
	defer s.Close()
	musttest.WantError(s.OpenView(t.Context(), "a", nil))(t, "an object that can't be read", storetest.ErrInjected)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, name := range names {
				v, err := s.OpenView(t.Context(), name, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if b, err := v.ReadRange(t.Context(), 0, 2); err != nil || string(b[:1]) != name {
					t.Errorf("%s: %q, error %v", name, b, err)
				}
			}
		})
	}
	all.Wait()
	if n := opened.Load(); n != 4 {
		t.Errorf("objects were opened %d times, expected once each and once without success", n)
	}
}
