package svm

import (
	"context"
	"errors"
	"time"
)

// apart is run where columns are scaled: it predicts each fold in a problem of its own, whose columns
// are scaled by what the documents of the other folds have.
func (w *work) apart(ctx context.Context, p *Problem, kernels []kernelAt, keep keeper) error {
	f, err := p.divide(&w.s, w.folds, w.seed, false)
	if err != nil {
		return err
	}
	if w.only != nil {
		return w.without(ctx, p, f, kernels, keep)
	}
	defer func() { w.only = nil }()
	w.left += len(kernels) * (f.folds - 1)
	var found []*SearchOutcome // by fold
	busy := make([]time.Duration, len(kernels)*len(w.cells))
	for fold := range f.folds {
		w.only = []int{fold}
		one := &SearchOutcome{}
		err := w.without(ctx, p, f, kernels, func(_ context.Context, g *folded, _ kernelAt, out []outcome) error {
			var fits []FoldOutcome
			for cell, o := range out {
				fits = append(fits, g.outcome(o, fold))
				busy[len(one.Fits)*len(w.cells)+cell] += o.busy()
			}
			one.Fits = append(one.Fits, fits)
			return nil
		})
		if err != nil {
			return err
		}
		found = append(found, one)
	}
	for i, at := range kernels {
		var all []outcome
		for cell := range w.cells {
			o, err := f.assembled(0, found, i, cell)
			if err != nil {
				return err
			}
			if b := busy[i*len(w.cells)+cell]; o.values != nil {
				o.values.Busy = b
			} else {
				o.classes.Busy = b
			}
			all = append(all, *o)
		}
		if err := keep(ctx, f, at, all); err != nil {
			return err
		}
	}
	return nil
}

// without runs the one fold of w.only.
func (w *work) without(
	ctx context.Context, p *Problem, f *folded, kernels []kernelAt, keep keeper,
) error {
	c, rows := p.truth(), make([]int, p.Len())
	for i, doc := range p.corpus.order {
		rows[doc] = i
	}
	c.Documents, c.Vocabulary, c.Tokenizer = p.raw(rows), p.corpus.vocabulary, p.corpus.tokenizer
	var others []int
	for doc, part := range inCorpus(f.corpus, f.parts) {
		if part != w.only[0] {
			others = append(others, doc)
		}
	}
	opt := p.opt
	if opt.MemoryBytes > 0 {
		opt.HeldBytes = p.bound.held + p.Engine().Bytes()
	}
	own, err := newProblem(ctx, c, p.Embedding().Fit(c.Documents.SelectRows(others)), opt)
	if err != nil {
		return err
	}
	own.apart = true
	err = w.run(ctx, own, kernels, keep)
	w.computed += own.Cache().Computed
	return errors.Join(err, own.Engine().Close())
}
