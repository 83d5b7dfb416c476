//go:build cuda && cgo && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The command with the GPU back end, on the fake driver and without any, and the example of package
// svm.
func TestCUDAScripts(t *testing.T) {
	dir := t.TempDir()
	build := exec.Command("g++", "-std=c++20", "-O2", "-ffp-contract=off", "-shared", "-fPIC",
		filepath.Join("..", "..", "cuda", "internal", "fake", "driver.cc"), "-o", filepath.Join(dir, "libcuda.so.1"))
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the fake driver: %v\n%s", err, text)
	}
	t.Run("example", func(t *testing.T) { exampleOnDevice(t, dir) })
	source, err := os.ReadFile(filepath.Join("..", "..", "cuda", "internal", "fake", "driver.cc"))
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, m := range regexp.MustCompile(`(?m)^API (cu\w+)\(`).FindAllSubmatch(source, -1) {
		calls = append(calls, string(m[1]))
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/cuda",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"npy":   npyToText,
			"json":  jsonHas,
			"close": closeFields,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("FAKE", dir)
			e.Setenv("CALLS", strings.Join(calls, " "))
			return nil
		},
		RequireExplicitExec: true,
	})
}

// exampleOnDevice runs the example of a device in package svm with one.
func exampleOnDevice(t *testing.T, driver string) {
	run := func(env ...string) (string, error) {
		c := exec.Command("go", "test", "-tags", "cuda", "-count", "1", "-v", "-run", "^ExampleOptions_device$",
			"github.com/gramengine/gram/learn/svm")
		c.Env = append(os.Environ(), env...)
		text, err := c.CombinedOutput()
		return string(text), err
	}
	there := []string{"FAKE_STRICT=1", "LD_LIBRARY_PATH=" + driver}
	if text, err := run(there...); err != nil || !strings.Contains(text, "--- PASS: ExampleOptions_device") {
		t.Errorf("%v\n%s", err, text)
	}
	if text, err := run(append(there, "FAKE_FAIL=cuLaunchKernel:1:700")...); err == nil ||
		!strings.Contains(text, "cuLaunchKernel") {
		t.Errorf("no error with a device that fails\n%s", text)
	}
}
