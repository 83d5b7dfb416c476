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
)

// The command repro declares which of its flags are file names. Help texts fit on one screen.
func TestHelp(t *testing.T) {
	clitest.FitsOnAScreen(t, "help", clitest.Helped(t, run, "help"))
	for _, c := range program.Commands {
		clitest.FitsOnAScreen(t, c.Name, clitest.Helped(t, run, c.Name, "-help"))
	}
	f := cli.NewFlags("repro")
	program.Commands[0].Setup(f)
	if seen := clitest.FilesDeclared(t, "repro", f); seen < 2 {
		t.Errorf("repro has %d flags that name files, expected -data and -report", seen)
	}
	for _, e := range experiments {
		clitest.FitsOnAScreen(t, e.Name, clitest.Helped(t, run, "repro", e.Name, "-help"))
	}
}

// The memory limit of one command doesn't apply to the next command of the process.
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
