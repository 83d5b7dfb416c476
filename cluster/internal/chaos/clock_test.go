package chaos

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// clocks are the places that look at a clock, and why it decides nothing of what is stored or gathered.
var clocks = map[string]string{
	"store/cache.go":              "which copies on the local disk go first",
	"store/store.go":              "waiting before the same question",
	"work/work.go":                "seconds of a report",
	"cmd/gramcluster/progress.go": "the estimate on the screen",
	"cmd/gramcluster/status.go":   "the estimate on the screen",
	"cmd/gramcluster/main.go":     "the second after ^C",
	"cmd/gramcluster/drive.go":    "how long results may take to come, by this process's own clock",
}

// TestClocks checks that no other file of the module uses the time of day, so that clocks apart can't matter.
func TestClocks(t *testing.T) {
	reads := []string{"Now", "Since", "Until", "After", "AfterFunc", "NewTimer", "NewTicker", "Tick", "Sleep"}
	files := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(filepath.ToSlash(path), "../../")
		if d.IsDir() && (name == "internal" || name == "kubernetes" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		files++
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			read := slices.Contains(reads, s.Sel.Name)
			if x, ok := s.X.(*ast.Ident); ok && read && x.Name == "time" && clocks[name] == "" {
				t.Errorf("%s uses time.%s: no decision may look at a clock", name, s.Sel.Name)
			}
			if s.Sel.Name == "ModTime" && clocks[name] == "" {
				t.Errorf("%s looks at the time of a file", name)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 20 {
		t.Fatalf("%d files, error %v", files, err)
	}
}
