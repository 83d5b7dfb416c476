package cache

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/tiles"
)

type request struct {
	c      *Cache
	k      kernel.Kernel
	rows   []int
	dst    [][]float32
	pieces []piece      // sorted by block
	blocks []pieceRange // blocks that contain the pieces
	length int          // total length of the pieces
}

// piece is a range of columns lo <= j < hi within a block. Its values are written to a row of the
// result from index offset on. A pieceRange is the range of pieces in a block.
type (
	piece      struct{ lo, hi, offset int }
	pieceRange struct {
		block       int
		first, last int // first piece, and first piece of the next block
	}
)

func checkRows(n int, rows []int, columns [][2]int, dst [][]float32) (length int, err error) {
	for _, r := range columns {
		if r[0] < 0 || r[1] < r[0] || r[1] > n {
			return 0, fmt.Errorf("engine: column range must be within [0, %d), got [%d, %d)", n, r[0], r[1])
		}
		length += r[1] - r[0]
	}
	if len(rows) != len(dst) {
		return 0, fmt.Errorf("engine: dst has %d rows, but %d were requested", len(dst), len(rows))
	}
	for r, i := range rows {
		if i < 0 || i >= n {
			return 0, fmt.Errorf("engine: row %d is out of range for %d documents", i, n)
		}
		if len(dst[r]) != length {
			return 0, fmt.Errorf("engine: row %d needs %d values, but dst has %d", i, length, len(dst[r]))
		}
	}
	return length, nil
}

func (c *Cache) request(k kernel.Kernel, rows []int, columns [][2]int, dst [][]float32) (*request, error) {
	length, err := checkRows(c.Len(), rows, columns, dst)
	if err != nil {
		return nil, err
	}
	q := &request{c: c, k: k, rows: rows, dst: dst, length: length}
	at := 0
	for _, r := range columns {
		for lo := r[0]; lo < r[1]; {
			hi := min(r[1], (lo/c.tileColumns+1)*c.tileColumns)
			q.pieces = append(q.pieces, piece{lo, hi, at})
			at += hi - lo
			lo = hi
		}
	}
	slices.SortStableFunc(q.pieces, func(a, b piece) int { return a.lo/c.tileColumns - b.lo/c.tileColumns })
	for p := range q.pieces {
		block := q.pieces[p].lo / c.tileColumns
		if n := len(q.blocks); n == 0 || q.blocks[n-1].block != block {
			q.blocks = append(q.blocks, pieceRange{block, p, p})
		}
		q.blocks[len(q.blocks)-1].last++
	}
	return q, nil
}

// apply maps values of c in row rows[r], from column base on, to kernel values for the pieces of s.
func (q *request) apply(r int, s pieceRange, values []float32, base int) error {
	for _, p := range q.pieces[s.first:s.last] {
		lo, hi := max(p.lo, base), min(p.hi, base+len(values))
		if lo < hi {
			dst := q.dst[r][p.offset+lo-p.lo:][:hi-lo]
			if err := q.c.Map(q.k, dst, values[lo-base:hi-base], q.rows[r], lo); err != nil {
				return err
			}
		}
	}
	return nil
}

func (q *request) serve(r int, s pieceRange, t *tiles.Tile) error {
	defer q.c.tileStore.cache.Release(t)
	return q.apply(r, s, t.Values, s.block*q.c.tileColumns)
}

const minParallelValues = 1 << 16

func (q *request) read(ctx context.Context) (missing []missingTile, err error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	workers := q.c.Workers
	if workers == 1 || len(q.rows) == 1 || len(q.rows)*q.length < minParallelValues {
		for r := range q.rows {
			if missing, err = q.readRow(r, missing); err != nil {
				return nil, err
			}
		}
		return missing, nil
	}
	var mu sync.Mutex
	err = run.Tasks(ctx, workers, len(q.rows), func(_ context.Context, _, r int) error {
		lost, err := q.readRow(r, nil)
		if lost != nil {
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, lost...)
		}
		return err
	})
	return missing, err
}

func (q *request) readRow(r int, missing []missingTile) ([]missingTile, error) {
	c, i := q.c, q.rows[r]
	for _, s := range q.blocks {
		if w := c.full; w != nil {
			if err := q.apply(r, s, w.row(i), 0); err != nil {
				return nil, err
			}
			w.hits.Add(1)
			continue
		}
		t := c.tileStore.cache.Lookup(tiles.Key{Row: uint32(i), Block: uint32(s.block)})
		if t == nil {
			missing = append(missing, missingTile{r: r, span: s})
			continue
		}
		if err := q.serve(r, s, t); err != nil {
			return nil, err
		}
	}
	return missing, nil
}
