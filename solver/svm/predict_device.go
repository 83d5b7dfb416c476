package svm

import (
	"context"
	"errors"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// A device takes documents by batches: copying them there and starting its kernels takes about a
// millisecond, as long as some ten million kernel values.
const (
	batchValues    = 32 << 20 // kernel values of a batch, 128 MiB: as many as a tile of a device has
	batchDocuments = 4096
	batches        = 2 // the device computes one while decisions of another are added up
)

// batch is memory for the documents that a device takes at a time, and for the workers that decide
// them.
type batch struct {
	rows   int       // documents per call of the device, fewer once its memory hasn't sufficed
	values []float32 // [document][support vector]
	sums   []*solver.Sums
}

// onDevice predicts documents, so many at a time.
func (p *Predictor) onDevice(
	ctx context.Context, docs *sparse.CSR, rows int, out *Prediction, report *tiles.Reporter,
) error {
	n := docs.Rows()
	var held [batches]batch
	return tiles.Run(ctx, batches, (n+rows-1)/rows, func(ctx context.Context, w, task int) error {
		b, first := &held[w], task*rows
		if b.sums == nil {
			*b = batch{rows, make([]float32, min(rows, n)*p.e.Len()), make([]*solver.Sums, p.e.Workers())}
		}
		for end := min(first+rows, n); first < end; {
			to := min(first+b.rows, end)
			err := p.batch(ctx, docs, first, to, b, out, report)
			if errors.Is(err, device.ErrMemory) && b.rows > p.e.Panel() {
				b.rows = max(b.rows/2, p.e.Panel())
				continue
			}
			if err != nil {
				return err
			}
			first = to
		}
		return nil
	})
}

// batch predicts documents first <= i < end.
func (p *Predictor) batch(
	ctx context.Context, docs *sparse.CSR, first, end int, b *batch, out *Prediction, report *tiles.Reporter,
) error {
	x, err := p.m.Embedder.TransformRows(ctx, docs, sequence(first, end), p.e.Workers())
	if err != nil {
		return err
	}
	n, columns, width := end-first, p.e.Len(), p.width()
	values := &engine.Dense{Rows: n, Cols: columns, Data: b.values[:n*columns]}
	if err := p.e.CrossTo(ctx, p.k, x, values); err != nil {
		return err
	}
	return tiles.Run(ctx, len(b.sums), (n+width-1)/width, func(_ context.Context, w, panel int) (err error) {
		if b.sums[w] == nil {
			if b.sums[w], err = p.p.NewSums(width); err != nil {
				return err
			}
		}
		from := panel * width
		count := min(width, n-from)
		b.sums[w].Start()
		if err := b.sums[w].AddRows(values.Data[from*columns:], count); err != nil {
			return err
		}
		return p.results(b.sums[w], first+from, count, out, report)
	})
}
