package engine

import (
	"context"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/tiles"
)

// devicePanels is computePanels on the device, for the documents of the panels that aren't there.
func (c *Cached) devicePanels(ctx context.Context, matrix [32]byte, docs []int, report *progress) error {
	e, w := c.e, c.whole
	n := w.n
	var err error
	if len(docs) == n {
		err = e.deviceGram(ctx, kernel.C{}, w.c, report)
	} else {
		err = e.deviceC(ctx, docs, 0, n, func(b *device.Block) error {
			for r := range b.Rows {
				copy(w.row(docs[b.First+r]), b.Row(r))
			}
			return nil
		})
		if err == nil {
			err = c.mirror(ctx, docs)
		}
	}
	if err != nil {
		return err
	}
	for p, have := range w.have {
		if !have {
			if len(docs) < n {
				report.done.Add(c.panelPairs(p))
			}
			c.panelDone(matrix, p)
		}
	}
	return nil
}

// mirror copies the rows of documents into the columns of the others.
func (c *Cached) mirror(ctx context.Context, docs []int) error {
	w := c.whole
	own := make([]bool, w.n)
	for _, i := range docs {
		own[i] = true
	}
	return tiles.Run(ctx, c.e.workers, w.n, func(_ context.Context, _, j int) error {
		if row := w.row(j); !own[j] {
			for _, i := range docs {
				row[i] = w.c[i*w.n+j]
			}
		}
		return nil
	})
}

// deviceTask is computeTask on the device.
func (q *request) deviceTask(ctx context.Context, task [][]need, docs []int) error {
	for _, group := range task {
		base, end := q.c.blockRange(group[0].span.block)
		err := q.c.e.deviceC(ctx, docs, base, end, func(b *device.Block) error {
			for r := range b.Rows {
				if err := q.keep(&group[b.First+r], base, b.Row(r)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := q.complete(group); err != nil {
			return err
		}
	}
	return nil
}
