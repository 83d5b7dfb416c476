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
	failing := &Command{Name: "fail", Setup: func(*Flags) RunFunc {
		return func(context.Context, *Env) error {
			return fmt.Errorf("own: %w", run.CatchPanic("f", func() error { panic("broken") }))
		}
	}}
	var stderr bytes.Buffer
	p := &Program{Name: "gram", Commands: []*Command{failing}}
	if status := p.Run([]string{"fail"}, io.Discard, &stderr); status != ExitFailure {
		t.Errorf("status %d, expected %d", status, ExitFailure)
	}
	first, rest, _ := strings.Cut(stderr.String(), "\n")
	if first != "gram fail: own: f panicked: broken" || !strings.Contains(rest, "program_test.go") {
		t.Errorf("found %q and\n%s", first, rest)
	}
}
