package svm

import (
	"context"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/tiles"
)

// mapped is the Gram matrix of one kernel at a time in memory, its documents in an order of their own. A validation reads each value some twenty times, so
// it pays to map it once, into an order in which what a part leaves of a class is two pieces of a row.
type mapped struct {
	n        int
	data     []float32
	diagonal []float32
}

// mappedBytes is the memory that a mapped matrix of n documents takes.
func mappedBytes(n int64) int64 { return 4*n*n + 8*n }

// fill makes the matrix that of a kernel: document i is order[i] of the engine.
func (m *mapped) fill(ctx context.Context, c *engine.Cached, k engine.Kernel, order []int) error {
	if m.data == nil {
		m.n = len(order)
		m.data, m.diagonal = tiles.Make(m.n*m.n), make([]float32, m.n)
	}
	scratch := make([][][]float32, c.Engine().Workers())
	for w := range scratch {
		scratch[w] = [][]float32{make([]float32, m.n)}
	}
	return tiles.Run(ctx, len(scratch), m.n, func(ctx context.Context, w, i int) error {
		if err := c.Rows(ctx, k, order[i:i+1], [][2]int{{0, m.n}}, scratch[w]); err != nil {
			return err
		}
		row, from := m.Row(i), scratch[w][0]
		for j, doc := range order {
			row[j] = from[doc]
		}
		m.diagonal[i] = row[i]
		return nil
	})
}

// Len returns the number of documents.
func (m *mapped) Len() int { return m.n }

// Diagonal returns the diagonal.
func (m *mapped) Diagonal() []float32 { return m.diagonal }

// Row returns row i in place, which spares the solver a copy.
func (m *mapped) Row(i int) []float32 { return m.data[i*m.n : (i+1)*m.n : (i+1)*m.n] }

// Rows implements solver.Matrix.
func (m *mapped) Rows(_ context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	for r, i := range rows {
		row, to := m.Row(i), dst[r]
		for _, c := range columns {
			to = to[copy(to, row[c[0]:c[1]]):]
		}
	}
	return nil
}
