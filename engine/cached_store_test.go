package engine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// A matrix that was computed once serves later runs; whatever is wrong with its files, values are
// right and only the wrong ones are computed again.
func TestCachedStore(t *testing.T) {
	n := 500
	x := embedded(t, sparse.Sphere, zipf(n, 3000, 20, 3))
	k := parse(t, "diffusion:t=0.5")
	e := newEngine(t, x, Options{Workers: 2})
	want := gram(t, e, k)
	dir := t.TempDir()
	run := func(what string, e *Engine, dir string, want *Symmetric, loaded, saved, damaged int64) *Cached {
		t.Helper()
		store := musttest.Get(tiles.OpenStore(dir))(t)
		c := newCached(t, e, CachedOptions{Store: store})
		if err := check(t.Context(), c, k, want, []int{3, 499, 77}, [][2]int{{0, n}}); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		symmetric(t, what, c)
		if s := c.Stats(); s.Loaded != loaded || s.Saved != saved || s.Damaged != damaged {
			t.Errorf("%s: %d files loaded, %d saved, %d damaged, expected %d, %d and %d", what, s.Loaded, s.Saved,
				s.Damaged, loaded, saved, damaged)
		}
		return c
	}
	panels := int64((n + e.Panel() - 1) / e.Panel())
	run("first", e, dir, want, 0, panels, 0)
	if c := run("again", e, dir, want, panels, 0, 0); c.Stats().Computed != 0 {
		t.Error("what was loaded is computed again")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || int64(len(files)) != panels {
		t.Fatalf("%d files: %v", len(files), err)
	}
	musttest.Do(t, os.Remove(files[0]))
	content := musttest.Get(os.ReadFile(files[1]))(t)
	content[len(content)/2] ^= 4
	musttest.Do(t, os.WriteFile(files[1], content, 0o666))
	musttest.Do(t, os.Truncate(files[2], 100))
	run("damaged", e, dir, want, panels-3, 3, 2)
	run("mended", e, dir, want, panels, 0, 0)

	// Other documents, another head, another instruction set: not the same bits, so not the same
	// files.
	other := embedded(t, sparse.Sphere, zipf(n, 3000, 20, 4))
	o := newEngine(t, other, Options{})
	run("other documents", o, dir, gram(t, o, k), 0, panels, 0)
	h := newEngine(t, x, Options{HeadTerms: 10})
	run("another head", h, dir, gram(t, h, k), 0, panels, 0)
	if e.ISA() != "generic" {
		g := newEngine(t, x, Options{ISA: "generic"})
		width := g.Panel()
		run("generic", g, dir, gram(t, g, k), 0, int64((n+width-1)/width), 0)
	}
}

// A store that can't be written to costs nothing but the files.
func TestCachedStoreFails(t *testing.T) {
	n := 200
	x := embedded(t, sparse.Sphere, zipf(n, 3000, 20, 3))
	e := newEngine(t, x, Options{})
	k := parse(t, "c")
	dir := filepath.Join(t.TempDir(), "store")
	store := musttest.Get(tiles.OpenStore(dir))(t)
	musttest.Do(t, os.Remove(dir))
	c := newCached(t, e, CachedOptions{Store: store})
	if err := check(t.Context(), c, k, gram(t, e, k), []int{0, 199}, [][2]int{{0, n}}); err != nil {
		t.Error(err)
	}
	if s := c.Stats(); s.StoreErr == nil || s.Saved != 0 || s.Damaged != 0 {
		t.Errorf("counts %+v", s)
	}
}
