package svm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/sparse"
)

// Grid says which settings are compared: all combinations of its lists. An empty list stands for
// the value that Settings have.
type Grid struct {
	Kernels []engine.Kernel
	C       []float64
	Nu      []float64 // of nu_svc, nu_svr
	Epsilon []float64 // of epsilon_svr

	Folds int    // default 5
	Seed  uint64 // of the folds
}

// DefaultFolds is the number of folds where a Grid names none.
const DefaultFolds = 5

// Point is a combination of settings and its result.
type Point struct {
	Kernel  engine.Kernel // with a gamma that its specification left out
	C       float64
	Nu      float64 // 0 where the type has none
	Epsilon float64

	Figures  []float64 // the measure by fold
	Mean, SD float64   // their mean, and their standard deviation with n-1 in the denominator

	Iterations int64
	Unfinished int           // machines that didn't reach the tolerance
	Support    float64       // mean number of different support vectors of a fold
	Busy       time.Duration // of workers, in solving its problems
}

// SearchResult is what a search found.
type SearchResult struct {
	Measure Measure
	Points  []Point // those that are complete, in the order of the grid: kernels, then nu, epsilon, C
	Total   int     // points of the grid
	Best    int     // the best of Points: the first of several with the same mean; -1 where there is none

	SolvedOn string // the device whose memory had rows and scores of kernels, "" where it was the machine's for all
	Unplaced string // why it hadn't for a kernel, where that was the place for them: in a sentence without a full stop

	DotProducts int64 // that were computed
	// that training and predicting each point and fold by itself would have computed: all pairs of
	// training documents once, and held-out documents with support vectors
	Separate int64

	Gram  time.Duration // computing tiles
	Solve time.Duration // the rest
}

// Saved is how many dot products weren't computed again. It may be negative where a device kept the
// rows of each kernel.
func (r *SearchResult) Saved() int64 { return r.Separate - r.DotProducts }

// Fits is how many classifiers were trained, one per point and fold.
func (r *SearchResult) Fits() int {
	fits := 0
	for _, p := range r.Points {
		fits += len(p.Figures)
	}
	return fits
}

// Search cross-validates the settings s with each combination of a grid, whose kernels all have the
// problem's embedding. It passes each point to each, if that isn't nil, as soon as it is complete.
//
// Where the whole matrix fits into memory, all kernels, folds and pairs of classes share tiles of
// c, each computed once. Where a device keeps the rows (Options.Place), all folds and values of C
// share those of a kernel. Each problem of one kernel and fold is solved for all C on the same
// rows, each from the solution of the one before. Kernels that differ in one number are taken in
// its order, from the widest on, and each begins where the solutions before lead to. Figures are
// those of [Problem.CrossValidate], up to the tolerance, and the same from any number of workers.
//
// At the end of ctx, or after another error, the result has the points that are complete.
func (p *Problem) Search(ctx context.Context, s Settings, g Grid, each func(Point)) (*SearchResult, error) {
	problem := func(sparse.Embedding) (*Problem, error) { return p, nil }
	return SearchProblems(ctx, p.withKernel(s), g, problem, each)
}

// SearchCorpus is [Problem.Search] for kernels of several embeddings: it makes a problem for each
// embedding, one after the other, and closes its device.
func SearchCorpus(
	ctx context.Context, c *sparse.Corpus, s Settings, g Grid, opt Options, each func(Point),
) (_ *SearchResult, err error) {
	var last *Problem
	closeLast := func() error {
		if last == nil {
			return nil
		}
		e := last.Engine()
		last = nil
		return e.Close()
	}
	defer func() { err = errors.Join(err, closeLast()) }()
	return SearchProblems(ctx, s, g, func(e sparse.Embedding) (*Problem, error) {
		if err := closeLast(); err != nil {
			return nil, err
		}
		p, err := NewProblem(ctx, c, e, opt)
		last = p
		return p, err
	}, each)
}

// SearchProblems is [SearchCorpus] for problems that the caller makes: it calls problem once for
// each embedding of the grid, when it needs it, and is then done with the one before. The caller
// closes what has a device.
func SearchProblems(
	ctx context.Context, s Settings, g Grid, problem func(sparse.Embedding) (*Problem, error), each func(Point),
) (*SearchResult, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if problem == nil {
		return nil, errors.New("svm: no function that makes problems, expected one")
	}
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	s.Probabilities = false
	if len(g.Kernels) == 0 {
		g.Kernels = []engine.Kernel{s.Kernel}
	}
	if i := slices.Index(g.Kernels, nil); i >= 0 {
		return nil, fmt.Errorf("svm: kernel %d of the grid is nil", i)
	}
	if g.Folds == 0 {
		g.Folds = DefaultFolds
	}
	if each == nil {
		each = func(Point) {}
	}
	q := &searching{g: g, each: each, points: make([][]Point, len(g.Kernels))}
	q.work = work{s: s, folds: g.Folds, seed: g.Seed, stage: "searching", left: len(g.Kernels)}
	if q.cells, err = g.cells(&s); err != nil {
		return nil, err
	}
	q.out = &SearchResult{Measure: s.Measure(), Total: len(g.Kernels) * len(q.cells), Best: -1}
	err = q.run(ctx, problem)
	return q.finish(), err
}

// searching is a search under way.
type searching struct {
	work
	g      Grid
	each   func(Point)
	points [][]Point // by kernel of the grid
	out    *SearchResult
}

// run goes through the embeddings of the grid.
func (q *searching) run(ctx context.Context, problem func(sparse.Embedding) (*Problem, error)) error {
	var done []sparse.Embedding
	for _, k := range q.g.Kernels {
		e := k.Embedding()
		if slices.Contains(done, e) {
			continue
		}
		done = append(done, e)
		p, err := problem(e)
		if err != nil {
			return err
		}
		if p == nil {
			return fmt.Errorf("svm: no problem for kernels of the embedding %s, and no error", e)
		}
		var kernels []kernelAt
		for i, k := range q.g.Kernels {
			if k.Embedding() == e {
				k = engine.Resolve(k, p.Terms())
				if err := p.suits(k); err != nil { // before any work is done
					return err
				}
				kernels = append(kernels, kernelAt{i, k})
			}
		}
		before := p.Cache().Computed
		err = q.work.run(ctx, p, kernels, q.keep)
		q.out.DotProducts += p.Cache().Computed - before
		if err != nil {
			return err
		}
	}
	return nil
}

// mostCells is the greatest number of combinations of the solver's parameters, whose coefficients
// are all kept at a time.
const mostCells = 1 << 20

// cells lists the combinations of the solver's parameters.
func (g *Grid) cells(s *Settings) ([]cell, error) {
	list := func(name string, values []float64, own float64, has bool) ([]float64, error) {
		if len(values) == 0 {
			return []float64{own}, nil
		}
		if !has {
			return nil, fmt.Errorf("svm: a list of values of %s, which type %s doesn't have", name, s.Type)
		}
		return values, nil
	}
	cs, err := list("C", g.C, s.C, s.Type != model.NuSVC && s.Type != model.OneClass)
	if err != nil {
		return nil, err
	}
	nus, err := list("nu", g.Nu, s.Nu, s.Type == model.NuSVC || s.Type == model.NuSVR)
	if err != nil {
		return nil, err
	}
	epsilons, err := list("epsilon", g.Epsilon, s.Epsilon, s.Type == model.EpsilonSVR)
	if err != nil {
		return nil, err
	}
	if n := max(len(nus), len(epsilons)); n > mostCells/len(cs) { // no type has both
		return nil, fmt.Errorf("svm: %d times %d values of a grid, expected at most %d combinations",
			n, len(cs), mostCells)
	}
	var cells []cell
	for _, nu := range nus {
		for _, epsilon := range epsilons {
			for _, c := range cs {
				cells = append(cells, cell{c, nu, epsilon})
			}
		}
	}
	return cells, nil
}

// keep makes points of the outcomes of a kernel.
func (q *searching) keep(f *folded, at kernelAt, out []outcome) error {
	var points []Point
	for i, o := range out {
		v, err := f.result(o)
		if err != nil {
			return err
		}
		c := q.cells[i]
		point := Point{
			Kernel: at.kernel, C: c.c, Nu: c.nu, Epsilon: c.epsilon, Figures: v.Figures, Mean: v.Mean, SD: v.SD,
			Iterations: v.Iterations, Unfinished: v.Unfinished, Busy: o.busy(),
		}
		for part, sv := range v.Support {
			point.Support += float64(sv) / float64(q.folds)
			var held, own int64
			for _, d := range v.Fold {
				switch {
				case d == part:
					held++
				case d >= 0:
					own++
				}
			}
			q.out.Separate += own*(own+1)/2 + held*int64(sv)
		}
		points = append(points, point)
	}
	q.points[at.index] = points
	for _, point := range points {
		q.each(point)
	}
	return nil
}

// finish puts the points into the order of the grid and finds the best.
func (q *searching) finish() *SearchResult {
	r := q.out
	r.SolvedOn, r.Unplaced, r.Gram, r.Solve = q.solvedOn, q.unplaced, q.gram, q.solve
	for _, points := range q.points {
		r.Points = append(r.Points, points...)
	}
	for i, p := range r.Points {
		if r.Best < 0 || r.Measure.Better(p.Mean, r.Points[r.Best].Mean) {
			r.Best = i
		}
	}
	return r
}
