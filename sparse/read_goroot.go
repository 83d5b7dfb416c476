package sparse

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// gorootFallback is what is read instead where no Go installation is found.
var gorootFallback = Synthetic{Documents: 7700, Terms: 64000, Length: 400, Classes: 54, Seed: 1}

// readGoroot reads every .go file in the folders below <GOROOT>/src, one a document, labelled by the top folder. Some test files of
// the Go project are meant not to be UTF-8: there the bytes separate terms, and the files are counted in a warning. Where no
// installation is found the synthetic corpus [gorootFallback] is read, and a warning says so.
func readGoroot(ctx context.Context, opt *Options, m *meter) (*Corpus, error) {
	root, ok := findGoroot(ctx)
	if !ok {
		c, err := readSynthetic(ctx, gorootFallback.String(), gorootFallback, opt, m)
		if err != nil {
			return nil, err
		}
		c.Warnings = append([]Warning{{Message: "no Go installation found, so the corpus is " + gorootFallback.String(), Count: 1, First: "goroot"}}, c.Warnings...)
		return c, nil
	}
	files, warn, err := listFiles(ctx, filepath.Join(root, "src"), m, ".go")
	if err != nil {
		return nil, err
	}
	c := &Corpus{Source: "goroot", Warnings: warn}
	return c, c.readFiles(ctx, files, opt, m, lenientText)
}

// findGoroot looks for a Go installation with its source: the environment variable GOROOT, what the go command says, and where the
// program was built.
func findGoroot(ctx context.Context) (string, bool) {
	for _, where := range []func() string{
		func() string { return os.Getenv("GOROOT") },
		func() string { return askGoCommand(ctx) },
		//lint:ignore SA1019 only the last resort, and checked below
		runtime.GOROOT,
	} {
		root := where()
		if root == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, "src", "fmt", "print.go")); err == nil {
			return root, true
		} else if !errors.Is(err, fs.ErrNotExist) {
			return root, true // there, but unreadable: reading will say why
		}
	}
	return "", false
}

// askGoCommand returns what go env GOROOT says, for the go command itself: a go.mod that happens to lie around must not make it fetch
// another one.
func askGoCommand(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
