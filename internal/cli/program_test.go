package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/run"
)

// A panic is printed in one line, followed by the stack for the program's authors.
func TestRunTellsStack(t *testing.T) {
	failing := &Command{Name: "fail", Setup: func(*Flags) Work {
		return func(context.Context, *Env) error {
			return fmt.Errorf("own: %w", run.Guard("f", func() error { panic("broken") }))
		}
	}}
	var stderr bytes.Buffer
	p := &Program{Name: "gram", Commands: []*Command{failing}}
	if status := p.Run([]string{"fail"}, io.Discard, &stderr); status != Failed {
		t.Errorf("status %d, expected %d", status, Failed)
	}
	first, rest, _ := strings.Cut(stderr.String(), "\n")
	if first != "gram fail: own: f panicked: broken" || !strings.Contains(rest, "program_test.go") {
		t.Errorf("found %q and\n%s", first, rest)
	}
}
