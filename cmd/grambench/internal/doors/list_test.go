package doors

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/gramengine/gram/"

// packages are those whose doors are tested.
var packages = []string{
	"sparse", "asm", "tiles", "engine", "engine/device", "engine/spectrum", "solver", "solver/model", "solver/svm", "cuda",
}

// door is an exported function, method or field of a function type.
type door struct {
	name      string // such as "sparse.CSR.Row": the package's last element, the type, the function
	signature *types.Signature
	receiver  types.Type // nil for functions
	field     bool       // a field of a function type
}

// load returns the doors of all packages. The type checker reads the packages as the compiler exported them for this test.
var load = sync.OnceValues(func() ([]door, error) {
	arguments := []string{"list", "-deps", "-export", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for _, p := range packages {
		arguments = append(arguments, module+p)
	}
	list := exec.Command("go", arguments...)
	var complaints bytes.Buffer
	list.Stderr = &complaints
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, complaints.Bytes())
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "\t")
		files[path] = file
	}
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
	var doors []door
	for _, p := range packages {
		pkg, err := imports.Import(module + p)
		if err != nil {
			return nil, err
		}
		doors = append(doors, doorsOf(pkg)...)
	}
	return doors, nil
})

func doorsOf(pkg *types.Package) []door {
	var doors []door
	for _, name := range pkg.Scope().Names() {
		o := pkg.Scope().Lookup(name)
		if !o.Exported() {
			continue
		}
		at := pkg.Name() + "." + name
		switch o := o.(type) {
		case *types.Func:
			doors = append(doors, door{name: at, signature: o.Signature()})
		case *types.TypeName:
			doors = append(doors, doorsOfType(at, o)...)
		}
	}
	return doors
}

func doorsOfType(at string, o *types.TypeName) []door {
	named, ok := o.Type().(*types.Named)
	if !ok || o.IsAlias() {
		return nil // an alias has the doors of what it stands for
	}
	var doors []door
	for m := range named.Methods() {
		if m.Exported() {
			doors = append(doors, door{name: at + "." + m.Name(), signature: m.Signature(), receiver: named})
		}
	}
	switch under := named.Underlying().(type) {
	case *types.Interface:
		for m := range under.ExplicitMethods() {
			if m.Exported() {
				doors = append(doors, door{name: at + "." + m.Name(), signature: m.Signature(), receiver: named})
			}
		}
	case *types.Struct:
		for f := range under.Fields() {
			if s, ok := f.Type().Underlying().(*types.Signature); ok && f.Exported() {
				doors = append(doors, door{name: at + "." + f.Name(), signature: s, receiver: named, field: true})
			}
		}
	}
	return doors
}

// harmless says whether nothing that a caller hands over can break a door: it takes nothing but a context, and its receiver, if
// any, has no exported field that could be filled wrongly.
func (d door) harmless() bool {
	if d.receiver != nil && (fillable(d.receiver, 0) || types.IsInterface(d.receiver)) {
		return false
	}
	for v := range d.signature.Params().Variables() {
		if t := types.TypeString(v.Type(), nil); t != "context.Context" {
			return false
		}
	}
	return true
}

// fillable says whether values of a type hold slices, maps, pointers, functions or interfaces that a caller can set.
func fillable(t types.Type, depth int) bool {
	if depth > 4 {
		return true
	}
	switch t := t.Underlying().(type) {
	case *types.Basic:
		return false
	case *types.Array:
		return fillable(t.Elem(), depth+1)
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() && fillable(f.Type(), depth+1) {
				return true
			}
		}
		return false
	}
	return true
}

// exempt are the doors without a case here, each with the test that has one.
var exempt = map[string]string{}

// TestEveryDoorHasACase fails where there is a door without a case, or a case without a door.
func TestEveryDoorHasACase(t *testing.T) {
	doors, err := load()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]door{}
	for _, d := range doors {
		names[d.name] = d
	}
	table := cases()
	for _, d := range doors {
		_, has := table[d.name]
		_, other := exempt[d.name]
		switch {
		case has && other:
			t.Errorf("%s has a case and is exempt", d.name)
		case has && d.harmless():
			// a case may do more than must be
		case !has && !other && !d.harmless():
			t.Errorf("%s takes what may break it, %s, and has no case", d.name, types.TypeString(d.signature, short))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if _, ok := names[name]; !ok {
			t.Errorf("the case %s has no door", name)
		}
	}
	for name := range exempt {
		if _, ok := names[name]; !ok {
			t.Errorf("the exempt %s is no door", name)
		}
	}
}

func short(p *types.Package) string { return filepath.Base(p.Path()) }
