package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli/clitest"
)

func TestMain(m *testing.M) {
	// so that -backend auto uses the GPU even for small jobs
	testscript.Main(m, clitest.Commands("gramlab", main, func() { backend.GPUThresholdSeconds = 0 }))
}

// Each script runs the real command in its own folder.
func TestScripts(t *testing.T) { clitest.RunScripts(t, testscript.Params{Dir: "testdata/script"}) }
