package clitest

import (
	"bytes"
	"flag"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/cli"
)

// CheckFileFlags checks that each flag has a help text, and that each flag for a file or folder is
// declared as input or output. It returns the number of flags for files and folders.
func CheckFileFlags(t *testing.T, command string, f *cli.Flags) (seen int) {
	t.Helper()
	known := f.FileFlags()
	f.VisitAll(func(fl *flag.Flag) {
		if fl.Usage == "" {
			t.Errorf("%s: -%s has no help text", command, fl.Name)
		}
		switch kind, _ := flag.UnquoteUsage(fl); kind {
		case "FILE", "DIR", "SOURCE", "SETS":
			seen++
			if !slices.Contains(known, "-"+fl.Name) {
				t.Errorf("%s: -%s names a %s but is not declared as input or output", command, fl.Name, kind)
			}
		}
	})
	return seen
}

// MustOutput returns the standard output of a call, which must succeed without messages.
func MustOutput(t *testing.T, run func(args []string, stdout, stderr io.Writer) int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(args, &stdout, &stderr); status != cli.ExitSuccess || stderr.Len() > 0 {
		t.Fatalf("%s: exit status %d, %s", strings.Join(args, " "), status, stderr.String())
	}
	return stdout.String()
}

// CheckFitsScreen checks that a text has at most 40 lines of 100 columns.
func CheckFitsScreen(t *testing.T, name, text string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 40 {
		t.Errorf("%s: help must have at most 40 lines, got %d", name, len(lines))
	}
	for _, line := range lines {
		if n := utf8.RuneCountInString(line); n > 100 {
			t.Errorf("%s: line has %d columns, but at most 100 are allowed: %s", name, n, line)
		}
	}
}
