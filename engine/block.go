package engine

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
)

// BlockTiles computes one block of the Gram matrix of k, such as one of many machines computes,
//
//	k(x_i, x_j),  rows[0] <= i < rows[1],  columns[0] <= j < columns[1]
//
// with the same bits as [Engine.Gram], and hands it to visit a tile at a time: the tile's rows are
// documents j, its columns documents i. Each pair is in one tile, but where the columns end with the
// rows and begin no later, so that the block ends on the diagonal, some pairs with i < j are in none.
// Both ranges must lie in 0 to Len; columns[0] must be a multiple of [device.Columns], and so must
// columns[1] unless it is Len. Wide blocks take less time for a pair than narrow ones.
//
// visit is called from up to Workers goroutines at the same time, tiles come in no order, and an error
// of visit ends the computation, as does a panic, which comes back as a [PanicError]. It returns
// within a second of the end of ctx, with its error. No memory is needed for results.
func (e *Engine) BlockTiles(
	ctx context.Context, k kernel.Kernel, rows, columns [2]int, visit func(t *Tile) error,
) (err error) {
	if k, err = e.bind(k); err != nil {
		return err
	}
	if visit, err = visitor(visit); err != nil {
		return err
	}
	n := e.Len()
	for _, r := range []struct {
		name string
		of   [2]int
	}{{"rows", rows}, {"columns", columns}} {
		if r.of[0] < 0 || r.of[1] < r.of[0] || r.of[1] > n {
			return fmt.Errorf("engine: %s from %d to before %d, expected a range from 0 to %d", r.name, r.of[0], r.of[1], n)
		}
	}
	if columns[0]%device.Columns != 0 || columns[1]%device.Columns != 0 && columns[1] != n {
		return fmt.Errorf("engine: columns from %d to before %d, expected multiples of %d, or all %d", columns[0], columns[1],
			device.Columns, n)
	}
	// A block that ends on the diagonal is cut into strips. Each has the columns up to its own last row.
	strip, symmetric := max(rows[1]-rows[0], 1), rows[1] == columns[1] && rows[0] >= columns[0]
	if symmetric {
		strip = max(compute.BlockDocs, e.c.Workers*e.Panel()*2)
	}
	pairs := int64(0)
	request := func(first int) *device.Request {
		docs := run.Numbers(0, min(first+strip, rows[1]))[first:]
		r := &device.Request{Docs: docs, Lo: columns[0], Hi: columns[1], Workers: e.c.Workers}
		if symmetric {
			end := first + len(docs)
			r.Hi = min(end+(device.Columns-end%device.Columns)%device.Columns, columns[1])
		}
		return r
	}
	for first := rows[0]; first < rows[1]; first += strip {
		r := request(first)
		pairs += int64(len(r.Docs)) * int64(r.Hi-r.Lo)
	}
	ctx, report := e.c.Start(ctx, pairs)
	defer report.Finish(&err)
	for first := rows[0]; first < rows[1]; first += strip {
		r := request(first)
		if err := e.c.Rows(ctx, k, r, report, e.columns(r, visit)); err != nil {
			return err
		}
	}
	return nil
}
