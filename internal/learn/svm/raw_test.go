package svm

import (
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Documents from raw values are embedded bit for bit as the original documents.
func TestAppendRaw(t *testing.T) {
	data := []float32{1, -5, 0, 7, 3, 0, 7, 2, 2, 5, 4, 7, 0, 9, 0, 1, 7, -2, 0, 5, 3, 7, 0, 0, 0}
	m := musttest.Get(sparse.FromDense(5, 5, data))(t)
	for _, e := range []sparse.Embedding{{}, {Norm: sparse.NormL2}, {Weighting: sparse.TFIDF},
		{Weighting: sparse.StandardScaling}, {Weighting: sparse.MinMaxScaling, Upper: 1}} {
		f := e.Fit(m)
		x := musttest.Get(f.Transform(m))(t)
		stored := &sparse.CSR{Cols: m.Cols, Offsets: []int64{0}}
		for i := range m.Rows() {
			stored.Terms, stored.Values = appendRaw(x, i, stored.Terms, stored.Values)
			stored.Offsets = append(stored.Offsets, int64(len(stored.Terms)))
		}
		again := musttest.Get(f.Transform(stored))(t)
		if !slices.Equal(again.Terms, x.Terms) || !slices.Equal(again.Values, x.Values) || !slices.Equal(again.Norms,
			x.Norms) {
			t.Errorf("%s: other bits from the raw values %v of %v", e, stored.Values, m.Values)
		}
	}
}
