package verify

import (
	"cmp"
	"context"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
)

// closestPairList holds up to limit pairs with the smallest cosine distances c. At most half of the
// pairs are identical documents, because other pairs are harder to compute and should be included
// even if the corpus has many duplicates. Ties are broken by row and column.
type closestPairList struct {
	limit     int
	bound     float32 // pairs with c >= bound are skipped
	pairs     []closePair
	identical []closePair
}

// addRow adds the values of row i right of the diagonal. The list may grow to twice its limit
// before [closestPairList.trim], so that the list is rarely sorted. NaN counts as small, so that
// NaN is compared with the reference.
func (l *closestPairList) addRow(i int, c []float32) {
	for d, v := range c {
		if v >= l.bound {
			continue
		}
		p := closePair{int32(i), int32(i + 1 + d), v}
		if v == 0 {
			if len(l.identical) < l.limit/2 {
				l.identical = append(l.identical, p)
			}
			continue
		}
		if l.pairs = append(l.pairs, p); len(l.pairs) >= 2*l.limit {
			l.trim()
		}
	}
}

// addRows adds the values right of the diagonal in every step-th row.
func (l *closestPairList) addRows(ctx context.Context, eng *engine.Engine, c kernel.Kernel, step int) error {
	var rows []int
	for i := 0; i < eng.Len(); i += step {
		rows = append(rows, i)
	}
	for part := range slices.Chunk(rows, chunkRows) {
		d, err := eng.Rows(ctx, c, engine.Request{RowIndices: part}, nil)
		if err != nil {
			return err
		}
		for r, i := range part {
			l.addRow(i, d.Row(r)[i+1:])
		}
	}
	return nil
}

// trim sorts the pairs, and removes pairs beyond the limit.
func (l *closestPairList) trim() {
	slices.SortFunc(l.pairs, func(a, b closePair) int {
		return cmp.Or(cmp.Compare(a.c, b.c), cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j))
	})
	if len(l.pairs) > l.limit {
		l.pairs = l.pairs[:l.limit]
		l.bound = l.pairs[l.limit-1].c
	}
}

// sortedPairs returns the identical pairs, then the other pairs in ascending order of c.
func (l *closestPairList) sortedPairs() []closePair {
	l.trim()
	all := append(slices.Clone(l.identical), l.pairs...)
	return all[:min(len(all), l.limit)]
}
