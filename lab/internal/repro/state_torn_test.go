package repro

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

const wholeHead = `{"experiment":"x","of":"20 splits"}` + "\n"

// resultLine is a line of a file of results.
func resultLine(key, value string) string {
	l := stateLine{Key: key, Value: []byte(value)}
	return fmt.Sprintf(`{"key":%q,"value":%s,"sum":"%s"}`+"\n", key, value, l.checksum())
}

var (
	goodResult   = resultLine("d", "[4]")
	wholeResults = []string{
		resultLine("a", "[0.1]"), resultLine("b", `[{"key":"d","value":7}]`), resultLine("c", `["}\\"]`),
	}
)

// A file that was cut off anywhere and gone on with, on the same line or the next, gives every
// result whose line is whole, and none that isn't what was kept.
func TestStateTorn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	text := wholeHead + strings.Join(wholeResults, "")
	for n := range len(text) + 1 {
		for _, between := range []string{"", "\n", "\x00\x00\n"} {
			musttest.Do(t, os.WriteFile(path, []byte(text[:n]+between+goodResult), 0o666))
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
			musttest.Do(t, s.Begin("x", "20 splits"))
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
				t.Errorf("%d bytes of the file, then %q: the result after is %v, %v, %v, expected it to be there: %v",
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
			musttest.Do(t, s.Save("e", 5))
			again := openState(t, path)
			var e int
			if ok, err := again.Load("e", &e); !ok || err != nil || e != 5 {
				t.Errorf("%d bytes of the file, then %q: what is saved then is %v, %v, %v", n, between, e, ok, err)
			}
		}
	}
}

// A file whose first line isn't whole is none of results, and stays as it is.
func TestStateTornHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	for n := 1; n < len(wholeHead); n++ {
		musttest.Do(t, os.WriteFile(path, []byte(wholeHead[:n]), 0o666))
		if _, err := OpenState(path); err == nil {
			t.Errorf("%d bytes of the first line are taken for a file of results", n)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != wholeHead[:n] {
			t.Errorf("%d bytes of the first line are %q afterwards, %v", n, text, err)
		}
	}
}

// A result that can't be written isn't kept, and doesn't spoil those before and after it.
func TestStateFailingWriter(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "disk")
	path := filepath.Join(folder, "a.jsonl")
	s := openState(t, path)
	if err := s.Save("early", 1); err == nil {
		t.Error("a result is kept before it is said what it belongs to")
	}
	if err := s.Begin("x", "y"); err == nil {
		t.Fatal("a file is begun in a folder that isn't there")
	}
	if err := s.Save("early", 1); err == nil {
		t.Error("a result is kept though its file has no first line")
	}
	musttest.Do(t, os.Mkdir(folder, 0o777))
	musttest.Do(t, s.Begin("x", "y"))
	musttest.Do(t, s.Save("a", 1))
	musttest.Do(t, os.Rename(folder, folder+" away"))
	for _, key := range []string{"lost", "a"} {
		if err := s.Save(key, "long"); err == nil {
			t.Fatalf("%s is saved where there is no folder", key)
		}
	}
	var v int
	if ok, _ := s.Load("lost", &v); ok || s.Results() != 1 {
		t.Errorf("what was lost counts as kept: %v, %d results", ok, s.Results())
	}
	if ok, err := s.Load("a", &v); !ok || err != nil || v != 1 {
		t.Errorf("a is %v, %v, %v, expected what was kept before", v, ok, err)
	}
	musttest.Do(t, os.Rename(folder+" away", folder))
	musttest.Do(t, s.Save("b", 2))
	text, err := os.ReadFile(path)
	want := `{"experiment":"x","of":"y"}` + "\n" + resultLine("a", "1") + resultLine("b", "2")
	if err != nil || string(text) != want {
		t.Errorf("%v, the file is\n%sexpected\n%s", err, text, want)
	}
}
