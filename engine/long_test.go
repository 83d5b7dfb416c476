package engine

import (
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// c of documents with long tails is recomputed if and only if they share so many terms that
// rounding errors add up, even if products cancel. Single documents give the same values.
func TestLongTails(t *testing.T) {
	const n = 6
	for name, c := range map[string]struct {
		embedding   sparse.Embedding
		shared, own int
		value       float32 // value of shared terms
		signed      bool
		recomputed  bool
	}{
		"few":                      {sparse.Embedding{}, 500, 3000, 1, false, false},
		"counted":                  {sparse.Embedding{}, 500, 3000, 3, false, false},
		"most":                     {sparse.Embedding{}, 2048, 700, 1, false, false},
		"more":                     {sparse.Embedding{}, 2049, 700, 1, false, true},
		"many":                     {sparse.Embedding{}, 4000, 1000, 1, false, true},
		"cancelled":                {sparse.Embedding{}, 4000, 1000, 1, true, true},
		"few terms of histograms":  {kernel.MustParse("chi2").Embedding(), 500, 3000, 3, false, false},
		"many terms of histograms": {kernel.MustParse("chi2").Embedding(), 4000, 1000, 1, false, true},
	} {
		m := &sparse.CSR{Cols: c.shared + n*c.own, Offsets: []int64{0}}
		for i := range n {
			for w := range c.shared {
				v := c.value
				if c.signed && w>>i&1 == 1 {
					v = -v
				}
				m.Terms, m.Values = append(m.Terms, uint32(w)), append(m.Values, v)
			}
			for w := range c.own {
				m.Terms, m.Values = append(m.Terms, uint32(c.shared+i*c.own+w)), append(m.Values, 1)
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
		x := embedded(t, c.embedding, m)
		one := musttest.Get(x.Embedder.TransformRows(t.Context(), m, []int{1}, 1))(t)
		eachISA(t, func(t *testing.T, isa string) {
			e := newEngine(t, x, Options{ISA: isa, HeadTerms: -1, Workers: 1})
			c0 := parseIn(t, "c", c.embedding)
			all := gram(t, e, c0)
			if got := e.Stats().RecomputedPairs > 0; got != c.recomputed {
				t.Errorf("%s: %d of %d pairs recomputed", name, e.Stats().RecomputedPairs, n*(n-1)/2)
			}
			for range 2 { // the second request uses dense panels
				row := musttest.Get(e.Rows(t.Context(), c0, Request{TestDocuments: one}, nil))(t)
				for j := range n {
					if got := float64(row.Row(0)[j]); got != all.At(1, j) {
						t.Errorf("%s: c(1, %d) = %v of one document, %v of all", name, j, got, all.At(1, j))
					}
				}
			}
		})
	}
}
