//go:build cuda && cgo && linux

package cuda

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The kernels, compiled for the CPU, run under AddressSanitizer and the sanitizer of undefined behaviour.
func TestSanitizers(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for some seconds")
	}
	readSources()
	program := filepath.Join(t.TempDir(), "sanitize")
	build := exec.Command("g++", "-std=c++20", "-O1", "-g", "-ffp-contract=off", "-fsanitize=address,undefined", "-fno-sanitize-recover=all",
		filepath.Join("internal", "fake", "sanitize.cc"), "-o", program)
	if text, err := build.CombinedOutput(); err != nil {
		if strings.Contains(string(text), "cannot find -l") {
			t.Skipf("a compiler without sanitizers: %s", text)
		}
		t.Fatalf("%v\n%s", err, text)
	}
	if text, err := exec.Command(program).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}
