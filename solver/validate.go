package solver

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"
)

// Trial is what is cross-validated: documents with their classes, divided into parts. Exactly one
// of Labels and Sets is there.
type Trial struct {
	Labels []int   // by document: its class, 0 … Classes-1; -1 leaves it out
	Sets   [][]int // by document: its labels, each for itself, as in [Training]; nil leaves it out

	Classes int
	Scheme  Scheme // of Labels
	Parts   []int  // by document: its part, from 0 to below the number of documents; -1 leaves it out
}

// Validation is the result of a cross-validation with one choice of parameters.
type Validation struct {
	// by document: its class by the classifier that was trained without its part; -1 for one that
	// was left out. Nil for Sets
	Predicted []int
	Sets      [][]int       // for Sets: its labels, increasing; nil for one that was left out
	Fits      []*Classifier // by part: the classifier that was trained without it

	Busy time.Duration // of workers, in solving the problems
}

// A WarmStart is a multiple of the solutions of another validation.
type WarmStart struct {
	Of *Validation
	By float64
}

// Validate trains, for each part and each choice of parameters, a classifier on the documents of
// all other parts, and predicts the part's own. The result is in the order of pars.
//
// The machines of one problem and part are trained for all parameters, one after the other by
// growing C, on the same rows and each from the solution of the one before (ν-SVC: each from
// nothing). start, if not nil, is where the first begins: the sum of multiples of solutions of the
// same trial with another kernel, such as twice the last one less the one before. Nothing depends
// on how many parameters there are except through where the searches begin: predictions are those
// of classifiers trained by [Train], up to the tolerance. The problems of all parts run in
// parallel. It is best for documents of a class to stand together, and in it those of a part.
//
// Errors: those of [Train], also for the documents that a part leaves, fewer than two parts, and a
// start that doesn't fit.
func (t *Trial) Validate(ctx context.Context, m Matrix, pars []Parameters, start []WarmStart, opt Options) ([]*Validation, error) {
	src, err := newSource(m)
	if err != nil {
		return nil, err
	}
	if opt, err = opt.resolve(); err != nil {
		return nil, err
	}
	if len(pars) == 0 {
		return nil, errUser("no parameters to validate")
	}
	resolved := make([]Parameters, len(pars))
	for i, p := range pars {
		if resolved[i], err = p.resolve(t.Classes); err != nil {
			return nil, err
		}
		resolved[i].Probabilities = false // a sigmoid has no part in the class
	}
	problems, parts, err := t.problems(src.n)
	if err != nil {
		return nil, err
	}
	for _, s := range start {
		if err := s.fits(t.scheme(), parts, len(problems), src.n); err != nil {
			return nil, err
		}
	}
	v := &validating{t: t, pars: resolved, parts: parts, problems: problems, busy: make([]atomic.Int64, len(pars))}
	for i := range resolved {
		v.order = append(v.order, i)
		own := &Validation{Fits: make([]*Classifier, parts)}
		for f := range own.Fits {
			own.Fits[f] = &Classifier{Scheme: t.scheme(), Classes: t.Classes, Machines: make([]*Machine, len(problems))}
		}
		v.out = append(v.out, own)
	}
	slices.SortStableFunc(v.order, func(a, b int) int { return cmp.Compare(resolved[a].C, resolved[b].C) })
	if err := v.train(ctx, src, start, &opt); err != nil {
		return nil, err
	}
	if err := v.predict(ctx, src, &opt); err != nil {
		return nil, err
	}
	return v.out, nil
}

// fits checks that a start is from a validation of so many parts and problems of a scheme, over a
// matrix of n documents.
func (s *WarmStart) fits(scheme Scheme, parts, problems, n int) error {
	if math.IsNaN(s.By) || math.IsInf(s.By, 0) {
		return errUser("a start by %v times a validation, expected a finite number", s.By)
	}
	if s.Of == nil || len(s.Of.Fits) != parts {
		return errUser("a start from a validation of something else, expected one of %d parts", parts)
	}
	for f, c := range s.Of.Fits {
		if c == nil || c.Scheme != scheme || len(c.Machines) != problems {
			return errUser("a start from a validation of something else, expected %d machines (%s) without part %d",
				problems, scheme, f)
		}
		for i, machine := range c.Machines {
			if err := checkStart(machine, n); err != nil {
				return fmt.Errorf("part %d, machine %d: %w", f, i, err)
			}
		}
	}
	return nil
}

func (t *Trial) scheme() Scheme {
	if t.Sets != nil {
		return Labels
	}
	return t.Scheme
}

// problems returns the problems of all documents that have a part, and the number of parts.
func (t *Trial) problems(n int) (problems []*problem, parts int, err error) {
	if parts, err = countParts(t.Parts, n); err != nil {
		return nil, 0, err
	}
	if t.Sets != nil && t.Labels != nil {
		return nil, 0, errUser("labels and sets of labels, expected one of them")
	}
	if t.Sets != nil {
		sets := slices.Clone(t.Sets)
		for i := range sets {
			if i < n && t.Parts[i] < 0 {
				sets[i] = nil
			}
		}
		problems, err = labelProblems(sets, t.Classes, n)
		return problems, parts, err
	}
	labels := slices.Clone(t.Labels)
	for i := range labels {
		if i < n && t.Parts[i] < 0 {
			labels[i] = -1
		}
	}
	if problems, err = problemsOf(labels, t.Classes, t.Scheme, n); err != nil {
		return nil, 0, err
	}
	return problems, parts, t.twoClasses(labels, parts)
}

// countParts returns the number of parts of n documents, two or more.
func countParts(parts []int, n int) (count int, err error) {
	if len(parts) != n {
		return 0, errUser("parts of %d documents, of a matrix of %d", len(parts), n)
	}
	for i, f := range parts {
		if f < -1 || f >= n {
			return 0, errUser("document %d is in part %d, expected 0 to %d, or -1 for none", i, f, n-1)
		}
		count = max(count, f+1)
	}
	if count < 2 {
		return 0, errUser("%d part of the documents, expected two or more", count)
	}
	return count, nil
}

// twoClasses checks that the documents which a part leaves are of two classes at least.
func (t *Trial) twoClasses(labels []int, parts int) error {
	for f := range parts {
		seen := -1
		several := false
		for i, c := range labels {
			if c >= 0 && t.Parts[i] != f {
				several = several || seen >= 0 && c != seen
				seen = c
			}
		}
		if !several {
			return errUser("without part %d of %d the documents are of one class, expected two or more", f+1, parts)
		}
	}
	return nil
}

// validating is a validation under way.
type validating struct {
	t        *Trial
	pars     []Parameters
	order    []int // the parameters by growing C
	parts    int
	problems []*problem
	out      []*Validation
	busy     []atomic.Int64 // by parameters: nanoseconds
}

// train fills in the machines.
func (v *validating) train(ctx context.Context, m *source, start []WarmStart, opt *Options) error {
	var jobs []job
	for f := range v.parts {
		for i, p := range v.problems {
			if p == nil {
				continue
			}
			jobs = append(jobs, job{len(p.docs), p.classes, func(ctx context.Context, s *search, bytes int64) error {
				own := p.without(v.t.Parts, f)
				for _, near := range start {
					if machine := near.Of.Fits[f].Machines[i]; machine != nil {
						own.start = append(own.start, multiple{machine, near.By})
					}
				}
				return v.sweep(ctx, s, own, f, i, bytes)
			}})
		}
	}
	err := runAll(ctx, m, jobs, len(jobs)*len(v.pars), opt)
	for c, out := range v.out {
		out.Busy = time.Duration(v.busy[c].Load())
	}
	return err
}

// without is the problem of the documents that are not in a part.
func (p *problem) without(parts []int, f int) *problem {
	own := &problem{classes: p.classes}
	for t, d := range p.docs {
		if parts[d] != f {
			own.docs, own.positive = append(own.docs, d), append(own.positive, p.positive[t])
		}
	}
	return own
}

// sweep solves problem i without part f for all parameters.
func (v *validating) sweep(ctx context.Context, s *search, p *problem, f, i int, bytes int64) error {
	if machine := p.constant(false); machine != nil {
		if v.t.scheme() == OneVsOne {
			machine = nil // a class without documents gets no votes
		}
		for _, c := range v.order {
			v.out[c].Fits[f].Machines[i] = machine
			s.report.solved()
		}
		return nil
	}
	var d *dual
	for _, c := range v.order {
		begin := time.Now()
		p.set(&v.pars[c])
		var o outcome
		var err error
		if d != nil && p.raise(d) {
			o, err = s.resume(ctx, d)
		} else if d, err = p.dual(s.m, nil); err == nil {
			from := p.start
			if p.nu > 0 {
				from = nil
			}
			o, err = s.solveFrom(ctx, d, from, bytes)
		}
		if err != nil {
			return err
		}
		machine, err := p.machine(d, o)
		if err != nil {
			return err
		}
		v.out[c].Fits[f].Machines[i] = machine
		p.start = startFrom(machine)
		v.busy[c].Add(int64(time.Since(begin)))
		s.report.solved()
	}
	return nil
}

// raise makes the bounds of a solved problem those that p has now, unless one of them is lower than
// it was, or the problem isn't one of C.
func (p *problem) raise(d *dual) bool {
	if p.nu > 0 || d.perClass {
		return false
	}
	for t, pos := range p.positive {
		side := 1
		if pos {
			side = 0
		}
		if d.upper[t] > p.bounds[side] {
			return false
		}
	}
	for t, pos := range p.positive {
		if pos {
			d.upper[t] = p.bounds[0]
		} else {
			d.upper[t] = p.bounds[1]
		}
	}
	return true
}

// predict fills in what the classifiers say of their parts. Those of one part see each kernel value
// together.
func (v *validating) predict(ctx context.Context, m *source, opt *Options) error {
	n := len(v.t.Parts)
	for _, out := range v.out {
		if v.t.Sets != nil {
			out.Sets = make([][]int, n)
			continue
		}
		out.Predicted = make([]int, n)
		for i := range out.Predicted {
			out.Predicted[i] = -1
		}
	}
	for f := range v.parts {
		var held []int
		for i, part := range v.t.Parts {
			if part == f && (v.t.Sets != nil && v.t.Sets[i] != nil || v.t.Sets == nil && v.t.Labels[i] >= 0) {
				held = append(held, i)
			}
		}
		var together Classifier
		for _, out := range v.out {
			together.Machines = append(together.Machines, out.Fits[f].Machines...)
		}
		err := together.predictRows(ctx, m, held, opt, func(i int, decisions []float64) {
			for _, out := range v.out {
				own := decisions[:len(v.problems)]
				decisions = decisions[len(v.problems):]
				if v.t.Sets != nil {
					out.Sets[i] = out.Fits[f].LabelsOf([]int{}, own)
				} else {
					out.Predicted[i] = out.Fits[f].Decide(own)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
