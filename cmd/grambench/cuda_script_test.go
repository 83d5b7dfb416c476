//go:build cuda && cgo && linux

package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The command with the GPU back end, on the fake driver and without any.
func TestCUDAScripts(t *testing.T) {
	dir := t.TempDir()
	build := exec.Command("g++", "-std=c++20", "-O2", "-ffp-contract=off", "-shared", "-fPIC", filepath.Join("..", "..", "cuda", "internal", "fake", "driver.cc"),
		"-o", filepath.Join(dir, "libcuda.so.1"))
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the fake driver: %v\n%s", err, text)
	}
	testscript.Run(t, testscript.Params{
		Dir:  "testdata/cuda",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "npy": npyToText, "json": jsonHas, "close": closeFields},
		Setup: func(e *testscript.Env) error {
			e.Setenv("FAKE", dir)
			return nil
		},
		RequireExplicitExec: true,
	})
}
