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
)

// Folds divides documents into k parts of nearly equal size, in which classes are as frequent as in
// the whole, up to one document each: it shuffles the documents of each class and deals them out in
// turn. It returns the part, 0 … k-1, of each document, and -1 for those whose class is negative.
// Where there are fewer documents than parts, the last parts are empty. The same seed gives the
// same parts on every platform. It panics unless k is at least 1.
func Folds(labels []int, k int, seed uint64) []int {
	if k < 1 {
		panic(fmt.Sprintf("solver: Folds: %d parts, expected at least 1", k))
	}
	fold := make([]int, len(labels))
	var docs []int // by class, however great their numbers are
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

// GroupFolds is [Folds] with all documents of a group in one part. Groups are taken by size, the largest first. The
// seed orders groups of one size. Each group goes to the part with the smallest share of the group's classes. Ties go
// to the part with the fewest documents.
func GroupFolds(labels []int, groups []int64, k int, seed uint64) []int {
	if groups == nil {
		return Folds(labels, k, seed)
	}
	fold, members := slices.Repeat([]int{-1}, len(labels)), map[int64][]int{}
	var order []int64
	total := map[int]float64{}
	for i, c := range labels {
		if c >= 0 {
			if members[groups[i]] == nil {
				order = append(order, groups[i])
			}
			members[groups[i]] = append(members[groups[i]], i)
			total[c]++
		}
	}
	r := rand.New(rand.NewPCG(seed, uint64(k)))
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b int64) int { return cmp.Compare(len(members[b]), len(members[a])) })
	size, count := make([]int, k), make([]map[int]float64, k) // documents by part, and by class
	for part := range count {
		count[part] = map[int]float64{}
	}
	for _, g := range order {
		best, least := 0, math.Inf(1)
		for part := range k {
			var share float64
			for _, i := range members[g] {
				share += count[part][labels[i]] / total[labels[i]]
			}
			if share < least || share == least && size[part] < size[best] {
				best, least = part, share
			}
		}
		for _, i := range members[g] {
			fold[i] = best
			count[best][labels[i]]++
		}
		size[best] += len(members[g])
	}
	return fold
}

// HoldOut divides documents by one of the parts of [GroupFolds]: held are its documents, fit the others. Without groups
// it is the first part; with groups, the first of which may be large, the part whose size is nearest to the mean. If
// there is one group only, its documents are divided.
func HoldOut(labels []int, groups []int64, parts int, seed uint64) (fit, held []int) {
	fold := GroupFolds(labels, groups, parts, seed)
	part, size, total := 0, make([]int, parts), 0
	for _, p := range fold {
		if p >= 0 {
			size[p]++
			total++
		}
	}
	off := func(p int) int { return max(size[p]*parts-total, total-size[p]*parts) }
	for p := range size {
		if groups != nil && size[p] > 0 && off(p) < off(part) {
			part = p
		}
	}
	for i, p := range fold {
		switch {
		case p == part:
			held = append(held, i)
		case p >= 0:
			fit = append(fit, i)
		}
	}
	if fit == nil && groups != nil {
		return HoldOut(labels, nil, parts, seed)
	}
	return fit, held
}

// Trial describes a cross-validation: documents with their classes, divided into folds. Exactly one
// of Labels and Sets is there.
type Trial struct {
	Labels []int   // by document: its class, 0 … Classes-1; -1 leaves it out
	Sets   [][]int // by document: its labels, each for itself; nil leaves it out

	Classes int
	Scheme  Scheme // of Labels
	Parts   []int  // by document: its part, from 0 to below the number of documents; -1 leaves it out

	Decisions  bool // keep decision values
	Thresholds bool // of Sets: tune thresholds, and predict each part by those of the others

	// Only, if not nil, are the parts that are validated, each in the same bits as among all; others
	// have no predictions and nil in Fits. Thresholds need all. Default: all.
	Only []int
}

// Validation is the result of a cross-validation with one choice of parameters.
type Validation struct {
	// Predicted is, by document, the class that the classifier without its part predicts; -1 for
	// one that was left out. Nil for Sets.
	Predicted []int

	Sets [][]int       // for Sets: the predicted labels, increasing; nil for one that was left out
	Fits []*Classifier // by part: the classifier that was trained without it
	Busy time.Duration // of workers, in solving the problems

	Decisions  [][]float64 // by document, where Trial.Decisions asks for them: of the machines without its part
	Thresholds *Thresholds // where Trial.Thresholds asks for them
}

// A WarmStart is a multiple of the solutions of another validation.
type WarmStart struct {
	Of *Validation
	By float64
}

// Validate trains, for each part and each choice of parameters, a classifier on the documents of
// all other parts, and predicts the part's own. The result is in the order of pars.
//
// The machines of one problem and part are trained for all parameters by growing C, on the same
// rows, each from the solution of the one before (ν-SVC: from nothing). The first begins at near:
// the sum of multiples of solutions of the same trial with another kernel, such as twice the last
// one less the one before; nil is 0. The number of parameters matters only through where the
// searches begin: predictions are those of classifiers trained by [Train], up to the tolerance.
func (t *Trial) Validate(
	ctx context.Context, m Matrix, pars []Parameters, near []WarmStart, opt Options,
) ([]*Validation, error) {
	v, err := newValidating(m, t.Parts, t.Only, len(pars), opt)
	if err != nil {
		return nil, err
	}
	if t.Thresholds && len(v.only) < v.count {
		return nil, errUser("thresholds by %d of %d parts in Only, expected all", len(v.only), v.count)
	}
	pars = slices.Clone(pars)
	for i := range pars {
		if pars[i], err = pars[i].resolve(t.Classes, v.m.n); err != nil {
			return nil, err
		}
		pars[i].Probabilities = false // a sigmoid has no part in the class
	}
	v.sort(func(a, b int) int { return cmp.Compare(pars[a].C, pars[b].C) })
	whole := &Classifier{Classes: t.Classes}
	problems, err := t.problems(whole, v.m.n)
	if err != nil {
		return nil, err
	}
	for _, s := range near {
		if err := s.fits(whole.Scheme, v, len(problems)); err != nil {
			return nil, err
		}
	}
	out := make([]*Validation, len(pars))
	for i := range out {
		out[i] = &Validation{Fits: make([]*Classifier, v.count)}
		for _, f := range v.only {
			own := *whole
			own.Machines = make([]*Machine, len(problems))
			out[i].Fits[f] = &own
		}
		if t.Decisions || t.Sets != nil && t.Thresholds {
			out[i].Decisions = make([][]float64, v.m.n)
		}
		if t.Sets != nil {
			out[i].Sets = make([][]int, v.m.n)
		} else {
			out[i].Predicted = slices.Repeat([]int{-1}, v.m.n)
		}
	}
	for _, f := range v.only {
		for i, p := range problems {
			if p == nil {
				continue
			}
			v.add(len(p.docs), p.classes, func() sweep {
				own := p.without(t.Parts, f)
				for _, w := range near {
					if machine := w.Of.Fits[f].Machines[i]; machine != nil {
						own.start = append(own.start, multiple{machine, w.By})
					}
				}
				return own.sweep(v.m, pars, whole.Scheme)
			}, func(par int, machine *Machine) { out[par].Fits[f].Machines[i] = machine })
		}
	}
	v.machines = func(par, f int) []*Machine { return out[par].Fits[f].Machines }
	v.takesPart = func(i int) bool { return t.Sets == nil && t.Labels[i] >= 0 || t.Sets != nil && t.Sets[i] != nil }
	busy, err := v.run(ctx, func(i, par int, decisions []float64) {
		if out[par].Decisions != nil {
			out[par].Decisions[i] = slices.Clone(decisions)
		}
		if c := out[par].Fits[t.Parts[i]]; t.Sets != nil {
			out[par].Sets[i] = c.LabelsOf([]int{}, decisions)
		} else {
			out[par].Predicted[i] = c.Decide(decisions)
		}
	})
	if err != nil {
		return nil, err
	}
	for i, o := range out {
		o.Busy = busy[i]
		if t.Sets != nil && t.Thresholds {
			if o.Thresholds, o.Sets, err = TuneThresholds(o.Decisions, t.Sets, t.Parts); err != nil {
				return nil, err
			}
		}
		if !t.Decisions {
			o.Decisions = nil
		}
	}
	return out, nil
}

// fits checks that a start is from a validation of the same parts and so many problems of a scheme.
func (s *WarmStart) fits(scheme Scheme, v *validating, problems int) error {
	if math.IsNaN(s.By) || math.IsInf(s.By, 0) {
		return errUser("a start by %v times a validation, expected a finite number", s.By)
	}
	if s.Of == nil || len(s.Of.Fits) != v.count {
		return errUser("a start from a validation of something else, expected one of %d parts", v.count)
	}
	for _, f := range v.only {
		c := s.Of.Fits[f]
		if c == nil {
			return errUser("a start from a validation of something else, without part %d", f)
		}
		if err := c.startsFor(scheme, problems, v.m.n); err != nil {
			return fmt.Errorf("part %d: %w", f, err)
		}
	}
	return nil
}

// problems returns the problems of all documents that have a part.
func (t *Trial) problems(c *Classifier, n int) ([]*problem, error) {
	labels, sets := slices.Clone(t.Labels), slices.Clone(t.Sets)
	for i, part := range t.Parts {
		if part < 0 && i < len(labels) {
			labels[i] = -1
		}
		if part < 0 && i < len(sets) {
			sets[i] = nil
		}
	}
	problems, err := c.problems(labels, sets, t.Scheme, n)
	if err != nil || sets != nil {
		return problems, err
	}
	parts := slices.Max(t.Parts) + 1
	for f := range parts { // what a part leaves must be of two classes at least
		seen, several := -1, false
		for i, c := range labels {
			if c >= 0 && t.Parts[i] != f {
				several = several || seen >= 0 && c != seen
				seen = c
			}
		}
		if !several {
			return nil, errUser(
				"without part %d of %d the documents are of one class, expected two or more", f+1, parts,
			)
		}
	}
	return problems, nil
}

// without is the problem of the documents that are not in a part.
func (p *problem) without(parts []int, f int) *problem {
	own := &problem{classes: p.classes, weighs: p.weighs}
	for t, d := range p.docs {
		if parts[d] != f {
			own.docs, own.positive = append(own.docs, d), append(own.positive, p.positive[t])
		}
	}
	return own
}

// validating is a validation under way, of classes or of regression.
type validating struct {
	m     *source
	opt   Options
	parts []int
	count int   // parts
	only  []int // those that are validated, increasing
	order []int // the order in which parameters are taken
	jobs  []job
	busy  []atomic.Int64 // by parameters: nanoseconds

	machines  func(par, f int) []*Machine // that were trained without part f
	takesPart func(i int) bool
}

// newValidating checks what both validations are given.
func newValidating(m Matrix, parts, only []int, pars int, opt Options) (*validating, error) {
	src, opt, err := begin(m, opt)
	if err != nil {
		return nil, err
	}
	if pars == 0 {
		return nil, errUser("no parameters to validate")
	}
	if len(parts) != src.n {
		return nil, errUser("parts of %d documents, of a matrix of %d", len(parts), src.n)
	}
	v := &validating{m: src, opt: opt, parts: parts, busy: make([]atomic.Int64, pars)}
	for i, f := range parts {
		if f < -1 || f >= src.n {
			return nil, errUser("document %d is in part %d, expected 0 to %d, or -1 for none", i, f, src.n-1)
		}
		v.count = max(v.count, f+1)
	}
	if v.count < 2 {
		return nil, errUser("%d part of the documents, expected two or more", v.count)
	}
	for f := range v.count {
		if only == nil || slices.Contains(only, f) {
			v.only = append(v.only, f)
		}
	}
	if only != nil && len(v.only) != len(only) {
		return nil, errUser("parts %v in Only, expected different ones from 0 to %d", only, v.count-1)
	}
	return v, nil
}

// sort sets the order of the parameters.
func (v *validating) sort(compare func(a, b int) int) {
	for i := range v.busy {
		v.order = append(v.order, i)
	}
	slices.SortStableFunc(v.order, compare)
}

// sweep is a problem that is solved for a list of parameters, in order.
type sweep struct {
	start    start
	settled  bool     // the machine is constant for all parameters
	constant *Machine // nil: none

	// next returns the problem with parameters i. It is last with raised bounds if that suffices.
	next    func(i int, last *dual) (*dual, error)
	machine func(d *dual, o outcome) (*Machine, error)
}

// add adds a job: a problem of so many documents for all parameters, and a function that keeps the
// machines.
func (v *validating) add(documents int, classes [2]int, make func() sweep, keep func(par int, m *Machine)) {
	v.jobs = append(v.jobs, job{documents, classes, func(ctx context.Context, s *search, bytes int64) error {
		p := make()
		var last *dual
		for _, i := range v.order {
			if p.settled {
				keep(i, p.constant)
				s.report.solved()
				continue
			}
			begin := time.Now()
			d, err := p.next(i, last)
			if err != nil {
				return err
			}
			var o outcome
			if d == last {
				o, err = s.resume(ctx, d)
			} else {
				o, err = s.solve(ctx, d, p.start, bytes)
			}
			if err != nil {
				return err
			}
			machine, err := p.machine(d, o)
			if err != nil {
				return err
			}
			keep(i, machine)
			last, p.start = d, startFrom(machine)
			v.busy[i].Add(int64(time.Since(begin)))
			s.report.solved()
		}
		return nil
	}})
}

// run does the jobs. Then it passes each document that takes part to each, with its decision values
// by the machines that were trained without its part. It returns the time that workers spent on
// each choice of parameters.
func (v *validating) run(ctx context.Context, each func(i, par int, decisions []float64)) ([]time.Duration, error) {
	if err := runAll(ctx, v.m, v.jobs, newReporter(v.opt.Progress, len(v.jobs)*len(v.order)), &v.opt); err != nil {
		return nil, err
	}
	for _, f := range v.only {
		var held []int
		for i, part := range v.parts {
			if part == f && v.takesPart(i) {
				held = append(held, i)
			}
		}
		var all Classifier // of all parameters, which see each kernel value together
		for par := range v.order {
			all.Machines = append(all.Machines, v.machines(par, f)...)
		}
		n := len(all.Machines) / len(v.order)
		err := all.predictRows(ctx, v.m, held, &v.opt, func(i int, decisions []float64) {
			for par := range v.order {
				each(i, par, decisions[par*n:(par+1)*n])
			}
		})
		if err != nil {
			return nil, err
		}
	}
	busy := make([]time.Duration, len(v.busy))
	for i := range busy {
		busy[i] = time.Duration(v.busy[i].Load())
	}
	return busy, nil
}

// sweep is the problem for all parameters. A class without documents gets no votes in one-vs-one.
func (p *problem) sweep(m *source, pars []Parameters, scheme Scheme) sweep {
	s := sweep{start: p.start, constant: p.constant(false), machine: p.machine}
	if s.settled = s.constant != nil; scheme == OneVsOne {
		s.constant = nil
	}
	s.next = func(i int, last *dual) (*dual, error) {
		p.set(&pars[i])
		if last != nil && p.nu == 0 && !last.perClass && p.raise(last) {
			return last, nil
		}
		return p.dual(m, nil)
	}
	return s
}

// raise makes the bounds of a solved problem those that p has now, unless one of them was greater.
func (p *problem) raise(d *dual) bool {
	for t := range p.positive {
		if d.upper[t] > p.bound(t) {
			return false
		}
	}
	for t := range p.positive {
		d.upper[t] = p.bound(t)
	}
	return true
}
