package solver

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// Scheme is the decomposition of a multi-class problem into binary problems.
type Scheme int

const (
	// OneVsOne trains a decision function for each pair of classes a < b, in the order of
	// [ClassPairs]. Class a is positive. The class with the most votes wins. Ties are broken by the
	// sum of decision values (see [Classifier.PredictClass]), unlike in LIBSVM, which takes the
	// first of the tied classes.
	OneVsOne Scheme = iota

	// OneVsRest trains a decision function for each class against all others. The class with the
	// largest decision value wins.
	OneVsRest

	// MultiLabel trains a decision function for each label, against all documents without the
	// label. A document may have any number of labels. Each label is predicted by the sign of its
	// decision value.
	MultiLabel
)

// String returns the name of the scheme.
func (s Scheme) String() string {
	if s < OneVsOne || s > MultiLabel {
		return "unknown scheme"
	}
	return [...]string{"one-vs-one", "one-vs-rest", "labels"}[s]
}

// ClassPairs yields the index and the classes a < b of each pair: (0,1), (0,2), …, (1,2), (1,3), …
func ClassPairs(classes int) iter.Seq2[int, [2]int] {
	return func(yield func(int, [2]int) bool) {
		i := 0
		for a := range classes {
			for b := a + 1; b < classes; b++ {
				if !yield(i, [2]int{a, b}) {
					return
				}
				i++
			}
		}
	}
}

// Classifier is a trained multi-class classifier. It may be used concurrently.
type Classifier struct {
	Scheme  Scheme
	Classes int

	// Functions has k(k-1)/2 or k elements for k classes, in the order of the scheme. In
	// one-vs-one, a function is nil if one of its classes has no documents. In other schemes, the
	// function of a class is constant if no document, or every document, has that class.
	Functions []*DecisionFunction

	AtLeastOneLabel bool // true if MultiLabel assigns the label with the largest value when no value is positive

	// Thresholds, if not nil, were tuned by [Train] and applied to Functions and AtLeastOneLabel.
	Thresholds *Thresholds

	// Temperature scales probabilities in schemes with one class per object; nil for no scaling.
	Temperature *Temperature `json:",omitempty"`

	Rejection *Rejection `json:",omitempty"` // threshold for the largest probability; nil for no rejection
}

// Rejection assigns no class to objects whose largest probability is below MinProbability.
type Rejection struct {
	MinProbability float64 `json:"below"`

	// Coverage is the fraction of held-out objects that get a class. ErrorRate is their error rate.
	Coverage  float64 `json:"coverage"`
	ErrorRate float64 `json:"error"`
}

// Training describes the training data and the problem. Exactly one of Labels, LabelSets and
// Targets must be set.
type Training struct {
	Labels    []int     // class by document, 0 … Classes-1; -1 excludes the document
	LabelSets [][]int   // labels by document; nil excludes the document; an empty set means no labels
	Targets   []float64 // regression target by document; NaN excludes the document

	// OneClass trains a one-class SVM on all documents that aren't excluded, whatever their label.
	OneClass bool

	Classes int    // number of classes or labels; 1 for regression and one-class SVM
	Scheme  Scheme // scheme for Labels; ignored for LabelSets, regression and one-class SVM
	Parameters

	// Folds, if not nil, requests thresholds for LabelSets, tuned on these folds (see
	// [TuneThresholds]). It holds the fold of each document, from 0, or -1 if excluded.
	Folds []int

	// StartFrom, if not nil, is the classifier from which training is warm-started. It may have
	// been trained with another C, another kernel width or other documents. If one of its functions
	// is nil, training of this function starts at α = 0. ν-SVC, ν-SVR and one-class SVM ignore
	// StartFrom. Default: start at α = 0.
	StartFrom *Classifier

	// OnlyFunctions, if not nil, lists the decision functions to train. The list must consist of
	// complete groups (see [Training.Groups]). Other functions of the result are nil. Default: all.
	OnlyFunctions []int

	// IndependentLabels trains each label of LabelSets separately, even if rows are not in memory.
	// So results don't depend on whether rows are in memory. Other schemes ignore
	// IndependentLabels.
	IndependentLabels bool
}

// Train trains a classifier. For each binary problem it solves C-SVC,
//
//	minimise ½ Σ_s Σ_t y[s]y[t]α[s]α[t]·K[s][t] - Σ_t α[t]  subject to 0 <= α[t] <= C[t], Σ_t y[t]α[t] = 0,
//
// where y is +1 for positive documents and -1 for negative documents, and C[t] is C times the class
// weight and the document weight. ν-SVC has no linear term. Its constraints are Σ_t y[t]α[t] = 0, 0
// <= α[t] <= w[t] and Σ_t α[t] = ν·Σ_t w[t] for document weights w. The solution is divided by its
// margin (Schölkopf and others, Neural Computation 12, 2000). Train fails if the margin is 0, for
// example because two classes contain equal documents.
//
// Regression trains one decision function, which estimates the target z. ε-SVR solves
//
//	minimise ½ Σ_s Σ_t β[s]β[t]·K[s][t] + ε·Σ_t |β[t]| - Σ_t z[t]β[t]  subject to |β[t]| <= C·w[t], Σ_t β[t] = 0,
//
// and ν-SVR replaces the term ε·Σ_t |β[t]| by the constraint Σ_t |β[t]| <= C·ν·Σ_t w[t] (Chang and
// Lin, ACM TIST 2, 2011). OneClass solves
//
//	minimise ½ Σ_s Σ_t α[s]α[t]·K[s][t]  subject to 0 <= α[t] <= w[t], Σ_t α[t] = ν·Σ_t w[t]
//
// (Schölkopf and others, Neural Computation 13, 2001). Typical documents get positive values.
//
// Train is fastest if the documents of each class are consecutive, because it then reads fewer
// values of the matrix. Problems run in parallel, the largest first.
//
// Train fails if labels, parameters or options are out of range, if Labels has one class and
// OneClass isn't set, if StartFrom doesn't match the problem, if a method of the matrix fails, or
// if ctx is done.
func Train(ctx context.Context, m Matrix, t Training, opt Options) (*Classifier, error) {
	src, err := newCheckedMatrix(m)
	if err != nil {
		return nil, err
	}
	if opt, err = opt.resolve(); err != nil {
		return nil, err
	}
	p, err := t.plan(src.n, src.inMemory != nil)
	if err != nil {
		return nil, err
	}
	if err := p.restrictTo(t.OnlyFunctions); err != nil {
		return nil, err
	}
	open := slices.Concat(p.groups...)
	report := newReporter(opt.Progress, len(open)*(1+min(p.foldCount, 1)))
	if p.joint {
		err = trainTogether(ctx, src, p.groups, &opt, report, p.Functions)
	} else {
		var jobs []solverJob
		for _, own := range open {
			jobs = append(jobs, solverJob{len(own.docs), own.classes,
				func(ctx context.Context, s *singleSMO, bytes int64) (err error) {
					p.Functions[own.index], err = own.solve(ctx, s, bytes)
					return err
				}})
		}
		err = runJobs(ctx, src, jobs, report, &opt)
	}
	if err == nil && p.foldCount > 0 {
		err = t.tuneThresholds(ctx, src, open, p.Classifier, p.foldCount, report, &opt)
	}
	if err != nil {
		return nil, err
	}
	return p.Classifier, nil
}

// checkStart checks that training on n documents with the given scheme and number of problems can
// be warm-started from c. A nil c is valid.
func (c *Classifier) checkStart(scheme Scheme, problems, n int) error {
	if c == nil {
		return nil
	}
	if c.Scheme != scheme || len(c.Functions) != problems {
		return userError("the warm start has %d decision functions (%s), but the problem has %d (%s)",
			len(c.Functions), c.Scheme, problems, scheme)
	}
	for i, machine := range c.Functions {
		if machine == nil {
			continue
		}
		if err := machine.Validate(n); err != nil {
			return fmt.Errorf("decision function %d of the warm start: %w", i, err)
		}
	}
	return nil
}

// maxFunctions limits the number of decision functions. One-vs-one exceeds it with 11,586 classes.
const maxFunctions = 1 << 26

func (s Scheme) functionCount(classes int) (int, error) {
	if classes < 1 || classes > math.MaxInt32 {
		return 0, userError("number of classes must be between 1 and %d, got %d", math.MaxInt32, classes)
	}
	n := int64(classes)
	switch s {
	case OneVsOne:
		n = n * (n - 1) / 2
	case OneVsRest, MultiLabel:
	default:
		return 0, userError("unknown scheme %d", int(s))
	}
	if n > maxFunctions {
		return 0, userError("%s with %d classes needs %d decision functions; the maximum is %d", s, classes, n, maxFunctions)
	}
	return int(n), nil
}

// Validate returns an error if a decision function is missing, or if the temperature or the
// rejection is out of range. In one-vs-one, a class may lack all its functions.
func (c *Classifier) Validate() error {
	want, err := c.Scheme.functionCount(c.Classes)
	if err != nil {
		return err
	}
	if len(c.Functions) != want {
		return userError("%s with %d classes needs %d decision functions, got %d", c.Scheme, c.Classes, want,
			len(c.Functions))
	}
	if (c.Temperature != nil || c.Rejection != nil) && c.Scheme == MultiLabel {
		return userError("Temperature and Rejection require one class per document, got scheme %s", c.Scheme)
	}
	if t := c.Temperature; t != nil && (!(t.T > 0) || !isFinite(t.T)) {
		return userError("temperature must be positive and finite, got %v", t.T)
	}
	if r := c.Rejection; r != nil && !(r.MinProbability >= 0 && r.MinProbability <= 1) {
		return userError("MinProbability must be in [0, 1], got %v", r.MinProbability)
	}
	if c.Scheme != OneVsOne {
		if i := slices.Index(c.Functions, nil); i >= 0 {
			return userError("decision function %d of %s is missing", i, c.Scheme)
		}
		return nil
	}
	present := c.PresentClasses()
	for i, of := range ClassPairs(c.Classes) {
		if c.Functions[i] == nil && present[of[0]] && present[of[1]] {
			return userError("the decision function for classes %d and %d is missing, but both classes have others", of[0],
				of[1])
		}
	}
	if c.Classes > 1 && !slices.Contains(present, true) {
		return userError("all decision functions are missing for %d classes", c.Classes)
	}
	return nil
}

// PresentClasses reports which classes of a one-vs-one classifier have decision functions.
func (c *Classifier) PresentClasses() []bool {
	present := make([]bool, c.Classes)
	for i, of := range ClassPairs(c.Classes) {
		if i < len(c.Functions) && c.Functions[i] != nil {
			present[of[0]], present[of[1]] = true, true
		}
	}
	return present
}

// problems returns the problems, in the order of the decision functions, and sets c.Scheme and
// c.Classes. In one-vs-one, a problem is nil if one of its classes is empty.
func (t *Training) problems(c *Classifier, n int) ([]*problem, error) {
	c.Scheme, c.Classes = t.Scheme, t.Classes
	switch single := t.OneClass || t.Targets != nil; {
	case single:
		c.Scheme, c.Classes = OneVsRest, 1
	case t.LabelSets != nil:
		c.Scheme = MultiLabel
	case t.Scheme == MultiLabel:
		return nil, userError("scheme %q requires LabelSets", t.Scheme)
	}
	if _, err := c.Scheme.functionCount(c.Classes); err != nil {
		return nil, err
	}
	if have := len(t.Labels) + len(t.LabelSets) + len(t.Targets); have != n {
		return nil, userError("got %d labels, label sets or targets for %d documents", have, n)
	}
	var docs []int
	if t.Targets != nil {
		for i, z := range t.Targets {
			if math.IsInf(z, 0) {
				return nil, userError("target of document %d must be finite, or NaN to exclude the document, got %v", i, z)
			}
			if z == z {
				docs = append(docs, i)
			}
		}
		return t.singleProblem(&problem{kind: regression, docs: docs, targets: run.Select(t.Targets, docs)})
	}
	members := make([][]int, c.Classes) // documents of each class, increasing
	for i := range n {
		var set []int
		if t.LabelSets != nil {
			set = t.LabelSets[i]
		} else if t.Labels[i] != -1 {
			set = t.Labels[i : i+1]
		}
		if set == nil {
			continue
		}
		docs = append(docs, i)
		for _, class := range set {
			if t.OneClass {
				class = 0
			}
			if class < 0 || class >= c.Classes {
				return nil, userError("label of document %d must be between 0 and %d, got %d", i, c.Classes-1, class)
			}
			if of := members[class]; len(of) == 0 || of[len(of)-1] != i {
				members[class] = append(of, i)
			}
		}
	}
	present := 0
	for _, of := range members {
		present += min(len(of), 1)
	}
	switch {
	case t.OneClass:
		return t.singleProblem(&problem{kind: oneClass, docs: docs, positive: slices.Repeat([]bool{true}, len(docs))})
	case t.LabelSets != nil && len(docs) == 0:
		return nil, errNoDocuments
	case t.LabelSets == nil && present < 2:
		return nil, userError("training requires documents of at least two classes, got %d class", present)
	case c.Scheme == OneVsOne:
		return pairProblems(members), nil
	}
	problems := restProblems(members, docs)
	if t.LabelSets == nil && c.Classes == 2 { // negative documents belong to the other class
		problems[0].negativeWeightClass, problems[1].negativeWeightClass = 1, 0
	}
	return problems, nil
}

// singleProblem checks and returns the only problem of a regression or one-class SVM.
func (t *Training) singleProblem(p *problem) ([]*problem, error) {
	switch {
	case len(p.docs) == 0:
		return nil, errNoDocuments
	case p.kind == oneClass && t.Nu == 0:
		return nil, userError("ν must be in (0, 1], got 0")
	}
	p.classes[1], p.negativeWeightClass = -1, -1
	return []*problem{p}, nil
}

var errNoDocuments = userError("there are no documents to train on")

func pairProblems(members [][]int) []*problem {
	var problems []*problem
	for _, pair := range ClassPairs(len(members)) {
		i, j := members[pair[0]], members[pair[1]]
		if len(i) == 0 || len(j) == 0 {
			problems = append(problems, nil)
			continue
		}
		p := &problem{classes: pair, negativeWeightClass: pair[1]}
		for len(i)+len(j) > 0 {
			first := len(j) == 0 || len(i) > 0 && i[0] < j[0]
			p.positive = append(p.positive, first)
			if first {
				p.docs, i = append(p.docs, i[0]), i[1:]
			} else {
				p.docs, j = append(p.docs, j[0]), j[1:]
			}
		}
		problems = append(problems, p)
	}
	return problems
}

func restProblems(members [][]int, docs []int) []*problem {
	none := make([]bool, len(docs)) // shared by all classes without documents
	problems := make([]*problem, len(members))
	for c, of := range members {
		problems[c] = &problem{docs: docs, positive: none, classes: [2]int{c, -1}, negativeWeightClass: -1}
		if len(of) > 0 {
			problems[c].positive = make([]bool, len(docs))
			for t, i := range docs {
				if len(of) > 0 && of[0] == i {
					problems[c].positive[t], of = true, of[1:]
				}
			}
		}
	}
	return problems
}

// constantFunction returns a constant decision function if all documents of a two-class problem
// have the same sign, else nil. If probable is true, the function's sigmoid gives this sign the
// constant probability (n+1)/(n+2), where n is the number of documents.
func (p *problem) constantFunction(probable bool) *DecisionFunction {
	positive := slices.Contains(p.positive, true)
	if p.kind != twoClasses || positive && slices.Contains(p.positive, false) {
		return nil
	}
	m := &DecisionFunction{Rho: 1, Converged: true}
	if positive {
		m.Rho = -1
	}
	if probable {
		fit := fitSigmoid(nil, p.positive)
		m.Sigmoid = &fit
	}
	return m
}
