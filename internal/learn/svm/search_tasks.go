package svm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// SearchTasks is a search in parts that can be done by themselves, in any order, on different
// machines: each is a fold of a path of kernels, in which each kernel begins at the solutions of the
// ones before, with all numbers of the solver. It holds no documents and may be used concurrently.
type SearchTasks struct {
	settings Settings
	grid     Grid
	parts    []*searchPart
	paths    []searchPath // each of as many tasks as there are folds
}

// searchPath is a path of kernels of a part, resolved.
type searchPath struct {
	part *searchPart
	path []kernelAt
}

// NewSearchTasks divides the search that [SearchProblems] makes of settings and a grid. terms returns
// the number of terms that an embedding keeps of the corpus that is cut in a way, which is what some
// kernels' default is taken from: [Problem.Terms]. Errors: those of SearchProblems about settings and
// the grid, and of terms.
func NewSearchTasks(
	s Settings, g Grid, terms func(cut int, e sparse.Embedding) (int, error),
) (*SearchTasks, error) {
	q, err := newSearching(s, g, nil)
	if err != nil {
		return nil, err
	}
	if q.folds < 2 || q.folds > math.MaxInt32 {
		return nil, fmt.Errorf("svm: %d folds, expected 2 or more", q.folds)
	}
	g.Folds = q.folds
	t := &SearchTasks{settings: s, grid: g, parts: q.parts()}
	for i, part := range t.parts {
		n := 0
		if i > 0 && part.cut == t.parts[i-1].cut && part.embedding == t.parts[i-1].embedding {
			n = t.parts[i-1].terms
		} else if n, err = terms(part.cut, part.embedding); err != nil {
			return nil, err
		}
		part.terms = n
		var kernels []kernelAt
		for i, k := range part.kernels {
			kernels = append(kernels, kernelAt{i, kernel.Resolve(k, n)})
		}
		for _, path := range paths(inPath(kernels)) {
			t.paths = append(t.paths, searchPath{part, path})
		}
	}
	return t, nil
}

// paths cuts kernels in the order of inPath where one has no lead from the one before.
func paths(kernels []kernelAt) (all [][]kernelAt) {
	begin := 0
	for i := 1; i <= len(kernels); i++ {
		if i == len(kernels) {
			return append(all, kernels[begin:])
		}
		if which, _, _ := step(kernels[i-1].kernel, kernels[i].kernel); which < 0 {
			all = append(all, kernels[begin:i])
			begin = i
		}
	}
	return nil
}

// Len returns the number of tasks.
func (t *SearchTasks) Len() int { return len(t.paths) * t.grid.Folds }

// of returns the path of a task, whose fold is the rest of task / Folds.
func (t *SearchTasks) of(task int) *searchPath { return &t.paths[task/t.grid.Folds] }

// Needs returns the way in which text is cut, and the embedding, of the problem on which a task is
// done. Tasks of the same problem follow each other. It panics where there is no such task.
func (t *SearchTasks) Needs(task int) (cut int, e sparse.Embedding) {
	if task < 0 || task >= t.Len() {
		panic(t.errTask(task))
	}
	part := t.of(task).part
	return part.cut, part.embedding
}

func (t *SearchTasks) errTask(task int) error {
	return fmt.Errorf("svm: task %d of a search, expected one from 0 to before %d", task, t.Len())
}

// SearchOutcome is what a task has found: numbers that depend on its documents and settings alone, in
// a form that encoding/json passes on without loss.
type SearchOutcome struct {
	// Sorted says in which order documents are: those of a fold stand together where the problem
	// has room for another matrix. All tasks of a search must have the same.
	Sorted bool

	Fits [][]FoldOutcome // by kernel of the path and C, nu or epsilon
}

// FoldOutcome is what machines have predicted of the fold that they were trained without, by document
// of the fold.
type FoldOutcome struct {
	Class     []int       `json:",omitempty"`
	Labels    [][]int     `json:",omitempty"`
	Values    []float64   `json:",omitempty"`
	Decisions [][]float64 `json:",omitempty"` // for probabilities and thresholds
	Missing   []int       `json:",omitempty"` // machines for which there were no documents
	Fit
}

// Do does a task on a problem, whose embedding is that of Needs. Errors: no such task, and those of
// [Problem.Search].
func (t *SearchTasks) Do(ctx context.Context, p *Problem, task int) (*SearchOutcome, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if task < 0 || task >= t.Len() {
		return nil, t.errTask(task)
	}
	own, fold := t.of(task), task%t.grid.Folds
	if err := own.part.suits(p); err != nil {
		return nil, err
	}
	q, err := newSearching(p.withKernel(t.settings), t.grid, nil)
	if err != nil {
		return nil, err
	}
	q.begin(own.part)
	q.only, q.left = []int{fold}, len(own.path)
	found := &SearchOutcome{}
	err = q.work.run(ctx, p, own.path, func(_ context.Context, f *folded, _ kernelAt, out []outcome) error {
		var fits []FoldOutcome
		for _, o := range out {
			fits = append(fits, f.outcome(o, fold))
		}
		found.Sorted, found.Fits = f.sorted, append(found.Fits, fits)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// Validate reports what keeps tasks from being done on a problem, before anything is computed: labels
// that don't suit the type, fewer documents than folds, a fold without which there is one class alone.
// Tasks of other embeddings aren't looked at.
func (t *SearchTasks) Validate(p *Problem) error {
	for _, part := range t.parts {
		if part.embedding != p.Embedding() {
			continue
		}
		if err := part.suits(p); err != nil {
			return err
		}
		s, err := p.resolve(t.settings)
		if err != nil {
			return err
		}
		s.Scheme = part.scheme
		f, err := p.divide(&s, t.grid.Folds, t.grid.Seed, false)
		if err != nil {
			return err
		}
		if _, err := p.parameters(&s); err != nil {
			return err
		}
		if err := f.trial().Check(p.Len()); err != nil {
			return err
		}
	}
	return nil
}

// suits checks that a problem is one that the part needs.
func (part *searchPart) suits(p *Problem) error {
	if p.Terms() != part.terms {
		return fmt.Errorf("svm: a problem of %d terms, expected one of %d", p.Terms(), part.terms)
	}
	for _, k := range part.kernels {
		if err := p.suits(kernel.Resolve(k, p.Terms())); err != nil {
			return err
		}
	}
	return nil
}

// held lists the documents of a fold, in the order of f.
func (f *folded) held(fold int) (docs []int) {
	for i, part := range f.parts {
		if part == fold {
			docs = append(docs, i)
		}
	}
	return docs
}

// outcome is what is kept of a fold.
func (f *folded) outcome(o outcome, fold int) FoldOutcome {
	docs, out := f.held(fold), FoldOutcome{Fit: o.fit(fold)}
	if f.targets != nil {
		out.Values = run.Pick(o.Values, docs)
		return out
	}
	out.Decisions = run.Pick(o.Decisions, docs)
	for m, machine := range o.Fits[fold].Machines {
		if machine == nil {
			out.Missing = append(out.Missing, m)
		}
	}
	if f.sets != nil {
		out.Labels = run.Pick(o.Sets, docs)
	} else {
		out.Class = run.Pick(o.Predicted, docs)
	}
	return out
}

// Assemble makes the result of the search of what its tasks have found. It calls problem, as
// [SearchProblems] does, for what documents and folds are, and computes nothing of a matrix; outcomes
// returns what a task has found. Points are those of the whole search to the bit, but for the time
// that was spent on them. Errors: those of problem and outcomes, and outcomes of other documents or of
// another search.
func (t *SearchTasks) Assemble(
	ctx context.Context, problem func(cut int, e sparse.Embedding) (*Problem, error),
	outcomes func(task int) (*SearchOutcome, error),
) (*SearchResult, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	q, err := newSearching(t.settings, t.grid, nil)
	if err != nil {
		return nil, err
	}
	var p *Problem
	for i, own := range t.paths {
		first, part := i*t.grid.Folds, own.part
		if i == 0 || part != t.paths[i-1].part {
			if p, err = problem(part.cut, part.embedding); err != nil {
				return nil, err
			}
			if err := part.suits(p); err != nil {
				return nil, err
			}
			q.begin(part)
		}
		var found []*SearchOutcome // by fold
		for fold := range t.grid.Folds {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			out, err := outcomes(first + fold)
			if err != nil {
				return nil, err
			}
			if err := t.fits(first+fold, out); err != nil {
				return nil, err
			}
			if out.Sorted != (len(found) > 0 && found[0].Sorted) && len(found) > 0 {
				return nil, fmt.Errorf("svm: tasks %d and %d are of documents in different orders, expected the same: "+
					"one of them had less memory", first, first+fold)
			}
			found = append(found, out)
		}
		f, err := p.divide(&q.s, q.folds, q.seed, found[0].Sorted)
		if err != nil {
			return nil, err
		}
		for i, at := range own.path {
			var all []outcome
			for cell := range part.cells {
				o, err := f.assembled(first, found, i, cell)
				if err != nil {
					return nil, err
				}
				all = append(all, *o)
			}
			if err := q.keep(ctx, f, at, all); err != nil {
				return nil, err
			}
		}
	}
	return q.finish(), nil
}

// fits checks that an outcome has the shape of a task's.
func (t *SearchTasks) fits(task int, out *SearchOutcome) error {
	own := t.of(task)
	if out == nil || len(out.Fits) != len(own.path) {
		return fmt.Errorf("svm: the outcome of task %d isn't one of %d kernels", task, len(own.path))
	}
	for _, fits := range out.Fits {
		if len(fits) != len(own.part.cells) {
			return fmt.Errorf("svm: the outcome of task %d has %d fits of a kernel, expected %d", task, len(fits),
				len(own.part.cells))
		}
	}
	return nil
}

// assembled is the outcome of a kernel and a cell that tasks from first on have found, one for each
// fold.
func (f *folded) assembled(first int, found []*SearchOutcome, kernel, cell int) (*outcome, error) {
	n := len(f.parts)
	v := &solver.Validation{Fits: make([]*solver.Classifier, f.folds)}
	o := &outcome{Validation: v}
	switch {
	case f.targets != nil:
		v.Values = slices.Repeat([]float64{math.NaN()}, n)
	case f.sets != nil:
		v.Sets = make([][]int, n)
	default:
		v.Predicted = slices.Repeat([]int{-1}, n)
	}
	if f.targets == nil && (f.s.Probabilities || f.s.Thresholds) {
		v.Decisions = make([][]float64, n)
	}
	for fold, task := range found {
		own := &task.Fits[kernel][cell]
		if err := f.take(o, own, fold); err != nil {
			return nil, fmt.Errorf("svm: the outcome of task %d: %w", first+fold, err)
		}
		o.fits = append(o.fits, own.Fit)
	}
	if f.s.Thresholds {
		var err error
		if v.Thresholds, v.Sets, err = solver.TuneThresholds(v.Decisions, f.sets, f.parts); err != nil {
			return nil, err
		}
		if !f.s.Probabilities {
			v.Decisions = nil
		}
	}
	return o, nil
}

// take makes what was found of a fold a part of an outcome.
func (f *folded) take(o *outcome, own *FoldOutcome, fold int) error {
	docs := f.held(fold)
	_, most := f.s.machines(f.p.bound.classes)
	classes, machines := len(f.p.corpus.classes), int(most)
	within := func(n int) func(int) bool { return func(c int) bool { return c >= 0 && c < n } }
	bad := func(ok func(int) bool) func(int) bool { return func(c int) bool { return !ok(c) } }
	err := errors.Join(
		place(o.Values, docs, own.Values, "estimate", func(v float64) bool { return v-v == 0 }),
		place(o.Predicted, docs, own.Class, "class", within(classes)),
		place(o.Sets, docs, own.Labels, "list of labels", func(set []int) bool {
			increasing := slices.IsSorted(set) && len(slices.Compact(slices.Clone(set))) == len(set)
			return set != nil && increasing && !slices.ContainsFunc(set, bad(within(classes)))
		}),
		place(o.Decisions, docs, own.Decisions, "list of decision values", func(d []float64) bool {
			return len(d) == machines
		}),
	)
	if err == nil && (min(own.Support, own.Unfinished) < 0 || own.Iterations < 0 ||
		slices.ContainsFunc(own.Missing, bad(within(machines)))) {
		err = fmt.Errorf("%+v, missing machines %v: expected no negative number, and machines below %d", own.Fit,
			own.Missing, machines)
	}
	if err != nil || f.targets != nil {
		return err
	}
	fits := &solver.Classifier{Scheme: f.s.Scheme, Classes: classes, Machines: make([]*solver.Machine, machines)}
	for m := range fits.Machines {
		if !slices.Contains(own.Missing, m) {
			fits.Machines[m] = &solver.Machine{}
		}
	}
	o.Validation.Fits[fold] = fits
	return nil
}

// place puts what was found of the documents of a fold into the list of all, which is nil if there must be none.
func place[T any](all []T, docs []int, found []T, what string, valid func(T) bool) error {
	if all == nil {
		docs = nil
	}
	if len(found) != len(docs) {
		return fmt.Errorf("%d times a %s, expected %d", len(found), what, len(docs))
	}
	for i, at := range docs {
		if !valid(found[i]) {
			return fmt.Errorf("%s %v of document %d of the fold, expected one of the search", what, found[i], i)
		}
		all[at] = found[i]
	}
	return nil
}
