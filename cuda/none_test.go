package cuda

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// exported returns the exported functions, methods and types of the package with some build tags.
func exported(t *testing.T, cgo bool, tags ...string) map[string]string {
	t.Helper()
	c := build.Default
	c.GOOS, c.GOARCH, c.CgoEnabled, c.BuildTags = "linux", "amd64", cgo, tags
	p, err := c.ImportDir(".", 0)
	if err != nil {
		t.Fatal(err)
	}
	all, set := map[string]string{}, token.NewFileSet()
	for _, name := range append(p.GoFiles, p.CgoFiles...) {
		f, err := parser.ParseFile(set, filepath.Join(".", name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				of := ""
				if d.Recv != nil {
					of = types.ExprString(d.Recv.List[0].Type) + "."
				}
				public := d.Name.IsExported() && (of == "" || ast.IsExported(strings.Trim(of, "*.")))
				if public {
					for _, list := range []*ast.FieldList{d.Type.Params, d.Type.Results} {
						if list == nil {
							continue
						}
						var plain []*ast.Field // without names, which don't matter
						for _, field := range list.List {
							for range max(len(field.Names), 1) {
								plain = append(plain, &ast.Field{Type: field.Type})
							}
						}
						list.List = plain
					}
					all[of+d.Name.Name] = types.ExprString(d.Type)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					s, ok := s.(*ast.TypeSpec)
					if ok && s.Name.IsExported() {
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
