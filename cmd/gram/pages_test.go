package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/cli/clitest"
	"github.com/gramengine/gram/internal/musttest"
)

// blocks returns the code blocks of a page without a language. It joins continued lines.
func blocks(t *testing.T, page string) (found []string) {
	text := string(musttest.Get(os.ReadFile(page))(t))
	for i, part := range strings.Split("\n"+text, "\n```") {
		if code, ok := strings.CutPrefix(part, "\n"); ok && i%2 == 1 {
			found = append(found, strings.ReplaceAll(code, "\\\n", " ")+"\n")
		}
	}
	return found
}

// shellWord matches a comment, an operator or a word, parts of which may be quoted.
var shellWord = regexp.MustCompile(`#.*|[|;&<>]+|(?:'[^']*'|"[^"]*"|[^\s'"|;&<>])+`)

// shellCommands splits a line at the shell's operators and returns the words of each command.
func shellCommands(line string) [][]string {
	all := [][]string{{}}
	for _, word := range shellWord.FindAllString(line, -1) {
		switch {
		case word[0] == '#':
			return all
		case strings.ContainsAny(word[:1], "|;&<>"):
			all = append(all, nil)
		default:
			last := &all[len(all)-1]
			*last = append(*last, strings.NewReplacer("'", "", `"`, "").Replace(word))
		}
	}
	return all
}

// misuse returns the error of a program's flags for the words of a command.
func misuse(words []string) error {
	for _, p := range programs {
		for _, c := range p.Commands {
			if len(words) > 1 && words[0] == p.Name && words[1] == c.Name {
				f := cli.NewFlags(c.Name)
				c.Setup(f)
				return f.Parse(words[2:])
			}
		}
	}
	return nil
}

// The flags of all commands in the documentation exist and accept their values.
func TestPagesHaveValidCommands(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../cuda/*.md", "../../lab/docs/*.md"} {
		pages = append(pages, musttest.Get(filepath.Glob(pattern))(t)...)
	}
	seen := 0
	for _, page := range pages {
		for _, code := range blocks(t, page) {
			for line := range strings.Lines(code) {
				for _, words := range shellCommands(strings.TrimPrefix(line, "$ ")) {
					if err := misuse(words); err != nil {
						t.Errorf("%s: %s: %v", page, strings.Join(words, " "), err)
					}
					seen += len(words)
				}
			}
		}
	}
	if seen < 500 {
		t.Errorf("found %d words of commands, expected at least 500", seen)
	}
	for _, bad := range []string{"gram train -kernle linear", "ls | gram cv -folds many x.svm", "grambench verify a b"} {
		if all := shellCommands(bad); misuse(all[len(all)-1]) == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// The examples of README and kernels.md print what the pages show. There, … stands for any text.
func TestExamplesOfPages(t *testing.T) {
	var script, files strings.Builder
	ran := 0
	for _, code := range slices.Concat(blocks(t, "../../README.md"), blocks(t, "../../docs/kernels.md")) {
		if !strings.HasPrefix(code, "$ cat ") && !strings.HasPrefix(code, "$ gram kernels ") {
			continue
		}
		for _, step := range strings.Split(code, "$ ")[1:] {
			command, output, _ := strings.Cut(step, "\n")
			if name, ok := strings.CutPrefix(command, "cat "); ok {
				fmt.Fprintf(&files, "-- %s --\n%s", name, output)
				continue
			}
			want := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(output)), "…", "(?s:.*)")
			fmt.Fprintf(&script, "exec sh -c '%s 2>&1 || true'\nstdout '^%s$'\n",
				strings.ReplaceAll(command, "'", "''"), strings.ReplaceAll(want, "\n", `\n`))
			ran++
		}
	}
	if ran < 4 {
		t.Errorf("found %d examples, expected at least 4", ran)
	}
	file := filepath.Join(t.TempDir(), "pages.txtar")
	musttest.NoError(t, os.WriteFile(file, []byte(script.String()+files.String()), 0o666))
	clitest.RunScripts(t, testscript.Params{Files: []string{file}})
}

// kernels.md has a row for each kernel.
func TestPageListsKernels(t *testing.T) {
	page := string(musttest.Get(os.ReadFile("../../docs/kernels.md"))(t))
	var list struct {
		Rows []struct{ Kernel string }
	}
	musttest.NoError(t, json.Unmarshal([]byte(helped(t, "kernels", "-json")), &list))
	for _, row := range list.Rows {
		if !strings.Contains(page, "\n| `"+row.Kernel) && !strings.Contains(page, "`"+row.Kernel+"(") {
			t.Errorf("kernels.md has no row for %s", row.Kernel)
		}
	}
	if len(list.Rows) < 20 {
		t.Errorf("found %d kernels, expected at least 20", len(list.Rows))
	}
}
