package gram

import (
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/sparse"
)

// weighted returns the corpus with the weights of its documents, without those of the weight 0, and which documents
// it has then; nil for all.
func (o *TrainOptions) weighted(c *sparse.Corpus) (out *sparse.Corpus, kept []int, err error) {
	if o.DocumentWeights == nil {
		return c, nil, nil
	}
	if n := c.Documents.Rows(); len(o.DocumentWeights) != n {
		return nil, nil, fmt.Errorf("gram: %d DocumentWeights, expected %d, one for each document of %s",
			len(o.DocumentWeights), n, c.Source)
	}
	var weights []float64
	for i, w := range o.DocumentWeights {
		switch {
		case !(w >= 0) || math.IsInf(w, 0):
			return nil, nil, fmt.Errorf("gram: DocumentWeights: %v of document %d, expected a finite number of at least 0", w,
				c.Number(i))
		case w > 0:
			kept, weights = append(kept, i), append(weights, w)
		}
	}
	own := *c
	own.Weights = weights
	switch {
	case kept == nil:
		return nil, nil, errors.New("gram: DocumentWeights that are all 0, expected some above 0")
	case len(kept) == len(o.DocumentWeights):
		return &own, nil, nil
	}
	own.Weights = nil
	if o.Kernel == model.Precomputed {
		own.Documents = selectColumns(c.Documents, kept)
	}
	own = *own.Select(kept)
	own.Weights = weights
	return &own, kept, nil
}

// selectColumns returns documents with some of their columns, which ascend; others are left out.
func selectColumns(m *sparse.CSR, columns []int) *sparse.CSR {
	place := make([]int, m.Cols)
	for at, j := range columns {
		if j < m.Cols {
			place[j] = at + 1
		}
	}
	out := &sparse.CSR{Cols: min(len(columns), m.Cols), Offsets: []int64{0}}
	for i := range m.Rows() {
		terms, values := m.Row(i)
		for k, t := range terms {
			if at := place[t]; at > 0 {
				out.Terms, out.Values = append(out.Terms, uint32(at-1)), append(out.Values, values[k])
			}
		}
		out.Offsets = append(out.Offsets, out.NNZ())
	}
	return out
}

// numbered gives the support vectors of a precomputed kernel the numbers that their columns had among n documents,
// before those of the weight 0 were left out: a document to predict has values with all of them.
func numbered(m learn.Model, kept []int, n int) {
	own, ok := m.(learn.Machines)
	if !ok || own.Kernel != model.Precomputed || kept == nil {
		return
	}
	for s, doc := range own.SupportDoc {
		own.SupportDoc[s] = int64(kept[doc])
	}
	own.Documents = n
}
