package svm

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/sparse"
)

// Tasks divides an evaluation into tasks that can run independently, in any order, on different
// computers. A task validates one fold, for a path of kernels and all cells. Solutions for a kernel
// warm-start from the solutions for the previous kernels of the path. Tasks hold no documents and
// may be used concurrently.
type Tasks struct {
	v     Evaluator
	paths []*kernelGroup // one task per path and fold
}

// NewTasks divides the evaluation of candidates by v. terms returns the number of terms of the
// corpus with a tokenizer and an embedding, as [Problem.TermCount] does. Defaults of kernel
// parameters may depend on this number.
func NewTasks(v *Evaluator, all []tune.Candidate, terms func(cut int, e sparse.Embedding) int) *Tasks {
	t := &Tasks{v: *v}
	parts, n := groupCandidates(all), 0
	for i, own := range parts {
		if i == 0 || !own.sharesProblem(parts[i-1]) {
			n = terms(own.tokenizer, own.embedding)
		}
		own.sortByPath(n)
		t.paths = append(t.paths, own.paths()...)
	}
	return t
}

// paths splits the kernels of a group into paths. A path ends before a kernel that has no warm
// start from the previous kernel.
func (p *kernelGroup) paths() (paths []*kernelGroup) {
	begin := 0
	for i := 1; i <= len(p.kernels); i++ {
		if i < len(p.kernels) {
			if which, _, _ := changedParameter(p.kernels[i-1], p.kernels[i]); which >= 0 {
				continue
			}
		}
		path := *p
		path.kernels, path.candidateIndex = p.kernels[begin:i], p.candidateIndex[begin:i]
		paths, begin = append(paths, &path), i
	}
	return paths
}

func (t *Tasks) Len() int { return len(t.paths) * t.v.Folds }

// ProblemOf returns the tokenizer and the embedding of a task's problem. Tasks with the same
// problem are consecutive.
func (t *Tasks) ProblemOf(task int) (cut int, e sparse.Embedding) {
	own := t.paths[task/t.v.Folds]
	return own.tokenizer, own.embedding
}

// TaskOutcome is the result of a task. It depends only on the documents, the settings and Sorted.
// encoding/json preserves it exactly.
type TaskOutcome struct {
	// Sorted is true if documents were sorted by fold, which needs memory for another matrix. All
	// tasks of an evaluation must have the same value.
	Sorted bool

	Fits [][]*FoldOutcome // Fits[kernel][cell] is the outcome of the fold
}

// Run runs a task on a problem, which must have the embedding that ProblemOf returns.
func (t *Tasks) Run(ctx context.Context, p *Problem, task int) (*TaskOutcome, error) {
	own, fold := t.paths[task/t.v.Folds], task%t.v.Folds
	w := &validationRun{Evaluator: t.v, cells: own.cells, stage: "searching", selectedFolds: []int{fold},
		kernelsLeft: len(own.kernels)}
	w.Settings.Scheme = own.scheme
	found := &TaskOutcome{}
	return found, w.run(ctx, p, own.kernels, func(f *foldedProblem, _ int, out []*outcome) error {
		var fits []*FoldOutcome
		for _, o := range out {
			fits = append(fits, o.folds[fold])
		}
		found.Sorted, found.Fits = f.sorted, append(found.Fits, fits)
		return nil
	})
}

// Validate returns an error if tasks can't run on p, for example if labels don't suit the type, if
// there are fewer documents than folds, or if the training documents of a fold have only one class.
func (t *Tasks) Validate(p *Problem) error {
	for _, own := range t.paths {
		s, err := p.resolve(t.v.Settings)
		if err != nil {
			return err
		}
		s.Scheme = own.scheme
		f, err := p.divide(&s, t.v.Division, false)
		if err != nil {
			return err
		}
		if _, err := p.parameters(&s); err != nil {
			return err
		}
		if err := f.trial().Validate(p.Len()); err != nil {
			return err
		}
	}
	return nil
}

// gather passes the outcomes of a group's tasks to keep, starting with task *tasks. The resulting
// points are bit-identical to those from [validationRun.run], except for times.
func (w *validationRun) gather(ctx context.Context, p *Problem, part *kernelGroup, tasks *int, keep outcomeFunc) error {
	kernels := 0
	for _, own := range part.paths() {
		var found []*TaskOutcome // one per fold
		for range w.Folds {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			out, err := w.Outcome(*tasks)
			if err != nil {
				return err
			}
			other := func(fits []*FoldOutcome) bool { return len(fits) != len(own.cells) || slices.Contains(fits, nil) }
			if len(out.Fits) != len(own.kernels) || slices.ContainsFunc(out.Fits, other) {
				return fmt.Errorf("svm: result of task %d must have %d fits for each of %d kernels", *tasks,
					len(own.cells), len(own.kernels))
			}
			if found = append(found, out); out.Sorted != found[0].Sorted {
				return fmt.Errorf("svm: task %d orders the documents differently than earlier tasks, "+
					"because the tasks had different memory limits", *tasks)
			}
			*tasks++
		}
		f, err := p.divide(&w.Settings, w.Division, found[0].Sorted)
		if err != nil {
			return err
		}
		for k := range own.kernels {
			var out []*outcome // one per cell
			for cell := range own.cells {
				o := &outcome{}
				for fold, task := range found {
					if err := f.check(task.Fits[k][cell], fold); err != nil {
						return fmt.Errorf("svm: result of task %d: %w", *tasks-w.Folds+fold, err)
					}
					o.folds = append(o.folds, task.Fits[k][cell])
				}
				out = append(out, o)
			}
			if err := keep(f, kernels+k, out); err != nil {
				return err
			}
		}
		kernels += len(own.kernels)
	}
	return nil
}
