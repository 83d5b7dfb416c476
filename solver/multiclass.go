package solver

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Scheme says how a problem of several classes is made of problems of two.
type Scheme int

const (
	// OneVsOne trains a machine for each pair of classes a < b, in the order (0,1), (0,2), …,
	// (1,2), …, positive for a; the class with the most votes wins, the earlier of several. LIBSVM
	// does the same.
	OneVsOne Scheme = iota

	// OneVsRest trains a machine for each class against all others; the class with the greatest
	// decision value wins.
	OneVsRest

	// Labels trains a machine for each label, against all documents that don't have it; a document
	// may have any number of them. What is decided is each label for itself, by the sign of its
	// machine.
	Labels
)

// String names the scheme.
func (s Scheme) String() string {
	switch s {
	case OneVsOne:
		return "one-vs-one"
	case OneVsRest:
		return "one-vs-rest"
	case Labels:
		return "labels"
	}
	return "unknown scheme"
}

// Classifier is what was trained for several classes. It may be used concurrently.
type Classifier struct {
	Scheme  Scheme
	Classes int

	// Machines has k(k-1)/2 or k elements for k classes, in the order that the scheme says. In
	// one-vs-one a machine is nil where one of its classes has no documents; in the other schemes a
	// class without documents, or with all of them, has a machine that always says so.
	Machines []*Machine
}

// Training says what [Train] trains on: documents with one class each, in Labels, or with any
// number of labels each, in Sets.
type Training struct {
	Labels []int   // by document: its class, 0 … Classes-1; -1 leaves it out
	Sets   [][]int // by document: its labels; nil leaves it out, an empty set has none

	Classes int    // how many classes, or labels, there are
	Scheme  Scheme // of Labels; Sets have [Labels]
	Parameters

	// Start, if not nil, is a classifier with a near solution, for another C or another width of
	// the kernel. Default: the searches begin at 0.
	Start *Classifier
}

// Train trains a classifier on the documents whose class labels[i] is 0 … classes-1; those with -1
// are left out. It takes the least time, and reads the least from the matrix, when documents of a
// class stand together.
//
// The problems run in parallel, the largest first. start, if not nil, is a classifier with a near
// solution, for another C or another width of the kernel, from whose coefficients the searches
// begin. Errors: labels out of range, documents of one class only, parameters and options out of
// range, what the matrix reports, the end of ctx.
func Train(ctx context.Context, m Matrix, t Training, opt Options) (*Classifier, error) {
	src, err := newSource(m)
	if err != nil {
		return nil, err
	}
	problems, err := classProblems(t.Labels, t.Sets, t.Classes, t.Scheme, src.n)
	if err != nil {
		return nil, err
	}
	c := &Classifier{Scheme: schemeOf(t.Sets, t.Scheme), Classes: t.Classes}
	return trainAll(ctx, src, problems, c, t.Parameters, t.Start, opt)
}

// mostMachines is the greatest number of machines of a classifier: one-vs-one has as many for
// 11,586 classes.
const mostMachines = 1 << 26

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
	if n > mostMachines {
		return 0, errUser("%s of %d classes has %d machines, expected at most %d", s, classes, n, mostMachines)
	}
	return int(n), nil
}

// fits checks that a classifier has the machines of its scheme, and an object as many decision
// values.
func (c *Classifier) fits(decisions int) error {
	want, err := c.Scheme.machines(c.Classes)
	if err != nil {
		return err
	}
	if len(c.Machines) != want {
		return errUser("%d machines (%s) for %d classes, expected %d", len(c.Machines), c.Scheme, c.Classes, want)
	}
	if decisions != want {
		return errUser("%d decision values of an object, expected %d, one of each machine", decisions, want)
	}
	return nil
}

// schemeOf returns the scheme of documents with sets of labels, or with one class each.
func schemeOf(sets [][]int, scheme Scheme) Scheme {
	if sets != nil {
		return Labels
	}
	return scheme
}

// classProblems returns the problems of n documents with sets of labels, or with one class each.
func classProblems(labels []int, sets [][]int, classes int, scheme Scheme, n int) ([]*problem, error) {
	switch {
	case sets != nil && labels != nil:
		return nil, errUser("labels and sets of labels, expected one of them")
	case sets != nil:
		return labelProblems(sets, classes, n)
	}
	return problemsOf(labels, classes, scheme, n)
}

// problemsOf returns the problems of a scheme for n documents of one class each, or -1.
func problemsOf(labels []int, classes int, scheme Scheme, n int) ([]*problem, error) {
	if len(labels) != n {
		return nil, errUser("%d labels for a matrix of %d documents", len(labels), n)
	}
	if _, err := scheme.machines(classes); err != nil {
		return nil, err
	}
	members := make([][]int, classes)
	for i, c := range labels {
		if c < -1 || c >= classes {
			return nil, errUser("document %d has class %d, expected 0 to %d, or -1 for none", i, c, classes-1)
		}
		if c >= 0 {
			members[c] = append(members[c], i)
		}
	}
	present := 0
	for c := range members {
		if len(members[c]) > 0 {
			present++
		}
	}
	if present < 2 {
		return nil, errUser("the documents are of %d class, expected two or more", present)
	}
	switch scheme {
	case OneVsOne:
		return onePairs(members), nil
	case OneVsRest:
		return oneRest(members, labels), nil
	}
	return nil, errUser("scheme %q for one class a document", scheme)
}

// labelProblems returns the problems of labels[i] for n documents i.
func labelProblems(labels [][]int, classes, n int) ([]*problem, error) {
	if len(labels) != n {
		return nil, errUser("labels for %d documents, of a matrix of %d", len(labels), n)
	}
	if _, err := Labels.machines(classes); err != nil {
		return nil, err
	}
	var docs []int
	for i, l := range labels {
		for _, c := range l {
			if c < 0 || c >= classes {
				return nil, errUser("document %d has label %d, expected 0 to %d", i, c, classes-1)
			}
		}
		if l != nil {
			docs = append(docs, i)
		}
	}
	if len(docs) == 0 {
		return nil, errUser("no document to train on")
	}
	present := make([]bool, classes)
	for _, l := range labels {
		for _, c := range l {
			present[c] = true
		}
	}
	none := make([]bool, len(docs)) // shared by all labels that nobody has
	problems := make([]*problem, classes)
	for c := range problems {
		positive := none
		if present[c] {
			positive = make([]bool, len(docs))
			for t, i := range docs {
				positive[t] = slices.Contains(labels[i], c)
			}
		}
		problems[c] = &problem{docs: docs, positive: positive, classes: [2]int{c, -1}}
	}
	return problems, nil
}

// onePairs returns the problems of all pairs of classes, nil where one is empty.
func onePairs(members [][]int) []*problem {
	var problems []*problem
	for a := range members {
		for b := a + 1; b < len(members); b++ {
			if len(members[a]) == 0 || len(members[b]) == 0 {
				problems = append(problems, nil)
				continue
			}
			p := &problem{classes: [2]int{a, b}}
			i, j := members[a], members[b]
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
	}
	return problems
}

// oneRest returns the problems of each class against all others.
func oneRest(members [][]int, labels []int) []*problem {
	var docs []int
	for i, c := range labels {
		if c >= 0 {
			docs = append(docs, i)
		}
	}
	none := make([]bool, len(docs)) // shared by all classes without documents
	problems := make([]*problem, len(members))
	for c := range members {
		positive := none
		if len(members[c]) > 0 {
			positive = make([]bool, len(docs))
			for t, i := range docs {
				positive[t] = labels[i] == c
			}
		}
		problems[c] = &problem{docs: docs, positive: positive, classes: [2]int{c, -1}}
	}
	return problems
}

// trainAll solves the problems and puts their machines into the classifier.
func trainAll(ctx context.Context, m *source, problems []*problem, c *Classifier, par Parameters, start *Classifier, opt Options) (*Classifier, error) {
	opt, err := opt.resolve()
	if err != nil {
		return nil, err
	}
	if par, err = par.resolve(c.Classes); err != nil {
		return nil, err
	}
	if start != nil && (start.Scheme != c.Scheme || len(start.Machines) != len(problems)) {
		return nil, errUser("a start of %d machines (%s), expected %d (%s)", len(start.Machines), start.Scheme, len(problems), c.Scheme)
	}
	if start != nil {
		for i, machine := range start.Machines {
			if err := checkStart(machine, m.n); err != nil {
				return nil, fmt.Errorf("machine %d: %w", i, err)
			}
		}
	}
	c.Machines = make([]*Machine, len(problems))
	var jobs []job
	for i, p := range problems {
		if p == nil {
			continue
		}
		if c.Machines[i] = p.constant(par.Probabilities); c.Machines[i] != nil {
			continue
		}
		p.set(&par)
		if start != nil {
			p.start = startFrom(start.Machines[i])
		}
		jobs = append(jobs, job{len(p.docs), p.classes, func(ctx context.Context, s *search, bytes int64) (err error) {
			c.Machines[i], err = p.solve(ctx, s, bytes)
			return err
		}})
	}
	if err := runAll(ctx, m, jobs, len(jobs), &opt); err != nil {
		return nil, err
	}
	return c, nil
}

// set makes parameters those of the problem.
func (p *problem) set(par *Parameters) {
	p.nu, p.probable, p.seed = par.Nu, par.Probabilities, par.Seed
	p.bounds = [2]float64{par.bound(p.classes[0]), par.C}
	if p.classes[1] >= 0 {
		p.bounds[1] = par.bound(p.classes[1])
	}
}

// constant is the machine of a problem in which all documents are of one kind, or nil. Its
// probability is what the counts say, by Bayes' rule with a uniform prior.
func (p *problem) constant(probable bool) *Machine {
	if slices.Contains(p.positive, true) && slices.Contains(p.positive, false) {
		return nil
	}
	m := &Machine{Rho: 1, Converged: true}
	if slices.Contains(p.positive, true) {
		m.Rho = -1
	}
	if probable {
		fit := fitSigmoid(nil, p.positive)
		m.Sigmoid = &fit
	}
	return m
}
