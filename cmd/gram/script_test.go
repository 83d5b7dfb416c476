package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gramengine/gram/cmd/internal/grambench"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/cli/clitest"
	"github.com/gramengine/gram/internal/musttest"
)

func TestMain(m *testing.M) {
	main := func() { os.Exit(runEither(os.Args[1:], os.Stdout, os.Stderr)) }
	// -backend auto uses the GPU even for small jobs
	found := clitest.Commands("gram", main, func() { backend.GPUThresholdSeconds = 0 })
	found["grambench"] = func() { os.Exit(backend.Run(&grambench.Program, os.Args[1:], os.Stdout, os.Stderr)) }
	maps.Copy(found, ownPrograms)
	testscript.Main(m, found)
}

// programs are tested together, because their commands share flags, sources and reports.
var programs = []*cli.Program{&program, &grambench.Program}

// runEither runs grambench if only it has the command, otherwise gram.
func runEither(args []string, stdout, stderr io.Writer) int {
	for _, c := range grambench.Program.Commands {
		if len(args) > 0 && args[0] == c.Name && c != backend.Version {
			return backend.Run(&grambench.Program, args, stdout, stderr)
		}
	}
	return run(args, stdout, stderr)
}

// ownPrograms lists programs that single tests use.
var ownPrograms = map[string]func(){}

// The scripts run the real command in separate folders.
func TestScripts(t *testing.T) {
	params := testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			numpy, err := filepath.Abs("../../corpus/testdata/numpy")
			env.Setenv("TESTDATA", numpy)
			return err
		},
		Condition: func(name string) (bool, error) {
			if name == "race" {
				return musttest.RaceEnabled, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	}
	if musttest.RaceEnabled { // only scripts of commands that start goroutines; package tests cover the others
		params.Dir = ""
		for _, name := range []string{"train", "grid_search", "streams", "interrupt"} {
			params.Files = append(params.Files, "testdata/script/"+name+".txtar")
		}
	}
	clitest.RunScripts(t, params)
}
