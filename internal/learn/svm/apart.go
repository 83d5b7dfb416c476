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

// needsFoldEmbedding reports whether an embedding has column scales or supervised weights, so that
// each fold needs an embedding fitted to the other folds.
func needsFoldEmbedding(e sparse.Embedding) bool { return e.Scales() || e.Supervised() }

func (p *Problem) predictHeldOut(
	ctx context.Context, s *Settings, d tune.Division,
) (f *foldedProblem, t *mergedFolds, err error) {
	w := &validationRun{Evaluator: Evaluator{Settings: *s, Division: d},
		cells: []solver.Regularization{s.regularization()},
		stage: "training without a part", kernelsLeft: 1}
	err = w.run(ctx, p, []kernel.Kernel{s.Kernel}, func(g *foldedProblem, _ int, out []*outcome) (err error) {
		f = g
		t, err = g.mergeFolds(out[0])
		return err
	})
	return f, t, err
}

// heldOutPredictions holds held-out predictions: the predicted documents were used neither to train
// the binary classifiers nor to fit their embedding.
type heldOutPredictions struct {
	thresholds  *solver.Thresholds
	folds       *foldedProblem // folds for a calibration; nil unless the embedding is supervised
	predictions *mergedFolds
}

// predictSupervised computes held-out predictions for thresholds and calibration if the embedding
// is supervised. Each fold then needs an embedding that isn't fitted to held-out labels.
func (p *Problem) predictSupervised(
	ctx context.Context, s *Settings, calibrated bool,
) (known heldOutPredictions, err error) {
	if !p.Embedding().Supervised() {
		return known, nil
	}
	if s.Probabilities && !calibrated {
		return known, fmt.Errorf("svm: probabilities with the supervised embedding %s require calibration, which needs "+
			"at least 5 documents, 2 classes with at least 2 documents each, and at most 2^27 decision values", p.Embedding())
	}
	if s.TuneThresholds && s.Scheme == solver.MultiLabel {
		_, out, err := p.predictHeldOut(ctx, s, tune.Division{Folds: thresholdFolds, Seed: s.Seed})
		if err != nil {
			return known, err
		}
		known.thresholds = out.thresholds
	}
	if calibrated {
		own := *s
		own.TuneThresholds, own.Probabilities = false, true
		known.folds, known.predictions, err = p.predictHeldOut(ctx, &own, calibrationRuns)
	}
	return known, err
}

// validateByFold implements [validationRun.run] for embeddings that are fitted per fold. It
// predicts each selected fold with an embedding fitted to the other folds.
func (w *validationRun) validateByFold(
	ctx context.Context, p *Problem, kernels []kernel.Kernel, keep outcomeFunc,
) error {
	f, err := p.divide(&w.Settings, w.Division, false)
	if err != nil {
		return err
	}
	folds := w.selectedFolds
	if folds == nil {
		folds = run.Range(0, f.folds)
	}
	defer func(only []int) { w.selectedFolds = only }(w.selectedFolds)
	w.kernelsLeft += len(kernels) * (len(folds) - 1)
	found := make([][]*outcome, len(kernels)) // found[kernel][cell]
	for _, fold := range folds {
		w.selectedFolds = []int{fold}
		err := w.validateFold(ctx, p, f, kernels, func(_ *foldedProblem, k int, out []*outcome) error {
			if found[k] == nil {
				found[k] = out
				return nil
			}
			for cell, o := range found[k] {
				o.folds[fold], o.workerTime = out[cell].folds[fold], o.workerTime+out[cell].workerTime
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

// validateFold validates the single fold in w.selectedFolds.
func (w *validationRun) validateFold(
	ctx context.Context, p *Problem, f *foldedProblem, kernels []kernel.Kernel, keep outcomeFunc,
) error {
	c := p.truth()
	c.Documents = p.rawDocuments(inCorpusOrder(p.corpus.order, run.Range(0, p.Len())))
	c.Vocabulary, c.Tokenizer = p.corpus.Vocabulary, p.corpus.Tokenizer
	var others []int
	for doc, part := range inCorpusOrder(f.corpusIndex, f.foldOf) {
		if part != w.selectedFolds[0] {
			others = append(others, doc)
		}
	}
	opt := p.opt
	if opt.MemoryBytes > 0 {
		opt.HeldBytes = p.sizes.held + p.Engine().Info().Bytes + c.Documents.Bytes()
	}
	own, err := newProblem(ctx, c, corpus.Fit(p.Embedding(), c.Select(others)), opt)
	if err != nil {
		return err
	}
	own.heldOutFold = true
	err = w.run(ctx, own, kernels, keep)
	w.DotProducts += own.CacheStats().PairsComputed
	return errors.Join(err, own.Engine().Close())
}
