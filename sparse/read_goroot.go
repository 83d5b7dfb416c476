package sparse

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// gorootFallback is what is read instead where no Go installation is found.
var gorootFallback = Synthetic{Documents: 7700, Terms: 64000, Length: 400, Classes: 54, Seed: 1}

// readGoroot reads every .go file in the folders below root/src, one a document, labelled by the
// top folder. Some test files of the Go project are meant not to be UTF-8: there the bytes separate
// terms, and the files are counted in a warning. Where root is empty, because no installation was
// found, the synthetic corpus [gorootFallback] is read, and a warning says so.
func readGoroot(ctx context.Context, root string, opt *Options, m *meter) (*Corpus, error) {
	if root == "" {
		c, err := readSynthetic(ctx, gorootFallback.String(), gorootFallback, opt, m)
		if err != nil {
			return nil, err
		}
		c.Warnings = append(
			[]Warning{
				{
					Message: "no Go installation found, so the corpus is " + gorootFallback.String(),
					Count:   1,
					First:   "goroot",
				},
			},
			c.Warnings...)
		return c, nil
	}
	files, loose, warn, err := listFiles(ctx, filepath.Join(root, "src"), ".go")
	if err != nil {
		return nil, err
	}
	warn.leaveOut(loose)
	m.expect(files)
	c := &Corpus{Source: "goroot", Warnings: warn}
	return c, c.readFiles(ctx, files, opt, m, lenientText)
}

// gorootPlaces are where a Go installation may be: where the environment variable GOROOT says,
// where the go command says, and where the program was built.
func gorootPlaces(ctx context.Context) []func() string {
	return []func() string{
		func() string { return os.Getenv("GOROOT") },
		func() string { return askGoCommand(ctx) },
		// lint:ignore SA1019 it is deprecated for being wrong on other machines, and findGoroot
		// looks whether it is right
		runtime.GOROOT,
	}
}

// findGoroot returns the first of the places that holds the source of Go, or nothing.
func findGoroot(places []func() string) string {
	for _, place := range places {
		root := place()
		if root == "" {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, "src", "fmt", "print.go")); err == nil {
			return root
		}
	}
	return ""
}

// askGoCommand returns what go env GOROOT says, for the go command itself: a go.mod that happens to
// lie around must not make it fetch another one, and the environment variable has been tried.
func askGoCommand(ctx context.Context) string {
	cmd := exec.CommandContext(ctx, "go", "env", "GOROOT")
	cmd.Dir = os.TempDir()
	cmd.Env = append(os.Environ(), "GOROOT=", "GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}
