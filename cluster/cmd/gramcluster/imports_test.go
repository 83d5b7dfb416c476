package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// imports lists, for each package of the module except test packages, the packages of the module
// that it may import. Kinds of jobs don't import each other.
var imports = map[string][]string{
	"store":           {},
	"shards":          {"store"},
	"job":             {"store", "shards"},
	"jobs/blocks":     {},
	"jobs/machines":   {"store", "shards", "job"},
	"jobs/":           {"store", "shards", "job", "jobs/blocks", "jobs/machines"},
	"jobs":            {"job", "jobs/"},
	"work":            {"store", "shards", "job"},
	"cmd/gramcluster": {"store", "shards", "job", "jobs", "work"},
}

// Each package imports only the packages listed for it in imports.
func TestImports(t *testing.T) {
	const module = "github.com/gramengine/gram/cluster/"
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"...").Output()
	musttest.NoError(t, err)
	rule := func(name string) (room string, known bool) {
		if _, known := imports[name]; !known && strings.HasPrefix(name, "jobs/") {
			name = "jobs/"
		}
		_, known = imports[name]
		return name, known
	}
	seen := 0
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		name := strings.TrimPrefix(fields[0], module)
		room, known := rule(name)
		if strings.HasSuffix(name, "test") || strings.HasPrefix(name, "internal/") {
			continue
		}
		if !known {
			t.Errorf("package %s has no rule", name)
		}
		for _, path := range fields[1:] {
			of, found := strings.CutPrefix(path, module)
			if below, _ := rule(of); found && !slices.Contains(imports[room], below) {
				t.Errorf("%s imports %s, expected of cluster only %v", name, of, imports[room])
			}
		}
		seen++
	}
	if seen < len(imports) {
		t.Errorf("%d packages, expected at least %d", seen, len(imports))
	}
}
