package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// What was ever found lies in testdata/found, in files that are named by the grammar and, after a dash, what they did.
// It is read again with all valid inputs, and some mutations of each.
func TestFound(t *testing.T) {
	files := musttest.Get(filepath.Glob(filepath.Join("testdata", "found", "*")))(t)
	inputs := map[string][][]byte{}
	for name, texts := range grammars {
		for _, text := range texts {
			inputs[name] = append(inputs[name], []byte(text))
		}
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), "-")
		data := musttest.Get(os.ReadFile(file))(t)
		inputs[name] = append(inputs[name], data)
	}
	t.Chdir(t.TempDir())
	f := &fuzzer{result: &result{}}
	r := rand.New(rand.NewPCG(1, 1))
	for name, seeds := range inputs {
		valid := f.Tried["inputs that are documents"]
		for _, data := range seeds {
			if err := f.try(t.Context(), name, data); err != nil {
				t.Errorf("%s: %v: %q", name, err, data)
			}
		}
		if name != "kernel" && f.Tried["inputs that are documents"]-valid < int64(len(grammars[name])) {
			t.Errorf("%s: %d of %d valid inputs are read", name, f.Tried["inputs that are documents"]-valid, len(seeds))
		}
		for range 200 {
			data := mutate(r, seeds)
			if err := f.try(t.Context(), name, data); err != nil {
				t.Errorf("%s: %v: %q", name, err, data)
			}
		}
	}
}

// After a power failure a name may be there whose bytes aren't, where nobody synced them, and not where somebody did.
func TestLeft(t *testing.T) {
	all, none := func(int) bool { return true }, func(int) bool { return false }
	write := operation{Name: "write", Path: "m", File: 1, Inode: 7, Data: []byte("new"), Offset: -1}
	sync := operation{Name: "sync", Path: "m", File: 1, Inode: 7}
	folder := operation{Name: "sync", Path: ".", File: 2, Inode: 9}
	create := operation{Name: "create", Path: "m", File: 1, Inode: 7}
	for _, test := range []struct {
		done        []operation
		names, data func(int) bool
		there       bool
		want        string
	}{
		{[]operation{write, create}, all, none, true, "\x00\x00\x00"},
		{[]operation{write, create}, none, all, false, ""},
		{[]operation{write, sync, create}, all, none, true, "new"},
		{[]operation{write, sync, create}, none, none, false, ""},
		{[]operation{write, sync, create, folder}, none, none, true, "new"},
	} {
		h := &history{trialOf: &trialOf{}, done: test.done, folder: 9}
		data, there := h.left(len(test.done), test.names, test.data)["m"]
		if there != test.there || string(data) != test.want {
			t.Errorf("%v: %q, there: %v, expected %q", test.done, data, there, test.want)
		}
	}
}
