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

func TestCacheRefusesWidths(t *testing.T) {
	for _, c := range []struct {
		width int
		limit int64
		want  string
	}{
		{0, 1, "tiles: cache of tiles of 0 values, expected 1 to "},
		{-1, 1, "tiles: cache of tiles of -1 values, expected 1 to "},
		{mostValues + 1, 1, "tiles: cache of tiles of "},
		{math.MaxInt, math.MaxInt64, "tiles: cache of tiles of "},
		{1, -1, "tiles: cache of -1 bytes, expected at least 0"},
	} {
		if _, err := NewCache(c.width, c.limit); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("width %d, limit %d: error %v, expected %q", c.width, c.limit, err, c.want)
		}
	}
	// Tiles that no machine has memory for aren't allocated, neither to see how large they are nor
	// to see that they don't fit.
	for _, width := range []int{1 << 24, mostValues} {
		c := newCache(t, width, 1<<20)
		if state, _, _ := c.Claim(Key{}); state != Full {
			t.Errorf("width %d: state %d, expected Full", width, state)
		}
		if s := c.Stats(); s.Bytes != 0 {
			t.Errorf("width %d: counts %+v", width, s)
		}
	}
	panics(t, "tiles: Claim in a cache that NewCache didn't make", func() { new(Cache).Claim(Key{}) })
}

// What is counted is what the runtime allocates.
func TestTileBytes(t *testing.T) {
	for _, width := range []int{1, 7, 1000, 8189, 8190, 8191, 8192, 8193, 10000, 10241, 1 << 20, 1<<20 + 1} {
		if got, want := TileBytes(width), 4*int64(cap(newValues(width)))+tileOverhead; got != want {
			t.Errorf("width %d: %d bytes, expected %d", width, got, want)
		}
	}
}

// Calls out of turn panic and leave the cache as it was: whoever keeps to the rules goes on.
func TestCacheOutOfTurn(t *testing.T) {
	c, other := newCache(t, 4, 2*TileBytes(4)), newCache(t, 4, 2*TileBytes(4))
	_, foreign, _ := other.Claim(Key{})
	_, made, _ := c.Claim(Key{})
	const notMaking, notPinned, notHere = "isn't in the making", "isn't pinned", "isn't in this cache"
	each := func(t *testing.T, tile *Tile, complete, abandon, release string) {
		t.Helper()
		panics(t, "tiles: Complete of a tile that "+complete, func() { c.Complete(tile) })
		panics(t, "tiles: Abandon of a tile that "+abandon, func() { c.Abandon(tile) })
		panics(t, "tiles: Release of a tile that "+release, func() { c.Release(tile) })
	}
	each(t, foreign, notHere, notHere, notHere)
	each(t, &Tile{}, notHere, notHere, notHere)
	panics(t, "tiles: Complete of a nil tile", func() { c.Complete(nil) })
	panics(t, "tiles: Abandon of a nil tile", func() { c.Abandon(nil) })
	panics(t, "tiles: Release of a nil tile", func() { c.Release(nil) })

	panics(t, "tiles: Release of a tile that "+notPinned, func() { c.Release(made) }) // in the making
	c.Complete(made)
	panics(t, "tiles: Complete of a tile that "+notMaking, func() { c.Complete(made) })
	panics(t, "tiles: Abandon of a tile that "+notMaking, func() { c.Abandon(made) })
	c.Release(made)
	each(t, made, notMaking, notMaking, notPinned)

	// Abandoned, and its room taken by another.
	_, gone, _ := c.Claim(Key{Row: 1})
	c.Abandon(gone)
	each(t, gone, notHere, notHere, notHere)
	_, next, _ := c.Claim(Key{Row: 2})
	each(t, gone, notHere, notHere, notHere)
	if gone.C != nil || len(next.C) != 4 {
		t.Errorf("an abandoned tile has %d values, its successor %d, expected 0 and 4", len(gone.C), len(next.C))
	}

	// Released and dropped for another.
	_, third, _ := c.Claim(Key{Row: 3})
	if third == nil || resident(c, Key{}) {
		t.Fatal("the tile that nobody has pinned isn't dropped")
	}
	each(t, made, notHere, notHere, notHere)
	if made.C != nil {
		t.Error("a dropped tile has values")
	}
	for _, tile := range []*Tile{next, third} {
		c.Complete(tile)
		c.Release(tile)
	}
	other.Complete(foreign)
	other.Release(foreign)
	if s := c.Stats(); s.Bytes != 2*TileBytes(4) || len(c.tiles) != 2 || len(c.spare) != 0 {
		t.Errorf("counts %+v, %d tiles with values, %d without", s, len(c.tiles), len(c.spare))
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
		{s, small, nil, "nil row"},
		{s, small, func(i int) []float32 { return make([]float32, 5-i, 9) },
			"row 1 of the piece has 4 values, expected at least 5"},
		{s, small, func(int) []float32 { return nil }, "row 0 of the piece has 0 values, expected at least 5"},
		{s, Piece{Rows: math.MaxInt / 2, Cols: math.MaxInt / 2}, rows, "expected at most "},
		{s, Piece{Rows: math.MaxInt, Cols: 3}, rows, "expected at most "},
		{nil, small, rows, "a store that OpenStore didn't make"},
		{new(Store), small, rows, "a store that OpenStore didn't make"},
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
	for _, row := range []func(int) []float32{nil, func(i int) []float32 { return make([]float32, 5-i, 9) }} {
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
