package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// kernels is where the project's kernels are.
var kernels = filepath.Join("..", "..", "kernels")

// The PTX in git is that of the sources in git.
func TestFresh(t *testing.T) {
	if err := run(kernels, true, &bytes.Buffer{}); err != nil {
		t.Error(err)
	}
}

// A changed source is noticed, and so is PTX that says nothing of its sources.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(kernels)); err != nil {
		t.Fatal(err)
	}
	check := func(what string, fresh bool) {
		t.Helper()
		if err := run(dir, true, &bytes.Buffer{}); (err == nil) != fresh ||
			err != nil && !strings.Contains(err.Error(), "make ptx") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	check("a copy", true)
	shape := filepath.Join(dir, "shape.h")
	text, err := os.ReadFile(shape)
	if err != nil {
		t.Fatal(err)
	}
	write := func(path string, text []byte) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(shape, append(text, '\n'))
	check("with another header", false)
	write(shape, text)
	check("as before", true)
	write(filepath.Join(dir, target), []byte("//\n"))
	check("without a digest", false)
}
