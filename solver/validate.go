package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gramengine/gram/internal/run"
)

// StratifiedFolds divides documents into k stratified folds of nearly equal size. The documents of
// each class are shuffled and assigned to the folds in turn. It returns the fold of each document,
// from 0 to k-1, or -1 for a document with a negative label. If there are fewer documents than
// folds, the last folds are empty. The result is the same on all platforms. StratifiedFolds panics
// if k is below 1.
func StratifiedFolds(labels []int, k int, seed uint64) []int {
	if k < 1 {
		panic(fmt.Sprintf("solver: StratifiedFolds: k must be positive, got %d", k))
	}
	fold := make([]int, len(labels))
	var docs []int // sorted by class; an array by class could be too large
	for i, c := range labels {
		if fold[i] = -1; c >= 0 {
			docs = append(docs, i)
		}
	}
	slices.SortStableFunc(docs, func(a, b int) int { return cmp.Compare(labels[a], labels[b]) })
	r := rand.New(rand.NewPCG(seed, uint64(k)))
	next := 0
	for len(docs) > 0 {
		n := 1
		for n < len(docs) && labels[docs[n]] == labels[docs[0]] {
			n++
		}
		class := docs[:n]
		r.Shuffle(n, func(i, j int) { class[i], class[j] = class[j], class[i] })
		for _, i := range class {
			fold[i] = next
			next = (next + 1) % k
		}
		docs = docs[n:]
	}
	return fold
}

// CrossValidation describes a cross-validation of documents with labels or targets. Exactly one of
// Labels, LabelSets and Targets must be set, as in [Training].
type CrossValidation struct {
	Labels    []int     // class by document, 0 … Classes-1; -1 excludes the document
	LabelSets [][]int   // labels by document; nil excludes the document
	Targets   []float64 // regression target by document; NaN excludes the document

	Classes int
	Scheme  Scheme // scheme for Labels
	Folds   []int  // fold by document; -1 excludes the document

	StoreDecisions bool // true if Run sets Validation.Decisions
	TuneThresholds bool // true to predict LabelSets of a fold with thresholds tuned on the other folds

	// OnlyFolds, if not nil, lists the folds to validate. Documents of other folds have no
	// predictions, and the classifiers of these folds are nil. The results of a fold don't depend
	// on OnlyFolds. TuneThresholds requires all folds. Default: all folds.
	OnlyFolds []int
}

// Validation is the result of [CrossValidation.Run] for one element of its argument pars.
type Validation struct {
	// Out-of-fold predictions: PredictedClasses, LabelSets or Estimates is set.
	PredictedClasses []int     // predicted class by document; -1 if excluded
	LabelSets        [][]int   // predicted labels by document, increasing; nil if excluded
	Estimates        []float64 // estimate of the target by document; NaN if excluded

	Classifiers []*Classifier // classifier for each fold, trained on the other folds
	SolverTime  time.Duration // total solver time of all workers

	Decisions  [][]float64 // decision values by document; nil unless StoreDecisions is set
	Thresholds *Thresholds // tuned thresholds; nil unless TuneThresholds is set
}

// WarmStart is Factor times the decision functions of another Validation.
type WarmStart struct {
	Validation *Validation
	Factor     float64
}

// Run cross-validates each element of pars. It trains a classifier for each fold on the other
// folds, and predicts the documents of the fold. Results are in the order of pars.
//
// For each binary problem and fold, the decision functions are trained on the same cached rows in
// order of increasing ν, ε and C. Unless ν is set, each decision function is warm-started from the
// previous solution. The first decision function starts from the sum of warmStarts, or at α = 0 if
// warmStarts is nil. warmStarts are, for example, cross-validations of the same data with another
// kernel. Predictions agree with predictions of classifiers from [Train] up to the tolerance.
func (t *CrossValidation) Run(
	ctx context.Context, m Matrix, pars []Parameters, warmStarts []WarmStart, opt Options,
) ([]*Validation, error) {
	src, err := newCheckedMatrix(m)
	if err != nil {
		return nil, err
	}
	if opt, err = opt.resolve(); err != nil {
		return nil, err
	}
	if len(pars) == 0 {
		return nil, userError("there are no parameters to validate")
	}
	parts, only, err := t.selectedFolds(src.n)
	if err != nil {
		return nil, err
	}
	v := &pathTrainer{m: src, params: slices.Clone(pars), trainingOrder: run.Range(0, len(pars))}
	v.solverTime = make([]atomic.Int64, len(pars))
	var whole Classifier
	problems, err := t.problems(&whole, src.n, parts)
	if err != nil {
		return nil, err
	}
	for i := range pars {
		if v.params[i], err = pars[i].resolve(whole.Classes, src.n); err != nil {
			return nil, err
		}
		v.params[i].Probabilities = false // predicted classes don't depend on sigmoids
	}
	slices.SortStableFunc(v.trainingOrder, func(i, j int) int {
		a, b := &v.params[i], &v.params[j]
		return cmp.Or(cmp.Compare(a.Nu, b.Nu), cmp.Compare(a.Epsilon, b.Epsilon), cmp.Compare(a.C, b.C))
	})
	for _, s := range warmStarts {
		if err := s.check(whole.Scheme, parts, only, len(problems), src.n); err != nil {
			return nil, err
		}
	}
	out := make([]*Validation, len(pars))
	for i := range out {
		out[i] = &Validation{Classifiers: make([]*Classifier, parts)}
		for _, f := range only {
			own := whole
			own.Functions = make([]*DecisionFunction, len(problems))
			out[i].Classifiers[f] = &own
		}
		if t.StoreDecisions || t.LabelSets != nil && t.TuneThresholds {
			out[i].Decisions = make([][]float64, src.n)
		}
		switch {
		case t.Targets != nil:
			out[i].Estimates = slices.Repeat([]float64{math.NaN()}, src.n)
		case t.LabelSets != nil:
			out[i].LabelSets = make([][]int, src.n)
		default:
			out[i].PredictedClasses = slices.Repeat([]int{-1}, src.n)
		}
	}
	var jobs []solverJob
	for _, f := range only {
		for i, p := range problems {
			if p == nil {
				continue
			}
			jobs = append(jobs, solverJob{len(p.docs), p.classes, func(ctx context.Context, s *singleSMO, bytes int64) error {
				own := p.withoutFold(t.Folds, f)
				for _, w := range warmStarts {
					if machine := w.Validation.Classifiers[f].Functions[i]; machine != nil {
						own.initial = append(own.initial, scaledFunction{machine, w.Factor})
					}
				}
				return v.trainPath(ctx, s, own, bytes, func(par int, trained *DecisionFunction) {
					out[par].Classifiers[f].Functions[i] = trained
				})
			}})
		}
	}
	if err := runJobs(ctx, src, jobs, newReporter(opt.Progress, len(jobs)*len(pars)), &opt); err != nil {
		return nil, err
	}
	for _, f := range only {
		if err := t.predict(ctx, src, out, f, &opt); err != nil {
			return nil, err
		}
	}
	for i, o := range out {
		o.SolverTime = time.Duration(v.solverTime[i].Load())
		if t.LabelSets != nil && t.TuneThresholds {
			if o.Thresholds, o.LabelSets, err = TuneThresholds(o.Decisions, t.LabelSets, t.Folds); err != nil {
				return nil, err
			}
		}
		if !t.StoreDecisions {
			o.Decisions = nil
		}
	}
	return out, nil
}

// Validate returns an error if folds or labels are invalid for n documents, or if Labels has only
// one class outside a fold.
func (t *CrossValidation) Validate(n int) error {
	parts, _, err := t.selectedFolds(n)
	if err == nil {
		_, err = t.problems(&Classifier{}, n, parts)
	}
	return err
}

// predict predicts the documents of fold f. The classifiers of all parameters share kernel values.
func (t *CrossValidation) predict(ctx context.Context, m *checkedMatrix, out []*Validation, f int, opt *Options) error {
	var held []int
	for i, part := range t.Folds {
		if part == f && (t.Labels == nil || t.Labels[i] >= 0) && (t.LabelSets == nil || t.LabelSets[i] != nil) &&
			(t.Targets == nil || t.Targets[i] == t.Targets[i]) {
			held = append(held, i)
		}
	}
	var all Classifier
	for _, o := range out {
		all.Functions = append(all.Functions, o.Classifiers[f].Functions...)
	}
	n := len(all.Functions) / len(out)
	return all.predictRows(ctx, m, held, opt, func(i int, decisions []float64) {
		for par, o := range out {
			own := decisions[par*n : (par+1)*n]
			if o.Decisions != nil {
				o.Decisions[i] = slices.Clone(own)
			}
			switch {
			case t.Targets != nil:
				o.Estimates[i] = own[0]
			case t.LabelSets != nil:
				o.LabelSets[i] = o.Classifiers[f].PredictLabels([]int{}, own)
			default:
				o.PredictedClasses[i] = o.Classifiers[f].PredictClass(own)
			}
		}
	})
}

func (s *WarmStart) check(scheme Scheme, parts int, only []int, problems, n int) error {
	if s.Validation == nil || len(s.Validation.Classifiers) != parts {
		return userError("the warm start must have the %d folds of this trial", parts)
	}
	for _, f := range only {
		c := s.Validation.Classifiers[f]
		if c == nil {
			return userError("the warm start is from a trial without fold %d", f)
		}
		if err := c.checkStart(scheme, problems, n); err != nil {
			return fmt.Errorf("fold %d: %w", f, err)
		}
	}
	return nil
}

func (t *CrossValidation) problems(c *Classifier, n, parts int) ([]*problem, error) {
	training := Training{
		Labels: slices.Clone(t.Labels), LabelSets: slices.Clone(t.LabelSets), Targets: slices.Clone(t.Targets),
		Classes: t.Classes,
		Scheme:  t.Scheme,
	}
	labels := training.Labels
	for i, part := range t.Folds {
		switch {
		case part >= 0:
		case i < len(labels):
			labels[i] = -1
		case i < len(training.LabelSets):
			training.LabelSets[i] = nil
		case i < len(training.Targets):
			training.Targets[i] = math.NaN()
		}
	}
	problems, err := training.problems(c, n)
	if err != nil || t.LabelSets != nil {
		return problems, err
	}
	for f := range parts { // the other folds must have at least two classes
		seen, several := -1, t.Targets != nil
		for i, c := range labels {
			if c >= 0 && t.Folds[i] != f {
				several = several || seen >= 0 && c != seen
				seen = c
			}
		}
		if !several {
			return nil, userError("without fold %d of %d, all documents belong to one class", f+1, parts)
		}
	}
	return problems, nil
}

func (p *problem) withoutFold(parts []int, f int) *problem {
	own := &problem{kind: p.kind, classes: p.classes, negativeWeightClass: p.negativeWeightClass}
	for t, d := range p.docs {
		if parts[d] == f {
			continue
		}
		own.docs = append(own.docs, d)
		if p.kind == regression {
			own.targets = append(own.targets, p.targets[t])
		} else {
			own.positive = append(own.positive, p.positive[t])
		}
	}
	return own
}

func (t *CrossValidation) selectedFolds(n int) (count int, only []int, err error) {
	if len(t.Folds) != n {
		return 0, nil, userError("Folds has length %d, but there are %d documents", len(t.Folds), n)
	}
	for i, f := range t.Folds {
		if f < -1 || f >= n {
			return 0, nil, userError("fold of document %d must be between 0 and %d, or -1 to exclude it, got %d", i, n-1, f)
		}
		count = max(count, f+1)
	}
	if count < 2 {
		return 0, nil, userError("validation needs at least 2 folds, got %d", count)
	}
	for f := range count {
		if t.OnlyFolds == nil || slices.Contains(t.OnlyFolds, f) {
			only = append(only, f)
		}
	}
	if t.OnlyFolds != nil && (len(only) != len(t.OnlyFolds) || t.TuneThresholds && len(only) < count) {
		return 0, nil, userError("OnlyFolds must have distinct folds from 0 to %d, or all folds to tune thresholds, got %v",
			count-1, t.OnlyFolds)
	}
	return count, only, nil
}

type pathTrainer struct {
	m             *checkedMatrix
	params        []Parameters
	trainingOrder []int          // indices into params in training order
	solverTime    []atomic.Int64 // solver time in nanoseconds by index into params
}

// trainPath trains a decision function for each element of params, and passes it to keep. Each
// decision function is warm-started from the previous decision function.
func (v *pathTrainer) trainPath(
	ctx context.Context, s *singleSMO, p *problem, bytes int64, keep func(par int, m *DecisionFunction),
) error {
	constant := p.constantFunction(false)
	var last *dual
	for _, i := range v.trainingOrder {
		if constant != nil {
			if p.classes[1] < 0 { // in one-vs-one, a class without documents gets no votes
				keep(i, constant)
			}
			s.report.countSolved()
			continue
		}
		begin, before := time.Now(), p.params
		p.setParameters(&v.params[i])
		var o runResult
		var err error
		if last != nil && p.params.Nu == 0 && p.params.Epsilon == before.Epsilon && p.raiseBounds(last) {
			o, err = s.resume(ctx, last)
		} else if last, err = p.newDual(v.m, nil); err == nil {
			o, err = s.solve(ctx, last, p.initial, false, bytes)
		}
		if err != nil {
			return err
		}
		machine, err := p.decisionFunction(last, o)
		if err != nil {
			return err
		}
		keep(i, machine)
		p.initial = initialSolutionFrom(machine)
		v.solverTime[i].Add(int64(time.Since(begin)))
		s.report.countSolved()
	}
	return nil
}

// raiseBounds sets the upper bounds of d to the upper bounds of p. If a bound would decrease, it
// changes nothing and returns false.
func (p *problem) raiseBounds(d *dual) bool {
	for v := range d.upper {
		if d.upper[v] > p.upperBound(v) {
			return false
		}
	}
	for v := range d.upper {
		d.upper[v] = p.upperBound(v)
	}
	return true
}
