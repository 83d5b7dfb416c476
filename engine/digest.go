package engine

import (
	"context"
	"sync/atomic"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
)

// Digest returns a checksum of the Gram matrix of k: the sum of [device.HashValue] of k(xᵢ, xⱼ)
// over all i <= j, modulo 2^64. Equal matrices have equal digests. Different matrices have equal
// digests with probability 2⁻⁶⁴, unless the values were chosen to make digests equal. The matrix
// isn't stored. A [device.Reducer] that supports k computes the digest on the device.
func (e *Engine) Digest(ctx context.Context, k kernel.Kernel) (digest uint64, err error) {
	if k, err = e.bind(k); err != nil {
		return 0, err
	}
	n := e.Len()
	pairs := compute.TrianglePairCount(n)
	ctx, report := e.c.StartProgress(ctx, pairs)
	defer report.Finish(&err)
	r := &device.Request{RowIndices: run.Range(0, n), Hi: n, UpperOnly: true, Workers: e.c.Workers}
	if d, ok := e.c.Backend.(device.Reducer); ok {
		plain := kernel.IsC(k)
		if !plain {
			if r.Program, err = e.c.Program(k, nil); err != nil {
				return 0, err
			}
		}
		if plain || r.Program != nil {
			err = run.CatchPanic("engine: Options.Device", func() error {
				digest, err = d.Digest(ctx, r)
				return err
			})
			if err == nil {
				e.c.AddPairs(pairs)
				report.Add(pairs)
			}
			return digest, err
		}
	}
	var sum atomic.Uint64
	err = e.c.ComputeRows(ctx, k, r, report, func(t *device.Tile) error {
		var own uint64
		for i := range t.Rows {
			row := r.RowIndices[t.FirstRow+i]
			for j := max(row, t.Lo); j < t.Hi; j++ {
				own += device.HashValue(row, j, t.Values[i*t.RowStride+(j-t.Lo)*t.ColStride])
			}
		}
		sum.Add(own)
		return nil
	})
	return sum.Load(), err
}
