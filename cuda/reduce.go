//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine/device"
)

type reduceKernels struct{ min, multiply, digest cu.Function }

// FindSmallest implements device.Reducer.
func (c *columns) FindSmallest(ctx context.Context, r *device.Request, k int, column []int32, value []float32) error {
	for i := range column {
		column[i] = -1 // the result if there are no columns
	}
	return c.reduce(ctx, r, func(j *job) (reduction, error) {
		columns, err := j.arena.alloc(4 * int64(len(column)))
		if err != nil {
			return reduction{}, err
		}
		values, err := j.arena.alloc(4 * int64(len(value)))
		return reduction{
			name: "least", kernel: c.d.kernels.reduce.min, parts: 1,
			parameters: []uint64{uint64(columns.addr), uint64(values.addr), uint64(k)},
			fetch:      func() error { return errors.Join(fetch(columns.addr, column), fetch(values.addr, value)) },
		}, err
	})
}

// Multiply implements device.Reducer.
func (c *columns) Multiply(ctx context.Context, r *device.Request, by []float64, vectors int, sum []float64) error {
	if vectors > maxParts {
		return fmt.Errorf("cuda: got %d vectors; the maximum is %d", vectors, maxParts)
	}
	clear(sum) // zeros are the result if there are no columns
	return c.reduce(ctx, r, func(j *job) (reduction, error) {
		n := r.Hi - r.Lo
		columns := make([]float64, len(by)) // [vectors][columns], for coalesced reads
		for i, v := range by {
			columns[i%vectors*n+i/vectors] = v
		}
		from, err := upload(j.arena, columns)
		if err != nil {
			return reduction{}, err
		}
		sums, err := j.arena.alloc(8 * int64(len(sum)))
		return reduction{
			name: "multiplyRows", kernel: c.d.kernels.reduce.multiply, parts: vectors,
			parameters: []uint64{from, uint64(sums.addr), uint64(vectors)},
			fetch:      func() error { return fetch(sums.addr, sum) },
		}, err
	})
}

// Digest implements device.Reducer.
func (c *columns) Digest(ctx context.Context, r *device.Request) (digest uint64, err error) {
	err = c.reduce(ctx, r, func(j *job) (reduction, error) {
		half := uint64(0)
		if r.UpperOnly {
			half = 1
		}
		rows := make([]uint64, len(r.RowIndices))
		sums, err := j.arena.alloc(8 * int64(len(rows)))
		return reduction{
			name: "digest", kernel: c.d.kernels.reduce.digest, parts: 1, parameters: []uint64{uint64(sums.addr), half},
			fetch: func() error {
				err := fetch(sums.addr, rows)
				for _, v := range rows {
					digest += v
				}
				return err
			},
		}, err
	})
	return digest, err
}

// reduction is a kernel that reduces each tile. parts is the number of thread blocks per row. fetch
// copies the results to the host after the last tile.
type reduction struct {
	name       string
	kernel     cu.Function
	parts      int
	parameters []uint64 // parameters after the tile
	fetch      func() error
}

func (c *columns) reduce(
	ctx context.Context, r *device.Request, prepare func(*job) (reduction, error),
) error {
	return c.request(ctx, r, false, func(j *job) (err error) {
		by, err := prepare(j)
		if err != nil {
			return err
		}
		if err := j.plan(); err != nil {
			return err
		}
		t := &c.tiles
		for k := range j.tiles {
			if err = context.Cause(ctx); err != nil {
				break
			}
			if err = j.start(k); err != nil {
				break
			}
			err = c.d.launch(by.name, by.kernel, j.tiles[k].Rows, by.parts, reduceThreads, 0, t.compute,
				append([]uint64{j.tilesAddr + 8*tileFields*uint64(k)}, by.parameters...)...)
			if err != nil {
				break
			}
			// Wait for the previous tile, so that cancellation is noticed in time.
			if k == 0 {
				continue
			}
			if err = driverError("cuEventSynchronize", t.buffers[(k-1)%2].computed.Synchronize()); err != nil {
				break
			}
		}
		// Wait for the device, because memory in use must not be freed.
		if err = errors.Join(err, driverError("cuStreamSynchronize", t.compute.Synchronize())); err != nil {
			return err
		}
		return by.fetch()
	})
}
