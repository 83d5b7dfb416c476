package svm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/grouped"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// folded is a problem divided into folds, with its documents in the order of its matrix: by class,
// and in a class by fold. What is kept by document is in this order.
type folded struct {
	p     *Problem
	s     *Settings
	folds int

	order  []int // document i here is order[i] of the problem
	corpus []int // and corpus[i] of the corpus
	parts  []int // its fold, -1 where it is left out

	labels  []int     // one class per document
	sets    [][]int   // labels each for itself
	targets []float64 // regression

	only []int // folds that are validated; nil for all

	inMemory bool      // there is memory for a matrix in this order
	sorted   bool      // documents of a fold stand together
	data     []float32 // which is here
}

// mappedBytes is the memory that a matrix of n documents in the order of folds takes.
func mappedBytes(n int64) int64 { return 4*n*n + 8*n }

// fold divides a problem. With together the documents of a fold stand together in their class, where
// there is room for rows in that order.
func (p *Problem) fold(s *Settings, folds int, seed uint64, together bool) (*folded, error) {
	inMemory := p.cached.Whole() && p.spare() >= mappedBytes(int64(p.Len()))
	f, err := p.divide(s, folds, seed, inMemory && together)
	if err == nil {
		f.inMemory = inMemory
	}
	return f, err
}

// divide divides a problem: it shuffles the documents of each class, or all where targets are
// numbers, by the seed, and deals them out in turn. The folds depend on the corpus, its order and
// the seed alone, what is kept by document on sorted, too.
func (p *Problem) divide(s *Settings, folds int, seed uint64, sorted bool) (*folded, error) {
	f := &folded{p: p, s: s, folds: folds, sorted: sorted}
	n, separate := p.Len(), s.Scheme == solver.Labels
	var err error
	switch {
	case s.Type == model.OneClass:
		err = fmt.Errorf("svm: cross-validation of type %s, whose documents are all of one class: "+
			"there is nothing to compare predictions with", s.Type)
	case !s.Type.Classifies():
		f.targets, err = p.targets()
	case separate:
		f.sets = p.several()
	default:
		f.labels, err = p.single()
	}
	if err != nil {
		return nil, err
	}
	strata := make([]int, n) // by document of the corpus
	if s.Type.Classifies() {
		strata = inCorpus(p.corpus.order, Strata(p.corpus.labels, n, len(p.corpus.classes), separate))
	}
	part, err := Folds(p.corpus.source, strata, p.corpus.groups, folds, seed)
	if err != nil {
		return nil, err
	}
	for i := range n {
		f.order = append(f.order, i)
	}
	if sorted {
		slices.SortStableFunc(f.order, func(a, b int) int {
			da, db := p.corpus.order[a], p.corpus.order[b]
			switch {
			case s.Type.Classifies() && s.Scheme != solver.OneVsOne: // all that a fold leaves are two pieces of a row
				return part[da] - part[db]
			case strata[da] != strata[db]:
				return a - b // the problem's own order is by class, those without one behind
			}
			return part[da] - part[db]
		})
	}
	f.corpus = run.Pick(p.corpus.order, f.order)
	f.parts = run.Pick(part, f.corpus)
	f.labels, f.sets, f.targets = run.Pick(f.labels, f.order), run.Pick(f.sets, f.order), run.Pick(f.targets, f.order)
	return f, nil
}

// Strata returns the first class of each of n documents. A document without one is of the class after the last if
// labels are separate, and else of class -1.
func Strata(labels sparse.Labels, n, classes int, separate bool) []int {
	out := make([]int, n)
	for i := range out {
		switch own := labels.Of(i); {
		case len(own) > 0:
			out[i] = int(own[0])
		case separate:
			out[i] = classes
		default:
			out[i] = -1
		}
	}
	return out
}

// Folds returns the fold of each document by its class, and -1 for negative classes. The documents of a group are in
// one fold; groups may be nil.
func Folds(source string, classes []int, groups []int64, folds int, seed uint64) ([]int, error) {
	usable, what, seen := 0, "labelled documents", map[int64]bool{}
	for i, c := range classes {
		switch {
		case c < 0:
		case groups == nil:
			usable++
		case !seen[groups[i]]:
			seen[groups[i]] = true
			usable++
		}
	}
	if groups != nil {
		what = "groups of labelled documents"
	}
	switch {
	case usable < 2:
		return nil, fmt.Errorf("svm: %s: %s: %d, expected at least 2, for as many folds", source, what, usable)
	case folds < 2 || folds > usable:
		return nil, fmt.Errorf("svm: %s: %d folds of %d %s, expected 2 to %d", source, folds, usable, what, usable)
	}
	return grouped.Folds(classes, groups, folds, seed), nil
}

// matrix returns the matrix of a kernel, in the order of f. It belongs to f and stays valid until
// the next call.
//
// A validation reads each value some twenty times, so it pays to map it once, in an order in which
// what a fold leaves of a class is two pieces of a row.
func (f *folded) matrix(ctx context.Context, k kernel.Kernel) (solver.Matrix, error) {
	g, err := f.p.gram(k)
	switch {
	case err != nil:
		return nil, err
	case g.rows == nil:
		return g.dense(f.order)
	case !f.inMemory:
		return g.rows, nil
	}
	n := len(f.order)
	if f.data == nil {
		if f.data, err = tiles.MakeContext(ctx, n*n); err != nil {
			return nil, err
		}
	}
	scratch := make([][][]float32, f.p.Engine().Info().Workers)
	for w := range scratch {
		scratch[w] = [][]float32{make([]float32, n)}
	}
	err = run.Tasks(ctx, len(scratch), n, func(ctx context.Context, w, i int) error {
		if err := g.rows.Rows(ctx, f.order[i:i+1], [][2]int{{0, n}}, scratch[w]); err != nil {
			return err
		}
		row, from := f.data[i*n:(i+1)*n], scratch[w][0]
		for j, doc := range f.order {
			row[j] = from[doc]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return solver.NewDense(n, f.data)
}

// cell is a choice of the parameters that the solver knows.
type cell struct{ c, nu, epsilon float64 }

// outcome is what a validation with one kernel and one cell found, in the order of f.
type outcome struct {
	*solver.Validation
	fits []Fit // by fold, where the machines aren't there
}

// Fit describes the machines that were trained without a fold.
type Fit struct {
	Support    int // different support vectors
	Iterations int64
	Unfinished int // machines that didn't reach the tolerance
}

func (o *outcome) fit(part int) (f Fit) {
	if o.fits != nil {
		return o.fits[part]
	}
	c := o.Fits[part]
	f.Support = len(c.Support())
	for _, m := range c.Machines {
		if m != nil {
			f.Iterations += int64(m.Iterations)
			if !m.Converged {
				f.Unfinished++
			}
		}
	}
	return f
}

// trial is the validation of f as the solver has it.
func (f *folded) trial() *solver.Trial {
	t := &solver.Trial{
		Labels: f.labels, Sets: f.sets, Targets: f.targets, Classes: len(f.p.corpus.classes), Scheme: f.s.Scheme,
		Parts: f.parts, Thresholds: f.s.Thresholds, Decisions: f.s.Probabilities && f.targets == nil, Only: f.only,
	}
	if f.only != nil && t.Thresholds { // which need the decision values of all folds
		t.Thresholds, t.Decisions = false, true
	}
	return t
}

// validate trains and predicts all folds for all cells. near are outcomes of other kernels for the
// same cell, with their weights.
func (f *folded) validate(
	ctx context.Context, m solver.Matrix, cells []cell, near []weighted, opt solver.Options,
) (out []outcome, err error) {
	var pars []solver.Parameters
	for _, c := range cells {
		own := *f.s
		own.C, own.Nu, own.Epsilon = c.c, c.nu, c.epsilon
		par, err := f.p.parameters(&own)
		if err != nil {
			return nil, err
		}
		par.DocumentWeights = run.Pick(par.DocumentWeights, f.order)
		pars = append(pars, par)
	}
	var start []solver.WarmStart
	for _, w := range near {
		start = append(start, solver.WarmStart{Of: w.of.Validation, By: w.by})
	}
	if f.targets != nil && len(start) > 0 {
		start = []solver.WarmStart{{Of: start[0].Of, By: 1}}
	}
	classes, err := f.trial().Validate(ctx, m, pars, start, opt)
	for _, v := range classes {
		out = append(out, outcome{Validation: v})
	}
	return out, err
}

// work is a validation of several kernels and cells on one division into folds.
type work struct {
	s     Settings
	cells []cell
	folds int
	seed  uint64
	stage string // of progress
	only  []int  // folds, see folded; at most one where each fold has an embedding of its own
	runs  bool   // folds are those of inRuns

	relay
	before int64 // problems of kernels that are done
	left   int   // kernels that are not done

	computed int64 // dot products of problems of its own

	gram, solve time.Duration // computing tiles before, and the rest
}

// keeper takes what a validation found of a kernel.
type keeper func(ctx context.Context, f *folded, at kernelAt, out []outcome) error

// run validates kernels of the problem's embedding, resolved, in an order in which near ones follow
// each other (inPath), and passes the outcomes of each to keep.
func (w *work) run(ctx context.Context, p *Problem, kernels []kernelAt, keep keeper) (err error) {
	if byFold(p.Embedding()) && !p.apart {
		return w.apart(ctx, p, kernels, keep)
	}
	f, err := p.fold(&w.s, w.folds, w.seed, !p.apart)
	if err != nil {
		return err
	}
	if w.runs {
		f.inRuns()
	}
	f.only = w.only
	opt, err := p.solverOptions(Task{w.s, w.folds, len(w.cells)})
	if err != nil {
		return err
	}
	begin := time.Now()
	if err := p.Build(ctx); err != nil {
		return err
	}
	w.gram += time.Since(begin)
	begin = time.Now()
	defer func() { w.solve += time.Since(begin) }()
	p.training.Store(true)
	defer p.training.Store(false)
	ctx, report := w.relay.start(ctx, p.opt.Progress)
	defer report.Finish(&err)
	opt.Progress = func(s solver.Progress) {
		w.note(Progress{
			Stage: w.stage, Done: w.before + int64(s.Solved), Total: w.before + int64(w.left)*int64(s.Problems),
			Part: s.Done - float64(s.Solved), Solver: s, HitRate: hitRate(s),
		})
	}
	var way path
	for _, at := range kernels {
		m, err := f.matrix(ctx, at.kernel)
		if err != nil {
			return err
		}
		out, err := f.validate(ctx, m, w.cells, way.lead(at.kernel), opt)
		if err != nil {
			return err
		}
		w.left--
		w.before = w.last().Done
		if err := keep(ctx, f, at, out); err != nil {
			return err
		}
		way.add(at.kernel, out[w.first()])
	}
	return nil
}

// first is the cell that the solver takes first, whose solution is where the next kernel begins.
func (w *work) first() int {
	best := 0
	for i, c := range w.cells {
		b := w.cells[best]
		if cmp.Or(cmp.Compare(c.nu, b.nu), cmp.Compare(c.epsilon, b.epsilon), cmp.Compare(c.c, b.c)) < 0 {
			best = i
		}
	}
	return best
}

// truth is what is known of the labels, and the weights, in the order of the corpus.
func (p *Problem) truth() *corpus.Corpus {
	labels := make([][]int32, p.Len())
	for i, doc := range p.corpus.order {
		labels[doc] = p.corpus.labels.Of(i)
	}
	c := corpusOf(p.corpus.source, p.corpus.classes, labels)
	if p.corpus.weights != nil {
		c.Weights = inCorpus(p.corpus.order, p.corpus.weights)
	}
	return c
}

// corpusOf is a corpus of labels alone.
func corpusOf(source string, classes []string, labels [][]int32) *corpus.Corpus {
	c := &corpus.Corpus{Source: source, Classes: classes, Labels: sparse.Labels{Offsets: []int64{0}}}
	for _, l := range labels {
		c.Labels.Add(l...)
	}
	return c
}
