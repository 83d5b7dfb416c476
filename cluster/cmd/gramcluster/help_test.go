package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gramengine/gram/cluster/jobs"
	"github.com/gramengine/gram/internal/musttest"
)

func helps() (all []string) {
	all = []string{"help", "help plan", "drive -help", "help sources", "help text"}
	for _, k := range jobs.Kinds {
		all = append(all, planningCommand(k)+" "+k.Name+" -help", "help "+planningCommand(k)+" "+k.Name)
	}
	for _, c := range program(nil).Commands[2:] {
		all = append(all, "help "+c.Name, c.Name+" --help")
	}
	return all
}

// Each help text fits on a screen of 40 lines, except the topics shared with gram.
func TestHelp(t *testing.T) {
	for _, args := range helps() {
		lines := strings.Split(strings.TrimSuffix(must(t, "", strings.Fields(args)...), "\n"), "\n")
		if len(lines) > 40 && !slices.Contains([]string{"help sources", "help text"}, args) {
			t.Errorf("%s has %d lines, expected at most 40", args, len(lines))
		}
		for _, l := range lines {
			if n := utf8.RuneCountInString(l); n > 100 || strings.TrimRight(l, " ") != l {
				t.Errorf("%s has a line of %d columns: %q", args, n, l)
			}
		}
	}
}

func examples(help string) (shown []string) {
	help = regexp.MustCompile(`\\\n +`).ReplaceAllString(help, "")
	for line := range strings.Lines(help) {
		command, found := strings.CutPrefix(line, "  gramcluster ")
		if !found {
			continue
		}
		command, _, _ = strings.Cut(command, "   ") // an explanation follows
		shown = append(shown, "gramcluster "+strings.TrimSpace(command))
	}
	return shown
}

// The examples in the help texts succeed in their order.
func TestExamples(t *testing.T) {
	t.Setenv("PATH", filepath.Dir(binary(t))+string(filepath.ListSeparator)+os.Getenv("PATH"))
	shell := func(t *testing.T, dir, command string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "sh", "-c", command)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
	documents := t.TempDir()
	words := strings.Fields("ant bee cat dog eel fox gnu hen ibis jay koi lynx mole newt owl pig quail rat seal toad")
	var table, vectors strings.Builder
	for i := range 300 {
		text := fmt.Sprint(words[i%4*5+i/4%5], " ", words[i%4*5+i/20%5], " ", words[i*7%20], " ", words[i*i%20])
		fmt.Fprintf(&table, "%c\t%s\n", 'a'+i%4, text)
		fmt.Fprintf(&vectors, "%d %d:1 %d:2\n", i%4, 1+i%7, 10+i%11)
		path := filepath.Join(documents, "mail", string(rune('a'+i%4)), fmt.Sprint(i, ".txt"))
		musttest.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		musttest.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	for name, text := range map[string]string{
		"train.tsv": table.String(), "new.tsv": table.String(), "train.svm": vectors.String(),
	} {
		musttest.NoError(t, os.WriteFile(filepath.Join(documents, name), []byte(text), 0o666))
	}
	shell(t, documents, "gramcluster plan train -store made -in train.tsv >tasks && "+
		"gramcluster work -store made <tasks && gramcluster gather -store made -o news.model && rm -r made tasks")
	seen := map[string]bool{}
	for _, args := range helps() {
		shown := examples(must(t, "", strings.Fields(args)...))
		all := fmt.Sprint(shown)
		if len(shown) > 0 && seen[all] {
			continue // same help under another name
		}
		seen[all] = true
		if len(shown) == 0 {
			if !slices.Contains([]string{"help plan", "drive -help", "help sources", "help text",
				"help version", "version -help", "version --help"}, args) {
				t.Errorf("%s shows no example", args)
			}
			continue
		}
		t.Run(args, func(t *testing.T) {
			dir := t.TempDir()
			musttest.NoError(t, os.CopyFS(dir, os.DirFS(documents)))
			if !strings.Contains(shown[0], " plan ") && !strings.Contains(shown[0], " drive ") {
				first := "gramcluster plan gram -store run -in train.svm >tasks.jsonl; head -c 72 tasks.jsonl >job"
				shown = append([]string{first}, shown...)
				if strings.Contains(shown[1], " gather ") {
					shown[0] += "; gramcluster work -store run <tasks.jsonl"
				}
			}
			for _, command := range shown {
				if strings.Contains(command, "s3://") {
					continue
				}
				// Use the digest of the example's job.
				shell(t, dir, strings.ReplaceAll(command, "-job 3f2a", `-job "$(tail -c 64 job)"`))
			}
		})
	}
}
