package engine

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// stored returns the files of a store's folder.
func stored(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, path := range paths {
		if files[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// Strips of any division, each from an engine of its own, are the files that a cache keeps, whose
// engine then computes nothing.
func TestWriteTiles(t *testing.T) {
	const n = 700
	for _, length := range []int{8, 60} {
		x := embedded(t, sparse.Sphere, zipf(n, 3000, length, 3))
		makers := map[string]func(workers int) *Engine{"device": func(workers int) *Engine {
			e, _ := withDevice(t, x, Options{Workers: workers})
			return e
		}}
		for _, isa := range enginetest.ISAs() {
			makers[string(isa)] = func(workers int) *Engine {
				return newEngine(t, x, Options{ISA: string(isa), Workers: workers})
			}
		}
		if testing.Short() && length > 8 {
			delete(makers, "device") // which is slow
		}
		for name, engine := range makers {
			want := t.TempDir()
			store, err := tiles.OpenStore(want)
			if err != nil {
				t.Fatal(err)
			}
			musttest.Do(t, newCached(t, engine(2), CachedOptions{Store: store}).Build(t.Context()))
			files := stored(t, want)
			strips := [][]int{{1, 28, 30, 130, 512, n}, {n}, {0, 699, n}}
			if testing.Short() || length > 8 {
				strips = strips[:1]
			}
			for _, ends := range strips {
				dir := t.TempDir()
				if store, err = tiles.OpenStore(dir); err != nil {
					t.Fatal(err)
				}
				first := 0
				for _, end := range ends {
					var b bytes.Buffer
					musttest.Do(t, engine(1+end%3).WriteTiles(t.Context(), first, end, &b))
					for err = nil; err == nil; {
						_, err = store.Add(&b)
					}
					if err != io.EOF {
						t.Fatal(err)
					}
					first = end
				}
				got := stored(t, dir)
				for file := range files {
					if len(got) != len(files) || !bytes.Equal(got[file], files[file]) {
						t.Fatalf("%s, strips to %v: %d files, expected %d, and %s with the same bytes", name, ends, len(got),
							len(files), file)
					}
				}
				c := newCached(t, engine(3), CachedOptions{Store: store})
				musttest.Do(t, c.Build(t.Context()))
				if s := c.Stats(); s.Computed != 0 || s.Loaded != int64(len(files)) || s.Damaged != 0 {
					t.Errorf("%s, strips to %v: %+v, expected %d files loaded and nothing computed", name, ends, s, len(files))
				}
			}
		}
	}
}

func TestWriteTilesRefuses(t *testing.T) {
	x := embedded(t, sparse.Sphere, zipf(300, 3000, 20, 3))
	e := newEngine(t, x, Options{Workers: 4})
	full := writerFunc(func([]byte) (int, error) { return 0, errBroken })
	if err := e.WriteTiles(t.Context(), 0, 300, full); !errors.Is(err, errBroken) {
		t.Errorf("of a writer that fails: %v", err)
	}
	tight := newEngine(t, x, Options{Workers: 4, MemoryBytes: e.Bytes() + 200*300*4})
	if err := tight.WriteTiles(t.Context(), 0, 100, io.Discard); err != nil {
		t.Errorf("in the memory that it needs: %v", err)
	}
	err := tight.WriteTiles(t.Context(), 0, 300, io.Discard)
	if short := (*MemoryError)(nil); !errors.As(err, &short) {
		t.Errorf("in too little memory: %v", err)
	}
}
