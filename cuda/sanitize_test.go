//go:build cuda && cgo && linux

package cuda

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sanitized compiles internal/fake/sanitize.cc.
func sanitized(t *testing.T, options ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("compiles for some seconds")
	}
	readSources()
	program := filepath.Join(t.TempDir(), "sanitize")
	build := exec.Command("g++", append(options, "-std=c++20", "-O1", "-g", "-ffp-contract=off",
		"-fno-sanitize-recover=all", filepath.Join("internal", "fake", "sanitize.cc"), "-o", program, "-lpthread")...)
	if text, err := build.CombinedOutput(); err != nil {
		if strings.Contains(string(text), "cannot find -l") {
			t.Skipf("a compiler without sanitizers: %s", text)
		}
		t.Fatalf("%v\n%s", err, text)
	}
	return program
}

// The kernels, compiled for the CPU, run under AddressSanitizer and the sanitizer of undefined
// behaviour.
func TestSanitizers(t *testing.T) {
	if text, err := exec.Command(sanitized(t, "-fsanitize=address,undefined")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// With an OS thread per CUDA thread, ThreadSanitizer finds no race between the threads of a block.
// If a barrier is removed, it finds a race.
func TestRaces(t *testing.T) {
	program := sanitized(t, "-fsanitize=thread", "-DGRAM_THREADS")
	run := func(options string, arguments ...string) ([]byte, error) {
		c := exec.Command(program, arguments...)
		c.Env = append(os.Environ(), "TSAN_OPTIONS=halt_on_error=1 exitcode=66 "+options)
		var diagnostics bytes.Buffer
		c.Stderr = &diagnostics
		text, err := c.Output()
		if strings.Contains(diagnostics.String(), "unexpected memory mapping") {
			t.Skipf("ThreadSanitizer doesn't run here: %s", diagnostics.Bytes())
		}
		return append(text, diagnostics.Bytes()...), err
	}
	text, err := run("")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	barriers := map[string]int{}
	for line := range strings.Lines(string(text)) {
		kernel, at, _ := strings.Cut(strings.TrimSpace(line), " ")
		barriers[kernel]++
		// ThreadSanitizer stores only the last few accesses of an address, so it may miss a race.
		// Therefore it runs several times.
		found := false
		for try := 0; try < 30 && !found; try++ {
			text, err := run("symbolize=0", kernel, at)
			var status *exec.ExitError
			if found = errors.As(err, &status) && status.ExitCode() == 66; !found && err != nil {
				t.Fatalf("%s without the barrier of line %s: %v\n%s", kernel, at, err, text)
			}
		}
		if !found {
			t.Errorf("%s without the barrier of line %s: no race", kernel, at)
		}
	}
	want := map[string]int{
		"tailAdd": 2, "panelDot": 3, "panelTensor": 2, "least": 2, "multiplyRows": 2, "digest": 2,
	}
	if !maps.Equal(barriers, want) {
		t.Errorf("barriers %v, expected %v", barriers, want)
	}
}
