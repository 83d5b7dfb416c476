package engine

import (
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// of returns the error of a call with two results.
func of(_ any, err error) error { return err }

// Every function of an engine rejects invalid documents. With unsorted terms, engine and reference
// would silently return the same wrong value.
func TestDocumentsAreChecked(t *testing.T) {
	x := embedded(t, sparse.Embedding{}, zipf(30, 50, 10, 1))
	e, k, ctx := newEngine(t, x, Options{}), parse(t, "linear"), t.Context()
	exchanged, other := *x, *x
	exchanged.Terms, other.Values = slices.Clone(x.Terms), slices.Clone(x.Values)
	slices.Reverse(exchanged.Terms[:2])
	other.Values[3] = 2
	for _, bad := range []*sparse.Embedded{&exchanged, &other} {
		for way, use := range map[string]func() error{
			"New":  func() error { return of(New(bad, Options{})) },
			"Rows": func() error { return of(e.Rows(ctx, k, Request{TestDocuments: bad}, nil)) },
			"Each": func() error { return e.EachTile(ctx, k, Request{TestDocuments: bad}, func(*Tile) error { return nil }) },
			"NewReference": func() (err error) {
				defer func() { err, _ = recover().(error) }()
				NewReference(bad)
				return nil
			},
		} {
			musttest.WantError(use())(t, way+" of documents with exchanged terms or another value")
		}
	}
	musttest.WantError(e.Rows(ctx, k, Request{TestDocuments: embedded(t, sparse.Embedding{}, zipf(30, 50, 10, 2))},
		nil))(t,
		"documents of another embedder")
	musttest.WantError(e.Gram(ctx, parse(t, "diffusion:t=1"), nil))(t, "a kernel of another embedding")
}

// Kernels that use norms reject norms whose squares overflow float32, for training and test
// documents.
func TestLongDocuments(t *testing.T) {
	m := zipf(30, 50, 10, 1)
	long := &sparse.CSR{Cols: m.Cols, Offsets: m.Offsets, Terms: m.Terms, Values: slices.Clone(m.Values)}
	lo := m.Offsets[7]
	long.Values[lo] = 1e19
	f, ctx := (sparse.Embedding{}).Fit(m), t.Context()
	of := func(m *sparse.CSR) *sparse.Embedded {
		return musttest.Get(f.Transform(m))(t)
	}
	x, y := of(m), of(long)
	for _, spec := range []string{"linear", "rbf:gamma=1", "arccos:n=2"} {
		k := parse(t, spec)
		musttest.WantError(newEngine(t, y, Options{}).Gram(ctx, k, nil))(t,
			spec+" on long documents", "norm of row 7 must be at most 4.6")
		musttest.WantError(newEngine(t, x, Options{}).Rows(ctx, k, Request{TestDocuments: y}, nil))(t,
			spec+" on long test documents", "norm of row 7 must be at most 4.6")
	}
	if _, err := newEngine(t, x, Options{}).Rows(ctx, parse(t, "arccos:n=0,embed=tf"), Request{TestDocuments: y},
		nil); err != nil {
		t.Errorf("a kernel of the cosine: %v", err)
	}
}

// The tile width is at most the number of documents, for any requested width.
func TestWidestTiles(t *testing.T) {
	e := newEngine(t, embedded(t, sparse.SphereEmbedding, zipf(1000, 50, 10, 1)), Options{Workers: 1})
	c := newCached(t, e, CacheOptions{CacheBytes: 2 << 20, TileColumns: math.MaxInt})
	if width := c.c.TileColumns(); c.FitsInMemory() || width < 1000 || width > 1024 {
		t.Errorf("tiles of %d columns, whole: %v", width, c.FitsInMemory())
	}
}

// Every method of a closed engine returns an error, and Close is idempotent.
func TestClosedEngine(t *testing.T) {
	x := embedded(t, sparse.SphereEmbedding, zipf(20, 50, 10, 1))
	k, ctx := parse(t, "diffusion:t=0.5"), t.Context()
	e := newEngine(t, x, Options{})
	c, dst := newCached(t, e, CacheOptions{}), NewDense(20, 20)
	m := matrixOf(t, c)
	for range 2 {
		musttest.NoError(t, e.Close())
	}
	for way, use := range map[string]func() error{
		"Gram":  func() error { return of(e.Gram(ctx, k, nil)) },
		"Rows":  func() error { return of(e.Rows(ctx, k, Request{RowIndices: []int{1}}, nil)) },
		"Cross": func() error { return of(e.Rows(ctx, k, Request{TestDocuments: x}, nil)) },
		"Each of test": func() error {
			return e.EachTile(ctx, k, Request{TestDocuments: x},
				func(*Tile) error { return nil })
		},
		"Each": func() error {
			return e.EachTile(ctx, k, Request{OmitSymmetric: true}, func(*Tile) error { return nil })
		},
		"Diagonal":    func() error { return of(e.Diagonal(k)) },
		"Build":       func() error { return c.Build(ctx) },
		"Ready":       func() error { return of(readyOf(ctx, c, k)) },
		"Matrix":      func() error { return of(c.Matrix(k)) },
		"Matrix.Rows": func() error { return m.Rows(ctx, []int{1}, [][2]int{{0, 20}}, [][]float32{dst.Row(0)}) },
		"Cached":      func() error { return of(e.NewCache(CacheOptions{})) },
	} {
		musttest.WantError(use())(t, way+" of a closed engine", "closed")
	}
}

// The number of pairs is computed without overflow of int64.
func TestPairsOf(t *testing.T) {
	for n, want := range map[int]int64{0: 0, 1: 1, 2: 3, 3: 6, 4: 10, 1<<32 - 1: 1<<63 - 1<<31} {
		if got := compute.TrianglePairCount(n); got != want {
			t.Errorf("%d documents have %d pairs, expected %d", n, got, want)
		}
	}
}

// Each invalid argument is an error that names the argument or its value.
func TestInvalidArguments(t *testing.T) {
	x := embedded(t, sparse.Embedding{}, zipf(20, 50, 10, 1))
	e, k, ctx := newEngine(t, x, Options{}), parse(t, "linear"), t.Context()
	c, index := newCached(t, e, CacheOptions{}), musttest.Get(NewIndex(ctx, x, Options{}))(t)
	served := musttest.Get(c.Matrix(k))(t)
	dst, row, all := NewDense(1, 20), [][]float32{make([]float32, 20)}, [][2]int{{0, 20}}
	five, ten := make([]float32, 5), make([]float32, 10)
	nan, one := math.NaN(), NeighbourOptions{Count: 1}
	v, odd, none := mat.NewDense(20, 2, nil), mat.NewDense(20, 2, nil), new(mat.Dense)
	odd.Set(1, 1, math.Inf(1))
	none.SetRawMatrix(blas64.General{Rows: 20})
	each := func(r Request) error { return e.EachTile(ctx, k, r, func(*Tile) error { return nil }) }
	block := func(rows, columns [2]int, o NeighbourOptions) error {
		return of(e.NeighbourBlock(ctx, k, rows, columns, o))
	}
	merge := func(o NeighbourOptions, parts ...[][]Neighbour) error {
		return of(e.MergeNeighbours(ctx, k, 0, parts, o))
	}
	rows := func(rows []int, columns [][2]int, dst ...[]float32) error {
		return served.Rows(ctx, rows, columns, dst)
	}
	compare := func(row int, within float64) error { _, _, err := CompareRows(x, 0, x, row, within); return err }
	groups := NeighbourOptions{Count: 1, Groups: make([]int32, 20)}
	for at, test := range []struct {
		want string
		err  error
	}{
		{"documents", of(New(nil, Options{}))},
		{"mmx", of(New(x, Options{ISA: "mmx"}))},
		{"-1", of(New(x, Options{Workers: -1}))},
		{"-1", of(New(x, Options{MemoryBytes: -1}))},
		{"kernel", of(e.Gram(ctx, nil, nil))},
		{"precomputed", of(e.Gram(ctx, kernel.Precomputed(), nil))},
		{"3", of(e.Gram(ctx, k, &Symmetric{N: 3, Data: make([]float32, 9)}))},
		{"-1", of(e.Rows(ctx, k, Request{RowIndices: []int{-1}}, nil))},
		{"20", of(e.Rows(ctx, k, Request{RowIndices: []int{20}}, nil))},
		{"1×20", of(e.Rows(ctx, k, Request{RowIndices: []int{0, 1}}, dst))},
		{"1×20", of(e.Rows(ctx, k, Request{TestDocuments: x}, dst))},
		{"OmitSymmetric", of(e.Rows(ctx, k, Request{OmitSymmetric: true}, nil))},
		{"21", each(Request{RowRange: [2]int{0, 21}})},
		{"-1", each(Request{RowRange: [2]int{-1, 2}, OmitSymmetric: true})},
		{"2", each(Request{RowRange: [2]int{2, 1}})},
		{"1", each(Request{ColumnRange: [2]int{1, 20}})},
		{"16", each(Request{ColumnRange: [2]int{0, 16}, OmitSymmetric: true})},
		{"128", each(Request{ColumnRange: [2]int{128, 20}})},
		{"-1", each(Request{Workers: -1})},
		{"OmitSymmetric", each(Request{TestDocuments: x, OmitSymmetric: true})},
		{"OmitSymmetric", each(Request{RowIndices: []int{1}, OmitSymmetric: true})},
		{"-1", of(e.NewCache(CacheOptions{TileColumns: -1}))},
		{"-1", of(e.NewCache(CacheOptions{CacheBytes: -1}))},
		{"20", c.Rows(ctx, k, []int{20}, all, row)},
		{"21", c.Rows(ctx, k, []int{0}, [][2]int{{0, 21}}, row)},
		{"1", c.Rows(ctx, k, []int{0}, all, [][]float32{{0}})},
		{"2", rows([]int{1, 2}, [][2]int{{0, 5}}, five)},
		{"-1", rows([]int{-1}, [][2]int{{0, 5}}, five)},
		{"5", rows([]int{1}, [][2]int{{0, 5}, {7, 8}}, five)},
		{"10", rows([]int{1}, [][2]int{{0, 5}}, ten)},
		{"5", rows([]int{1}, [][2]int{{5, 0}}, five)},
		{"21", rows([]int{1}, [][2]int{{16, 21}}, five)},
		{"0", of(e.Neighbours(ctx, k, NeighbourOptions{}))},
		{"NaN", of(e.Neighbours(ctx, k, NeighbourOptions{Count: 1, MinValue: &nan}))},
		{"21", block([2]int{0, 21}, [2]int{0, 21}, one)},
		{"-1", block([2]int{-1, 3}, [2]int{5, 8}, one)},
		{"3", block([2]int{3, 2}, [2]int{5, 8}, one)},
		{"4", block([2]int{0, 5}, [2]int{4, 8}, one)},
		{"2", block([2]int{0, 8}, [2]int{2, 4}, one)},
		{"0", block([2]int{0, 3}, [2]int{0, 3}, NeighbourOptions{})},
		{"roup", block([2]int{0, 3}, [2]int{0, 3}, groups)},
		{"0", merge(NeighbourOptions{}, [][]Neighbour{{}})},
		{"roup", merge(groups, [][]Neighbour{{}})},
		{"no neighbour lists", merge(one)},
		{"2", merge(one, [][]Neighbour{nil, nil}, [][]Neighbour{nil})},
		{"20", merge(one, [][]Neighbour{{{Document: 20}}})},
		{"NaN", merge(one, [][]Neighbour{{{Value: float32(nan)}}})},
		{"at least one column, got 2×2", e.Multiply(ctx, k, nil, mat.NewDense(2, 2, nil), v)},
		{"at least one column, got 20×0", e.Multiply(ctx, k, nil, none, none)},
		{"dst must be 20×2, got 20×1", e.Multiply(ctx, k, nil, v, mat.NewDense(20, 1, nil))},
		{"+Inf in row 1", e.Multiply(ctx, k, x, odd, v)},
		{"NaN", of(GroupsWithin(ctx, x, nan, Options{}))},
		{"-1", of(EachCrossPair(ctx, x, x, -1, Options{}, func(int, int, float64) error { return nil }))},
		{"NaN", compare(1, nan)},
		{"row", compare(-1, 0.5)},
		{"documents", of(NewIndex(ctx, nil, Options{}))},
		{"20", of(index.Nearest(ctx, x, 20, 1, nil))},
		{"NaN", of(index.Within(ctx, x, 0, nan, nil))},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%d: error %v, want one with %q", at, test.err, test.want)
		}
	}
}
