package svm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// byFold says whether an embedding learns so much from documents, scales of columns or what their labels say, that
// each fold needs an embedding of the others.
func byFold(e sparse.Embedding) bool { return e.Scales() || e.Supervised() }

// heldOut trains and predicts as settings say, without each fold in turn.
func (p *Problem) heldOut(ctx context.Context, s *Settings, folds int, runs bool) (f *folded, out outcome, err error) {
	w := &work{s: *s, cells: []cell{{s.C, s.Nu, s.Epsilon}}, folds: folds, seed: s.Seed, left: 1, runs: runs}
	w.stage = "training without a part"
	err = w.run(ctx, p, []kernelAt{{0, s.Kernel}}, func(_ context.Context, g *folded, _ kernelAt, all []outcome) error {
		f, out = g, all[0]
		return nil
	})
	return f, out, err
}

// ofOthers is what machines say of documents that neither they nor their embedding have learnt from.
type ofOthers struct {
	thresholds *solver.Thresholds
	parts      *folded // for a calibration; nil where that trains on the matrix of all
	found      outcome
}

// supervised trains without parts of the documents, where an embedding that learns from labels must not have those of
// the parts: for thresholds and for a calibration.
func (p *Problem) supervised(ctx context.Context, s *Settings, calibrated bool) (known ofOthers, err error) {
	if !p.Embedding().Supervised() {
		return known, nil
	}
	if s.Probabilities && !calibrated {
		return known, fmt.Errorf("svm: probabilities on the embedding %s, which learns from labels: expected to calibrate "+
			"them together, on two documents of two classes each, five in all, and at most 2^27 decision values", p.Embedding())
	}
	if s.Thresholds && s.Scheme == solver.Labels {
		_, out, err := p.heldOut(ctx, s, ChoiceFolds, false)
		if err != nil {
			return known, err
		}
		known.thresholds = out.Thresholds
	}
	if calibrated {
		own := *s
		own.Thresholds, own.Probabilities = false, true
		f, err := p.divide(&own, calibrationFolds, s.Seed, false)
		if err != nil {
			return known, err
		}
		f.inRuns() // perhaps fewer
		known.parts, known.found, err = p.heldOut(ctx, &own, f.folds, true)
		return known, err
	}
	return known, nil
}

// apart is run where each fold has an embedding of its own: it predicts each in a problem whose embedding has learnt
// from the documents of the other folds.
func (w *work) apart(ctx context.Context, p *Problem, kernels []kernelAt, keep keeper) error {
	f, err := p.divide(&w.s, w.folds, w.seed, false)
	if err != nil {
		return err
	}
	if w.runs {
		f.inRuns()
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
				busy[len(one.Fits)*len(w.cells)+cell] += o.Busy
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
			o.Busy = busy[i*len(w.cells)+cell]
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
		opt.HeldBytes = p.bound.held + p.Engine().Info().Bytes + c.Documents.Bytes()
	}
	own, err := newProblem(ctx, c, corpus.Fit(p.Embedding(), c.Select(others)), opt)
	if err != nil {
		return err
	}
	own.apart = true
	err = w.run(ctx, own, kernels, keep)
	w.computed += own.Cache().Computed
	return errors.Join(err, own.Engine().Close())
}
