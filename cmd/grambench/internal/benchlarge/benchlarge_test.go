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
	for _, args := range [][]string{{"-rounds", "0"}, {"-landmarks", "0"}, {"-landmarks", "x"}, {"-c", "0"}, {"more"}} {
		if status := run(args, &out, &errs); status != 2 {
			t.Errorf("%v: status %d, expected 2", args, status)
		}
	}
	if status := run([]string{"-grambench", filepath.Join(t.TempDir(), "none")}, &out, &errs); status != 1 {
		t.Errorf("without grambench: status %d", status)
	}
	data := t.TempDir()
	fake := filepath.Join(data, "grambench")
	script := "#!/bin/sh\necho '{\"seconds\": 1, \"seconds_read\": 0.125, \"seconds_write\": 0.125, \"accuracy\": 0.75, " +
		"\"rows\": [{\"objective\": 3}]}'\n"
	files := map[string]string{fake: script}
	for _, name := range []string{"train.tsv.gz", "test.tsv.gz"} {
		files[filepath.Join(data, "20news-bydate", name)] = ""
	}
	for file, content := range files {
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := exec.Command(fake).Run(); err != nil {
		t.Skipf("no shell runs scripts here: %v", err)
	}
	out.Reset()
	args := []string{"-grambench", fake, "-python", "no-such-python", "-data", data, "-landmarks", "8,64",
		"-plot", filepath.Join(data, "curves.png")}
	if status := run(args, &out, &errs); status != 0 {
		t.Fatalf("status %d, %s", status, errs.String())
	}
	for _, want := range []string{
		"20 Newsgroups", "grambench -type linear      0.75    75.00%       3.00", "grambench -landmarks 64",
		"grambench exact",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q isn't in\n%s", want, out.String())
		}
	}
	if f, err := os.Stat(filepath.Join(data, "curves.png")); err != nil || f.Size() < 5000 {
		t.Errorf("the plot: %v, %v", f, err)
	}
	for _, want := range []string{"left out: sklearn", "left out: MNIST"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%q isn't in\n%s", want, errs.String())
		}
	}
}
