package svm

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Measure returns the measure by which a validation compares settings.
func (s *Settings) Measure() tune.Measure {
	switch {
	case s.Type == model.EpsilonSVR || s.Type == model.NuSVR:
		return tune.MeanSquaredError
	case s.Scheme == solver.MultiLabel:
		return tune.MicroF1
	}
	return tune.Accuracy
}

// Evaluator is a [tune.Evaluator] of support vector machines on shared tiles.
//
// idf weights are computed from all documents, so that folds can share dot products. Embeddings
// with column scales or supervised weights are fitted to the training folds, so folds can't share
// dot products.
//
// If all tiles of c fit into memory, each tile is computed once for all folds, all pairs of
// classes, and all kernels with the same tokenizer and embedding. Each problem of a kernel and a
// fold is solved for all C on the same rows. Each C warm-starts from the solution for the previous
// C. Kernels that differ in one parameter are evaluated in order, widest first, with warm starts
// from the solutions for the previous kernel. Up to the tolerance, results are the same as from a
// separate evaluation of each candidate.
type Evaluator struct {
	Settings Settings // settings that candidates don't override, see [Settings.Resolve]
	tune.Division

	// Problem returns the problem for a tokenizer index and an embedding, and closes the engine of
	// the previous problem. It is called once per tokenizer and embedding, when the previous
	// problem is no longer in use.
	Problem func(ctx context.Context, tokenizer int, e sparse.Embedding) (*Problem, error)

	// Outcome, if not nil, returns the outcome of a task of [NewTasks], so that no matrix is
	// computed.
	Outcome func(task int) (*TaskOutcome, error)

	DotProducts         int64         // number of computed dot products
	SeparateDotProducts int64         // number of dot products if each candidate and fold were evaluated separately
	GramTime            time.Duration // time to compute tiles
	SolveTime           time.Duration // evaluation time after tiles were computed
}

// kernelGroup is a set of kernels with the same tokenizer, embedding, scheme and cells.
type kernelGroup struct {
	tokenizer      int
	embedding      sparse.Embedding
	scheme         solver.Scheme
	cells          []solver.Regularization
	kernels        []kernel.Kernel
	candidateIndex [][]int // candidateIndex[kernel][cell] is the index of the candidate
}

// groupCandidates groups candidates by tokenizer, embedding, scheme, and cells (C, nu, epsilon).
func groupCandidates(all []tune.Candidate) (parts []*kernelGroup) {
	var each []*kernelGroup // groups with one kernel
	for i, o := range all {
		at := slices.IndexFunc(each, func(p *kernelGroup) bool {
			return p.tokenizer == o.Tokenizer && p.scheme == o.Scheme && kernel.Equal(p.kernels[0], o.Kernel)
		})
		if at < 0 {
			at = len(each)
			each = append(each, &kernelGroup{tokenizer: o.Tokenizer, embedding: o.Kernel.Embedding(), scheme: o.Scheme,
				kernels: []kernel.Kernel{o.Kernel}, candidateIndex: make([][]int, 1)})
		}
		p := each[at]
		p.cells, p.candidateIndex[0] = append(p.cells, o.Regularization), append(p.candidateIndex[0], i)
	}
	for _, o := range each {
		at := slices.IndexFunc(parts, func(p *kernelGroup) bool {
			return p.sharesProblem(o) && p.scheme == o.scheme && slices.Equal(p.cells, o.cells)
		})
		if at < 0 {
			parts = append(parts, o)
			continue
		}
		parts[at].kernels, parts[at].candidateIndex = append(parts[at].kernels, o.kernels...),
			append(parts[at].candidateIndex, o.candidateIndex...)
	}
	order := slices.Clone(parts)
	slices.SortStableFunc(order, func(a, b *kernelGroup) int { // make groups with the same problem consecutive
		return cmp.Compare(slices.IndexFunc(parts, a.sharesProblem), slices.IndexFunc(parts, b.sharesProblem))
	})
	return order
}

func (p *kernelGroup) sharesProblem(o *kernelGroup) bool {
	return p.tokenizer == o.tokenizer && p.embedding == o.embedding
}

// sortByPath resolves parameters that depend on the data, such as gamma, and sorts kernels and
// candidateIndex by [pathOrder].
func (p *kernelGroup) sortByPath(terms int) {
	for i, k := range p.kernels {
		p.kernels[i] = kernel.Resolve(k, terms)
	}
	order := pathOrder(p.kernels)
	p.kernels, p.candidateIndex = run.Select(p.kernels, order), run.Select(p.candidateIndex, order)
}

func (v *Evaluator) Evaluate(ctx context.Context, all []tune.Candidate, done func(i int, p tune.Point)) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	w := &validationRun{Evaluator: *v, stage: "searching"}
	defer func() {
		v.DotProducts, v.SeparateDotProducts, v.GramTime, v.SolveTime = w.DotProducts, w.SeparateDotProducts, w.GramTime,
			w.SolveTime
	}()
	if len(all) == 1 {
		w.stage = "validating"
	}
	parts := groupCandidates(all)
	for _, part := range parts {
		w.kernelsLeft += len(part.kernels)
	}
	var p *Problem
	tasks := 0 // number of tasks whose outcomes are known
	for i, part := range parts {
		if i == 0 || !part.sharesProblem(parts[i-1]) {
			var err error
			if p, err = v.Problem(ctx, part.tokenizer, part.embedding); err != nil {
				return err
			}
		}
		part.sortByPath(p.TermCount())
		w.cells, w.Settings.Scheme = part.cells, part.scheme
		keep := func(f *foldedProblem, k int, out []*outcome) error {
			for cell, o := range out {
				r, err := f.result(ctx, o)
				if err != nil {
					return err
				}
				if len(all) > 1 {
					r.FoldScores = nil // FoldScores may be large
				}
				w.SeparateDotProducts += f.separateDotProducts(o)
				at := part.candidateIndex[k][cell]
				q := all[at]
				q.Kernel = part.kernels[k]
				done(at, tune.Point{Candidate: q, Result: r})
			}
			return nil
		}
		if v.Outcome != nil {
			if err := w.gather(ctx, p, part, &tasks, keep); err != nil {
				return err
			}
			continue
		}
		before := p.CacheStats().PairsComputed
		err := w.run(ctx, p, part.kernels, keep)
		w.DotProducts += p.CacheStats().PairsComputed - before
		if err != nil {
			return err
		}
	}
	return nil
}

type validationRun struct {
	Evaluator
	cells         []solver.Regularization
	stage         string // stage of progress
	selectedFolds []int  // folds to validate; nil for all

	relay
	before      int64 // number of problems solved for earlier kernels
	kernelsLeft int   // number of kernels that aren't validated yet
}

// outcomeFunc receives the outcomes of a kernel, one per cell (values of C, nu and epsilon).
type outcomeFunc func(f *foldedProblem, kernel int, out []*outcome) error

// run validates kernels with the problem's embedding, and passes the outcomes of each kernel to
// keep. The kernels must be resolved and in the order of [pathOrder].
func (w *validationRun) run(ctx context.Context, p *Problem, kernels []kernel.Kernel, keep outcomeFunc) (err error) {
	if needsFoldEmbedding(p.Embedding()) && !p.heldOutFold {
		return w.validateByFold(ctx, p, kernels, keep)
	}
	f, err := p.fold(&w.Settings, w.Division, !p.heldOutFold)
	if err != nil {
		return err
	}
	f.selectedFolds = w.selectedFolds
	opt, err := p.solverOptions(PlannedRun{w.Settings, w.Folds, len(w.cells)})
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := p.ComputeTiles(ctx); err != nil {
		return err
	}
	w.GramTime += time.Since(begin)
	begin = time.Now()
	defer func() { w.SolveTime += time.Since(begin) }()
	p.training.Store(true)
	defer p.training.Store(false)
	ctx, report := w.relay.start(ctx, p.opt.Progress)
	defer report.Finish(&err)
	opt.Progress = func(s solver.Progress) {
		w.note(Progress{
			Stage: w.stage, Done: w.before + int64(s.Solved), Total: w.before + int64(w.kernelsLeft)*int64(s.Problems),
			PartialWork: s.Done - float64(s.Solved), Solver: s, HitRate: hitRate(s),
		})
	}
	var way path
	for i, k := range kernels {
		m, err := f.matrix(ctx, k)
		if err != nil {
			return err
		}
		found, err := f.validate(ctx, m, w.cells, way.warmStarts(k), opt)
		if err != nil {
			return err
		}
		w.kernelsLeft--
		w.before = w.last().Done
		var out []*outcome
		for _, v := range found {
			out = append(out, f.outcome(v))
		}
		if err := keep(f, i, out); err != nil {
			return err
		}
		way.add(k, found[w.firstCell()])
	}
	return nil
}

// firstCell returns the index of the cell solved first, from which the next kernel warm-starts.
func (w *validationRun) firstCell() int {
	best := 0
	for i, c := range w.cells {
		b := w.cells[best]
		if cmp.Or(cmp.Compare(c.Nu, b.Nu), cmp.Compare(c.Epsilon, b.Epsilon), cmp.Compare(c.C, b.C)) < 0 {
			best = i
		}
	}
	return best
}
