package cuda

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// exported returns the exported functions, methods and types of the package with some build tags.
func exported(t *testing.T, cgo bool, tags ...string) map[string]string {
	t.Helper()
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled, c.BuildTags = "linux", "amd64", cgo, tags
	p := musttest.Get(c.ImportDir(".", 0))(t)
	all, set := map[string]string{}, token.NewFileSet()
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		f := musttest.Get(parser.ParseFile(set, name, nil, 0))(t)
		ast.FileExports(f)
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				of := ""
				if d.Recv != nil {
					of = types.ExprString(d.Recv.List[0].Type) + "."
				}
				if of == "" || ast.IsExported(of[1:]) {
					all[of+d.Name.Name] = types.ExprString(d.Type)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.TypeSpec); ok {
						all[s.Name.Name] = "type"
					}
				}
			}
		}
	}
	return all
}

// A program that is written for the back end compiles without it.
func TestSameWithoutTag(t *testing.T) {
	with, without := exported(t, true, "cuda"), exported(t, false)
	if len(with) < 12 || !maps.Equal(with, without) {
		t.Errorf("with the tag %v\nwithout it   %v", with, without)
	}
}
