package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/cli/clitest"
	"github.com/gramengine/gram/internal/musttest"
)

// helped is what a call of gram prints on standard output; it must succeed.
func helped(t *testing.T, args ...string) string { t.Helper(); return clitest.Helped(t, run, args...) }

// The help of every command fits on a screen, has examples, and is the same by help COMMAND.
func TestHelpFitsOnAScreen(t *testing.T) {
	for _, p := range programs {
		helped := func(args ...string) string { return clitest.Helped(t, p.Run, args...) }
		clitest.FitsOnAScreen(t, p.Name, helped("help"))
		for _, c := range p.Commands {
			text := helped(c.Name, "-help")
			clitest.FitsOnAScreen(t, c.Name, text)
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

// Shells take what completion prints, and bash completes by it.
func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		text := helped(t, "completion", shell)
		for _, want := range []string{"train", "gpu-mem", "one-vs-rest", "computing"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is missing", shell, want)
			}
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			continue
		}
		file := filepath.Join(t.TempDir(), "completion")
		musttest.Do(t, os.WriteFile(file, []byte(text), 0o666))
		if out, err := exec.Command(path, "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v\n%s", shell, err, out)
		}
		if shell != "bash" {
			continue
		}
		for line, want := range map[string]string{
			"gram tr": "train", "gram train -sche": "-scheme", "gram matrix -backend c": "cpu cuda",
			"gram help sou": "sources", "gram completion z": "zsh", "gram kernels -j": "-json",
		} {
			script := `source "$1"; COMP_WORDS=($2); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); ` +
				`_gram; echo "${COMPREPLY[@]}"`
			out, err := exec.Command(path, "-c", script, "bash", file, line).Output()
			if got := strings.TrimSpace(string(out)); err != nil || got != want {
				t.Errorf("%s: %q, %v, expected %q", line, got, err, want)
			}
		}
	}
}

// A slip in a command or a flag is answered with what may have been meant.
func TestDidYouMean(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"trian", "did you mean train?"}, {"train -kernal ngd a", "did you mean -kernel?"}, {"zzzz", "expected one of"},
		{"matrix -zzzz", "not defined: -zzzz\n"},
	} {
		var stdout, stderr bytes.Buffer
		status := run(strings.Fields(c.args), &stdout, &stderr)
		if status != cli.Misuse || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: exit status %d, %q, expected %q in it", c.args, status, stderr.String(), c.want)
		}
	}
}
