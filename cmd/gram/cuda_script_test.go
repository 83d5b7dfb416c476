//go:build cuda && cgo && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/cli/clitest"
)

// The command with the GPU back end, on the fake driver and without any, and the example of package
// svm.
func TestCUDAScripts(t *testing.T) {
	driver := clitest.CUDAScripts(t, filepath.Join("..", "..", "cuda"))
	t.Run("example", func(t *testing.T) { exampleOnDevice(t, driver) })
}

// exampleOnDevice runs the example of a device in package svm with one.
func exampleOnDevice(t *testing.T, driver string) {
	run := func(env ...string) (string, error) {
		c := exec.Command("go", "test", "-tags", "cuda", "-count", "1", "-v", "-run", "^ExampleOptions_device$",
			"github.com/gramengine/gram/internal/learn/svm")
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
