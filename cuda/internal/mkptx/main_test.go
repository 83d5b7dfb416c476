package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// kernels is the folder of the project's kernels.
var kernels = filepath.Join("..", "..", "kernels")

// The PTX in git was compiled from the sources in git.
func TestFresh(t *testing.T) {
	musttest.NoError(t, run(kernels, true, &bytes.Buffer{}))
}

// A changed source is noticed, and so is PTX without a digest of its sources.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	musttest.NoError(t, os.CopyFS(dir, os.DirFS(kernels)))
	check := func(what string, fresh bool) {
		t.Helper()
		if err := run(dir, true, &bytes.Buffer{}); (err == nil) != fresh ||
			err != nil && !strings.Contains(err.Error(), "make ptx") {
			t.Errorf("%s: error %v", what, err)
		}
	}
	check("a copy", true)
	shape := filepath.Join(dir, "shape.h")
	text := musttest.Get(os.ReadFile(shape))(t)
	write := func(path string, text []byte) {
		t.Helper()
		musttest.NoError(t, os.WriteFile(path, text, 0o666))
	}
	write(shape, append(text, '\n'))
	check("with another header", false)
	write(shape, text)
	check("as before", true)
	write(filepath.Join(dir, target), []byte("//\n"))
	check("without a digest", false)
}
