package tiles

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// entries returns the names in a store's folder.
func entries(t testing.TB, s *Store) (names []string) {
	t.Helper()
	list := musttest.Get(os.ReadDir(s.dir))(t)
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// Files that follow each other are kept as Save keeps them, and no byte beyond a file is read.
func TestAddKeepsWhatSaveWould(t *testing.T) {
	first := (chunkBytes - headerBytes) / 4
	saved, added := openStore(t, t.TempDir()), openStore(t, t.TempDir())
	var all bytes.Buffer
	var pieces []Piece
	for _, cols := range []int{0, 1, first, first + 1, chunkBytes / 4, 40000} {
		for _, rows := range []int{0, 1, 3} {
			p := Piece{Row: 2, Rows: rows, Column: 7, Cols: cols}
			save(t, saved, p)
			all.Write(encoded(t, p))
			pieces = append(pieces, p)
		}
	}
	for _, p := range pieces {
		if got, err := added.Add(&all); err != nil || got != p {
			t.Fatalf("%v, error %v, expected %v", got, err, p)
		}
		a, err := os.ReadFile(saved.path(p))
		b, err2 := os.ReadFile(added.path(p))
		if err != nil || err2 != nil || !bytes.Equal(a, b) {
			t.Errorf("%v: files differ, errors %v and %v", p, err, err2)
		}
	}
	if p, err := added.Add(&all); err != io.EOF || p != (Piece{}) {
		t.Errorf("at the end: %v, error %v, expected EOF", p, err)
	}
	if a, b := entries(t, saved), entries(t, added); !slices.Equal(a, b) {
		t.Errorf("files %v, expected %v", b, a)
	}
}

// Each bit of a file flipped and each place where it may end is damage, and nothing is kept.
func TestAddFindsDamage(t *testing.T) {
	s, good := openStore(t, t.TempDir()), encoded(t, small)
	try := func(what string, b []byte) {
		t.Helper()
		if p, err := s.Add(bytes.NewReader(b)); !errors.Is(err, ErrDamaged) || p != (Piece{}) {
			t.Errorf("%s: %v, error %v, expected damage", what, p, err)
		}
	}
	for i := range good {
		for bit := range 8 {
			b := slices.Clone(good)
			b[i] ^= 1 << bit
			try(fmt.Sprintf("bit %d of byte %d", bit, i), append(b, good...))
		}
		if i > 0 {
			try(fmt.Sprintf("cut to %d bytes", i), good[:i])
		}
	}
	create := s.create
	for room := range good { // a full disk
		s.create = func(path string) (file, error) {
			f, err := create(path)
			if err != nil {
				return nil, err
			}
			return &failingFile{f, room, room == 0}, nil
		}
		if _, err := s.Add(bytes.NewReader(good)); !errors.Is(err, errNoSpace) {
			t.Errorf("room for %d of %d bytes: %v", room, len(good), err)
		}
	}
	if left := entries(t, s); left != nil {
		t.Errorf("%v are left", left)
	}
}

// What is added can be loaded; what can't be added is named as damage and leaves nothing.
func FuzzAdd(f *testing.F) {
	f.Add(encoded(f, small))
	f.Add(append(encoded(f, Piece{Cols: 1 << 40}), encoded(f, small)...))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := openStore(t, t.TempDir())
		p, err := s.Add(bytes.NewReader(b))
		switch {
		case len(b) == 0 && err == io.EOF:
		case err != nil && (!errors.Is(err, ErrDamaged) || entries(t, s) != nil):
			t.Errorf("error %v, %v are left", err, entries(t, s))
		case err == nil && (load(t, s, p) != nil || !bytes.HasPrefix(b, p.header())):
			t.Errorf("%v is kept", p)
		}
	})
}
