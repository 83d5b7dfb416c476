package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/cli/clitest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/experiments"
)

// Each experiment declares which of its flags name files, and its help fits on a screen, as that of commands does.
func TestExperiments(t *testing.T) {
	clitest.FitsOnAScreen(t, "help", clitest.Helped(t, run, "help"))
	for _, c := range program.Commands {
		clitest.FitsOnAScreen(t, c.Name, clitest.Helped(t, run, c.Name, "-help"))
	}
	for _, e := range experiments.Experiments {
		f := cli.NewFlags("repro")
		experiments.Command.Setup(f)
		if _, err := f.Rewrite([]string{e.Name}); err != nil {
			t.Fatal(err)
		}
		if seen := clitest.FilesDeclared(t, "repro "+e.Name, f); seen < 2 {
			t.Errorf("%s has %d flags that name files, expected -data and -plot at least", e.Name, seen)
		}
		clitest.FitsOnAScreen(t, e.Name, clitest.Helped(t, run, "repro", e.Name, "-help"))
	}
}

// What a command sets for the whole program ends with it: a bound of memory doesn't hold for the next.
func TestMemoryLimitEndsWithCommand(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	file := filepath.Join(t.TempDir(), "t.svm")
	musttest.Do(t, os.WriteFile(file, nil, 0o666))
	run([]string{"repro", "lafferty-lebanon", "-data", file, "-m", "100M"}, io.Discard, io.Discard)
	if after := debug.SetMemoryLimit(-1); after != before {
		t.Errorf("a limit of %d bytes, expected %d as before", after, before)
		debug.SetMemoryLimit(before)
	}
}
