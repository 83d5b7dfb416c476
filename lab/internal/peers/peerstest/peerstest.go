// Package peerstest tests what comparisons of gram with other programs have in common.
package peerstest

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/lab/internal/peers"
)

// Run runs a comparison, and checks that it leaves nothing behind.
func Run(t *testing.T, p peers.Program, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	var out, errs bytes.Buffer
	gramlab := cli.Program{Name: "gramlab", Commands: []*cli.Command{peers.BenchCommand(p)}}
	status = gramlab.Run(append([]string{"bench", p.Name}, args...), &out, &errs)
	if left, _ := os.ReadDir(os.Getenv("TMPDIR")); len(left) > 0 {
		t.Errorf("%v was left behind", left)
	}
	return status, out.String(), errs.String()
}

// Usage checks that a comparison refuses flags, each line of which is wrong, and says what makes a
// gram that isn't there.
func Usage(t *testing.T, p peers.Program, wrong ...string) {
	t.Helper()
	for _, line := range append(wrong, "x", "-no-such", "-threads 0") {
		if status, _, stderr := Run(t, p, strings.Fields(line)...); status != 2 || stderr == "" {
			t.Errorf("%s: exit status %d, expected 2 and a message: %q", line, status, stderr)
		}
	}
	if status, _, stderr := Run(t, p, "-gram", "no-such"); status != 1 || !strings.Contains(stderr, "make build") {
		t.Errorf("exit status %d, expected 1 and what makes the command: %q", status, stderr)
	}
}

// Corpora makes a folder of files, compressed where their names end in .gz.
func Corpora(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		var content bytes.Buffer
		if content.WriteString(text); filepath.Ext(name) == ".gz" {
			content.Reset()
			w := gzip.NewWriter(&content)
			io.WriteString(w, text)
			w.Close()
		}
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content.Bytes(), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// Fake makes a program in place of gram, which prints an object whatever it is asked for. It
// returns flags for that, for a folder of corpora, and for a Python that isn't there.
func Fake(t *testing.T, says string, corpora map[string]string) []string {
	t.Helper()
	fake := filepath.Join(Corpora(t, map[string]string{"fake": "#!/bin/sh\ncat <<'EOF'\n" + says + "\nEOF\n"}), "fake")
	if err := exec.Command(fake).Run(); err != nil {
		t.Skipf("no shell runs scripts here: %v", err)
	}
	return []string{"-gram", fake, "-data", Corpora(t, corpora), "-python", "no-such-python"}
}

// Build builds gram.
func Build(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds and runs the command")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	file := filepath.Join(t.TempDir(), "gram")
	build := exec.Command("go", "build", "-o", file, "./cmd/gram")
	build.Dir = filepath.Join("..", "..", "..") // the module above, of its own
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

// Has checks that texts are in what was printed.
func Has(t *testing.T, printed string, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if !strings.Contains(printed, want) {
			t.Errorf("no %q in\n%s", want, printed)
		}
	}
}
