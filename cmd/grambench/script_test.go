package main

import (
	"fmt"
	"maps"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli/clitest"
)

func TestMain(m *testing.M) {
	// for -backend auto no job is too small for the GPU
	programs := clitest.Programs("grambench", main, func() { backend.AutoSeconds = 0 })
	maps.Copy(programs, ownPrograms)
	testscript.Main(m, programs)
}

// ownPrograms are programs of single tests.
var ownPrograms = map[string]func(){}

// The scripts run the real command in folders of their own.
func TestScripts(t *testing.T) {
	clitest.Scripts(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			numpy, err := filepath.Abs("../../corpus/testdata/numpy")
			env.Setenv("TESTDATA", numpy)
			return err
		},
		Condition: func(name string) (bool, error) {
			if name == "race" {
				return raceDetector, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}
