package engine

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// copied is a deep copy of documents, to be spoilt.
func copied(x *sparse.Embedded) *sparse.Embedded {
	y := *x
	y.Offsets, y.Terms, y.Values, y.Raw = slices.Clone(x.Offsets), slices.Clone(
		x.Terms), slices.Clone(x.Values), slices.Clone(
		x.Raw,
	)
	y.Norms, y.Divisors = slices.Clone(x.Norms), slices.Clone(x.Divisors)
	return &y
}

// spoilt are documents that contradict themselves.
func spoilt(x *sparse.Embedded) map[string]*sparse.Embedded {
	all := map[string]*sparse.Embedded{
		"nil":         nil,
		"no embedder": {CSR: x.CSR, Raw: x.Raw, Norms: x.Norms, Divisors: x.Divisors},
	}
	for name, spoil := range map[string]func(x *sparse.Embedded){
		"exchanged terms": func(x *sparse.Embedded) { x.Terms[0], x.Terms[1] = x.Terms[1], x.Terms[0] },
		"a term twice":    func(x *sparse.Embedded) { x.Terms[1] = x.Terms[0] },
		"a term beyond":   func(x *sparse.Embedded) { x.Terms[len(x.Terms)-1] = 1 << 31 },
		"short terms":     func(x *sparse.Embedded) { x.Terms = x.Terms[:len(x.Terms)-1] },
		"short raws":      func(x *sparse.Embedded) { x.Raw = x.Raw[:len(x.Raw)-1] },
		"short norms":     func(x *sparse.Embedded) { x.Norms = x.Norms[:len(x.Norms)-1] },
		"offsets back":    func(x *sparse.Embedded) { x.Offsets[2] = x.Offsets[1] - 1 },
		"offsets beyond":  func(x *sparse.Embedded) { x.Offsets[len(x.Offsets)-1]++ },
		"a wrong value":   func(x *sparse.Embedded) { x.Values[3] = 2 },
		"a NaN":           func(x *sparse.Embedded) { x.Values[3] = float32(math.NaN()) },
		"a norm of NaN":   func(x *sparse.Embedded) { x.Norms[3] = math.NaN() },
		"a norm below 0":  func(x *sparse.Embedded) { x.Norms[3] = -1 },
	} {
		all[name] = copied(x)
		spoil(all[name])
	}
	return all
}

// No way into an engine takes documents that contradict themselves: unsorted terms gave a wrong
// value in silence, and the reference had the same.
func TestDocumentsAreChecked(t *testing.T) {
	x := embedded(t, sparse.Embedding{}, zipf(30, 50, 10, 1))
	e, k, ctx := newEngine(t, x, Options{}), parse(t, "linear"), t.Context()
	visit := func(*Tile) error { return nil }
	for name, bad := range spoilt(x) {
		for way, use := range map[string]func() error{
			"New":        func() error { _, err := New(bad, Options{}); return err },
			"Cross":      func() error { _, err := e.Cross(ctx, k, bad); return err },
			"CrossTo":    func() error { return e.CrossTo(ctx, k, bad, NewDense(30, 30)) },
			"CrossTiles": func() error { return e.CrossTiles(ctx, k, bad, visit) },
			"NormalsOf":  func() error { _, err := NormalsOf(bad); return err },
			"NewReference": func() (err error) {
				defer func() { err, _ = recover().(error) }()
				NewReference(bad)
				return nil
			},
		} {
			if err := use(); err == nil {
				t.Errorf("%s takes documents with %s", way, name)
			}
		}
	}
	other := embedded(t, sparse.Embedding{}, zipf(30, 50, 10, 2))
	if _, err := e.Cross(ctx, k, other); err == nil {
		t.Error("Cross takes documents of another embedder")
	}
}

// Norms whose squares float32 can't hold are refused by kernels that look at them, for training and
// for test documents.
func TestLongDocuments(t *testing.T) {
	m := zipf(30, 50, 10, 1)
	long := &sparse.CSR{Cols: m.Cols, Offsets: m.Offsets, Terms: m.Terms, Values: slices.Clone(m.Values)}
	lo := m.Offsets[7]
	long.Values[lo] = 1e19
	f, ctx := (sparse.Embedding{}).Fit(m), t.Context()
	of := func(m *sparse.CSR) *sparse.Embedded {
		x, err := f.Transform(m)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x, y := of(m), of(long)
	for _, spec := range []string{"linear", "rbf:gamma=1", "arccos:n=2"} {
		k := parse(t, spec)
		if _, err := newEngine(t, y, Options{}).Gram(ctx, k); err == nil ||
			!strings.Contains(err.Error(), "in row 7, expected at most 4.6") {
			t.Errorf("%s on long documents: error %v", spec, err)
		}
		if _, err := newEngine(t, x, Options{}).Cross(ctx, k, y); err == nil ||
			!strings.Contains(err.Error(), "in row 7, expected at most 4.6") {
			t.Errorf("%s on long test documents: error %v", spec, err)
		}
	}
	if _, err := newEngine(t, x, Options{}).Cross(ctx, parse(t, "arccos:n=0,embed=tf"), y); err != nil {
		t.Errorf("a kernel of the cosine: %v", err)
	}
}

// Destinations of another shape, rows that aren't there, functions that are nil and options out of
// range are refused.
func TestEngineRefuses(t *testing.T) {
	const n = 20
	x := embedded(t, sparse.Sphere, zipf(n, 50, 10, 1))
	e, k, ctx := newEngine(t, x, Options{}), parse(t, "diffusion:t=0.5"), t.Context()
	d := func(rows, cols, values int) *Dense {
		return &Dense{Rows: rows, Cols: cols, Data: make([]float32, values)}
	}
	for name, use := range map[string]func() error{
		"Gram, no kernel": func() error { _, err := e.Gram(ctx, nil); return err },
		"GramTo, nil":     func() error { return e.GramTo(ctx, k, nil) },
		"GramTo, too few rows": func() error {
			return e.GramTo(ctx, k, &Symmetric{N: n - 1, Data: make([]float32, (n-1)*(n-1))})
		},
		"GramTo, too few values": func() error {
			return e.GramTo(ctx, k, &Symmetric{N: n, Data: make([]float32, n*n-1)})
		},
		"Rows, nil":                   func() error { return e.Rows(ctx, k, []int{1}, nil) },
		"Rows, a row beyond":          func() error { return e.Rows(ctx, k, []int{n}, d(1, n, n)) },
		"Rows, a row below 0":         func() error { return e.Rows(ctx, k, []int{-1}, d(1, n, n)) },
		"Rows, too few values":        func() error { return e.Rows(ctx, k, []int{1, 2}, d(2, n, 2*n-1)) },
		"Rows, too many rows":         func() error { return e.Rows(ctx, k, []int{1, 2}, d(3, n, 3*n)) },
		"Rows, columns for rows":      func() error { return e.Rows(ctx, k, []int{1, 2}, d(n, 2, 2*n)) },
		"CrossTo, nil":                func() error { return e.CrossTo(ctx, k, x, nil) },
		"CrossTo, a row less":         func() error { return e.CrossTo(ctx, k, x, d(n-1, n, n*(n-1))) },
		"Tiles, nil":                  func() error { return e.Tiles(ctx, nil) },
		"CrossTiles, nil":             func() error { return e.CrossTiles(ctx, k, x, nil) },
		"Stripes, nil":                func() error { return e.Stripes(ctx, k, nil) },
		"Cached, bytes below 0":       func() error { _, err := e.Cached(CachedOptions{CacheBytes: -1}); return err },
		"Cached, columns below 0":     func() error { _, err := e.Cached(CachedOptions{TileColumns: -1}); return err },
		"New, workers below 0":        func() error { _, err := New(x, Options{Workers: -1}); return err },
		"New, workers without end":    func() error { _, err := New(x, Options{Workers: math.MaxInt}); return err },
		"New, memory below 0":         func() error { _, err := New(x, Options{MemoryBytes: -1}); return err },
		"New, another set of kernels": func() error { _, err := New(x, Options{ISA: "avx3"}); return err },
	} {
		if err := use(); err == nil {
			t.Errorf("%s: no error", name)
		} else if errors.As(err, new(*run.PanicError)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	e = newEngine(t, embedded(t, sparse.Sphere, zipf(1000, 50, 10, 1)), Options{Workers: 1})
	if c := newCached(t, e, CachedOptions{CacheBytes: 2 << 20, TileColumns: math.MaxInt}); c.Whole() ||
		c.c.Width() < 1000 ||
		c.c.Width() > 1024 {
		t.Errorf("tiles of %d columns, whole: %v", c.c.Width(), c.Whole())
	}
}

// An engine that is closed says so, whatever it is asked for, and is closed once.
func TestClosedEngine(t *testing.T) {
	x := embedded(t, sparse.Sphere, zipf(20, 50, 10, 1))
	k, ctx := parse(t, "diffusion:t=0.5"), t.Context()
	e := newEngine(t, x, Options{})
	c, dst := newCached(t, e, CachedOptions{}), NewDense(20, 20)
	m := matrixOf(t, c)
	for range 2 {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for way, use := range map[string]func() error{
		"Gram":         func() error { _, err := e.Gram(ctx, k); return err },
		"Rows":         func() error { return e.Rows(ctx, k, []int{1}, NewDense(1, 20)) },
		"Cross":        func() error { _, err := e.Cross(ctx, k, x); return err },
		"CrossTo":      func() error { return e.CrossTo(ctx, k, x, dst) },
		"CrossTiles":   func() error { return e.CrossTiles(ctx, k, x, func(*Tile) error { return nil }) },
		"Stripes":      func() error { return e.Stripes(ctx, k, func(int, *Dense) error { return nil }) },
		"Tiles":        func() error { return e.Tiles(ctx, func(*Tile) error { return nil }) },
		"ZeroDiagonal": func() error { _, err := e.ZeroDiagonal(k); return err },
		"Build":        func() error { return c.Build(ctx) },
		"WriteTiles":   func() error { return e.WriteTiles(ctx, 0, 20, io.Discard) },
		"Ready":        func() error { _, err := c.Ready(ctx, k); return err },
		"Matrix":       func() error { _, err := c.Matrix(k); return err },
		"Matrix.Rows":  func() error { return m.Rows(ctx, []int{1}, [][2]int{{0, 20}}, [][]float32{dst.Row(0)}) },
		"Cached":       func() error { _, err := e.Cached(CachedOptions{}); return err },
	} {
		if err := use(); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("%s of a closed engine: error %v", way, err)
		}
	}
}

// Functions that a caller hands over and that panic end the computation with an error, not the
// program; the engine goes on, with the same bits as before.
func TestCallersThatPanic(t *testing.T) {
	x := embedded(t, sparse.Embedding{}, zipf(400, 500, 80, 3))
	k, ctx := parse(t, "linear"), t.Context()
	reports := false
	e := newEngine(t, x, Options{Workers: 3, Progress: func(Progress) {
		if reports {
			panic(errBroken)
		}
	}})
	onDevice, _ := withDevice(t, x, Options{Workers: 3})
	h, err := NewHyperbolic(ctx, Hyperbolic{T: 1}, normals(t, 40, 3, 1),
		Options{Progress: func(Progress) { panic(errBroken) }})
	if err != nil {
		t.Fatal(err)
	}
	want, tiled := gram(t, e, k), 0
	ways := map[string]func() error{
		"Tiles": func() error { return e.Tiles(ctx, func(*Tile) error { panic(errBroken) }) },
		"later tile": func() error {
			tiled = 0
			return e.CrossTiles(ctx, k, x, func(*Tile) error { tiled++; return bang(tiled) })
		},
		"CrossTiles": func() error {
			return e.CrossTiles(ctx, k, x, func(*Tile) error { panic(errBroken) })
		},
		"Stripes": func() error {
			return e.Stripes(ctx, k, func(int, *Dense) error { panic(errBroken) })
		},
		"on a device: Tiles": func() error { return onDevice.Tiles(ctx, func(*Tile) error { panic(errBroken) }) },
		"on a device: CrossTiles": func() error {
			return onDevice.CrossTiles(ctx, k, x, func(*Tile) error { panic(errBroken) })
		},
		"on a device: Stripes": func() error {
			return onDevice.Stripes(ctx, k, func(int, *Dense) error { panic(errBroken) })
		},
		"hyperbolic":      func() error { _, err := h.Gram(ctx); return err },
		"report of Gram":  func() error { reports = true; _, err := e.Gram(ctx, k); return err },
		"report of Rows":  func() error { reports = true; return e.Rows(ctx, k, []int{1}, NewDense(1, 400)) },
		"report of Cross": func() error { reports = true; _, err := e.Cross(ctx, k, x); return err },
		"report of Stripes": func() error {
			reports = true
			return e.Stripes(ctx, k, func(int, *Dense) error { return nil })
		},
		"report of Tiles": func() error {
			reports = true
			return e.Tiles(ctx, func(*Tile) error { return nil })
		},
		"WriteTiles": func() error {
			return e.WriteTiles(ctx, 0, 400, writerFunc(func([]byte) (int, error) { panic(errBroken) }))
		},
		"report of Build": func() error { reports = true; return newCached(t, e, CachedOptions{}).Build(ctx) },
		"report of Ready": func() error {
			reports = true
			_, err := newCached(t, e, CachedOptions{}).Ready(ctx, k)
			return err
		},
	}
	for way, compute := range ways {
		var failed *run.PanicError
		if err := compute(); !errors.As(err, &failed) || !errors.Is(err, errBroken) ||
			!strings.Contains(string(failed.Stack), "doors_test.go") {
			t.Errorf("%s: error %v, expected a PanicError", way, err)
		}
		reports = false
		if got := gram(t, e, k); !sameBits(got.Data, want.Data) {
			t.Errorf("after %s the engine computes other values", way)
		}
	}
}

// A yield that ends its goroutine, as t.Fatal does, ends Stripes with an error: it is called on a
// goroutine that the caller knows nothing of.
func TestStripesGoexit(t *testing.T) {
	for _, docs := range []int{20, 1000} { // one stripe, several
		e := newEngine(t, embedded(t, sparse.Embedding{}, zipf(docs, 500, 80, 3)), Options{Workers: 1})
		err := e.Stripes(t.Context(), parse(t, "linear"), func(int, *Dense) error { runtime.Goexit(); return nil })
		if failed := (*run.PanicError)(nil); !errors.As(err, &failed) {
			t.Errorf("%d documents: error %v, expected a PanicError", docs, err)
		}
	}
}

// A row of a matrix that was filled by hand is one of it or a panic: numbers of rows and columns
// whose product wraps round gave another row.
func TestRowOfWrappingMatrix(t *testing.T) {
	for _, d := range []*Dense{
		{Rows: 1 << 60, Cols: 1 << 5, Data: make([]float32, 64)},
		{Rows: 3, Cols: -1, Data: make([]float32, 64)},
		{Rows: 2, Cols: 32, Data: make([]float32, 63)},
	} {
		func() {
			defer func() {
				if err, _ := recover().(error); err == nil || !strings.HasPrefix(err.Error(), "engine: row ") {
					t.Errorf("%d×%d: panic %v, expected one that names the row", d.Rows, d.Cols, err)
				}
			}()
			d.Row(min(d.Rows-1, 1<<59))
		}()
	}
}

// An engine that New didn't make says so.
func TestEngineOfNobody(t *testing.T) {
	k, ctx, x := parse(t, "linear"), t.Context(), embedded(t, sparse.Embedding{}, zipf(3, 50, 10, 1))
	for _, e := range []*Engine{nil, {}} {
		for way, use := range map[string]func() error{
			"Gram":       func() error { _, err := e.Gram(ctx, k); return err },
			"Rows":       func() error { return e.Rows(ctx, k, []int{0}, NewDense(1, 1)) },
			"CrossTiles": func() error { return e.CrossTiles(ctx, k, x, func(*Tile) error { return nil }) },
			"Stripes":    func() error { return e.Stripes(ctx, k, func(int, *Dense) error { return nil }) },
			"Tiles":      func() error { return e.Tiles(ctx, func(*Tile) error { return nil }) },
			"Cached":     func() error { _, err := e.Cached(CachedOptions{}); return err },
			"WriteTiles": func() error { return e.WriteTiles(ctx, 0, 0, io.Discard) },
			"Close":      func() error { return e.Close() },
		} {
			if err := use(); err == nil || !strings.Contains(err.Error(), "an engine that New didn't make") {
				t.Errorf("%s: error %v", way, err)
			}
		}
	}
}

// writerFunc is a function as an io.Writer.
type writerFunc func(b []byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// bang panics where it is not the first tile.
func bang(tile int) error {
	if tile > 1 {
		panic(errBroken)
	}
	return nil
}

// A report that panics ends a long computation, which nobody would look at any more.
func TestReportThatPanicsEndsTheComputation(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	ctx, report := compute.Start(ctx, func(Progress) { panic(errBroken) }, 1)
	<-ctx.Done()
	var err error
	if report.Finish(&err); !errors.Is(err, errBroken) || !errors.Is(context.Cause(ctx), errBroken) {
		t.Errorf("error %v, the computation's end %v", err, context.Cause(ctx))
	}
}

// Pairs are counted without going beyond int64.
func TestPairsOf(t *testing.T) {
	for n, want := range map[int]int64{0: 0, 1: 1, 2: 3, 3: 6, 4: 10, 1<<32 - 1: 1<<63 - 1<<31} {
		if got := compute.PairsOf(n); got != want {
			t.Errorf("%d documents have %d pairs, expected %d", n, got, want)
		}
	}
}

// Points that contradict themselves or their sets, coordinates out of order, and destinations of
// another shape are refused.
func TestSetsRefuse(t *testing.T) {
	ctx := t.Context()
	points := func() *sparse.CSR {
		return &sparse.CSR{
			Cols:    3,
			Offsets: []int64{0, 2, 3, 5, 6},
			Terms:   []uint32{0, 2, 1, 0, 1, 2},
			Values:  []float32{1, 2, 3, 4, 5, 6},
		}
	}
	of := []int32{0, 0, 1, 1}
	spoilt := func(spoil func(p *sparse.CSR)) *sparse.CSR { p := points(); spoil(p); return p }
	both := func(p *sparse.CSR, of []int32, sets int) func() error {
		return func() error {
			if _, err := FitNormals(ctx, p, of, sets); err == nil {
				return nil
			}
			_, err := FitNormalsIn(ctx, p, of, sets, []uint32{0, 1, 2})
			return err
		}
	}
	in := func(columns ...uint32) func() error {
		return func() error { _, err := FitNormalsIn(ctx, points(), of, 2, columns); return err }
	}
	x, err := FitNormals(ctx, points(), of, 2)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewHyperbolic(ctx, Hyperbolic{T: 1}, x, Options{})
	if err != nil {
		t.Fatal(err)
	}
	hyperbolic := func(h Hyperbolic, opt Options) func() error {
		return func() error { _, err := NewHyperbolic(ctx, h, x, opt); return err }
	}
	for name, use := range map[string]func() error{
		"no points":             both(nil, nil, 0),
		"a term beyond":         both(spoilt(func(p *sparse.CSR) { p.Terms[1] = 3 }), of, 2),
		"a term twice":          both(spoilt(func(p *sparse.CSR) { p.Terms[1] = 0 }), of, 2),
		"a value that is none":  both(spoilt(func(p *sparse.CSR) { p.Values[1] = float32(math.NaN()) }), of, 2),
		"offsets beyond":        both(spoilt(func(p *sparse.CSR) { p.Offsets[4] = 7 }), of, 2),
		"sets of fewer points":  both(points(), of[:3], 2),
		"a set below 0":         both(points(), []int32{0, 0, 1, -1}, 2),
		"a set beyond":          both(points(), []int32{0, 0, 1, 2}, 2),
		"sets below 0":          both(points(), of, -1),
		"sets without end":      both(points(), of, math.MaxInt),
		"more sets than memory": both(points(), of, math.MaxInt32),
		"no coordinates":        in(),
		"coordinates back":      in(2, 1),
		"a coordinate twice":    in(1, 1),
		"no distributions": func() error {
			_, err := NewHyperbolic(ctx, Hyperbolic{T: 1}, nil, Options{})
			return err
		},
		"time NaN":          hyperbolic(Hyperbolic{T: math.NaN()}, Options{}),
		"time 0":            hyperbolic(Hyperbolic{}, Options{}),
		"dimension below 0": hyperbolic(Hyperbolic{T: 1, N: -1}, Options{}),
		"workers below 0":   hyperbolic(Hyperbolic{T: 1}, Options{Workers: -1}),
		"rows to nowhere":   func() error { return g.Rows(ctx, 0, nil) },
		"rows beyond":       func() error { return g.Rows(ctx, 1, NewDense(2, 2)) },
		"rows from below 0": func() error { return g.Rows(ctx, -1, NewDense(1, 2)) },
		"rows without end": func() error {
			return g.Rows(ctx, math.MaxInt, &Dense{Rows: 1, Cols: 2, Data: make([]float32, 2)})
		},
		"a row less than no rows":  func() error { return g.Rows(ctx, 2, &Dense{Rows: -1, Cols: 2}) },
		"against nothing":          func() error { return g.Against(nil, 0, make([]float32, 2)) },
		"against one that isn't":   func() error { return g.Against(x, 2, make([]float32, 2)) },
		"against one below 0":      func() error { return g.Against(x, -1, make([]float32, 2)) },
		"against, short":           func() error { return g.Against(x, 0, make([]float32, 1)) },
		"deviations in a column":   func() error { _, err := x.Vectors(2); return err },
		"a reference's row beyond": func() error { return reference(t).Row(ctx, 20, make([]float64, 20)) },
		"a reference's short row":  func() error { return reference(t).Row(ctx, 2, make([]float64, 19)) },
	} {
		if err := use(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var spread *SpreadError
	if err := both(points(), of, 7)(); !errors.As(err, &spread) || spread.Set != 2 || spread.Points != 0 {
		t.Errorf("a set without points: error %v", err)
	}
}

func reference(t *testing.T) *Reference {
	return NewReference(embedded(t, sparse.Sphere, zipf(20, 50, 10, 1)))
}
