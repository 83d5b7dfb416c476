//go:build cuda && cgo && linux

package main

import (
	"path/filepath"
	"testing"

	"github.com/gramengine/gram/internal/cli/clitest"
)

// The command with the GPU back end runs on the fake driver and without any driver.
func TestCUDAScripts(t *testing.T) { clitest.CUDAScripts(t, filepath.Join("..", "..", "cuda")) }
