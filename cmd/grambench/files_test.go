package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/gramengine/gram/cmd/grambench/internal/experiments"
	"github.com/gramengine/gram/internal/cli"
)

// Every flag that names a file or a folder says whether it is read or written, or checkFiles would
// know nothing of it.
func TestFileFlagsAreDeclared(t *testing.T) {
	seen := 0
	declared := func(name string, f *cli.Flags) {
		known := f.Guarded()
		f.VisitAll(func(fl *flag.Flag) {
			switch kind, _ := flag.UnquoteUsage(fl); kind {
			case "FILE", "DIR", "SOURCE", "SETS":
				seen++
				if !slices.Contains(known, "-"+fl.Name) {
					t.Errorf("%s: -%s names a %s and isn't declared as an input or an output", name, fl.Name, kind)
				}
			}
		})
	}
	for _, c := range program.Commands {
		f := cli.NewFlags(c.Name)
		c.Setup(f)
		declared(c.Name, f)
	}
	for _, e := range experiments.Experiments {
		f := cli.NewFlags("repro")
		experiments.Command.Setup(f)
		if _, err := f.Rewrite([]string{e.Name}); err != nil {
			t.Fatal(err)
		}
		declared("repro "+e.Name, f)
	}
	if seen < 30 {
		t.Errorf("%d flags name files, expected at least 30: what is looked for has another name now", seen)
	}
}

// What a command sets for the whole program ends with it: two commands in one process don't bound
// each other's memory.
func TestMemoryLimitEndsWithCommand(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	file := filepath.Join(t.TempDir(), "t.svm")
	if err := os.WriteFile(file, []byte("1 1:1\n-1 1:1 2:1\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"corpus", "-in", file, "-m", "64M"},
		{"corpus", "-in", file},
		{"corpus", "-in", file + ".none", "-m", "100M"},
		{"repro", "lafferty-lebanon", "-data", file, "-m", "100M"},
	} {
		run(args, io.Discard, io.Discard)
		if after := debug.SetMemoryLimit(-1); after != before {
			t.Errorf("after %s: a limit of %d bytes, expected %d as before", args[0], after, before)
			debug.SetMemoryLimit(before)
		}
	}
}
