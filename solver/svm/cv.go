package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/sparse"
)

// Measure is the figure by which a validation is judged.
type Measure string

// The measures: of one class a document, of labels each for itself, and of regression.
const (
	Accuracy         Measure = "accuracy"
	MicroF1          Measure = "micro_f1"
	MeanSquaredError Measure = "mean_squared_error"
)

// Better says whether figure a is better than b; NaN is worse than any number.
func (m Measure) Better(a, b float64) bool {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return !math.IsNaN(a)
	case m == MeanSquaredError:
		return a < b
	}
	return a > b
}

// Measure returns the figure by which settings are judged in a validation.
func (s *Settings) Measure() Measure {
	switch {
	case s.Type == model.EpsilonSVR || s.Type == model.NuSVR:
		return MeanSquaredError
	case s.Scheme == solver.Labels:
		return MicroF1
	}
	return Accuracy
}

// Validation is the result of a cross-validation. What goes by document is in the order of the
// corpus.
type Validation struct {
	Fold []int // the fold that a document was held out in, from 0; -1 for one without a label, which is left out

	// the class that was predicted, as an index into Problem.Classes; -1 where left out. Nil for
	// labels and regression
	Class  []int
	Labels [][]int   // the labels that were predicted, increasing
	Value  []float64 // the target that was estimated

	Score  *Score   // of all documents together
	ByFold []*Score // of the documents of each fold

	Measure  Measure
	Figures  []float64 // the measure by fold
	Mean, SD float64   // of the figures: their mean, and their standard deviation with n-1 in the denominator

	Iterations int64
	Unfinished int   // machines that didn't reach the tolerance
	Support    []int // by fold: how many different support vectors its machines have

	SolvedOn string // the device whose memory had rows and scores meanwhile, "" for the machine's
	Unplaced string // why it hadn't, where that was the place for them: in a sentence without a full stop

	DotProducts int64         // that were computed for it; 0 where earlier work on the problem had them all
	Gram        time.Duration // computing tiles before
	Solve       time.Duration // training and predicting
}

// CrossValidate trains on all folds but one and predicts that one, for each fold. The documents of
// each class, or all of regression, are divided by the seed into folds of nearly equal size;
// documents of several labels by their first. Settings.Probabilities has no part in it. What an
// embedding learns, such as idf weights, it has from all documents, those that are held out
// included: only so can folds share dot products.
//
// Each dot product is computed once, where the whole matrix fits into memory; where a device keeps
// the rows, see Options.Place, those of each row. The result is the same from any number of
// workers. Errors: those of [Problem.Train], fewer than two folds or more than documents, and type
// one_class.
func (p *Problem) CrossValidate(ctx context.Context, s Settings, folds int, seed uint64) (v *Validation, err error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if s, err = s.resolve(); err != nil {
		return nil, err
	}
	k := engine.Resolve(s.Kernel, len(p.x.Embedder.Terms))
	ours, err := p.onMachine(&s, k)
	if err != nil {
		return nil, err
	}
	f, err := p.fold(&s, folds, seed, ours)
	if err != nil {
		return nil, err
	}
	opt, err := f.options(1)
	if err != nil {
		return nil, err
	}
	before := p.Cache().Computed
	begin := time.Now()
	if _, sets := engine.HyperbolicOf(k); ours && !sets {
		if err := p.cached.Build(ctx); err != nil {
			return nil, err
		}
	}
	gram := time.Since(begin)
	begin = time.Now()
	p.training.Store(true)
	defer p.training.Store(false)
	var r relay
	opt.Progress = func(s solver.Progress) {
		r.note(Progress{Stage: "validating", Done: int64(s.Solved), Total: int64(s.Problems), Solver: s, HitRate: hitRate(s)})
	}
	ctx, report := r.start(ctx, p.opt.Progress)
	defer report.finish(&err)
	m, err := f.place(ctx, k)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	opt.DeviceScores = m.board
	out, err := f.validate(ctx, m.matrix, []cell{{s.C, s.Nu, s.Epsilon}}, nil, opt)
	if err != nil {
		return nil, err
	}
	if v, err = f.result(out[0]); err != nil {
		return nil, err
	}
	v.SolvedOn, v.Unplaced = m.backend(p), m.unplaced
	v.DotProducts = p.Cache().Computed - before
	v.Gram, v.Solve = gram, time.Since(begin)
	return v, nil
}

// result scores an outcome.
func (f *folded) result(o outcome) (*Validation, error) {
	n := f.p.Len()
	v := &Validation{Fold: make([]int, n), Measure: f.s.Measure()}
	document := func(i int) int { return f.p.corpus.order[f.order[i]] } // in the corpus
	for i, part := range f.parts {
		v.Fold[document(i)] = part
	}
	switch {
	case o.values != nil:
		v.Value = make([]float64, n)
		for i, z := range o.values.Values {
			v.Value[document(i)] = z
		}
	case f.sets != nil:
		v.Labels = make([][]int, n)
		for i, l := range o.classes.Sets {
			v.Labels[document(i)] = l
		}
	default:
		v.Class = make([]int, n)
		for i, c := range o.classes.Predicted {
			v.Class[document(i)] = c
		}
	}
	truth := f.p.truth()
	var err error
	if v.Score, err = v.score(truth, -1); err != nil {
		return nil, err
	}
	for part := range f.folds {
		own, err := v.score(truth, part)
		if err != nil {
			return nil, err
		}
		v.ByFold = append(v.ByFold, own)
		v.Figures = append(v.Figures, v.Measure.of(own))
	}
	v.Mean, v.SD = meanAndDeviation(v.Figures)
	for part := range f.folds {
		v.count(o.machines(part))
	}
	return v, nil
}

// machines returns the machines of a fold.
func (o *outcome) machines(part int) *solver.Classifier {
	if o.values != nil {
		return &solver.Classifier{Machines: o.values.Fits[part : part+1]}
	}
	return o.classes.Fits[part]
}

// count adds what the machines of the next fold tell.
func (v *Validation) count(c *solver.Classifier) {
	v.Support = append(v.Support, len(c.Support()))
	for _, m := range c.Machines {
		if m != nil {
			v.Iterations += int64(m.Iterations)
			if !m.Converged {
				v.Unfinished++
			}
		}
	}
}

// truth is what is known of the labels, in the order of the corpus.
func (p *Problem) truth() *sparse.Corpus {
	at := make([]int, p.Len()) // by document of the corpus: which of the problem it is
	for i, doc := range p.corpus.order {
		at[doc] = i
	}
	c := &sparse.Corpus{Source: p.corpus.source, Classes: p.corpus.classes, Labels: sparse.Labels{Offsets: []int64{0}}}
	for _, i := range at {
		c.Labels.Add(p.corpus.labels.Of(i)...)
	}
	return c
}

// score scores a fold, or all for -1.
func (v *Validation) score(truth *sparse.Corpus, part int) (*Score, error) {
	out := func(i int) bool { return part >= 0 && v.Fold[i] != part }
	switch {
	case v.Value != nil:
		var in []int
		for i := range v.Value {
			if !out(i) {
				in = append(in, i)
			}
		}
		own := &sparse.Corpus{Source: truth.Source, Classes: truth.Classes, Labels: sparse.Labels{Offsets: []int64{0}}}
		for _, i := range in {
			own.Labels.Add(truth.Labels.Of(i)...)
		}
		return ScoreValues(pick(v.Value, in), own)
	case v.Labels != nil:
		labels := slices.Clone(v.Labels)
		for i := range labels {
			if out(i) {
				labels[i] = nil
			}
		}
		return ScoreLabels(truth.Classes, labels, truth)
	}
	class := slices.Clone(v.Class)
	for i := range class {
		if out(i) {
			class[i] = -1
		}
	}
	return ScoreClasses(truth.Classes, class, truth)
}

// of reads the measure from a score.
func (m Measure) of(s *Score) float64 {
	switch m {
	case MicroF1:
		return s.MicroF1
	case MeanSquaredError:
		return s.MeanSquaredError
	}
	return s.Accuracy
}

// meanAndDeviation returns the mean and the standard deviation, with n-1 in the denominator, of two
// or more values.
func meanAndDeviation(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	var sum float64
	for _, v := range values {
		sum += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(sum / float64(len(values)-1))
}

// String names the figure in a sentence.
func (m Measure) String() string {
	switch m {
	case MicroF1:
		return "micro F1"
	case MeanSquaredError:
		return "mean squared error"
	}
	return string(m)
}

// Format writes a figure as people read it: shares in percent.
func (m Measure) Format(v float64) string {
	if m == MeanSquaredError {
		return fmt.Sprintf("%.6g", v)
	}
	return fmt.Sprintf("%.2f%%", 100*v)
}
