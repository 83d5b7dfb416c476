package engine

import (
	"context"

	"github.com/gramengine/gram/tiles"
)

// Ready is a Gram matrix with all its rows in memory. It may be used concurrently.
type Ready struct {
	*Symmetric
	diagonal []float32
}

// Ready computes the Gram matrix of k as such, without c behind it, each pair once: what one training wants, which then uses the rows where they are instead of
// mapping c each time it reads a row. It returns nil where the matrix doesn't fit into the bound, where c is there already, or where there is a
// store, which holds c. It has the same bits as rows that are read from the cache, and counts as computed by it, though a later use of the cache computes c by itself.
func (c *Cached) Ready(ctx context.Context, k Kernel) (*Ready, error) {
	// c itself belongs to who builds it; its size is there for all to read.
	if c.whole == nil || c.whole.bytes.Load() > 0 || c.store != nil {
		return nil, nil
	}
	diagonal, err := c.Diagonal(k)
	if err != nil {
		return nil, err
	}
	n := c.Len()
	g := &Symmetric{N: n, Data: tiles.Make(n * n)}
	if err := c.e.GramTo(ctx, k, g); err != nil {
		return nil, err
	}
	c.computed.Add(int64(n) * int64(n+1) / 2)
	c.whole.misses.Add(int64(len(c.whole.have)))
	return &Ready{g, diagonal}, nil
}

// Len returns the number of rows and columns.
func (r *Ready) Len() int { return r.N }

// Diagonal returns the diagonal, which must not be changed.
func (r *Ready) Diagonal() []float32 { return r.diagonal }

// Rows copies parts of rows, as [Cached.Rows] does.
func (r *Ready) Rows(_ context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	for t, i := range rows {
		row, to := r.Row(i), dst[t]
		for _, c := range columns {
			to = to[copy(to, row[c[0]:c[1]]):]
		}
	}
	return nil
}
