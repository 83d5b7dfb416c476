package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// drive writes the same model as gram, whether tasks run in this process or in workers that fail at
// first. If all workers fail, drive leaves no model, and can be started again.
func TestDriveLandmarks(t *testing.T) {
	bench, dir := gram(t), t.TempDir()
	program := binary(t)
	const in = "synthetic:docs=1300,terms=900,length=40,classes=3,seed=5"
	want, got := filepath.Join(dir, "want.model"), filepath.Join(dir, "got.model")
	bench("train", "-q", "-in", in, "-type", "landmark:m=80,loss=logistic", "-c", "2", "-o", want)
	args := func(store string, more ...string) []string {
		return append([]string{"drive", "landmarks", "-store", filepath.Join(dir, store), "-in", in, "-landmarks", "80",
			"-loss", "logistic", "-c", "2", "-tasks", "3", "-o", got}, more...)
	}
	must(t, "", args("here")...)
	same(t, want, got)
	musttest.NoError(t, os.Remove(got))

	status, _, stderr := cluster(t, "", args("with", "-with", "cat >/dev/null; exit 3")...)
	if _, err := os.Stat(got); status != cli.ExitFailure || err == nil ||
		!strings.Contains(stderr, "3 of 3 tasks are missing") {
		t.Fatalf("without workers: status %d, %s", status, stderr)
	}
	// This worker ignores all lines but the first, and succeeds.
	work := fmt.Sprintf("head -n 1 | %s work -store %s", program, filepath.Join(dir, "with"))
	must(t, "", args("with", "-with", work, "-wait", "0s")...)
	same(t, want, got)
	if out := must(t, "", args("with", "-with", "exit 3")...); out != "" { // no task is left
		t.Errorf("drive prints %q", out)
	}
	same(t, want, got)
}
