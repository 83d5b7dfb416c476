//go:build cuda && cgo && linux

package main

import (
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/internal/cli/clitest"
)

// The scripts run the command with the GPU back end, with the fake driver and without a driver.
func TestCUDAScripts(t *testing.T) {
	clitest.RunCUDAScripts(t, filepath.Join("..", "..", "..", "cuda"))
}
