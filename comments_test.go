package gram_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// names are what a package declares: "T", "T.M" for methods and fields, and "T." for types that may
// have others, which they embed.
type names map[string]bool

func (n names) add(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			of := d.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if generic, ok := of.(*ast.IndexExpr); ok {
				of = generic.X
			}
			name = of.(*ast.Ident).Name + "." + name
		}
		n[name] = true
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					n[name.Name] = true
				}
			case *ast.TypeSpec:
				n.addType(s)
			}
		}
	}
}

func (n names) addType(s *ast.TypeSpec) {
	n[s.Name.Name] = true
	var fields *ast.FieldList
	switch t := s.Type.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		n[s.Name.Name+"."] = true // of another type
		return
	}
	for _, f := range fields.List {
		n[s.Name.Name+"."] = n[s.Name.Name+"."] || len(f.Names) == 0
		for _, name := range f.Names {
			n[s.Name.Name+"."+name.Name] = true
		}
	}
}

// has says whether a link leads somewhere: of go doc's forms T and T.M.
func (n names) has(link string) bool {
	of, _, member := strings.Cut(link, ".")
	return n[link] || member && n[of+"."]
}

// commentLink is [T] or [T.M], and not an index, a link with a target, or a name of one letter.
var commentLink = regexp.MustCompile(`(?:^|[\s("])\[\*?([A-Z]\w+(?:\.[A-Z]\w*)?)\](?:[\s.,;:)"']|$)`)

// TestLinksOfCommentsResolve checks links in comments to what the same package declares, under any build tag.
func TestLinksOfCommentsResolve(t *testing.T) {
	packages := map[string][]*ast.File{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || len(path) > 1 && strings.ContainsAny(d.Name()[:1], "._")):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil {
			packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for dir, files := range packages {
		known := names{}
		for _, f := range files {
			for _, d := range f.Decls {
				known.add(d)
			}
		}
		for _, f := range files {
			for _, c := range f.Comments {
				for _, m := range commentLink.FindAllStringSubmatch(c.Text(), -1) {
					if links++; !known.has(m[1]) {
						t.Errorf("%s: a comment links to [%s], which package %s doesn't declare", dir, m[1], f.Name.Name)
					}
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links, expected at least 100", links)
	}
}
