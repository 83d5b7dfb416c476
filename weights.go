package gram

import (
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/learn/model"
)

// weighted returns the corpus with the weights of its documents, without those of the weight 0.
func (o *TrainOptions) weighted(c *corpus.Corpus) (*corpus.Corpus, error) {
	if o.DocumentWeights == nil {
		return c, nil
	}
	if n := c.Documents.Rows(); len(o.DocumentWeights) != n {
		return nil, fmt.Errorf("gram: %d DocumentWeights, expected %d, one for each document of %s", len(o.DocumentWeights),
			n, c.Source)
	}
	var kept []int
	var weights []float64
	for i, w := range o.DocumentWeights {
		switch {
		case !(w >= 0) || math.IsInf(w, 0):
			return nil, fmt.Errorf("gram: DocumentWeights: %v of document %d, expected a finite number of at least 0", w,
				c.Number(i))
		case w > 0:
			kept, weights = append(kept, i), append(weights, w)
		case o.Kernel == model.Precomputed:
			return nil, fmt.Errorf("gram: DocumentWeights: 0 of document %d of a precomputed Kernel, expected a number "+
				"above 0: leave out its row and its column", c.Number(i))
		}
	}
	if kept == nil {
		return nil, errors.New("gram: DocumentWeights that are all 0, expected some above 0")
	}
	own := *c
	if own.Weights = nil; len(kept) < len(o.DocumentWeights) {
		own = *own.Select(kept)
	}
	own.Weights = weights
	return &own, nil
}
