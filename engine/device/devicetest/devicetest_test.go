package devicetest_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device/devicetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// All methods of an engine work with a back end that only computes c.
func TestEngineOnABackend(t *testing.T) {
	docs, err := corpus.Read(t.Context(), "synthetic:docs=220,terms=120,length=12,classes=3,seed=4", corpus.Options{})
	musttest.NoError(t, err)
	k := kernel.MustParse("rbf:gamma=0.3")
	all := k.Embedding().Fit(docs.Documents)
	embed := func(m *sparse.CSR) *sparse.Embedded {
		return musttest.Get(all.Transform(m))(t)
	}
	x, y := embed(docs.Documents), embed(docs.Documents.SelectRows([]int{7, 3, 219, 3}))
	e := musttest.Get(engine.New(x, engine.Options{Device: devicetest.New, Workers: 2}))(t)
	n, ref := x.Rows(), engine.NewReference(x)
	holds := func(what string, i, j int, got float32) {
		t.Helper()
		c := ref.C(i, j)
		if want := k.Eval(c, ref.Norm(i), ref.Norm(j)); !kernel.WithinTolerance(k, float64(got), want, c, ref.Norm(i),
			ref.Norm(j)) {
			t.Fatalf("%s: (%d, %d) is %v, expected %v", what, i, j, got, want)
		}
	}
	good := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	g, err := e.Gram(t.Context(), k, nil)
	good("Gram", err)
	for i := range n {
		for j := range n {
			holds("Gram", i, j, g.Row(i)[j])
		}
	}
	cross, err := e.Rows(t.Context(), k, engine.Request{TestDocuments: y}, nil)
	good("Cross", err)
	some := []int{7, 3, 219, 3}
	rows, err := e.Rows(t.Context(), k, engine.Request{RowIndices: some}, nil)
	good("Rows", err)
	for r, i := range some {
		for j := range n {
			holds("Cross", i, j, cross.Row(r)[j])
			holds("Rows", i, j, rows.Row(r)[j])
		}
	}
	good("CrossTiles", e.EachTile(t.Context(), k, engine.Request{TestDocuments: y, Workers: 1},
		func(tile *engine.Tile) error {
			for j := range tile.Rows {
				for r := range tile.Cols {
					holds("CrossTiles", some[tile.FirstColumn+r], tile.FirstRow+j, tile.Values[j*tile.Stride+r])
				}
			}
			return nil
		}))
	pairs := make(chan int, n*n)
	good("Tiles", e.EachTile(t.Context(), nil, engine.Request{OmitSymmetric: true}, func(tile *engine.Tile) error {
		for j := tile.FirstRow; j < tile.FirstRow+tile.Rows; j++ {
			for i := tile.FirstColumn; i < tile.FirstColumn+tile.Cols; i++ {
				got, want := float64(tile.Values[(j-tile.FirstRow)*tile.Stride+i-tile.FirstColumn]), ref.C(i, j)
				if !(math.Abs(got-want) <= 1e-6) {
					return fmt.Errorf("c(%d, %d) is %v, expected %v", i, j, got, want)
				}
				if i <= j || i >= tile.FirstRow+tile.Rows || j < tile.FirstColumn {
					pairs <- 1
				}
			}
		}
		return nil
	}))
	if len(pairs) != n*(n+1)/2 {
		t.Errorf("tiles of %d pairs, expected %d", len(pairs), n*(n+1)/2)
	}
	// memory for all of c, or for scratch space of two workers and few or some tiles
	for _, bytes := range []int64{0, 150 << 10, 300 << 10} {
		c, err := e.NewCache(engine.CacheOptions{CacheBytes: bytes + 130<<10*min(bytes, 1)})
		good("Cached", err)
		good(
			"Cached",
			c.Rows(t.Context(), k, some, [][2]int{{0, n}},
				[][]float32{rows.Row(0), rows.Row(1), rows.Row(2), rows.Row(3)}),
		)
		for r, i := range some {
			for j := range n {
				holds("Cached", i, j, rows.Row(r)[j])
			}
		}
	}
	good("Close", e.Close())

	// A model trained with this back end makes the same decisions as with the CPU.
	var decisions [2][]int
	for on, opt := range []svm.Options{{}, {Device: devicetest.New}} {
		p, err := svm.NewProblem(t.Context(), docs, k.Embedding(), opt)
		good("NewProblem", err)
		m, _, err := p.Train(t.Context(), svm.Settings{Kernel: k, C: 10})
		good("Train", err)
		predictor, err := svm.NewPredictor(t.Context(), m, svm.Options{Device: opt.Device})
		good("NewPredictor", err)
		out, err := predictor.Predict(t.Context(), docs.Documents)
		good("Predict", err)
		decisions[on] = out.ClassIndices
	}
	if fmt.Sprint(decisions[0]) != fmt.Sprint(decisions[1]) {
		t.Errorf("decisions %v, those of the processor are %v", decisions[1], decisions[0])
	}
}
