package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// files returns the contents of a folder's files, by name.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries := musttest.Get(os.ReadDir(dir))(t)
	all := map[string]string{}
	for _, e := range entries {
		b := musttest.Get(os.ReadFile(filepath.Join(dir, e.Name())))(t)
		all[e.Name()] = string(b)
	}
	return all
}

// flip changes a bit in the middle of a file.
func flip(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err == nil {
		b[len(b)/2] ^= 8
		err = os.WriteFile(path, b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Tiles that are gathered are those that gram keeps: a training loads all, computes none and makes
// the same model. It takes none of another matrix, and computes what is damaged.
func TestTiles(t *testing.T) {
	bench, dir := gram(t), t.TempDir()
	const in = "synthetic:docs=700,terms=900,length=30,classes=3,seed=4"
	at := func(name string, i int) string { return filepath.Join(dir, fmt.Sprint(name, i)) }
	for i, c := range []struct{ plan, train string }{
		{"-rows 100 -kernel diffusion", "-kernel diffusion:t=0.5 -c 10"},
		{
			"-isa generic -rows 300 -kernel linear -embed tfidf-l2",
			"-isa generic -kernel linear -embed tfidf-l2 -scheme one-vs-rest",
		},
		{"-kernel chi2", "-kernel chi2 -n 0.3 -type nu_svc"},
	} {
		store, own, kept, model := at("store", i), at("own", i), at("kept", i), at("want", i)
		train := func(in, flags, tiles, model string) string {
			return bench(append(strings.Fields("train -choose-time 0 "+flags), "-in", in, "-tiles", tiles, "-o", model)...)
		}
		first := train(in, c.train, own, model)
		tasks := must(t, "", append(strings.Fields("plan tiles -q "+c.plan), "-store", store, "-in", in)...)
		if status, _, stderr := cluster(t, "", "gather", "-store", store, "-o", kept); status != cli.Failed ||
			!strings.Contains(stderr, "are missing") {
			t.Errorf("before work: status %d, %s", status, stderr)
		}
		if _, err := os.Stat(kept); err == nil {
			t.Error("gather makes a folder before the results are there")
		}
		must(t, tasks, "work", "-store", store, "-workers", "3")
		must(t, "", "gather", "-q", "-store", store, "-o", kept)
		want, got := files(t, own), files(t, kept)
		for name := range want {
			if len(got) != len(want) || got[name] != want[name] {
				t.Fatalf("%s: %d files, expected %d, and %s with the same bytes; gram: %s", c.plan, len(got), len(want), name,
					first)
			}
		}
		expect := func(what, expected string) {
			t.Helper()
			if out := train(in, c.train, kept, at("got", i)); !strings.Contains(out, expected) {
				t.Errorf("%s, %s: expected %q in\n%s", c.train, what, expected, out)
			}
			same(t, model, at("got", i))
		}
		expect("tiles gathered", "\n0 dot products, ")
		expect("tiles gathered", fmt.Sprintf("; %d tile files loaded, 0 saved, 0 damaged", len(want)))
		if i > 0 {
			continue
		}
		// Damage, first in the store.
		flip(t, filepath.Join(store, "results", jobOf(t, tasks), "000000002.a0"))
		again := at("again", i)
		status, _, stderr := cluster(t, "", "gather", "-store", store, "-o", again)
		if status != cli.Failed || !strings.Contains(stderr, "000000002.a0 is damaged") ||
			!strings.Contains(stderr, `"task":2}`) {
			t.Errorf("damage: status %d, %s", status, stderr)
		}
		for name, content := range files(t, again) {
			if content != want[name] {
				t.Errorf("damage leaves the file %s, of %d bytes", name, len(content))
			}
		}
		must(t, tasks, "work", "-store", store)
		must(t, "", "gather", "-store", store, "-o", again) // beside what is there
		if got := files(t, again); len(got) != len(want) {
			t.Errorf("%d files, expected %d", len(got), len(want))
		}
		for name := range want {
			flip(t, filepath.Join(kept, name))
			break
		}
		expect("a damaged tile", fmt.Sprintf("%d tile files loaded, 1 saved, 1 damaged", len(want)-1))
		others := map[string][2]string{
			"another embedding":       {in, "-kernel linear"},
			"other documents":         {strings.Replace(in, "seed=4", "seed=5", 1), c.train},
			"another instruction set": {in, c.train + " -isa generic"},
		}
		if asm.Best().ISA == asm.Generic {
			delete(others, "another instruction set")
		}
		for what, of := range others {
			if out := train(of[0], of[1], kept, at("other", i)); !strings.Contains(out, "; 0 tile files loaded, ") {
				t.Errorf("%s: %s", what, out)
			}
		}
	}
}
