package svm

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Candidate is a combination of settings that is compared with others.
type Candidate struct {
	Cut    int // in which way text is cut into terms, by the caller's count from 0
	Kernel kernel.Kernel
	Scheme solver.Scheme

	model.Regularization
}

// Grid says which settings are compared: all combinations of its lists. An empty list stands for
// the value that Settings have.
type Grid struct {
	Cuts    int             // ways in which text is cut into terms; default 1
	Schemes []solver.Scheme // without solver.Labels, unless it is the only one
	Kernels []kernel.Kernel
	C       []float64
	Nu      []float64 // of nu_svc, nu_svr
	Epsilon []float64 // of epsilon_svr

	Folds int    // default 5
	Seed  uint64 // of the folds

	// LeastC takes for the best the point with the least C of those that differ from it in C alone and aren't clearly
	// worse: whose mean is worse by at most the standard error of the difference by fold.
	LeastC bool
}

// DefaultFolds is the number of folds where a Grid names none.
const DefaultFolds = 5

// Point is a candidate with its result.
type Point struct {
	Candidate // the kernel with a gamma that its specification left out
	*Result
	Unfinished int // machines that didn't reach the tolerance
}

// SearchResult is what a search found.
type SearchResult struct {
	Measure Measure
	Points  []Point // those that are complete, in the order of the grid: cuts, schemes, kernels, then nu, epsilon, C
	Total   int     // points of the grid
	Best    int     // the best of Points: by macro F1 of several with the same mean; -1 where there is none

	DotProducts int64 // that were computed
	// that training and predicting each point and fold by itself would have computed: all pairs of
	// training documents once, and held-out documents with support vectors
	Separate int64

	Gram  time.Duration // computing tiles
	Solve time.Duration // the rest
}

// Saved is how many dot products weren't computed again.
func (r *SearchResult) Saved() int64 { return r.Separate - r.DotProducts }

// Fits is how many classifiers were trained, one per point and fold.
func (r *SearchResult) Fits() int {
	fits := 0
	for _, p := range r.Points {
		fits += len(p.Figures)
	}
	return fits
}

// Search cross-validates the settings s with each combination of a grid, whose kernels all have the problem's
// embedding; a grid without lists has one, the settings themselves. It trains on all folds but one and predicts that
// one, for each fold, and passes each point to each, if that isn't nil, as soon as it is complete.
//
// The seed divides the documents of each class, or all of regression, into folds of nearly equal size; documents of
// several labels by their first. idf weights are those of all documents, so that folds can share dot products. Where
// columns are scaled ([sparse.Embedding.Scales]), or weights come from labels ([sparse.Embedding.Supervised]), that is
// learnt from the other folds alone, and each fold has dot products of its own.
//
// Where the whole matrix fits into memory, all kernels, folds and pairs of classes share tiles of c, each computed
// once. Each problem of one kernel and fold is solved for all C on the same rows, each from the solution of the one
// before. Kernels that differ in one number are taken in its order, from the widest on, and each begins where the
// solutions before lead to. Figures are those of a search of the point alone, up to the tolerance, and the same from
// any number of workers.
//
// At the end of ctx, or after another error, the result has the points that are complete. Errors: those of
// [Problem.Train], fewer than two folds or more than documents, and type one_class.
func (p *Problem) Search(ctx context.Context, s Settings, g Grid, each func(Point)) (*SearchResult, error) {
	if g.Cuts > 1 {
		return nil, fmt.Errorf("svm: a grid of %d ways in which text is cut, on documents that are cut, expected 1", g.Cuts)
	}
	problem := func(int, sparse.Embedding) (*Problem, error) { return p, nil }
	return SearchProblems(ctx, p.withKernel(s), g, problem, each)
}

// oneProblem makes problems, one at a time.
type oneProblem struct {
	corpus func(cut int) (*corpus.Corpus, error)
	opt    Options
	last   *Problem
	cut    int // of the last
}

// next closes the last problem and makes another, unless it is the same.
func (o *oneProblem) next(ctx context.Context, cut int, e sparse.Embedding) (*Problem, error) {
	if o.last != nil && o.cut == cut && o.last.Embedding() == e {
		return o.last, nil
	}
	if err := o.close(); err != nil {
		return nil, err
	}
	c, err := o.corpus(cut)
	if err != nil {
		return nil, err
	}
	o.last, err = NewProblem(ctx, c, e, o.opt)
	o.cut = cut
	return o.last, err
}

func (o *oneProblem) close() error {
	if o.last == nil {
		return nil
	}
	e := o.last.Engine()
	o.last = nil
	return e.Close()
}

// SearchProblems is [Problem.Search] for kernels of several embeddings: it calls problem once for each
// way in which text is cut and each embedding of the grid, when it needs it, and is then done with the
// one before. The caller makes the problems, and closes what has a device.
func SearchProblems(
	ctx context.Context, s Settings, g Grid, problem func(cut int, e sparse.Embedding) (*Problem, error),
	each func(Point),
) (*SearchResult, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	q, err := newSearching(s, g, each)
	if err != nil {
		return nil, err
	}
	err = q.run(ctx, problem)
	return q.finish(), err
}

// newSearching makes ready for the search of a grid.
func newSearching(s Settings, g Grid, each func(Point)) (*searching, error) {
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	all, err := g.candidates(&s)
	if err != nil {
		return nil, err
	}
	q := searchingOf(s, all, cmp.Or(g.Folds, DefaultFolds), g.Seed, each)
	q.leastC = g.LeastC
	return q, nil
}

func searchingOf(s Settings, all []Candidate, folds int, seed uint64, each func(Point)) *searching {
	s.Scheme = all[0].Scheme
	q := &searching{all: all, each: each, points: make([]*Point, len(all))}
	q.work = work{s: s, folds: folds, seed: seed, stage: "searching"}
	if len(all) == 1 {
		q.stage = "validating"
	}
	q.out = &SearchResult{Measure: s.Measure(), Total: len(all), Best: -1}
	return q
}

// searching is a search under way.
type searching struct {
	work
	all    []Candidate
	each   func(Point)
	points []*Point // by candidate
	leastC bool
	part   *searchPart
	out    *SearchResult
}

// searchPart is what is validated together: kernels of an embedding with the same cells.
type searchPart struct {
	cut       int
	embedding sparse.Embedding
	scheme    solver.Scheme
	cells     []cell
	kernels   []kernel.Kernel
	at        [][]int // by kernel and cell: the candidate
	terms     int     // of the embedding, where tasks are done by themselves
}

// parts divides the candidates: by cut, embedding, scheme, and the cells of each kernel.
func (q *searching) parts() (parts []*searchPart) {
	var each []*searchPart // with one kernel
	for i, o := range q.all {
		at := slices.IndexFunc(each, func(p *searchPart) bool {
			return p.cut == o.Cut && p.scheme == o.Scheme && kernel.Equal(p.kernels[0], o.Kernel)
		})
		if at < 0 {
			at = len(each)
			each = append(each, &searchPart{
				cut: o.Cut, embedding: o.Kernel.Embedding(), scheme: o.Scheme, kernels: []kernel.Kernel{o.Kernel},
				at: make([][]int, 1),
			})
		}
		p := each[at]
		p.cells, p.at[0] = append(p.cells, cell{o.C, o.Nu, o.Epsilon}), append(p.at[0], i)
	}
	for _, o := range each {
		at := slices.IndexFunc(parts, func(p *searchPart) bool {
			return p.cut == o.cut && p.embedding == o.embedding && p.scheme == o.scheme && slices.Equal(p.cells, o.cells)
		})
		if at < 0 {
			parts = append(parts, o)
			continue
		}
		parts[at].kernels, parts[at].at = append(parts[at].kernels, o.kernels...), append(parts[at].at, o.at...)
	}
	problemOf := func(p *searchPart) int { // those of a problem follow each other
		return slices.IndexFunc(parts, func(o *searchPart) bool { return o.cut == p.cut && o.embedding == p.embedding })
	}
	order := slices.Clone(parts)
	slices.SortStableFunc(order, func(a, b *searchPart) int { return cmp.Compare(problemOf(a), problemOf(b)) })
	return order
}

// run goes through the problems that the candidates need.
func (q *searching) run(ctx context.Context, problem func(cut int, e sparse.Embedding) (*Problem, error)) error {
	parts := q.parts()
	for _, part := range parts {
		q.left += len(part.kernels)
	}
	var p *Problem
	for i, part := range parts {
		if i == 0 || part.cut != parts[i-1].cut || part.embedding != parts[i-1].embedding {
			var err error
			if p, err = problem(part.cut, part.embedding); err != nil {
				return err
			}
		}
		var kernels []kernelAt
		for i, k := range part.kernels {
			k = kernel.Resolve(k, p.Terms())
			if err := p.suits(k); err != nil { // before any work is done
				return err
			}
			kernels = append(kernels, kernelAt{i, k})
		}
		before := p.Cache().Computed
		q.begin(part)
		err := q.work.run(ctx, p, inPath(kernels), q.keep)
		q.out.DotProducts += p.Cache().Computed - before + q.computed
		q.computed = 0
		if err != nil {
			return err
		}
	}
	return nil
}

// begin goes on to a part.
func (q *searching) begin(part *searchPart) {
	q.part, q.work.cells, q.work.s.Scheme = part, part.cells, part.scheme
}

// mostCells is the greatest number of combinations of the solver's parameters, whose coefficients
// are all kept at a time.
const mostCells = 1 << 20

// candidates lists the combinations of a grid.
func (g *Grid) candidates(s *Settings) (all []Candidate, err error) {
	if len(g.Kernels) == 0 {
		g.Kernels = []kernel.Kernel{s.Kernel}
	}
	if len(g.Schemes) == 0 {
		g.Schemes = []solver.Scheme{s.Scheme}
	}
	if err := checkSchemes(g.Schemes); err != nil {
		return nil, err
	}
	cells, err := g.cells(s)
	if err != nil {
		return nil, err
	}
	cuts := max(g.Cuts, 1)
	if n := float64(cuts) * float64(len(g.Schemes)) * float64(len(g.Kernels)) * float64(len(cells)); n > mostCells {
		return nil, fmt.Errorf("svm: a grid of %.0f combinations, expected at most %d", n, mostCells)
	}
	for cut := range cuts {
		for _, scheme := range g.Schemes {
			for _, k := range g.Kernels {
				for _, c := range cells {
					all = append(all, Candidate{cut, k, scheme, model.Regularization{C: c.c, Nu: c.nu, Epsilon: c.epsilon}})
				}
			}
		}
	}
	return all, nil
}

// checkSchemes checks what schemes are compared.
func checkSchemes(schemes []solver.Scheme) error {
	for i, scheme := range schemes {
		if scheme < solver.OneVsOne || scheme > solver.Labels || scheme == solver.Labels && len(schemes) > 1 {
			return fmt.Errorf("svm: scheme %d of the candidates is %s, expected one-vs-one or one-vs-rest, "+
				"or labels alone", i, scheme)
		}
	}
	return nil
}

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
func (q *searching) keep(ctx context.Context, f *folded, at kernelAt, out []outcome) error {
	var points []*Point
	for i, o := range out {
		r, err := f.result(ctx, o)
		if err != nil {
			return err
		}
		point := &Point{Candidate: q.all[q.part.at[at.index][i]], Result: r}
		point.Kernel = at.kernel
		if len(q.all) > 1 {
			r.ByFold = nil // which may be large
		}
		for part, sv := range r.SupportByFold {
			point.Unfinished += o.fit(part).Unfinished
			var held, own int64
			for _, d := range f.parts {
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
	for i, point := range points {
		if q.points[q.part.at[at.index][i]] = point; q.each != nil {
			q.each(*point)
		}
	}
	return nil
}

// finish puts the points into the order of the grid and finds the best.
func (q *searching) finish() *SearchResult {
	r := q.out
	r.Gram, r.Solve = q.gram, q.solve
	for _, point := range q.points {
		if point == nil {
			continue
		}
		if r.Points = append(r.Points, *point); r.Best < 0 || point.Ranks(r.Points[r.Best].Result) {
			r.Best = len(r.Points) - 1
		}
	}
	if q.leastC && r.Best >= 0 {
		r.Best = leastC(r.Points, r.Best, math.Inf(1))
	}
	compare(r.Points, r.Best)
	return r
}

// compare sets the differences to the best of points, if there is one.
func compare(points []Point, best int) {
	for _, p := range points {
		p.CompareTo(points[best].Result)
	}
}
