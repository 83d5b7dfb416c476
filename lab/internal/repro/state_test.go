package repro

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func openState(t *testing.T, path string) *State {
	t.Helper()
	s := musttest.Get(OpenState(path))(t)
	return s
}

func TestStateGoesOn(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	s := openState(t, path)
	musttest.Do(t, s.Begin("x", "20 splits"))
	for key, v := range map[string][]float64{"a": {0.1, 1e-300}, "b": {2}} {
		musttest.Do(t, s.Save(key, v))
	}

	// What a machine that stopped has left of the last line doesn't count, and doesn't spoil the
	// next one.
	text := musttest.Get(os.ReadFile(path))(t)
	musttest.Do(t, os.WriteFile(path, append(text, `{"key":"c","val`...), 0o666))
	for round := range 2 {
		s = openState(t, path)
		musttest.Do(t, s.Begin("x", "20 splits"))
		if s.Results() != 2+round {
			t.Errorf("%d results, expected %d", s.Results(), 2+round)
		}
		var v []float64
		if ok, err := s.Load("a", &v); !ok || err != nil || len(v) != 2 || v[0] != 0.1 || v[1] != 1e-300 {
			t.Errorf("a is %v, %v, %v", v, ok, err)
		}
		if ok, err := s.Load("c", &v); ok != (round == 1) || err != nil {
			t.Errorf("round %d: c is there: %v, %v", round, ok, err)
		}
		musttest.Do(t, s.Save("c", []float64{3}))
	}
}

func TestStateOfSomethingElse(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.jsonl")
	s := openState(t, path)
	musttest.Do(t, s.Begin("x", "20 splits"))
	for _, other := range [][2]string{{"y", "20 splits"}, {"x", "10 splits"}} {
		s := openState(t, path)
		if err := s.Begin(other[0], other[1]); err == nil || !strings.Contains(err.Error(), "20 splits") {
			t.Errorf("%v: %v, expected to be told of the other settings", other, err)
		}
	}
	for name, text := range map[string]string{
		":1: ":          "hello\n",
		":1: \"hello\"": "hello",
		":1: \"":        "{\"experiment\":\"x\",\"of\":\"\"} {}\n",
		"expected ":     "{\"experiment\":\"x\",\"of\":\"\",\"more\":1}\n",
	} {
		path := filepath.Join(folder, "bad")
		musttest.Do(t, os.WriteFile(path, []byte(text), 0o666))
		if _, err := OpenState(path); err == nil || !strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), "expected") {
			t.Errorf("%q: %v, expected an error with %q", text, err, name)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != text {
			t.Errorf("%q is %q afterwards, %v", text, after, err)
		}
	}
	if _, err := OpenState(folder); err == nil || !strings.Contains(err.Error(), "expected") {
		t.Errorf("a folder: %v, expected an error", err)
	}
}

func TestNoState(t *testing.T) {
	s, err := OpenState("")
	if s != nil || err != nil {
		t.Fatalf("%v, %v", s, err)
	}
	var v int
	ok, err := s.Load("a", &v)
	if ok || err != nil || s.Begin("x", "y") != nil || s.Save("a", 1) != nil || s.Results() != 0 {
		t.Error("a state that isn't there keeps something")
	}
}

// A file that nothing was kept in isn't left behind; one that was there, though empty, stays, and
// so does one with a first line alone.
func TestStateLeavesNothing(t *testing.T) {
	for name, want := range map[string]bool{"new": false, "there": true, "begun": true} {
		path := filepath.Join(t.TempDir(), name)
		if name == "there" {
			musttest.Do(t, os.WriteFile(path, nil, 0o666))
		}
		s := openState(t, path)
		if name == "begun" {
			musttest.Do(t, s.Begin("x", "y"))
		}
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v, expected a file: %v", name, err, want)
		}
	}
}

// Whatever a file holds, it is opened or refused, and what is opened can be opened again.
func FuzzOpenState(f *testing.F) {
	f.Add("")
	f.Add("{\"experiment\":\"x\",\"of\":\"y\"}\n" + resultLine("a", "[1,2]") + "{\"key\":")
	f.Add("{\"experiment\":\"x\"}\nnull\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "a")
		musttest.Do(t, os.WriteFile(path, []byte(text), 0o666))
		s, err := OpenState(path)
		if err != nil {
			return
		}
		n := s.Results()
		again := openState(t, path)
		if again.Results() != n {
			t.Errorf("%d results, then %d", n, again.Results())
		}
	})
}

// A state in memory keeps results for the run and has no file to close.
func TestStateInMemory(t *testing.T) {
	s := NewState()
	if err := s.Save("a", 1); err == nil {
		t.Error("a result before Begin is kept")
	}
	musttest.Do(t, s.Begin("x", "20 splits"))
	computed := 0
	for range 2 {
		v, err := Kept(s, "a", func() (int, error) {
			computed++
			return 7, nil
		})
		if v != 7 || err != nil {
			t.Errorf("%d, %v", v, err)
		}
	}
	if computed != 1 || s.Results() != 1 {
		t.Errorf("computed %d times, %d results", computed, s.Results())
	}
}
