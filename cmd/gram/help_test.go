package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/cli/clitest"
)

// helped runs gram, which must succeed, and returns its standard output.
func helped(t *testing.T, args ...string) string {
	t.Helper()
	return clitest.MustOutput(t, run, args...)
}

// The help of every command fits on a screen and has examples. help COMMAND prints the same text.
func TestHelpFitsOnAScreen(t *testing.T) {
	for _, p := range programs {
		helped := func(args ...string) string { return clitest.MustOutput(t, p.Run, args...) }
		clitest.CheckFitsScreen(t, p.Name, helped("help"))
		for _, c := range p.Commands {
			text := helped(c.Name, "-help")
			clitest.CheckFitsScreen(t, c.Name, text)
			if !strings.Contains(text, "Examples:\n") {
				t.Errorf("%s has no examples", c.Name)
			}
			if same := helped("help", c.Name); same != text {
				t.Errorf("help %s differs from %s -help", c.Name, c.Name)
			}
		}
		for _, topic := range p.Topics {
			for line := range strings.Lines(helped("help", topic.Name)) {
				if utf8.RuneCountInString(line) > 101 {
					t.Errorf("%s: more than 100 columns: %s", topic.Name, line)
				}
			}
		}
	}
}
