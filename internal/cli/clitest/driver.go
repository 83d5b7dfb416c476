package clitest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// RunCUDAScripts runs the scripts of testdata/cuda with a fake GPU driver, which it builds from the
// folder cuda. It sets the environment variables FAKE to the driver's folder and CALLS to the names
// of the driver's functions. It returns the driver's folder.
func RunCUDAScripts(t *testing.T, cuda string) (driver string) {
	driver = t.TempDir()
	file := filepath.Join(cuda, "internal", "fake", "driver.cc")
	build := exec.Command("g++", "-std=c++20", "-O2", "-ffp-contract=off", "-shared", "-fPIC", file,
		"-o", filepath.Join(driver, "libcuda.so.1"))
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building the fake driver: %v\n%s", err, text)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var calls []string
	for _, m := range regexp.MustCompile(`(?m)^API (cu\w+)\(`).FindAllSubmatch(source, -1) {
		calls = append(calls, string(m[1]))
	}
	RunScripts(t, testscript.Params{
		Dir: filepath.Join("testdata", "cuda"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("FAKE", driver)
			e.Setenv("CALLS", strings.Join(calls, " "))
			return nil
		},
	})
	return driver
}
