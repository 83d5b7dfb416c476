package tiles

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// panics fails unless f panics with the message.
func panics(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("%v, expected the panic %q", got, want)
		}
	}()
	f()
}

// Tiles that no machine has memory for aren't allocated, neither to see how large they are nor to see that they don't
// fit.
func TestCacheOfGreatTiles(t *testing.T) {
	for _, width := range []int{1 << 24, maxValues} {
		c := newCache(t, width, 1<<20)
		if state, _, _ := c.Claim(Key{}); state != Full {
			t.Errorf("width %d: state %d, expected Full", width, state)
		}
		if s := c.Stats(); s.Bytes != 0 {
			t.Errorf("width %d: counts %+v", width, s)
		}
	}
}

// What is counted is what the runtime allocates.
func TestTileBytes(t *testing.T) {
	for _, width := range []int{1, 7, 1000, 8189, 8190, 8191, 8192, 8193, 10000, 10241, 1 << 20, 1<<20 + 1} {
		if got, want := TileBytes(width), 4*int64(cap(newValues(width)))+tileOverhead; got != want {
			t.Errorf("width %d: %d bytes, expected %d", width, got, want)
		}
	}
}

func TestStoreRefuses(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	rows := func(int) []float32 { return make([]float32, 5) }
	for _, c := range []struct {
		s    *Store
		p    Piece
		row  func(int) []float32
		want string
	}{
		{s, small, func(i int) []float32 { return make([]float32, 5-i, 9) },
			"row 1 of the piece has 4 values, expected at least 5"},
		{s, small, func(int) []float32 { return nil }, "row 0 of the piece has 0 values, expected at least 5"},
		{s, Piece{Rows: math.MaxInt / 2, Cols: math.MaxInt / 2}, rows, "expected at most "},
		{s, Piece{Rows: math.MaxInt, Cols: 3}, rows, "expected at most "},
	} {
		err := c.s.Save(c.p, c.row)
		if err == nil ||
			!strings.HasPrefix(err.Error(), "tiles: Save: ") && !strings.HasPrefix(err.Error(), "tiles: row ") ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("Save of %v: error %v, expected %q", c.p, err, c.want)
		}
		if entries, _ := os.ReadDir(dir); len(entries) != 0 {
			t.Fatalf("Save of %v leaves %v", c.p, entries)
		}
		if c.p != small && has(c.s, c.p) {
			t.Errorf("there is %v", c.p)
		}
	}
	save(t, s, small)
	for _, row := range []func(int) []float32{func(i int) []float32 { return make([]float32, 5-i, 9) }} {
		if err := s.Load(small, row); err == nil || errors.Is(err, ErrDamaged) || Missing(err) {
			t.Errorf("Load: error %v", err)
		}
	}
	if err := s.Load(Piece{Rows: -1, Cols: 1}, rows); err == nil || Missing(err) {
		t.Errorf("Load of -1 rows: error %v", err)
	}
	// Where the rows have no values, however many there are, nobody is asked for one.
	if err := s.Save(Piece{Rows: math.MaxInt}, func(int) []float32 { panic("a row") }); err != nil {
		t.Error(err)
	}
}

// A row that panics leaves no file behind.
func TestStoreSavePanics(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir)
	panics(t, "broken", func() { _ = s.Save(small, func(int) []float32 { panic("broken") }) })
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("%v is left", entries)
	}
}

func TestStoreFolders(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	musttest.Do(t, os.WriteFile(file, []byte("data"), 0o666))
	for _, path := range []string{"", file, filepath.Join(file, "below"), "a\x00b"} {
		if _, err := OpenStore(path); err == nil || !strings.HasPrefix(err.Error(), "tiles: ") {
			t.Errorf("folder %q: error %v", path, err)
		}
	}
	// Only files that a store has begun are removed, whatever else begins like their names.
	kept := []string{making + "of.txt", making, making + "12b", "x" + making + "1"}
	for _, name := range append(kept, making+"123") {
		musttest.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	musttest.Do(t, os.Mkdir(filepath.Join(dir, making+"9"), 0o777))
	s := openStore(t, dir)
	for _, name := range append(kept, making+"9") {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, making+"123")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what a killed process left is still there: %v", err)
	}
	// A folder in the place of a file is no piece, and no reason to stop.
	musttest.Do(t, os.Mkdir(s.path(small), 0o777))
	if err := load(t, s, small); err == nil || has(s, small) {
		t.Errorf("a folder in the place of a piece: error %v, Has %v", err, has(s, small))
	}
	if err := s.Save(small, rowsOf(small, pieceValues(small))); err == nil {
		t.Error("a piece replaces a folder")
	}
}

func TestDigestAndMissing(t *testing.T) {
	if Digest(nil) != Digest([]byte{}) || Digest(nil) == Digest([]byte{0}) {
		t.Error("digests of nothing differ, or are those of something")
	}
	if Missing(nil) || Missing(ErrDamaged) || !Missing(fs.ErrNotExist) {
		t.Error("Missing tells errors wrongly")
	}
}
