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

// A device takes documents by batches: their copies on it and the start of its kernels cost about a
// millisecond, as much as some ten million kernel values.
const (
	batchValues    = 32 << 20 // kernel values of a batch, 128 MiB: as many as a tile of a device has
	batchDocuments = 4096
	batches        = 2  // the device computes one while decisions of another are added up
	// of a batch are turned at a time, so that they are added up while they are in the first-level
	// cache
	turnColumns    = 64
)

// batch is memory for the documents that a device takes at a time, and for the workers that decide
// them.
type batch struct {
	rows    int       // documents that are handed to the device at a time, fewer once its memory hasn't sufficed
	values  []float32 // [document][support vector]
	workers []batchWorker
}

type batchWorker struct {
	sums   *solver.Sums
	turned []float32 // [support vector][document]
}

// onDevice predicts documents, so many at a time.
func (p *Predictor) onDevice(ctx context.Context, docs *sparse.CSR, rows int, out *Prediction, report *ticker) error {
	n := docs.Rows()
	var held [batches]batch
	return tiles.Run(ctx, batches, (n+rows-1)/rows, func(ctx context.Context, w, task int) error {
		b, first := &held[w], task*rows
		if b.workers == nil {
			b.rows = rows
			b.values, b.workers = make([]float32, min(rows, n)*p.e.Len()), make([]batchWorker, p.e.Workers())
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
func (p *Predictor) batch(ctx context.Context, docs *sparse.CSR, first, end int, b *batch, out *Prediction, report *ticker) error {
	own := make([]int, end-first)
	for i := range own {
		own[i] = first + i
	}
	x, err := p.m.Embedder.TransformRows(ctx, docs, own, p.e.Workers())
	if err != nil {
		return err
	}
	values := &engine.Dense{Rows: len(own), Cols: p.e.Len(), Data: b.values[:len(own)*p.e.Len()]}
	if err := p.e.CrossTo(ctx, p.k, x, values); err != nil {
		return err
	}
	width := p.width()
	return tiles.Run(ctx, len(b.workers), (len(own)+width-1)/width, func(_ context.Context, w, panel int) (err error) {
		worker := &b.workers[w]
		if worker.sums == nil {
			worker.turned = make([]float32, turnColumns*width)
			if worker.sums, err = p.p.NewSums(width); err != nil {
				return err
			}
		}
		from := panel * width
		count := min(width, len(own)-from)
		worker.sums.Start()
		for c := 0; c < values.Cols; c += turnColumns {
			columns := min(turnColumns, values.Cols-c)
			p.loops.Transpose(worker.turned, width, values.Data[from*values.Cols+c:], values.Cols, count, columns)
			if err := worker.sums.Add(c, worker.turned[:columns*width]); err != nil {
				return err
			}
		}
		return p.results(worker.sums, first+from, count, out, report)
	})
}
