package svm

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// byFold reports whether an embedding has column scales or supervised weights, so that each fold
// needs an embedding fitted to the other folds.
func byFold(e sparse.Embedding) bool { return e.Scales() || e.Supervised() }

// heldOut predicts each fold with settings s, after training on the other folds.
func (p *Problem) heldOut(ctx context.Context, s *Settings, d tune.Division) (f *folded, t *together, err error) {
	w := &work{Evaluator: Evaluator{Settings: *s, Division: d}, cells: []solver.Regularization{s.numbers()},
		stage: "training without a part", left: 1}
	err = w.run(ctx, p, []kernel.Kernel{s.Kernel}, func(g *folded, _ int, out []*outcome) (err error) {
		f = g
		t, err = g.together(out[0])
		return err
	})
	return f, t, err
}

// ofOthers holds held-out predictions: the predicted documents were used neither to train the
// binary classifiers nor to fit their embedding.
type ofOthers struct {
	thresholds *solver.Thresholds
	parts      *folded // folds for a calibration; nil if the calibration uses the matrix of all documents
	found      *together
}

// supervised computes held-out predictions for thresholds and calibration if the embedding is
// supervised. Each fold then needs an embedding that isn't fitted to the labels of held-out
// documents.
func (p *Problem) supervised(ctx context.Context, s *Settings, calibrated bool) (known ofOthers, err error) {
	if !p.Embedding().Supervised() {
		return known, nil
	}
	if s.Probabilities && !calibrated {
		return known, fmt.Errorf("svm: probabilities with the supervised embedding %s require calibration, which needs "+
			"at least 5 documents, 2 classes with at least 2 documents each, and at most 2^27 decision values", p.Embedding())
	}
	if s.Thresholds && s.Scheme == solver.Labels {
		_, out, err := p.heldOut(ctx, s, tune.Division{Folds: thresholdFolds, Seed: s.Seed})
		if err != nil {
			return known, err
		}
		known.thresholds = out.thresholds
	}
	if calibrated {
		own := *s
		own.Thresholds, own.Probabilities = false, true
		known.parts, known.found, err = p.heldOut(ctx, &own, calibrationRuns)
	}
	return known, err
}

// apart implements run for embeddings that are fitted per fold. It predicts each fold with an
// embedding fitted to the other folds.
func (w *work) apart(ctx context.Context, p *Problem, kernels []kernel.Kernel, keep keeper) error {
	f, err := p.divide(&w.Settings, w.Division, false)
	if err != nil {
		return err
	}
	folds := w.only
	if folds == nil {
		folds = run.Numbers(0, f.folds)
	}
	defer func(only []int) { w.only = only }(w.only)
	w.left += len(kernels) * (len(folds) - 1)
	found := make([][]*outcome, len(kernels)) // found[kernel][cell]
	for _, fold := range folds {
		w.only = []int{fold}
		err := w.without(ctx, p, f, kernels, func(_ *folded, k int, out []*outcome) error {
			if found[k] == nil {
				found[k] = out
				return nil
			}
			for cell, o := range found[k] {
				o.folds[fold], o.busy = out[cell].folds[fold], o.busy+out[cell].busy
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for k, out := range found {
		if err := keep(f, k, out); err != nil {
			return err
		}
	}
	return nil
}

// without validates the single fold in w.only, with an embedding fitted to the other folds.
func (w *work) without(ctx context.Context, p *Problem, f *folded, kernels []kernel.Kernel, keep keeper) error {
	c := p.truth()
	c.Documents = p.raw(inCorpus(p.corpus.order, run.Numbers(0, p.Len())))
	c.Vocabulary, c.Tokenizer = p.corpus.Vocabulary, p.corpus.Tokenizer
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
	w.DotProducts += own.Cache().Computed
	return errors.Join(err, own.Engine().Close())
}
