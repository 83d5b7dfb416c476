package solver

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// Scheme says how a problem of several classes is made of problems of two.
type Scheme int

const (
	// OneVsOne trains a machine for each pair of classes a < b, positive for a, in the order of
	// [Pairs]. The class with the most votes wins, ties are broken by the sum of decision values. LIBSVM takes the
	// first class of a tie.
	OneVsOne Scheme = iota

	// OneVsRest trains a machine for each class against all others. The class with the greatest
	// decision value wins.
	OneVsRest

	// Labels trains a machine for each label, against all documents that don't have it. A document
	// may have any number of labels. The sign of its machine decides each by itself.
	Labels
)

// String names the scheme.
func (s Scheme) String() string {
	if s < OneVsOne || s > Labels {
		return "unknown scheme"
	}
	return [...]string{"one-vs-one", "one-vs-rest", "labels"}[s]
}

// Pairs yields the pairs of classes a < b, (0,1), (0,2), …, (1,2), …, and counts them from 0.
func Pairs(classes int) iter.Seq2[int, [2]int] {
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

// Classifier is what was trained for several classes. It may be used concurrently.
type Classifier struct {
	Scheme  Scheme
	Classes int

	// Functions has k(k-1)/2 or k elements for k classes, in the order that the scheme says. In
	// one-vs-one a machine is nil where one of its classes has no documents. In the other schemes a
	// class with no documents, or with all documents, has a machine with a constant decision.
	Functions []*DecisionFunction

	AtLeastOne bool // Labels: an object with no value above 0 gets the label of the greatest one

	// Thresholds are those that [Train] has tuned and made part of the machines and AtLeastOne; nil
	// for none.
	Thresholds *Thresholds

	// Temperature is that of the probabilities of one class per object, for machines with sigmoids; nil
	// for none.
	Temperature *Temperature `json:",omitempty"`

	Rejection *Rejection `json:",omitempty"` // of objects whose probabilities are too small; nil for none
}

// Rejection rejects objects whose largest probability is below MinProbability: they get no class.
type Rejection struct {
	MinProbability float64 `json:"below"`

	// Coverage is the share of held-out objects that got a class, Error that of wrong ones among these.
	Coverage float64 `json:"coverage"`
	Error    float64 `json:"error"`
}

// Training says what [Train] trains on. Exactly one of Labels, Sets and Targets is there.
type Training struct {
	Labels  []int     // by document: its class, 0 … Classes-1; -1 leaves it out
	Sets    [][]int   // by document: its labels; nil leaves it out, an empty set has none
	Targets []float64 // by document: of regression; NaN leaves it out

	// OneClass asks for a machine that tells documents with a label from all others, whatever their labels.
	OneClass bool

	Classes int    // how many classes, or labels, there are; 1 for regression and one class
	Scheme  Scheme // of Labels; Sets have the scheme [Labels], a machine by itself has [OneVsRest]
	Parameters

	// Parts, if not nil, asks for thresholds of Sets, see [TuneThresholds]: by document its part, from 0
	// on, -1 for one without a set. The machines of each part's documents are trained without them.
	Folds []int

	// Start, if not nil, is a classifier with a near solution, for another C, another width of the kernel or
	// other documents. Machines that are nil begin at 0, and so do all with Nu. Default: all begin at 0.
	Start *Classifier

	// Only, if not nil, are the numbers of the machines that are trained, whole groups of Groups;
	// others are nil then. Default: all.
	Only []int

	// IndependentLabels makes the solver treat each label as a separate problem even when the rows are not in memory, so
	// that the result does not depend on the memory. Other schemes don't look at it.
	IndependentLabels bool
}

// Train trains a classifier: for each problem of two classes it solves C-SVC,
//
//	minimise ½ Σ_s Σ_t y[s]y[t]α[s]α[t]·K[s][t] - Σ_t α[t]  subject to 0 <= α[t] <= C[t], Σ_t y[t]α[t] = 0,
//
// where y is +1 for documents of the first class and -1 for others, and C[t] is C times the weights of
// class and document. ν-SVC has no linear term, 0 <= α[t] <= w[t] and Σ_t α[t] = ν·Σ_t w[t] for the
// weights w of documents; its result is divided by its margin (Schölkopf and others, Neural Computation 12,
// 2000). A margin of 0, as of two classes with the same documents, is an error. (svm-train of LIBSVM 3.3
// writes coefficients ±inf and rho NaN.)
//
// Regression has the only machine of the result. Its decision value estimates the target z: ε-SVR solves
//
//	minimise ½ Σ_s Σ_t β[s]β[t]·K[s][t] + ε·Σ_t |β[t]| - Σ_t z[t]β[t]  subject to |β[t]| <= C·w[t], Σ_t β[t] = 0,
//
// and ν-SVR has Σ_t |β[t]| <= C·ν·Σ_t w[t] in place of the term in ε (as above, in the forms of Chang and
// Lin). So has OneClass, whose decision value is positive for documents like those of training,
//
//	minimise ½ Σ_s Σ_t α[s]α[t]·K[s][t]  subject to 0 <= α[t] <= w[t], Σ_t α[t] = ν·Σ_t w[t]
//
// (Schölkopf and others, Neural Computation 13, 2001).
//
// It is fastest, and reads least from the matrix, if the documents of a class are consecutive. The
// problems run in parallel, the largest first.
//
// Train fails if labels, parameters or options are out of range, if all documents have one class, if a
// start has other machines, if the matrix fails, and when ctx is done.
func Train(ctx context.Context, m Matrix, t Training, opt Options) (*Classifier, error) {
	src, err := newSource(m)
	if err != nil {
		return nil, err
	}
	if opt, err = opt.resolve(); err != nil {
		return nil, err
	}
	p, err := t.plan(src.n, src.rows != nil)
	if err != nil {
		return nil, err
	}
	if err := p.only(t.Only); err != nil {
		return nil, err
	}
	open := slices.Concat(p.groups...)
	report := newReporter(opt.Progress, len(open)*(1+min(p.parts, 1)))
	if p.together {
		err = trainTogether(ctx, src, p.groups, &opt, report, p.Functions)
	} else {
		var jobs []job
		for _, own := range open {
			jobs = append(jobs, job{len(own.docs), own.classes,
				func(ctx context.Context, s *search, bytes int64) (err error) {
					p.Functions[own.place], err = own.solve(ctx, s, bytes)
					return err
				}})
		}
		err = runAll(ctx, src, jobs, report, &opt)
	}
	if err == nil && p.parts > 0 {
		err = t.tune(ctx, src, open, p.Classifier, p.parts, report, &opt)
	}
	if err != nil {
		return nil, err
	}
	return p.Classifier, nil
}

// startsFor checks that searches of so many problems of a scheme, over a matrix of n documents, can
// begin at a classifier; nil is none.
func (c *Classifier) startsFor(scheme Scheme, problems, n int) error {
	if c == nil {
		return nil
	}
	if c.Scheme != scheme || len(c.Functions) != problems {
		return errUser("a start of %d machines (%s), expected %d (%s)", len(c.Functions), c.Scheme, problems, scheme)
	}
	for i, machine := range c.Functions {
		if machine == nil {
			continue
		}
		if err := machine.Validate(n); err != nil {
			return fmt.Errorf("machine %d: a start: %w", i, err)
		}
	}
	return nil
}

// maxMachines is the greatest number of machines of a classifier: one-vs-one has as many for
// 11,586 classes.
const maxMachines = 1 << 26

// machines returns how many machines a scheme has for a number of classes.
func (s Scheme) machines(classes int) (int, error) {
	if classes < 1 || classes > math.MaxInt32 {
		return 0, errUser("%d classes, expected 1 to %d", classes, math.MaxInt32)
	}
	n := int64(classes)
	switch s {
	case OneVsOne:
		n = n * (n - 1) / 2
	case OneVsRest, Labels:
	default:
		return 0, errUser("scheme %d is unknown", int(s))
	}
	if n > maxMachines {
		return 0, errUser("%s of %d classes has %d machines, expected at most %d", s, classes, n, maxMachines)
	}
	return int(n), nil
}

// Validate reports whether the classifier lacks a machine of its scheme, or has a temperature or a
// rejection that is none. In one-vs-one machines of classes that have no other may be nil.
func (c *Classifier) Validate() error {
	want, err := c.Scheme.machines(c.Classes)
	if err != nil {
		return err
	}
	if len(c.Functions) != want {
		return errUser("%d machines (%s) for %d classes, expected %d", len(c.Functions), c.Scheme, c.Classes, want)
	}
	if t := c.Temperature; t != nil && (!(t.T > 0) || !finite(t.T) || c.Scheme == Labels) {
		return errUser("temperature %v (%s), expected a finite number above 0, and a scheme of classes", t.T, c.Scheme)
	}
	if r := c.Rejection; r != nil && (!(r.MinProbability >= 0 && r.MinProbability <= 1) || c.Scheme == Labels) {
		return errUser("rejection below %v (%s), expected a number from 0 to 1, and a scheme of classes", r.MinProbability,
			c.Scheme)
	}
	if c.Scheme != OneVsOne {
		if i := slices.Index(c.Functions, nil); i >= 0 {
			return errUser("machine %d (%s) is missing", i, c.Scheme)
		}
		return nil
	}
	present := c.Present()
	for i, of := range Pairs(c.Classes) {
		if c.Functions[i] == nil && present[of[0]] && present[of[1]] {
			return errUser("the machine for classes %d and %d is missing, and both have others", of[0], of[1])
		}
	}
	if c.Classes > 1 && !slices.Contains(present, true) {
		return errUser("no machine for %d classes, expected one or more", c.Classes)
	}
	return nil
}

// Present says which classes of a one-vs-one classifier have a machine.
func (c *Classifier) Present() []bool {
	present := make([]bool, c.Classes)
	for i, of := range Pairs(c.Classes) {
		if i < len(c.Functions) && c.Functions[i] != nil {
			present[of[0]], present[of[1]] = true, true
		}
	}
	return present
}

// problems returns the problems of a training on n documents, and sets scheme and classes of c. A problem
// is nil if one of its two classes is empty.
func (t *Training) problems(c *Classifier, n int) ([]*problem, error) {
	c.Scheme, c.Classes = t.Scheme, t.Classes
	switch single := t.OneClass || t.Targets != nil; {
	case single:
		c.Scheme, c.Classes = OneVsRest, 1
	case t.Sets != nil:
		c.Scheme = Labels
	case t.Scheme == Labels:
		return nil, errUser("scheme %q for one class per document", t.Scheme)
	}
	if _, err := c.Scheme.machines(c.Classes); err != nil {
		return nil, err
	}
	if have := len(t.Labels) + len(t.Sets) + len(t.Targets); have != n {
		return nil, errUser("%d labels, sets of labels or targets for a matrix of %d documents", have, n)
	}
	var docs []int
	if t.Targets != nil {
		for i, z := range t.Targets {
			if math.IsInf(z, 0) {
				return nil, errUser("target %v of document %d, expected a finite number, or NaN to leave it out", z, i)
			}
			if z == z {
				docs = append(docs, i)
			}
		}
		return t.single(&problem{kind: regression, docs: docs, targets: run.Pick(t.Targets, docs)})
	}
	members := make([][]int, c.Classes) // by class: its documents, increasing
	for i := range n {
		var set []int
		if t.Sets != nil {
			set = t.Sets[i]
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
				return nil, errUser("document %d has label %d, expected 0 to %d", i, class, c.Classes-1)
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
		return t.single(&problem{kind: oneClass, docs: docs, positive: slices.Repeat([]bool{true}, len(docs))})
	case t.Sets != nil && len(docs) == 0:
		return nil, errNoDocument
	case t.Sets == nil && present < 2:
		return nil, errUser("the documents are of %d class, expected two or more", present)
	case c.Scheme == OneVsOne:
		return onePairs(members), nil
	}
	problems := oneRest(members, docs)
	if t.Sets == nil && c.Classes == 2 { // where all others are one class
		problems[0].weighs, problems[1].weighs = 1, 0
	}
	return problems, nil
}

// single returns the only problem of a training.
func (t *Training) single(p *problem) ([]*problem, error) {
	switch {
	case len(p.docs) == 0:
		return nil, errNoDocument
	case p.kind == oneClass && t.Nu == 0:
		return nil, errUser("ν is 0, expected 0 < ν <= 1")
	}
	p.classes[1], p.weighs = -1, -1
	return []*problem{p}, nil
}

var errNoDocument = errUser("no document to train on")

// onePairs returns the problems of all pairs of classes, nil where one is empty.
func onePairs(members [][]int) []*problem {
	var problems []*problem
	for _, pair := range Pairs(len(members)) {
		i, j := members[pair[0]], members[pair[1]]
		if len(i) == 0 || len(j) == 0 {
			problems = append(problems, nil)
			continue
		}
		p := &problem{classes: pair, weighs: pair[1]}
		for len(i)+len(j) > 0 { // in the order of the matrix
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

// oneRest returns the problems of each class against all other documents.
func oneRest(members [][]int, docs []int) []*problem {
	none := make([]bool, len(docs)) // shared by all classes without documents
	problems := make([]*problem, len(members))
	for c, of := range members {
		problems[c] = &problem{docs: docs, positive: none, classes: [2]int{c, -1}, weighs: -1}
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

// constant is the machine of a problem in which all documents are of one kind, or nil. Its
// probability is what the counts say, by Bayes' rule with a uniform prior.
func (p *problem) constant(probable bool) *DecisionFunction {
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
