package svm

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/tiles"
)

// foldedProblem is a problem divided into folds. Its documents may have another order than the
// problem's documents. Slices with an element per document have this order.
type foldedProblem struct {
	p     *Problem
	s     *Settings
	folds int

	order       []int // document i is order[i] of the problem
	corpusIndex []int // document i is corpusIndex[i] of the corpus
	foldOf      []int // fold of each document, or -1 if the document is excluded

	labels  []int     // class of each document, -1 for none
	sets    [][]int   // independent labels of each document
	targets []float64 // targets of a regression

	selectedFolds []int // folds to validate; nil for all

	inMemory bool      // true if a kernel matrix permuted by order fits into memory
	sorted   bool      // true if documents are sorted by fold or, in one-vs-one, by class and then by fold
	data     []float32 // kernel matrix permuted by order
}

func foldMatrixBytes(n int64) int64 { return 4*n*n + 8*n }

// fold splits a problem into folds. It sorts the documents, see divide, if together is set and a
// matrix in this order fits into memory.
func (p *Problem) fold(s *Settings, d tune.Division, together bool) (*foldedProblem, error) {
	inMemory := p.cached.FitsInMemory() && p.spareBytes() >= foldMatrixBytes(int64(p.Len()))
	f, err := p.divide(s, d, inMemory && together)
	if err == nil {
		f.inMemory = inMemory
	}
	return f, err
}

// divide splits the documents into folds, see [tune.Division.AssignFolds]. If sorted is set,
// documents are sorted by fold or, in one-vs-one, by class and then by fold. The folds don't depend
// on sorted.
func (p *Problem) divide(s *Settings, d tune.Division, sorted bool) (*foldedProblem, error) {
	f := &foldedProblem{p: p, s: s, sorted: sorted}
	n, separate := p.Len(), s.Scheme == solver.MultiLabel
	var err error
	switch {
	case s.Type == model.OneClass:
		err = fmt.Errorf("svm: type %s cannot be cross-validated, because it has no labels to validate with", s.Type)
	case !s.Type.Classifies():
		f.targets, err = p.targets()
	case separate:
		f.sets = p.labelSets()
	default:
		f.labels, err = p.singleClasses()
	}
	if err != nil {
		return nil, err
	}
	part, folds, err := d.AssignFolds(p.truth(), n, s.Measure())
	if f.folds = folds; err != nil {
		return nil, err
	}
	for i := range n {
		f.order = append(f.order, i)
	}
	if sorted {
		slices.SortStableFunc(f.order, func(a, b int) int {
			da, db := p.corpus.order[a], p.corpus.order[b]
			switch {
			case s.Type.Classifies() && s.Scheme != solver.OneVsOne: // documents of other folds are then two ranges of a row
				return part[da] - part[db]
			case f.labels != nil && f.labels[a] != f.labels[b]:
				return a - b // the problem's order is by class, unlabelled documents last
			}
			return part[da] - part[db]
		})
	}
	f.corpusIndex = run.Select(p.corpus.order, f.order)
	f.foldOf = run.Select(part, f.corpusIndex)
	f.labels, f.sets, f.targets = run.Select(f.labels, f.order), run.Select(f.sets, f.order),
		run.Select(f.targets, f.order)
	return f, nil
}

// matrix returns the matrix of kernel k, permuted by f.order. It is valid until the next call.
//
// A validation reads each value about twenty times, so kernel values that fit into memory are
// stored.
func (f *foldedProblem) matrix(ctx context.Context, k kernel.Kernel) (solver.Matrix, error) {
	g, err := f.p.gram(k)
	switch {
	case err != nil:
		return nil, err
	case g.rows == nil:
		return g.dense(f.order)
	case !f.inMemory:
		return g.rows, nil
	}
	n := len(f.order)
	if f.data == nil {
		if f.data, err = tiles.MakeFloatsContext(ctx, n*n); err != nil {
			return nil, err
		}
	}
	scratch := make([][][]float32, f.p.Engine().Info().Workers)
	for w := range scratch {
		scratch[w] = [][]float32{make([]float32, n)}
	}
	err = run.Tasks(ctx, len(scratch), n, func(ctx context.Context, w, i int) error {
		if err := g.rows.Rows(ctx, f.order[i:i+1], [][2]int{{0, n}}, scratch[w]); err != nil {
			return err
		}
		row, from := f.data[i*n:(i+1)*n], scratch[w][0]
		for j, doc := range f.order {
			row[j] = from[doc]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return solver.NewDense(n, f.data)
}

// trial describes the validation of f to the solver. Thresholds are tuned later, by mergeFolds.
func (f *foldedProblem) trial() *solver.CrossValidation {
	return &solver.CrossValidation{
		Labels: f.labels, LabelSets: f.sets, Targets: f.targets, Classes: len(f.p.corpus.Classes), Scheme: f.s.Scheme,
		Folds: f.foldOf, StoreDecisions: (f.s.Probabilities || f.s.TuneThresholds) && f.targets == nil,
		OnlyFolds: f.selectedFolds,
	}
}

// validate predicts each fold after training on the other folds, for each element of cells. near
// holds warm starts. Regression uses only near[0].
func (f *foldedProblem) validate(
	ctx context.Context, m solver.Matrix, cells []solver.Regularization, near []solver.WarmStart, opt solver.Options,
) ([]*solver.Validation, error) {
	var pars []solver.Parameters
	for _, c := range cells {
		own := *f.s
		own.C, own.Nu, own.Epsilon = c.C, c.Nu, c.Epsilon
		par, err := f.p.parameters(&own)
		if err != nil {
			return nil, err
		}
		par.DocumentWeights = run.Select(par.DocumentWeights, f.order)
		pars = append(pars, par)
	}
	if f.targets != nil && len(near) > 0 {
		near = []solver.WarmStart{{Validation: near[0].Validation, Factor: 1}}
	}
	return f.trial().Run(ctx, m, pars, near, opt)
}

// truth returns the labels, groups and weights of the documents, in the order of the corpus.
func (p *Problem) truth() *corpus.Corpus {
	c := &corpus.Corpus{Source: p.corpus.Source, Classes: p.corpus.Classes, Groups: p.corpus.groups,
		Weights: inCorpusOrder(p.corpus.order, p.corpus.weights)}
	for _, i := range inCorpusOrder(p.corpus.order, run.Range(0, p.Len())) {
		c.Labels.Add(p.corpus.labels.Classes(i)...)
	}
	return c
}

// inCorpusOrder sorts values into corpus order: value i is for document at[i].
func inCorpusOrder[T any](at []int, values []T) []T {
	if values == nil {
		return nil
	}
	out := make([]T, len(values))
	for i, v := range values {
		out[at[i]] = v
	}
	return out
}
