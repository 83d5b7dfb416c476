package cuda

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// The time limits of the scripts' sections add up to at most the total limit, including the wait
// for a hanging command, and all tests and benchmarks that the scripts run exist.
func TestScriptSections(t *testing.T) {
	shared := musttest.Get(os.ReadFile("lease.sh"))(t)
	number := func(text []byte, pattern string) (n int) {
		return musttest.Get(strconv.Atoi(string(regexp.MustCompile(pattern).FindSubmatch(text)[1])))(t)
	}
	contact := number(shared, `(?m)^\tsection (\d+) "first contact`)
	wait := number(shared, `(?m)^\ttimeout -k (\d+) "\$left" "\$@"`)
	var scripts []byte
	for name, most := range map[string]int{"check.sh": 480, "first.sh": 540, "second.sh": 540, "third.sh": 540} {
		script := musttest.Get(os.ReadFile(name))(t)
		scripts = append(scripts, script...)
		total := contact
		for _, m := range regexp.MustCompile(`(?m)^section (\d+) `).FindAllSubmatch(script, -1) {
			seconds, _ := strconv.Atoi(string(m[1]))
			total += seconds
		}
		if whole := number(script, `(?m)^whole=(\d+)$`); whole != total || whole+wait >= most {
			t.Errorf("%s: sections of %d s together, whole %d and a wait of %d s, expected the same and less than %d",
				name, total, whole, wait, most)
		}
	}

	var sources []byte
	for _, f := range musttest.Get(filepath.Glob("*_test.go"))(t) {
		sources = append(sources, musttest.Get(os.ReadFile(f))(t)...)
	}
	runs := regexp.MustCompile(`bench "?(Benchmark\w+)`).FindAllSubmatch(scripts, -1)
	list := regexp.MustCompile(`(?m)^device_tests='([\w\s]+)'$`).FindSubmatch(shared)
	for _, name := range strings.Fields(string(list[1])) {
		runs = append(runs, [][]byte{nil, []byte("Test" + name)})
	}
	for _, name := range runs {
		if !strings.Contains(string(sources), "func "+string(name[1])+"(") {
			t.Errorf("the scripts run %s, which isn't there", name[1])
		}
	}
}

// The default source of check.sh can be read.
func TestScriptSource(t *testing.T) {
	script := musttest.Get(os.ReadFile("check.sh"))(t)
	m := regexp.MustCompile(`(?m)^source=\$\{1:-([^}]+)\}`).FindSubmatch(script)
	if m == nil {
		t.Fatal("check.sh has no line with its source")
	}
	c := musttest.Get(corpus.Read(t.Context(), filepath.Join("..", string(m[1])), corpus.Options{}))(t)
	if n := c.Documents.Rows(); n < 100 {
		t.Errorf("%d documents in %s, expected more to verify on", n, m[1])
	}
}
