package cuda

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/sparse"
)

// The sections of check.sh take eight minutes together at most, the wait for a command that doesn't end counted, and what it runs of the tests is there.
func TestScriptSections(t *testing.T) {
	script, err := os.ReadFile("check.sh")
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, m := range regexp.MustCompile(`(?m)^section (\d+) `).FindAllSubmatch(script, -1) {
		seconds, err := strconv.Atoi(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		total += seconds
	}
	m := regexp.MustCompile(`(?m)^whole=(\d+)$`).FindSubmatch(script)
	if m == nil || string(m[1]) != strconv.Itoa(total) {
		t.Errorf("sections of %d s together, whole %q, expected the same", total, m)
	}
	if m = regexp.MustCompile(`(?m)^\ttimeout -k (\d+) "\$left" "\$@"`).FindSubmatch(script); m == nil {
		t.Fatal("check.sh kills nothing that goes on after its time")
	}
	if wait, err := strconv.Atoi(string(m[1])); err != nil || total+wait >= 8*60 {
		t.Errorf("sections of %d s together and a wait of %s s, expected less than 480", total, m[1])
	}

	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources []byte
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, text...)
	}
	if m = regexp.MustCompile(`-test\.run '\^Test\(([\w|]+)\)\$'`).FindSubmatch(script); m == nil {
		t.Fatal("check.sh runs no tests")
	}
	for name := range strings.SplitSeq(string(m[1]), "|") {
		if !strings.Contains(string(sources), "func Test"+name+"(t *testing.T)") {
			t.Errorf("check.sh runs Test%s, which isn't there", name)
		}
	}
}

// What check.sh verifies on, where nothing is named, can be read.
func TestScriptSource(t *testing.T) {
	script, err := os.ReadFile("check.sh")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^source=\$\{1:-([^}]+)\}`).FindSubmatch(script)
	if m == nil {
		t.Fatal("check.sh has no line with its source")
	}
	corpus, err := sparse.Read(t.Context(), filepath.Join("..", string(m[1])), sparse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := corpus.Documents.Rows(); n < 100 {
		t.Errorf("%d documents in %s, expected more to verify on", n, m[1])
	}
}
