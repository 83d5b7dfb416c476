package repro

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	wholeHead  = `{"experiment":"x","of":"20 splits"}` + "\n"
	goodResult = `{"key":"d","value":[4]}` + "\n"
)

var wholeResults = []string{
	`{"key":"a","value":[0.1]}` + "\n",
	`{"key":"b","value":[{"key":"d","value":7}]}` + "\n",
	`{"key":"c","value":["}\\"]}` + "\n",
}

// A file that was cut off anywhere and gone on with, on the same line or the next, gives every
// result whose line is whole, and none that isn't what was kept.
func TestStateTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	text := wholeHead + strings.Join(wholeResults, "")
	for n := range len(text) + 1 {
		for _, between := range []string{"", "\n", "\x00\x00\n"} {
			if err := os.WriteFile(path, []byte(text[:n]+between+goodResult), 0o666); err != nil {
				t.Fatal(err)
			}
			s, err := OpenState(path)
			if n < len(wholeHead)-1 || n == len(wholeHead)-1 && between != "\n" {
				if err == nil {
					t.Fatalf(
						"%d bytes of the file, then %q: what the results belong to isn't known, and that is no error",
						n,
						between,
					)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%d bytes of the file, then %q: %v", n, between, err)
			}
			if err := s.Begin("x", "20 splits"); err != nil {
				t.Fatal(err)
			}
			whole, at := 0, len(wholeHead)
			for _, line := range wholeResults {
				if at += len(line); n >= at || n == at-1 && between == "\n" {
					whole++
				}
			}
			for i, key := range []string{"a", "b", "c"} {
				var v []any
				if ok, err := s.Load(key, &v); ok != (i < whole) || err != nil {
					t.Errorf("%d bytes of the file, then %q: %s is there: %v, %v, expected %v", n, between, key, ok,
						err, i < whole)
				}
			}
			onItsOwn := strings.HasSuffix(text[:n]+between, "\n")
			var v []int
			if ok, err := s.Load("d", &v); ok != onItsOwn || err != nil || ok && (len(v) != 1 || v[0] != 4) {
				t.Errorf("%d bytes of the file, then %q: the result behind is %v, %v, %v, expected it to be there: %v",
					n, between, v, ok, err, onItsOwn)
			}
			torn := false
			for line := range strings.Lines(text[:n] + between + goodResult) {
				torn = torn || line != wholeHead && line != goodResult && !slices.Contains(wholeResults, line)
			}
			if (s.Dropped() != "") != torn {
				t.Errorf("%d bytes of the file, then %q: told to be left out: %q, expected something: %v", n, between,
					s.Dropped(), torn)
			}
			if err := s.Save("e", 5); err != nil {
				t.Fatal(err)
			}
			s.Close()
			again := openState(t, path)
			var e int
			if ok, err := again.Load("e", &e); !ok || err != nil || e != 5 {
				t.Errorf("%d bytes of the file, then %q: what is saved then is %v, %v, %v", n, between, e, ok, err)
			}
			again.Close()
		}
	}
}

// A machine may also stop while the first line is written: that is a file without results, but only
// for what it was begun for.
func TestStateTornHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	for n := range len(wholeHead) {
		for _, experiment := range []string{"x", "y"} {
			if err := os.WriteFile(path, []byte(wholeHead[:n]), 0o666); err != nil {
				t.Fatal(err)
			}
			s := openState(t, path)
			err := s.Begin(experiment, "20 splits")
			if mine := experiment == "x" || n <= len(`{"experiment":"`); (err == nil) != mine {
				t.Errorf("%d bytes of the first line: %v, expected it to go on: %v", n, err, mine)
			}
			if err == nil {
				if err := s.Save("a", 1); err != nil {
					t.Fatal(err)
				}
				s.Close()
				again := openState(t, path)
				if err := again.Begin(experiment, "20 splits"); err != nil || again.Results() != 1 ||
					again.Dropped() != "" {
					t.Errorf("%d bytes of the first line: then %v, %d results, %q left out", n, err, again.Results(),
						again.Dropped())
				}
				again.Close()
			} else if s.Close(); true {
				if text, err := os.ReadFile(path); err != nil || string(text) != wholeHead[:n] {
					t.Errorf("%d bytes of the first line of something else are %q afterwards, %v", n, text, err)
				}
			}
		}
	}
}

// failingFile is a disk that gets full in the middle of a line, or whose sync fails.
type failingFile struct {
	*os.File
	write, sync, truncate bool // what fails
	room                  int  // bytes that are still written
}

var errFull = errors.New("no space left")

func (f *failingFile) WriteAt(p []byte, at int64) (int, error) {
	if !f.write {
		return f.File.WriteAt(p, at)
	}
	n, _ := f.File.WriteAt(p[:min(f.room, len(p))], at)
	return n, errFull
}

func (f *failingFile) Sync() error {
	if f.sync {
		return errFull
	}
	return f.File.Sync()
}

func (f *failingFile) Truncate(size int64) error {
	if f.truncate {
		return errFull
	}
	return f.File.Truncate(size)
}

// A result that isn't on the disk isn't kept, and doesn't spoil those behind it, whatever fails and
// however much of its line was written.
func TestStateFailingWriter(t *testing.T) {
	for room := range len(`{"key":"lost","value":"long"}`) + 2 {
		for _, fail := range []failingFile{
			{write: true}, {write: true, truncate: true}, {sync: true}, {sync: true, truncate: true},
		} {
			name := fmt.Sprintf("%d bytes written, %v, %v, %v", room, fail.write, fail.sync, fail.truncate)
			path := filepath.Join(t.TempDir(), "a.jsonl")
			s := openState(t, path)
			if err := s.Save("early", 1); err == nil {
				t.Error("a result is kept before it is said what it belongs to")
			}
			disk := &failingFile{
				File:     s.file.(*os.File),
				write:    fail.write,
				sync:     fail.sync,
				room:     room,
				truncate: fail.truncate,
			}
			s.file = disk
			if err := s.Begin("x", "y"); !errors.Is(err, errFull) {
				t.Fatalf("%s: Begin: %v", name, err)
			}
			if s.Save("early", 1) == nil {
				t.Errorf("%s: a result is kept though its file has no first line", name)
			}
			*disk = failingFile{File: disk.File}
			if err := s.Begin("x", "y"); err != nil {
				t.Fatal(err)
			}
			if err := s.Save("a", 1); err != nil {
				t.Fatal(err)
			}
			*disk = failingFile{
				File:     disk.File,
				write:    fail.write,
				sync:     fail.sync,
				room:     room,
				truncate: fail.truncate,
			}
			for _, key := range []string{"lost", "a"} {
				if err := s.Save(key, "long"); !errors.Is(err, errFull) {
					t.Fatalf("%s: Save: %v", name, err)
				}
			}
			var v int
			if ok, _ := s.Load("lost", &v); ok || s.Results() != 1 {
				t.Errorf("%s: what was lost counts as kept: %v, %d results", name, ok, s.Results())
			}
			if ok, err := s.Load("a", &v); !ok || err != nil || v != 1 {
				t.Errorf("%s: a is %v, %v, %v, expected what was kept before", name, v, ok, err)
			}
			*disk = failingFile{File: disk.File}
			if err := s.Save("b", 2); err != nil {
				t.Fatal(err)
			}
			s.Close()
			text, err := os.ReadFile(path)
			want := `{"experiment":"x","of":"y"}` + "\n" + `{"key":"a","value":1}` + "\n" +
				`{"key":"b","value":2}` + "\n"
			if err != nil || string(text) != want {
				t.Errorf("%s: %v, the file is\n%sexpected\n%s", name, err, text, want)
			}
		}
	}
}
