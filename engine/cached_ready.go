package engine

import (
	"context"
	"errors"

	"github.com/gramengine/gram/tiles"
)

// Ready is a Gram matrix with all its rows in memory. It may be used concurrently, and is to be
// closed by who made it.
type Ready struct {
	*Symmetric
	diagonal []float32
	giveBack func() // nil once that is done
}

// Ready computes the Gram matrix of k as such, without c behind it, each pair once: what one training wants, which then uses the rows where they are instead of
// mapping c each time it reads a row. It returns nil where the matrix doesn't fit into the bound, where c is there already, or where there is a
// store, which holds c. It has the same bits as rows that are read from the cache, and counts as computed by it, though a later use of the cache computes c by itself.
//
// The matrix takes the room of c: a second one isn't made before the first is closed, nor any
// beside Build, whose end Ready waits for. Only c itself may come beside it, where the cache is
// used all the same; CachedStats.Bytes, which counts both, then is above the bound until the matrix
// is closed.
//
// It fails with a [MemoryError] where the machine hasn't as much left.
func (c *Cached) Ready(ctx context.Context, k Kernel) (*Ready, error) {
	w := c.whole
	if w == nil || w.complete.Load() || c.store != nil {
		return nil, nil
	}
	diagonal, err := c.Diagonal(k)
	if err != nil {
		return nil, err
	}
	n := c.Len()
	bytes := matrixBytes(n, n)
	if err := affordable("the Gram matrix", bytes); err != nil {
		return nil, err
	}
	if room, err := w.lend(ctx, bytes); !room || err != nil {
		return nil, err
	}
	r := &Ready{&Symmetric{N: n, Data: tiles.Make(n * n)}, diagonal, func() { w.bytes.Add(-bytes) }}
	if err := c.e.GramTo(ctx, k, r.Symmetric); err != nil {
		r.Close()
		return nil, err
	}
	c.computed.Add(int64(n) * int64(n+1) / 2)
	w.misses.Add(int64(len(w.have)))
	return r, nil
}

// Close gives the matrix's room back to the cache, for the next one. The matrix then has no rows;
// who still holds slices of it keeps the memory. Closing it again does nothing. It must not be
// called while the matrix is in use.
func (r *Ready) Close() {
	if r.giveBack != nil {
		r.giveBack()
		*r = Ready{Symmetric: &Symmetric{}}
	}
}

// lend gives the room of c to a matrix of so many bytes, unless it is taken. It waits for who builds c, to whom it belongs meanwhile.
func (w *wholeC) lend(ctx context.Context, bytes int64) (bool, error) {
	select {
	case <-w.building:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	defer func() { w.building <- struct{}{} }()
	if w.bytes.Load() > 0 {
		return false, nil
	}
	w.bytes.Add(bytes)
	return true, nil
}

// Len returns the number of rows and columns.
func (r *Ready) Len() int { return r.N }

// Diagonal returns the diagonal, which must not be changed.
func (r *Ready) Diagonal() []float32 { return r.diagonal }

// Rows copies parts of rows, as [Cached.Rows] does.
func (r *Ready) Rows(_ context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	if r.giveBack == nil {
		return errors.New("engine: rows of a matrix that is closed")
	}
	if _, err := checkRows(r.N, rows, columns, dst); err != nil {
		return err
	}
	for t, i := range rows {
		row, to := r.Row(i), dst[t]
		for _, c := range columns {
			to = to[copy(to, row[c[0]:c[1]]):]
		}
	}
	return nil
}
