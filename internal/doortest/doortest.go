// Package doortest tries what a package exports, its doors, with bad arguments. Each function and
// method is called as a caller would, and then once for each part of its arguments that can be
// wrong: nil, negative and huge numbers, NaN, infinities, slices a value short or long, contexts
// that have ended, callbacks that fail or panic. A door answers with an error that says something
// or, where its comment says so, with a panic in its own words. It never fails inside the runtime,
// never reads beyond a slice, never returns NaN without an error and never waits for ever.
//
// What a door takes or answers otherwise stands in testdata/doors.txt of its package, one line per
// door and argument: a check that goes missing changes that file. To write it anew, run the test
// with -doors.update; it takes in no panics, which are listed by hand.
package doortest

import (
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	update   = flag.Bool("doors.update", false, "write testdata/doors.txt anew")
	only     = flag.String("doors.only", "", "the door to try, such as CSR.Row; all if empty")
	patience = flag.Duration("doors.patience", time.Minute, "how long a call may take")
)

// Package says how the doors of a package are called.
type Package struct {
	// Good are valid values by their types, As for interfaces. A function without parameters is
	// called for a new value at each call of a door. What isn't here is the zero value, or 1.
	Good []any

	// Bad are values, by their types, that break what the type promises. As is for interfaces.
	Bad []any

	// Calls are a function, or a method's name such as "CSR.Row", with the arguments of a good call.
	// They leave out contexts and receivers. A call without arguments takes all of them from Good,
	// so does every method that isn't here; functions must be.
	Calls [][]any

	// Whole are values of types whose parts aren't tried.
	Whole []any

	// Skip are calls that take too long, such as "Run tasks max".
	Skip []string

	// Elsewhere are doors that other tests of the package try, with their names.
	Elsewhere map[string]string
}

type typed struct {
	t     reflect.Type
	value any
}

// As is a value, or a function that makes one, for arguments of an interface type T.
func As[T any](value any) any { return typed{reflect.TypeFor[T](), value} }

// own is what functions panic with that doors are given. It may reach the caller.
const own = "doortest: a function of the caller's panics"

// A door is a function or method, and what to call it with.
type door struct {
	f        reflect.Value
	given    []any
	receiver bool // the first argument
	declaration
}

// fails says whether a door returns an error.
func (d door) fails() bool {
	n := d.f.Type().NumOut()
	return n > 0 && d.f.Type().Out(n-1) == errorType
}

type declaration struct {
	parameters []string
	doc        string
}

// declarations returns the exported functions and methods of the package in a folder.
func declarations(dir string) (map[string]declaration, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	all := map[string]declaration{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		mode := parser.ParseComments | parser.SkipObjectResolution
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, mode)
		if err != nil {
			return nil, err
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Name.IsExported() {
				declare(all, f)
			}
		}
	}
	return all, nil
}

func declare(all map[string]declaration, f *ast.FuncDecl) {
	name, d := f.Name.Name, declaration{doc: f.Doc.Text()}
	if f.Recv != nil {
		of := f.Recv.List[0].Type
		if star, ok := of.(*ast.StarExpr); ok {
			of = star.X
		}
		if generic, ok := of.(*ast.IndexExpr); ok {
			of = generic.X
		}
		receiver := of.(*ast.Ident)
		if !receiver.IsExported() {
			return
		}
		name = receiver.Name + "." + name
		d.parameters = append(d.parameters, "receiver")
	}
	for _, field := range f.Type.Params.List {
		for _, n := range field.Names {
			d.parameters = append(d.parameters, n.Name)
		}
		if len(field.Names) == 0 {
			d.parameters = append(d.parameters, "_")
		}
	}
	all[name] = d
}

// tester is what of testing.T tells what was found.
type tester interface {
	Errorf(format string, a ...any)
	Logf(format string, a ...any)
	Context() context.Context
}

type run struct {
	Package
	t      tester
	path   string // of the package
	good   map[reflect.Type]any
	doors  map[string]door
	memory guards
	known  map[string]bool // the lines of testdata/doors.txt
	found  []string        // those of this run
}

// Run tries all doors of the package in whose folder the test is. It is called by a test of its own.
func Run(t *testing.T, p Package) {
	if testing.Short() && !*update {
		t.Skip("arguments are refused alike under the race detector and on other processors")
	}
	r := &run{Package: p, t: t, good: map[reflect.Type]any{}, doors: map[string]door{}, known: map[string]bool{}}
	caller, _, _, _ := runtime.Caller(1)
	test := runtime.FuncForPC(caller).Name()
	r.path = strings.TrimSuffix(test[:strings.LastIndex(test, ".")], "_test")
	for _, g := range p.Good {
		of, value := typeOf(g)
		r.good[of] = value
	}
	all, err := declarations(".")
	if err != nil {
		t.Fatal(err)
	}
	r.collect(all)
	r.missing(all)
	folder, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "doors.txt")
	text, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		r.known[strings.TrimSpace(line)] = true
	}
	t.Chdir(t.TempDir()) // a door may write where it is told
	for _, name := range slices.Sorted(maps.Keys(r.doors)) {
		if *only == "" || name == *only {
			t.Run(name, func(t *testing.T) { r.try(t, name) })
		}
	}
	if *only != "" || t.Failed() && !*update {
		return
	}
	if *update {
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(strings.Join(r.found, "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	for line := range r.known {
		if !slices.Contains(r.found, line) {
			t.Errorf("testdata/doors.txt says %q, which isn't so any more", line)
		}
	}
}

// typeOf is the type of the values that x makes or is.
func typeOf(x any) (reflect.Type, any) {
	if as, ok := x.(typed); ok {
		return as.t, as.value
	}
	t := reflect.TypeOf(x)
	if t.Kind() == reflect.Func && t.NumIn() == 0 && t.NumOut() == 1 {
		return t.Out(0), x
	}
	return t, x
}

// collect finds the doors: the functions of Calls, and the methods of all types that these and the
// values of Good and Bad lead to.
func (r *run) collect(all map[string]declaration) {
	seen := map[reflect.Type]bool{}
	given := map[string][]any{}
	for _, c := range r.Calls {
		if name, ok := c[0].(string); ok {
			if _, ok := all[name]; !ok {
				r.t.Errorf("Calls names %s, which is no door", name)
			}
			given[name] = c[1:]
			continue
		}
		f := reflect.ValueOf(c[0])
		name := strings.TrimPrefix(runtime.FuncForPC(f.Pointer()).Name(), r.path+".")
		name, _, _ = strings.Cut(strings.NewReplacer("(*", "", ")", "").Replace(name), "[")
		d, ok := all[name]
		if !ok {
			r.t.Errorf("Calls has %s, which is no door", name)
			continue
		}
		r.doors[name] = door{f, c[1:], false, d}
		r.methods(f.Type(), seen, all)
	}
	for _, x := range slices.Concat(r.Good, r.Bad) {
		of, _ := typeOf(x)
		r.methods(of, seen, all)
	}
	for name, arguments := range given {
		if d, ok := r.doors[name]; ok {
			d.given = arguments
			r.doors[name] = d
		}
	}
}

// methods adds the methods of a type and of those that it leads to.
func (r *run) methods(t reflect.Type, seen map[reflect.Type]bool, all map[string]declaration) {
	if seen[t] {
		return
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Chan, reflect.Map:
		r.methods(t.Elem(), seen, all)
	case reflect.Func:
		for in := range t.Ins() {
			r.methods(in, seen, all)
		}
		for out := range t.Outs() {
			r.methods(out, seen, all)
		}
	case reflect.Struct:
		for f := range t.Fields() {
			if f.IsExported() {
				r.methods(f.Type, seen, all)
			}
		}
	}
	if t.PkgPath() != r.path || t.Kind() == reflect.Interface {
		return
	}
	of, _, _ := strings.Cut(t.Name(), "[")
	for _, t := range []reflect.Type{t, reflect.PointerTo(t)} {
		for m := range t.Methods() {
			name := of + "." + m.Name
			d, declared := all[name]
			if _, has := r.doors[name]; declared && !has {
				r.doors[name] = door{m.Func, nil, true, d}
				r.methods(m.Func.Type(), seen, all)
			}
		}
	}
}

// missing checks that all doors are tried, here or by a test that there is.
func (r *run) missing(all map[string]declaration) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		panic(err)
	}
	var tests strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			panic(err)
		}
		tests.Write(text)
	}
	for name, test := range r.Elsewhere {
		delete(r.doors, name)
		if _, ok := all[name]; !ok {
			r.t.Errorf("%s, which %s tries, is no door", name, test)
		}
		if !strings.Contains(tests.String(), "func "+test+"(") {
			r.t.Errorf("there is no %s, which is to try %s", test, name)
		}
	}
	for name := range all {
		_, here := r.doors[name]
		if _, elsewhere := r.Elsewhere[name]; !here && !elsewhere {
			r.t.Errorf("nothing tries %s: give Calls its arguments, or Good a value of its type", name)
		}
	}
}

// try calls a door with good arguments, and then with one part of them wrong at a time.
func (r *run) try(t tester, name string) {
	d := r.doors[name]
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	arguments := r.arguments(t, d)
	ours, detail := r.call(t, d, name, arguments)
	if ours != taken && ours != notFinite {
		t.Errorf("a good call is %s: %s", ours, detail)
		return
	}
	answers := map[string][]string{} // what was wrong, by argument and outcome
	note := func(at, what string, v reflect.Value) {
		if slices.Contains(r.Skip, name+" "+at+" "+what) {
			return
		}
		i := slices.Index(d.parameters, root(at))
		all := r.arguments(t, d)
		all[i] = v
		outcome, detail := r.call(t, d, name+" with "+at+" "+what, all)
		if outcome == ours {
			outcome = taken
		}
		if outcome == crash && !d.fails() && !strings.Contains(at, ".") && strings.Contains(detail, " out of range [") {
			outcome = "index" // of a number that an argument is or has, as a slice answers it
		}
		if outcome == expected(d, at, what) || what == reporting && outcome == refused {
			return
		}
		if (outcome == taken || outcome == refused) && at != root(at) && !strings.HasSuffix(name, ".Validate") && valid(v) {
			return // what its own Validate takes is the door's to take or to refuse
		}
		if outcome == crash && root(at) != "receiver" {
			t.Logf("%s %s: %s", at, what, detail)
		}
		answers[at+" "+outcome] = append(answers[at+" "+outcome], what)
	}
	for i, a := range arguments {
		r.variants(a, d.parameters[i], note)
	}
	lines := map[string][]string{} // arguments, by outcome and what was wrong
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		at, outcome, _ := strings.Cut(key, " ")
		line := fmt.Sprintf("%s %s (%s):", name, outcome, strings.Join(answers[key], ", "))
		lines[line] = append(lines[line], at)
	}
	for _, start := range slices.Sorted(maps.Keys(lines)) {
		line := start + " " + strings.Join(lines[start], ", ")
		byHand := (strings.Contains(start, " crash (") || strings.Contains(start, " panic (")) &&
			root(lines[start][0]) != "receiver"
		if !r.known[line] && (byHand || !*update) {
			t.Errorf("not in testdata/doors.txt (see -doors.update): %s", line)
			continue
		}
		r.found = append(r.found, line)
	}
}

// valid says whether a value has a method Validate, which takes it.
func valid(v reflect.Value) (ok bool) {
	defer func() { ok = ok && recover() == nil }()
	x, has := v.Interface().(interface{ Validate() error })
	return has && x.Validate() == nil
}

// root is the parameter of a path.
func root(at string) string {
	if i := strings.IndexAny(at, ".["); i >= 0 {
		return at[:i]
	}
	return at
}

// The outcomes of a call.
const (
	refused = "refused" // with an error, or a panic as documented
	taken   = "taken"

	notFinite = "NaN"   // taken, with a result that isn't finite
	crash     = "crash" // a panic of the runtime, or one that isn't documented
)

// reporting is a callback without results that panics, if it is called: reports may come by time.
const reporting = "reporting panics"

// expected is what needs no line in testdata/doors.txt.
func expected(d door, at, what string) string {
	switch {
	case at == "receiver" && (what == "nil" || what == "zero"):
		return crash
	case what == reporting:
		return taken
	case d.fails() && what != "other" && what != "function":
		return refused
	case strings.Contains(d.doc, "panic") && root(at) != "receiver":
		return refused
	}
	return taken
}

// Must is a value that came without an error.
func Must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// Written is what write writes, such as a model.
func Written(t *testing.T, write func(context.Context, io.Writer) error) string {
	t.Helper()
	var text strings.Builder
	if err := write(t.Context(), &text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// File writes a file for a good call, and returns its name.
func File(t *testing.T, name, text string) string {
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}
