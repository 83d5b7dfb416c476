package engine

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Tiles contain every value of the cross matrix once, bit for bit, panel by panel and with
// ascending documents. Columns without a document contain finite values.
func TestEachOfTestDocuments(t *testing.T) {
	x := embedded(t, sparse.SphereEmbedding, zipf(1100, 3000, 20, 3))
	test := musttest.Get(x.Embedder.Transform(zipf(150, 3000, 20, 4)))(t)
	k := parse(t, "diffusion:t=0.5")
	for _, isa := range enginetest.ISAs() {
		e := newEngine(t, x, Options{ISA: string(isa)})
		want := musttest.Get(e.Rows(t.Context(), k, Request{TestDocuments: test}, nil))(t)
		dst := NewDense(150, 1100)
		for i := range dst.Data {
			dst.Data[i] = float32(math.NaN())
		}
		to, err := e.Rows(t.Context(), k, Request{TestDocuments: test}, dst)
		if err != nil || to != dst || !sameBits(dst.Data, want.Data) {
			t.Errorf("%s: Rows into a matrix differ, error %v", isa, err)
		}
		for _, wrong := range []*Dense{NewDense(149, 1100), NewDense(150, 1099), {Rows: 150, Cols: 1100,
			Data: dst.Data[1:]}} {
			musttest.WantError(e.Rows(t.Context(), k, Request{TestDocuments: test}, wrong))(t,
				fmt.Sprintf("%s: a matrix of %d×%d with %d values", isa, wrong.Rows, wrong.Cols, len(wrong.Data)))
		}
		next, column := 0, 0 // start of the next tile
		err = e.EachTile(t.Context(), k, Request{TestDocuments: test, Workers: 1}, func(tile *Tile) error {
			if tile.FirstRow != next || tile.FirstColumn != column || tile.Cols != min(e.Info().Kernels.PanelWidth, 150-column) {
				t.Fatalf("%s: a tile of documents from %d on and columns from %d on, expected %d and %d", isa,
					tile.FirstRow, tile.FirstColumn, next, column)
			}
			for i := range tile.Rows {
				for j, v := range tile.Values[i*tile.Stride : (i+1)*tile.Stride] {
					switch {
					case j >= tile.Cols:
						if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
							t.Fatalf("%s: %v in a column without a document", isa, v)
						}
					case math.Float32bits(v) != math.Float32bits(want.Row(column + j)[next+i]):
						t.Fatalf("%s: document %d, test document %d: %v, expected %v", isa, next+i, column+j, v,
							want.Row(column + j)[next+i])
					}
				}
			}
			if next += tile.Rows; next == e.Len() {
				next, column = 0, column+tile.Cols
			}
			return nil
		})
		if err != nil || column != 150 {
			t.Errorf("%s: %d test documents, error %v", isa, column, err)
		}
		stop := errors.New("stop")
		if err := e.EachTile(t.Context(), k, Request{TestDocuments: test, Workers: 1},
			func(*Tile) error { return stop }); err != stop {
			t.Errorf("%s: error %v, expected that of visit", isa, err)
		}
	}
}
