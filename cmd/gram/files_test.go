package main

import (
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/gramengine/gram/cmd/internal/grambench"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/cli/clitest"
	"github.com/gramengine/gram/internal/musttest"
)

func TestFileFlagsAreDeclared(t *testing.T) {
	seen := 0
	for _, c := range slices.Concat(program.Commands, grambench.Program.Commands) {
		f := cli.NewFlags(c.Name)
		c.Setup(f)
		seen += clitest.CheckFileFlags(t, c.Name, f)
	}
	if seen < 30 {
		t.Errorf("%d flags name files, expected at least 30: what is looked for has another name now", seen)
	}
}

// Settings that a command makes for the whole process end with the command, so that commands in one
// process don't limit each other's memory.
func TestMemoryLimitEndsWithCommand(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	file := filepath.Join(t.TempDir(), "t.svm")
	musttest.NoError(t, os.WriteFile(file, []byte("1 1:1\n-1 1:1 2:1\n"), 0o666))
	for _, args := range [][]string{
		{"corpus", "-in", file, "-m", "64M"},
		{"corpus", "-in", file},
		{"corpus", "-in", file + ".none", "-m", "100M"},
	} {
		run(args, io.Discard, io.Discard)
		if after := debug.SetMemoryLimit(-1); after != before {
			t.Errorf("after %s: a limit of %d bytes, expected %d as before", args[0], after, before)
			debug.SetMemoryLimit(before)
		}
	}
}
