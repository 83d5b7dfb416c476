package learn_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/musttest"
)

// defaults returns the defaults of learner parameters that have flags, as written in source code,
// by field name.
func defaults() map[string][]string {
	out := map[string][]string{}
	for _, l := range learn.Learners {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(l.New()).Elem()) {
			if _, own := f.Tag.Lookup("flag"); own && f.Tag.Get("default") != "" {
				text := f.Tag.Get("default")
				out[strings.ToLower(f.Name)] = append(out[strings.ToLower(f.Name)], text)
			}
		}
	}
	return out
}

// second reports whether a node sets a default of a parameter's field again, by a call such as
// cmp.Or(s.C, 1) or Float64Var(&s.C, "c", 1), or by an assignment such as s.C, s.Nu = 1, 0.5.
func second(n ast.Node, known map[string][]string) bool {
	is := func(field, value ast.Expr) bool {
		if u, ok := field.(*ast.UnaryExpr); ok {
			field = u.X
		}
		s, ok := field.(*ast.SelectorExpr)
		text, literal := value.(*ast.BasicLit)
		return ok && literal && slices.Contains(known[strings.ToLower(s.Sel.Name)], strings.Trim(text.Value, `"`))
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		called := ""
		switch f := n.Fun.(type) {
		case *ast.Ident:
			called = f.Name
		case *ast.SelectorExpr:
			called = f.Sel.Name
		}
		if len(n.Args) == 0 || called != "Or" && called != "set" && !strings.HasSuffix(called, "Var") {
			return false
		}
		for _, value := range n.Args[1:] {
			if is(n.Args[0], value) {
				return true
			}
		}
	case *ast.AssignStmt:
		for i, field := range n.Lhs {
			if len(n.Rhs) == len(n.Lhs) && n.Tok == token.ASSIGN && is(field, n.Rhs[i]) {
				return true
			}
		}
	}
	return false
}

// A default is written once, in the tag of its field.
func TestDefaultsAreWrittenOnce(t *testing.T) {
	known := defaults()
	if !slices.Contains(known["c"], "1") || !slices.Contains(known["nu"], "0.5") {
		t.Fatalf("defaults %v, expected those of C and nu among them", known)
	}
	examples := musttest.Get(parser.ParseFile(token.NewFileSet(), "", `package p
func f() {
	x := cmp.Or(o.C, 1); set(&s.Epsilon, 0.1); f.Float64Var(&m.nu, "n", 0.5, "usage"); f.C, f.Nu = s.C, 0.5
	y := cmp.Or(o.C, 2); s.K = 1; max(s.C, 1)
}`, 0))(t)
	found := 0
	ast.Inspect(examples, func(n ast.Node) bool {
		if n != nil && second(n, known) {
			found++
		}
		return true
	})
	if found != 4 {
		t.Errorf("%d second defaults in the examples, expected 4", found)
	}
	root := filepath.Join("..", "..")
	for _, dir := range []string{"internal/learn", "cmd/internal/learners", "cluster/jobs/machines", "cluster/jobs/search",
		"cluster/jobs/train", "cluster/jobs/landmarks", "cmd/libgram", "."} {
		dir = filepath.Join(root, dir)
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (dir == root && path != root || d.Name() == "pca" || d.Name() == "width"): // other defaults
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"),
				dir == root && d.Name() != "train.go" && d.Name() != "search.go":
				return nil
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if n != nil && second(n, known) {
					t.Errorf("%s: a parameter's default, expected it in the tag of its field alone", files.Position(n.Pos()))
				}
				return true
			})
			return nil
		})
		musttest.NoError(t, err)
	}
}
