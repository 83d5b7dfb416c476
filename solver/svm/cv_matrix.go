package svm

import (
	"context"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/tiles"
)

// mapped is the Gram matrix of one kernel at a time in memory, its documents in an order of their
// own. A validation reads each value some twenty times, so it pays to map it once, into an order in
// which what a part leaves of a class is two pieces of a row.
type mapped struct{ data []float32 }

// mappedBytes is the memory that a mapped matrix of n documents takes.
func mappedBytes(n int64) int64 { return 4*n*n + 8*n }

// fill makes the matrix that of a kernel, and those that it returned before invalid: document i is
// order[i] of the engine.
func (m *mapped) fill(ctx context.Context, c *engine.Cached, k engine.Kernel, order []int) (*solver.Dense, error) {
	n := len(order)
	if m.data == nil {
		m.data = tiles.Make(n * n)
	}
	scratch := make([][][]float32, c.Engine().Workers())
	for w := range scratch {
		scratch[w] = [][]float32{make([]float32, n)}
	}
	err := tiles.Run(ctx, len(scratch), n, func(ctx context.Context, w, i int) error {
		if err := c.Rows(ctx, k, order[i:i+1], [][2]int{{0, n}}, scratch[w]); err != nil {
			return err
		}
		row, from := m.data[i*n:(i+1)*n], scratch[w][0]
		for j, doc := range order {
			row[j] = from[doc]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return solver.NewDense(n, m.data)
}
