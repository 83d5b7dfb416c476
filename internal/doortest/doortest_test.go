package doortest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unsafe"
)

// found collects what would fail a test.
type found struct {
	ctx  context.Context
	text []string
}

func (f *found) Errorf(format string, a ...any) { f.text = append(f.text, fmt.Sprintf(format, a...)) }
func (f *found) Logf(format string, a ...any)   { f.Errorf(format, a...) }
func (f *found) Context() context.Context       { return f.ctx }

type options struct {
	Size  int
	Share float64
	Tell  func() error
}

// checked does all that a door must.
func checked(ctx context.Context, rows []float64, o options) (float64, error) {
	if ctx == nil {
		return 0, errors.New("doortest: no context")
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if len(rows) != o.Size || !(o.Share > 0 && o.Share <= 1) || o.Tell == nil {
		return 0, errors.New("doortest: refused")
	}
	for _, v := range rows {
		if !(v > 0 && v <= math.MaxFloat64) {
			return 0, errors.New("doortest: a row that is refused")
		}
	}
	return o.Share, o.Tell()
}

// beyond reads as assembly would: the value after a slice.
func beyond(rows []float64) error {
	v := *(*float64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(rows)), 8*len(rows)))
	return fmt.Errorf("doortest: %v", v)
}

// TestFinds checks that each kind of defect is found, and nothing where there is none.
func TestFinds(t *testing.T) {
	rows := []float64{1, 2}
	good := options{2, 0.5, func() error { return nil }}
	for name, c := range map[string]struct {
		f     any
		given []any
		doc   string
		want  string // a part of what is found
	}{
		"all is checked":  {checked, []any{rows, good}, "", ""},
		"refuses all":     {func(int) error { return errors.New("doortest: no") }, nil, "", "a good call is refused"},
		"says nothing":    {func(n int) error { return sayNothing(n < 0) }, nil, "", "an error that says nothing"},
		"takes -1":        {func(n int) error { return refuse(n == 0 || n > 1 || n < -1) }, nil, "", "taken (-1): n"},
		"takes NaN":       {func(v float64) error { return refuse(v <= 0 || v > 1) }, nil, "", "taken (NaN): n"},
		"makes NaN":       {func(v float64) float64 { return v }, nil, "", "NaN (NaN, Inf, -Inf): n"},
		"ignores its end": {func(context.Context) error { return nil }, nil, "", "taken (ended, nil): n"},
		"another end":     {func(ctx context.Context) error { return other(ctx) }, nil, "", "another error (ended"},
		"lacks a check":   {func(p *options) error { return refuse(p.Size != 0) }, nil, "", "crash (nil): n"},
		"divides":         {func(n int) int { return 1 / n }, nil, "", "crash (0): n"},
		"panics":          {func(n int) { panicAt(n < 0) }, nil, "", "panic (-1, min): n"},
		"says it panics":  {func(n int) { panicAt(n != 1) }, nil, "It panics otherwise.", ""},
		"as a slice does": {func(n int) float64 { return rows[n] }, nil, "", "index (-1, min, max): n"},
		"reads beyond":    {beyond, []any{rows}, "", "a good call is crash"},
		"result":          {func(n int) result { return result(n) }, nil, "", "invalid (-1, min): n"},
		"callback":        {func(f func() error) error { _ = f(); return nil }, nil, "", "taken (fails): n"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "reads beyond" && runtime.GOOS != "linux" {
				t.Skip("no guarded memory")
			}
			f := &found{ctx: t.Context()}
			d := door{reflect.ValueOf(c.f), c.given, false, declaration{[]string{"n", "o", "p"}, c.doc}}
			r := &run{doors: map[string]door{"F": d}, known: map[string]bool{}}
			r.try(f, "F")
			if text := strings.Join(f.text, "\n"); c.want == "" && text != "" || !strings.Contains(text, c.want) {
				t.Errorf("found %q, expected %q", text, c.want)
			}
		})
	}
}

type silent struct{}

func (silent) Error() string { return "" }

func sayNothing(bad bool) error {
	if bad {
		return silent{}
	}
	return nil
}

func refuse(bad bool) error {
	if bad {
		return errors.New("doortest: refused")
	}
	return nil
}

func other(ctx context.Context) error { return refuse(ctx == nil || ctx.Err() != nil) }

func panicAt(bad bool) {
	if bad {
		panic("doortest: bad")
	}
}

type result int

func (r result) Validate() error { return refuse(r < 0) }

// TestMissing checks that a function or method which nothing tries is told, and so is what is no door.
func TestMissing(t *testing.T) {
	f := &found{ctx: t.Context()}
	r := &run{t: f, path: "github.com/gramengine/gram/internal/doortest", doors: map[string]door{}}
	r.Calls = [][]any{{As[error]}, {"Gone"}}
	r.Elsewhere = map[string]string{"Run": "TestNowhere", "Lost": "TestFinds"}
	all := map[string]declaration{"As": {}, "Run": {}, "New": {}, "Package.Method": {}}
	r.collect(all)
	r.missing(all)
	text := strings.Join(f.text, "\n")
	for _, want := range []string{"Calls names Gone", "no TestNowhere", "Lost, which", "nothing tries New",
		"Package.Method"} {
		if !strings.Contains(text, want) {
			t.Errorf("found %q, expected %q", text, want)
		}
	}
	if strings.Contains(text, "nothing tries As") {
		t.Errorf("As is missing: %q", text)
	}
}

// TestEveryPackage checks that each public package of the module tries its doors.
func TestEveryPackage(t *testing.T) {
	code, tried := map[string]bool{}, map[string]bool{}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			switch name := e.Name(); {
			case path == root:
			case err == nil, name == "internal", name == "testdata", name == "cmd", name == "docs",
				strings.HasSuffix(name, "test"), strings.HasPrefix(name, "_"), strings.HasPrefix(name, "."):
				return fs.SkipDir
			}
			return nil
		}
		dir := filepath.Dir(path)
		if strings.HasSuffix(path, "_test.go") {
			text, err := os.ReadFile(path)
			tried[dir] = tried[dir] || strings.Contains(string(text), "doortest.Run(t, ")
			return err
		}
		code[dir] = code[dir] || strings.HasSuffix(path, ".go")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, is := range code {
		if is && !tried[dir] {
			t.Errorf("%s is a public package, and nothing tries its doors", dir)
		}
	}
	if len(tried) < 20 {
		t.Errorf("%d packages, expected more", len(tried))
	}
}
