package svm

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/sparse"
)

// Tasks is an evaluation in parts that can be done by themselves, in any order, on different computers. Each is a
// fold of a path of kernels, in which each kernel begins at the solutions of the ones before, with all cells.
// It holds no documents and may be used concurrently.
type Tasks struct {
	s     Settings
	folds int
	seed  uint64
	all   []tune.Candidate
	paths []*part // each of as many tasks as there are folds
	terms map[*part]int
}

// NewTasks divides the work of an [Evaluator] with these settings and folds. terms returns the number of terms that an
// embedding keeps of the corpus that is cut in a way, which is what some kernels' default is taken from:
// [Problem.Terms]. Errors: those of terms.
func NewTasks(
	v *Evaluator, all []tune.Candidate, terms func(cut int, e sparse.Embedding) (int, error),
) (*Tasks, error) {
	t := &Tasks{s: v.Settings, folds: v.Folds, seed: v.Seed, all: all, terms: map[*part]int{}}
	parts, n := partsOf(all), 0
	for i, own := range parts {
		if i == 0 || !own.shares(parts[i-1]) {
			var err error
			if n, err = terms(own.cut, own.embedding); err != nil {
				return nil, err
			}
		}
		own.inPath(n)
		begin := 0
		for i := 1; i <= len(own.kernels); i++ { // cut where a kernel has no lead from the one before
			if i < len(own.kernels) {
				if which, _, _ := step(own.kernels[i-1], own.kernels[i]); which >= 0 {
					continue
				}
			}
			path := *own
			path.kernels, path.at = own.kernels[begin:i], own.at[begin:i]
			t.paths, begin = append(t.paths, &path), i
			t.terms[&path] = n
		}
	}
	return t, nil
}

// Len returns the number of tasks.
func (t *Tasks) Len() int { return len(t.paths) * t.folds }

// Needs returns the way in which text is cut, and the embedding, of the problem on which a task is
// done. Tasks of the same problem follow each other.
func (t *Tasks) Needs(task int) (cut int, e sparse.Embedding) {
	own := t.paths[task/t.folds]
	return own.cut, own.embedding
}

// TaskOutcome is what a task has found: numbers that depend on its documents and settings alone, in
// a form that encoding/json passes on without loss.
type TaskOutcome struct {
	// Sorted says in which order documents are: those of a fold stand together where the problem
	// has room for another matrix. All tasks of an evaluation must have the same.
	Sorted bool

	Fits [][]*FoldOutcome // by kernel of the path and C, nu or epsilon
}

// Do does a task on a problem, whose embedding is that of Needs.
func (t *Tasks) Do(ctx context.Context, p *Problem, task int) (*TaskOutcome, error) {
	own, fold := t.paths[task/t.folds], task%t.folds
	if err := t.suits(own, p); err != nil {
		return nil, err
	}
	w := &work{s: t.s, cells: own.cells, folds: t.folds, seed: t.seed, stage: "searching", only: []int{fold},
		left: len(own.kernels)}
	w.s.Scheme = own.scheme
	found := &TaskOutcome{}
	err := w.run(ctx, p, own.kernels, func(f *folded, _ int, out []*outcome) error {
		var fits []*FoldOutcome
		for _, o := range out {
			fits = append(fits, o.folds[fold])
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
func (t *Tasks) Validate(p *Problem) error {
	for _, own := range t.paths {
		if own.embedding != p.Embedding() {
			continue
		}
		if err := t.suits(own, p); err != nil {
			return err
		}
		s, err := p.resolve(t.s)
		if err != nil {
			return err
		}
		s.Scheme = own.scheme
		f, err := p.divide(&s, t.folds, t.seed, false)
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

// suits checks that a problem is the one that a path needs.
func (t *Tasks) suits(own *part, p *Problem) error {
	if p.Terms() != t.terms[own] {
		return fmt.Errorf("svm: a problem of %d terms, expected one of %d", p.Terms(), t.terms[own])
	}
	for _, k := range own.kernels {
		if err := p.suits(k); err != nil {
			return err
		}
	}
	return nil
}

// Assemble makes a [tune.Evaluator] of what tasks have found. It calls problem, as [Evaluator] does, for what documents
// and folds are, and computes nothing of a matrix; outcomes returns what a task has found. Points are those of the
// whole evaluation to the bit, but for the time that was spent on them. Errors: those of problem and outcomes, and
// outcomes of other documents or of another evaluation.
func (t *Tasks) Assemble(
	problem func(cut int, e sparse.Embedding) (*Problem, error), outcomes func(task int) (*TaskOutcome, error),
) tune.Evaluator {
	return &assembling{t, problem, outcomes}
}

type assembling struct {
	*Tasks
	problem  func(cut int, e sparse.Embedding) (*Problem, error)
	outcomes func(task int) (*TaskOutcome, error)
}

// Evaluate implements tune.Evaluator. The candidates are those of the tasks.
func (a *assembling) Evaluate(ctx context.Context, all []tune.Candidate, done func(i int, p tune.Point)) error {
	var p *Problem
	v := &Evaluator{}
	for i, own := range a.paths {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if i == 0 || !own.shares(a.paths[i-1]) {
			var err error
			if p, err = a.problem(own.cut, own.embedding); err != nil {
				return err
			}
		}
		if err := a.suits(own, p); err != nil {
			return err
		}
		var found []*TaskOutcome // by fold
		for task := i * a.folds; task < (i+1)*a.folds; task++ {
			out, err := a.outcomes(task)
			if err != nil {
				return err
			}
			other := func(fits []*FoldOutcome) bool { return len(fits) != len(own.cells) || slices.Contains(fits, nil) }
			if len(out.Fits) != len(own.kernels) || slices.ContainsFunc(out.Fits, other) {
				return fmt.Errorf("svm: the outcome of task %d isn't one of %d kernels with %d fits each", task,
					len(own.kernels), len(own.cells))
			}
			if found = append(found, out); out.Sorted != found[0].Sorted {
				return fmt.Errorf("svm: tasks %d and %d are of documents in different orders, expected the same: "+
					"one of them had less memory", i*a.folds, task)
			}
		}
		s := a.s
		s.Scheme = own.scheme
		f, err := p.divide(&s, a.folds, a.seed, found[0].Sorted)
		if err != nil {
			return err
		}
		for k := range own.kernels {
			for cell := range own.cells {
				o := &outcome{}
				for fold, out := range found {
					if err := f.check(out.Fits[k][cell], fold); err != nil {
						return fmt.Errorf("svm: the outcome of task %d: %w", i*a.folds+fold, err)
					}
					o.folds = append(o.folds, out.Fits[k][cell])
				}
				if err := v.keep(ctx, f, o, all, own.at[k][cell], own.kernels[k], done); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
