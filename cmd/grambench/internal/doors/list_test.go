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
	"sparse", "sparse/token", "asm", "tiles", "tiles/atomicfile",
	"engine", "engine/device", "engine/kernel", "engine/normal", "engine/spectrum", "engine/geometry",
	"solver", "learn/model", "learn/svm", "learn/logistic", "learn/linear", "learn/knn", "learn/landmark",
	"learn/pca", "learn/selection", "learn/width", "learn/lmnn",
	"learn/mkm", "cuda", "",
}

// pathOf is the import path of a package.
func pathOf(p string) string { return strings.TrimSuffix(module+p, "/") }

// door is an exported function, method or field of a function type.
type door struct {
	name      string // such as "sparse.CSR.Row": the package's last element, the type, the function
	signature *types.Signature
	receiver  types.Type // nil for functions
	field     bool       // a field of a function type
}

// load returns the doors of all packages. The type checker reads the packages as the compiler
// exported them for this test.
var load = sync.OnceValues(func() ([]door, error) {
	arguments := []string{"list", "-deps", "-export", "-f", "{{.ImportPath}}\t{{.Export}}"}
	for _, p := range packages {
		arguments = append(arguments, pathOf(p))
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
	imports := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(files[path])
	})
	var doors []door
	for _, p := range packages {
		pkg, err := imports.Import(pathOf(p))
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
		for m := range under.Methods() {
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

// harmless says whether nothing that a caller hands over can break a door: it takes nothing but a
// context, and its receiver, if any, has no exported field that could be filled wrongly.
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

// fillable says whether values of a type hold slices, maps, pointers, functions or interfaces that
// a caller can set.
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

// elsewhere are the doors that are tried where what they need is: a folder and a test there.
var elsewhere = map[string]string{
	"gram.Components.Project": " TestDoors",
	"gram.Cross":              " TestDoors",
	"gram.CrossValidate":      " TestDoors",
	"gram.Duplicates":         " TestDoors",
	"gram.FromMatrix":         " TestDoors",
	"gram.Gram":               " TestDoors",
	"gram.Load":               " TestDoors",
	"gram.LoadFrom":           " TestDoors",
	"gram.Model.Save":         " TestDoors",
	"gram.Model.Explain":      " TestDoors",
	"gram.Model.Write":        " TestDoors",
	"gram.Model.Predict":      " TestDoors",
	"gram.Model.PredictTexts": " TestDoors",
	"gram.Model.PredictTerms": " TestDoors",
	"gram.Model.With":         " TestDoors",
	"gram.Neighbours":         " TestDoors",
	"gram.PCA":                " TestDoors",
	"gram.Read":               " TestDoors",
	"gram.ReadFrom":           " TestDoors",
	"gram.Rows.Add":           " TestDoors",
	"gram.Search":             " TestDoors",
	"gram.SelectTerms":        " TestDoors",
	"gram.Spectrum":           " TestDoors",
	"gram.Terms":              " TestDoors",
	"gram.Texts":              " TestDoors",
	"gram.Train":              " TestDoors",
	"gram.NewRows":            " TestDoors",
	"gram.Must":               " TestDoorsTakeNothing",
	"gram.Options.Progress":   " TestDoorsTakeNothing",
	"gram.Options.Warn":       " TestDoorsTakeNothing",
	"gram.Predictions.Label":  " TestDoorsTakeNothing",
	"atomicfile.Create":       "tiles/atomicfile TestCreateRefuses",
	"atomicfile.File.Write":   "tiles/atomicfile TestFileAfterItsEnd",
	"atomicfile.File.WriteAt": "tiles/atomicfile TestFileAppearsWhole",
	"atomicfile.Sweep":        "tiles/atomicfile TestSweep",
	"cuda.Columns.BatchRows":  "cuda TestClosed",
	"cuda.Columns.Close":      "cuda TestClosed",
	"cuda.Columns.HostBytes":  "cuda TestClosed",
	"cuda.Columns.Name":       "cuda TestClosed",
	"cuda.Columns.Rows":       "cuda TestBadRequests",
	"cuda.Columns.Digest":     "cuda TestBadReductions",
	"cuda.Columns.Least":      "cuda TestBadReductions",
	"cuda.Columns.Multiply":   "cuda TestBadReductions",
	"cuda.Device.Load":        "cuda TestBadRequests",
	"kernel.IsHyperbolic":     "engine/kernel FuzzParseKernel",
	"kernel.MustParse":        "engine/kernel FuzzParseKernel",
	"kernel.Parse":            "engine/kernel FuzzParseKernel",
	"kernel.ParseHyperbolic":  "engine/kernel TestParseHyperbolic",
	"engine.IsHyperbolic":     "engine/kernel FuzzParseKernel",
	"engine.MustParseKernel":  "engine/kernel FuzzParseKernel",
	"engine.ParseHyperbolic":  "engine/kernel TestParseHyperbolic",
	"engine.ParseKernel":      "engine/kernel FuzzParseKernel",
	"sparse.CheckEncoding":    "sparse TestEncodings",
	"sparse.ParseEmbedding":   "sparse FuzzParseEmbedding",
	"sparse.ParseSynthetic":   "sparse TestParseSynthetic",
	"sparse.ParseTokenizer":   "sparse/token FuzzParse",
	"token.Parse":             "sparse/token FuzzParse",
	"token.ParseRange":        "sparse/token FuzzParse",
}

// callers are the interfaces that a caller implements: what is tried are implementations that break
// their promises, by the cases of the doors that take them.
var callers = map[string]string{
	"device.Accelerator": "engine.Options.Device",
	"device.Backend":     "engine.Options.Device",
	"device.Counter":     "engine.Options.Device",
	"device.Identified":  "engine.Options.Device",
	"device.Prepared":    "engine.Options.Device",
	"device.Preparer":    "engine.Options.Device",
	"device.Reducer":     "engine.Options.Device",
	"spectrum.Operator":  "spectrum.Lanczos",
	"solver.Matrix":      "solver.Matrix.Rows",
}

// tableOfKernels are the types whose fields are kernels on raw slices: package asm asks reflection
// for all of them.
var tableOfKernels = map[string]string{"asm.Kernels": "asm TestShortSlices", "asm.Pairing": "asm TestShortSlices"}

// TestEveryDoorHasACase fails where there is a door without a case, or a case without a door.
func TestEveryDoorHasACase(t *testing.T) {
	doors, err := load()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	typeNames := map[string]bool{}
	table := cases()
	for _, d := range doors {
		names[d.name] = true
		of, _, _ := cutLast(d.name)
		typeNames[of] = true
		_, has := table[d.name]
		_, other := elsewhere[d.name]
		_, kernel := tableOfKernels[of]
		through, caller := callers[of]
		switch {
		case has && other:
			t.Errorf("%s has a case here and one elsewhere", d.name)
		case has || other || kernel && d.field || d.harmless():
		case caller && hasCase(table, through):
		default:
			t.Errorf("%s takes what may break it, %s, and has no case", d.name, signature(d))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(table)) {
		if !names[name] {
			t.Errorf("the case %s has no door", name)
		}
	}
	for name, test := range elsewhere {
		if !names[name] {
			t.Errorf("%s, which %s tries, is no door", name, test)
		}
		thereIs(t, test)
	}
	for name, test := range tableOfKernels {
		if !typeNames[name] {
			t.Errorf("%s, which %s tries, is no type", name, test)
		}
		thereIs(t, test)
	}
	for name := range callers {
		if !typeNames[name] {
			t.Errorf("%s, which callers implement, is no type", name)
		}
	}
}

func hasCase(table map[string]testCase, name string) bool {
	_, ok := table[name]
	return ok
}

func cutLast(name string) (before, after string, found bool) {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[:i], name[i+1:], true
	}
	return name, "", false
}

func signature(d door) string { return types.TypeString(d.signature, short) }

// thereIs checks that a test exists, named by its folder and its name.
func thereIs(t *testing.T, test string) {
	folder, name, _ := strings.Cut(test, " ")
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("func "+name+"(")) {
			return
		}
	}
	t.Errorf("there is no %s in %s", name, folder)
}

func short(p *types.Package) string { return filepath.Base(p.Path()) }

// untried are public packages whose doors have no cases yet, with what reaches them meanwhile.
var untried = map[string]string{"learn": "learn TestSearchRefuses"} // and package gram, through TestDoors

// TestEveryPackageIsListed fails where a public package isn't among those whose doors are tested.
func TestEveryPackageIsListed(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}}", module+"...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		path = strings.TrimPrefix(path+"/", module)
		path = strings.TrimSuffix(path, "/")
		if name == "main" || strings.HasSuffix(name, "test") { // what only tests use
			continue
		}
		if test, ok := untried[path]; ok {
			thereIs(t, test)
			continue
		}
		if !strings.Contains("/"+path+"/", "/internal/") && !slices.Contains(packages, path) {
			t.Errorf("%s is a public package whose doors aren't tested", path)
		}
	}
}
