package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Wrong flags are refused; without Python, grambench alone is measured, and an absent one is an error.
func TestRun(t *testing.T) {
	var out, errs bytes.Buffer
	for _, args := range [][]string{{"-rounds", "0"}, {"-k", "0"}, {"more"}, {"-nonsense"}} {
		if status := run(args, &out, &errs); status != 2 {
			t.Errorf("%v: status %d, expected 2", args, status)
		}
	}
	if status := run([]string{"-grambench", filepath.Join(t.TempDir(), "none")}, &out, &errs); status != 1 {
		t.Errorf("without grambench: status %d", status)
	}
	fake := filepath.Join(t.TempDir(), "grambench")
	script := "#!/bin/sh\necho '{\"corpus\": {\"documents\": 7}, \"seconds_neighbours\": 0.5, \"isa\": \"avx2\"}'\n"
	if err := os.WriteFile(fake, []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(fake).Run(); err != nil {
		t.Skipf("no shell runs scripts here: %v", err)
	}
	out.Reset()
	if status := run([]string{"-grambench", fake, "-python", "no-such-python", "-in", "x.svm"}, &out, &errs); status != 0 {
		t.Fatalf("status %d, %s", status, errs.String())
	}
	for _, want := range []string{"x.svm: 7 documents", "grambench neighbours, avx2"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q isn't in\n%s", want, out.String())
		}
	}
	if !strings.Contains(errs.String(), "left out: sparse_dot_topn") {
		t.Errorf("what is missing isn't said in\n%s", errs.String())
	}
}
