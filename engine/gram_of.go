package engine

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
)

// GramOf returns the Gram matrix of some of the engine's documents, whose numbers increase: element
// i, j is k(x_docs[i], x_docs[j]), with the bits of [Engine.Gram]. Each pair is computed once and stored
// twice. It is fast where the documents stand in few ranges. Memory and errors are those of Gram, for
// so many documents.
func (e *Engine) GramOf(ctx context.Context, k Kernel, docs []int) (_ *Symmetric, err error) {
	if k, err = e.bind(k); err != nil {
		return nil, err
	}
	n := len(docs)
	for i, d := range docs {
		if d < 0 || d >= e.Len() || i > 0 && d <= docs[i-1] {
			return nil, fmt.Errorf("engine: document %d of some is %d, expected increasing numbers from 0 to %d", i, d,
				e.Len()-1)
		}
	}
	if err := e.fits(ctx, "the Gram matrix of some documents", compute.MatrixBytes(n, n)); err != nil {
		return nil, err
	}
	g, err := newSymmetric(ctx, n)
	if err != nil {
		return nil, err
	}
	ctx, report := e.c.Start(ctx, compute.PairsOf(n))
	defer report.Finish(&err)
	for lo, hi := 0, 0; lo < n; lo = hi { // a range of documents, against itself and those before
		for hi = lo + 1; hi < n && docs[hi] == docs[hi-1]+1; hi++ {
		}
		first, end := docs[lo], docs[hi-1]+1
		for _, r := range []*device.Request{
			{Docs: docs[lo:hi], Hi: end, Half: true, Workers: e.c.Workers},
			{Docs: docs[:lo], Lo: first, Hi: end, Workers: e.c.Workers},
		} {
			row := 0
			if r.Half {
				row = lo
			}
			err := e.c.Rows(ctx, k, r, report, func(t *device.Tile) error {
				i, j := row+t.First, lo+t.Lo-first
				e.c.Store(g.Data[j*n+i:], n, t, true)
				e.c.Store(g.Data[i*n+j:], n, t, false)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return g, nil
}
