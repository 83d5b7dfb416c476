package tiles

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func openStore(t testing.TB, dir string) *Store {
	t.Helper()
	s := musttest.Get(OpenStore(dir))(t)
	return s
}

// pieceValues holds what tells a piece from every other, with values that are equal as numbers but
// not as bits.
func pieceValues(p Piece) []float32 {
	v := make([]float32, p.Rows*p.Cols)
	for i := range v {
		v[i] = float32(p.Row+1) / float32(i+p.Column+1)
	}
	if len(v) > 2 {
		v[0], v[1] = float32(math.Copysign(0, -1)), float32(math.NaN())
	}
	return v
}

func rowsOf(p Piece, v []float32) func(int) []float32 {
	return func(i int) []float32 { return v[i*p.Cols : (i+1)*p.Cols] }
}

func save(t testing.TB, s *Store, p Piece) {
	t.Helper()
	musttest.Do(t, s.Save(p, rowsOf(p, pieceValues(p))))
}

// load returns the error of Load; without one, the values must be right.
func load(t testing.TB, s *Store, p Piece) error {
	t.Helper()
	got := make([]float32, p.Rows*p.Cols)
	err := s.Load(p, rowsOf(p, got))
	if err == nil && !sameBits(got, pieceValues(p)) {
		t.Errorf("%v: wrong values are returned", p)
	}
	return err
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(x, y float32) bool { return math.Float32bits(x) == math.Float32bits(y) })
}

func encoded(t testing.TB, p Piece) []byte {
	t.Helper()
	var b bytes.Buffer
	musttest.Do(t, p.write(&b, rowsOf(p, pieceValues(p))))
	if int64(b.Len()) != p.size() {
		t.Fatalf("%d bytes, expected %d", b.Len(), p.size())
	}
	return b.Bytes()
}

// has reports whether there is a file of a piece's size.
func has(s *Store, p Piece) bool {
	if p.check() != nil {
		return false
	}
	info, err := os.Stat(s.path(p))
	return err == nil && info.Mode().IsRegular() && info.Size() == p.size()
}

// size returns the length of the piece's file in bytes.
func (p Piece) size() int64 { return int64(headerBytes+trailerBytes) + 4*int64(p.Rows)*int64(p.Cols) }

var small = Piece{Matrix: [32]byte{1, 2, 3}, Row: 64, Rows: 3, Column: 128, Cols: 5}

// Shapes around the size of a chunk, whose first one also holds the header.
func TestStoreReturnsWhatWasSaved(t *testing.T) {
	s := openStore(t, filepath.Join(t.TempDir(), "new", "folder"))
	first := (chunkBytes - headerBytes) / 4
	for _, cols := range []int{
		0, 1, 2, first - 1, first, first + 1, chunkBytes/4 - 1, chunkBytes / 4, chunkBytes/4 + 1, 100000,
	} {
		for _, rows := range []int{0, 1, 3} {
			p := Piece{Row: 2, Rows: rows, Cols: cols}
			if err := load(t, s, p); !Missing(err) || has(s, p) {
				t.Fatalf("%v before it was saved: %v", p, err)
			}
			save(t, s, p)
			if err := load(t, s, p); err != nil || !has(s, p) {
				t.Errorf("%v: %v", p, err)
			}
		}
	}
	// Each field tells pieces apart.
	save(t, s, small)
	for _, p := range []Piece{
		{[32]byte{1, 2, 4}, 64, 3, 128, 5}, {small.Matrix, 65, 3, 128, 5}, {small.Matrix, 64, 2, 128, 5},
		{small.Matrix, 64, 3, 129, 5}, {small.Matrix, 64, 3, 128, 4}, {small.Matrix, 64, 5, 128, 3},
	} {
		if err := load(t, s, p); !Missing(err) {
			t.Errorf("%v, which was never saved: %v", p, err)
		}
	}
	// And so does the header, where files are mixed up.
	other := small
	other.Row++
	musttest.Do(t, os.WriteFile(s.path(other), encoded(t, small), 0o666))
	if err := load(t, s, other); !errors.Is(err, ErrDamaged) {
		t.Errorf("another piece's file: %v", err)
	}
}

// Every bit of a file flipped, every length that it may be cut to or padded to, and what a single
// CRC-32 would miss.
func TestStoreFindsDamage(t *testing.T) {
	s := openStore(t, t.TempDir())
	good := encoded(t, small)
	try := func(what string, content []byte) {
		t.Helper()
		got := make([]float32, small.Rows*small.Cols)
		if err := small.read(bytes.NewReader(content), rowsOf(small, got)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: read returns %v, expected damage", what, err)
		}
	}
	tryFile := func(what string, content []byte) {
		t.Helper()
		try(what, content)
		musttest.Do(t, os.WriteFile(s.path(small), content, 0o666))
		if err := load(t, s, small); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: Load returns %v, expected damage", what, err)
		}
	}
	for i := range good {
		for bit := range 8 {
			b := slices.Clone(good)
			b[i] ^= 1 << bit
			try(fmt.Sprintf("bit %d of byte %d", bit, i), b)
		}
		b := slices.Clone(good)
		b[i] = ^b[i]
		tryFile(fmt.Sprintf("byte %d", i), b)
		tryFile(fmt.Sprintf("cut to %d bytes", i), good[:i])
		clear(b[i:])
		try(fmt.Sprintf("zeros from byte %d", i), b)
	}
	for n := 1; n < 20; n++ {
		tryFile(fmt.Sprintf("%d bytes more", n), append(slices.Clone(good), make([]byte, n)...))
	}
	// A change by a generator, lowest bit of the first byte first as these CRC read them, leaves
	// its CRC as it is.
	for _, generator := range []uint64{crc32.Castagnoli, crc32.IEEE} {
		b := slices.Clone(good)
		at := b[headerBytes+4:]
		binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)^(1|generator<<1))
		var before, after checksum
		before.add(good[:len(good)-trailerBytes])
		after.add(b[:len(b)-trailerBytes])
		if (before.castagnoli == after.castagnoli) == (before.ieee == after.ieee) {
			t.Fatal("the change doesn't deceive one CRC and not the other")
		}
		try(fmt.Sprintf("a multiple of %x", generator), b)
	}
	save(t, s, small)
	if err := load(t, s, small); err != nil {
		t.Errorf("saved again: %v", err)
	}
}

// failingFile fails once it has taken a number of bytes, as a full disk does, on which there may be
// room again a moment later, or when it is closed.
type failingFile struct {
	file
	room    int
	onClose bool
}

var errNoSpace = errors.New("no space left on device")

func (f *failingFile) Write(b []byte) (int, error) {
	if len(b) > f.room {
		n, _ := f.file.Write(b[:f.room])
		f.room = math.MaxInt
		return n, errNoSpace
	}
	f.room -= len(b)
	return f.file.Write(b)
}

func (f *failingFile) CommitUnsynced() error {
	if f.onClose {
		return errNoSpace
	}
	return f.file.CommitUnsynced()
}

func TestStoreOnFullDisk(t *testing.T) {
	s := openStore(t, t.TempDir())
	create := s.create
	large := Piece{Rows: 2, Cols: chunkBytes / 4}
	fails := func(p Piece, room int, onClose bool) {
		t.Helper()
		s.create = func(path string) (file, error) {
			f, err := create(path)
			if err != nil {
				return nil, err
			}
			return &failingFile{f, room, onClose}, nil
		}
		if err := s.Save(p, rowsOf(p, pieceValues(p))); !errors.Is(err, errNoSpace) {
			t.Errorf("room for %d of %d bytes: %v", room, p.size(), err)
		}
		s.create = create
	}
	files := func() int {
		entries := musttest.Get(os.ReadDir(s.dir))(t)
		return len(entries)
	}
	for room := range int(small.size()) {
		fails(small, room, false)
	}
	fails(small, 1000, true)
	for _, room := range []int{0, chunkBytes, 2 * chunkBytes, int(large.size()) - 1} {
		fails(large, room, false)
	}
	if n := files(); n != 0 {
		t.Errorf("%d files are left", n)
	}
	save(t, s, small)
	fails(small, 10, false)
	if err := load(t, s, small); err != nil || files() != 1 {
		t.Errorf("the earlier file is gone: %v", err)
	}
	s.create = func(string) (file, error) { return nil, errNoSpace }
	if err := s.Save(small, rowsOf(small, pieceValues(small))); !errors.Is(err, errNoSpace) {
		t.Errorf("no file can be made: %v", err)
	}
}

func TestStoreRemovesLeftFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{making + "1", "a" + suffix} {
		musttest.Do(t, os.WriteFile(filepath.Join(dir, name), nil, 0o666))
	}
	openStore(t, dir)
	var left []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{"a" + suffix}; !slices.Equal(left, want) {
		t.Errorf("left are %q, expected %q", left, want)
	}
	if _, err := OpenStore(filepath.Join(dir, "a"+suffix)); err == nil {
		t.Error("a file passes as a folder")
	}
}

// FuzzTileFile checks that Load accepts no content but the right one.
func FuzzTileFile(f *testing.F) {
	good := encoded(f, small)
	f.Add(good)
	f.Add(good[:len(good)-1])
	f.Add(append(slices.Clone(good), 0))
	f.Add([]byte(magic))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		got := make([]float32, small.Rows*small.Cols)
		err := small.read(bytes.NewReader(content), rowsOf(small, got))
		if (err == nil) != bytes.Equal(content, good) {
			t.Errorf("%d bytes, of which the right ones are %v: %v", len(content), bytes.Equal(content, good), err)
		}
	})
}
