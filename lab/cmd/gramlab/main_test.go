package main

import (
	"testing"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/cli/clitest"
)

// The command repro declares which flags are file names. Each help text fits on one screen.
func TestHelp(t *testing.T) {
	clitest.CheckFitsScreen(t, "help", clitest.MustOutput(t, run, "help"))
	for _, c := range program.Commands {
		clitest.CheckFitsScreen(t, c.Name, clitest.MustOutput(t, run, c.Name, "-help"))
	}
	f := cli.NewFlags("repro")
	program.Commands[0].Setup(f)
	if seen := clitest.CheckFileFlags(t, "repro", f); seen < 2 {
		t.Errorf("repro has %d flags that name files, expected -data and -report", seen)
	}
	for _, e := range experiments {
		clitest.CheckFitsScreen(t, e.Name, clitest.MustOutput(t, run, "repro", e.Name, "-help"))
	}
}
