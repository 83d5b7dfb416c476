package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// A power of values below 0 is no number: which document has one is said once it is read.
func TestPowersOfNegativeData(t *testing.T) {
	file := filepath.Join(t.TempDir(), "minus.svm")
	musttest.Do(t, os.WriteFile(file, []byte("1 1:1 2:2\n2 1:2 2:-3\n1 1:1\n2 2:2\n"), 0o666))
	out := filepath.Join(t.TempDir(), "out")
	for _, spec := range []string{"linear:embed=tf-l1-pow0.75", "bhattacharyya", "diffusion"} {
		for _, c := range [][]string{
			{"gram", "-in", file, "-o", out, "-to", "npy", "-kernel", spec, "-signed"},
			{"spectrum", "-in", file, "-kernel", spec, "-signed"},
			{"verify", "-in", file, "-kernel", spec, "-signed"}, {"train", "-q", file, out, "-kernel", spec, "-signed"},
			{"cv", "-q", "-v", "2", file, "-kernel", spec, "-signed"},
			{"grid", "-q", "-v", "2", file, "-kernel", spec, "-signed"},
		} {
			refused(t, c, cli.Failed, "found -3, expected a finite value not below 0", "of all values")
		}
	}
}

// refused runs a command, which shall fail with a message that holds all of what is wanted, and
// print no results.
func refused(t *testing.T, args []string, status int, wanted ...string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if got := run(args, &stdout, &stderr); got != status || stdout.Len() > 0 {
		t.Errorf("grambench %s: exit status %d, expected %d, output %q, %q", strings.Join(args, " "), got, status,
			stdout.String(), stderr.String())
		return
	}
	for _, want := range wanted {
		if !strings.Contains(stderr.String(), want) {
			t.Errorf("grambench %s: %q, expected %q in it", strings.Join(args, " "), stderr.String(), want)
		}
	}
}
