package gram_test

import (
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Exported identifiers of public packages don't mention types of internal packages, except through
// aliases whose comments name all fields.
func TestExportedTypesArePublic(t *testing.T) {
	musttest.SkipRace(t)
	const module = "github.com/gramengine/gram"
	internal := func(path string) bool { return strings.Contains(path+"/", "/internal/") }
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}",
		".", "./asm", "./corpus/...", "./cuda", "./engine/...", "./solver", "./sparse", "./tiles/...")
	exports := map[string]string{}
	for line := range strings.Lines(string(musttest.Get(list.Output())(t))) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		exports[path] = file
	}
	in := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	seen, found := map[types.Type]bool{}, map[string]bool{}
	var visit func(where string, of types.Type)
	visit = func(where string, of types.Type) {
		if seen[of] {
			return
		}
		switch of := of.(type) {
		case *types.Named, *types.Alias:
			o := of.(interface{ Obj() *types.TypeName }).Obj()
			if p := o.Pkg(); p != nil && strings.HasPrefix(p.Path(), module) && internal(p.Path()) {
				found[fmt.Sprintf("%s: %s.%s", where, strings.TrimPrefix(p.Path(), module+"/"), o.Name())] = true
				return
			}
			if p := o.Pkg(); p == nil || !strings.HasPrefix(p.Path(), module) {
				return
			}
			seen[of] = true
			where = strings.TrimPrefix(o.Pkg().Path(), module+"/") + "." + o.Name()
			if a, ok := of.(*types.Alias); ok {
				s, _ := a.Underlying().(*types.Struct)
				if n, ok := a.Rhs().(*types.Named); !ok || !internal(n.Obj().Pkg().Path()) {
					visit(where, a.Rhs())
				} else if s != nil {
					text := string(musttest.Get(exec.Command("go", "doc", o.Pkg().Path()+"."+o.Name()).Output())(t))
					for f := range s.Fields() {
						if f.Exported() && !strings.Contains(text, f.Name()) {
							found[fmt.Sprintf("%s: its comment doesn't name %s", where, f.Name())] = true
						}
					}
				}
				return
			}
			n := of.(*types.Named)
			for m := range n.Methods() {
				if m.Exported() {
					visit(where+"."+m.Name(), m.Type())
				}
			}
			visit(where, n.Underlying())
		case *types.Struct:
			for f := range of.Fields() {
				if f.Exported() {
					visit(where+"."+f.Name(), f.Type())
				}
			}
		case *types.Interface:
			for m := range of.Methods() {
				visit(where+"."+m.Name(), m.Type())
			}
		case *types.Signature:
			visit(where, of.Params())
			visit(where, of.Results())
		case *types.Tuple:
			for v := range of.Variables() {
				visit(where, v.Type())
			}
		case *types.Map:
			visit(where, of.Key())
			visit(where, of.Elem())
		case interface{ Elem() types.Type }:
			visit(where, of.Elem())
		}
	}
	for path := range exports {
		if !strings.HasPrefix(path, module) || internal(path) {
			continue
		}
		scope := musttest.Get(in.Import(path))(t).Scope()
		for _, name := range scope.Names() {
			if o := scope.Lookup(name); o.Exported() {
				visit(strings.TrimPrefix(path, module+"/")+"."+name, o.Type())
			}
		}
	}
	all := slices.Sorted(maps.Keys(found))
	if len(all) > 0 {
		t.Errorf("types of internal packages in what is exported:\n%s", strings.Join(all, "\n"))
	}
}
