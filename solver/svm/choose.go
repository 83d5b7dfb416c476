package svm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/sparse"
)

// Candidates are what [Choose] chooses from. An empty list stands for the value that Settings have.
// What is first in a list is what the others are first tried with, and wins where figures are equal.
type Candidates struct {
	Kernels []engine.Kernel
	C       []float64
	Schemes []solver.Scheme // without solver.Labels, unless it is the only one

	Work float64 // what the choice may cost, as a multiple of the training; default 1
	Seed uint64  // of samples and folds
}

// ChoiceFolds is the number of folds of a choice.
const ChoiceFolds = 3

// Bounds of a choice: of fewer than fewDocuments it makes none. A sample has leastSample documents at
// least, or all there are, even if that costs more than it may: figures of fewer say little. It has
// mostSample at most, whose matrix takes 144 MB.
const leastSample, mostSample, fewDocuments = 900, 6000, 100

// Round is a part of a choice: candidates that were compared on a sample.
type Round struct {
	Documents int           // of the sample
	Points    []ChoicePoint // in the order in which they were tried
	Best      int           // of Points
	Compares  string        // what it compares: "kernel", "scheme" or "C"
}

// ChoicePoint is a candidate and its result on a sample.
type ChoicePoint struct {
	Scheme solver.Scheme
	Point
}

// Chosen is the result of a choice.
type Chosen struct {
	Settings Settings // those that were given, with the kernel, C and scheme that were chosen
	Measure  Measure
	Rounds   []Round // empty where nothing was to be compared, or Why says why nothing could be
	Why      string  // in a sentence without a full stop

	DotProducts int64 // that were computed
	Fits        int   // classifiers that were trained
}

// Choose chooses kernel, C and scheme of c_svc for a corpus, by cross-validation on samples in which
// classes are as frequent as in the corpus. The best kernels by the first scheme and C are compared
// by all schemes, and the best of these by all C; each round's sample contains the one before. Of
// several C the least is taken that isn't worse than the best by more than the standard error of
// their difference.
//
// The work is bounded by counts, not by time: the values of the kernel that are computed, and those
// that the training of a machine reads, all estimated from numbers of documents. So the choice is
// the same from any number of workers and on every run with the same instruction set, unless
// Options.MemoryBytes leaves room for smaller samples only.
//
// Where documents are too few to choose by, or memory is, the result has the settings s and says
// why. It computes on the processor and ignores Options.Device, Store, Once and CacheBytes.
//
// Errors: those of [Problem.Search], another type than c_svc, Work that isn't a positive number.
func Choose(
	ctx context.Context, c *sparse.Corpus, s Settings, from Candidates, opt Options,
) (*Chosen, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if err := opt.validate(); err != nil {
		return nil, err
	}
	if c == nil || c.Documents == nil || c.Documents.Rows() == 0 {
		return nil, errors.New("svm: the corpus has no documents, expected at least one")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("svm: the corpus: %w", err)
	}
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	if from, err = from.resolve(&s); err != nil {
		return nil, err
	}
	opt.Device, opt.Store, opt.Once, opt.CacheBytes, opt.Place = nil, nil, false, 0, PlaceAuto
	h := &choosing{c: c, s: s, from: from, opt: opt, out: &Chosen{Settings: s}}
	h.out.Measure = h.settings(from.Schemes[0]).Measure()
	if h.out.Why = h.sample(); h.out.Why != "" {
		return h.out, nil
	}
	return h.out, h.run(ctx)
}

// resolve checks the candidates and fills in the settings' own values.
func (g Candidates) resolve(s *Settings) (Candidates, error) {
	if s.Type != model.CSVC {
		return g, fmt.Errorf("svm: a choice for type %s, expected %s", s.Type, model.CSVC)
	}
	if g.Work == 0 {
		g.Work = 1
	}
	if !(g.Work > 0) || math.IsInf(g.Work, 0) {
		return g, fmt.Errorf("svm: the work of a choice is %v, expected a positive number", g.Work)
	}
	if len(g.Kernels) == 0 {
		g.Kernels = []engine.Kernel{s.Kernel}
	}
	if i := slices.Index(g.Kernels, nil); i >= 0 {
		return g, fmt.Errorf("svm: kernel %d of the candidates is nil", i)
	}
	if len(g.C) == 0 {
		g.C = []float64{s.C}
	}
	if len(g.Schemes) == 0 {
		g.Schemes = []solver.Scheme{s.Scheme}
	}
	for i, scheme := range g.Schemes {
		if scheme < solver.OneVsOne || scheme > solver.Labels || scheme == solver.Labels && len(g.Schemes) > 1 {
			return g, fmt.Errorf("svm: scheme %d of the candidates is %s, expected one-vs-one or one-vs-rest, "+
				"or labels alone", i, scheme)
		}
	}
	return g, nil
}

// choosing is a choice under way.
type choosing struct {
	c    *sparse.Corpus
	s    Settings
	from Candidates
	opt  Options
	out  *Chosen

	order []int // the documents, so that each beginning is a sample
	most  int   // documents of a sample
}

// candidate is one of what a round compares.
type candidate struct {
	kernel engine.Kernel
	scheme solver.Scheme
	c      float64
}

// settings are those of a scheme.
func (h *choosing) settings(scheme solver.Scheme) *Settings {
	s := h.s
	s.Scheme, s.Probabilities = scheme, false
	return &s
}

// sample puts the documents into an order of which each beginning is a sample, in which classes are
// as frequent as in the corpus, or says why there is nothing to choose by.
func (h *choosing) sample() (why string) {
	classes := make([][]int, len(h.c.Classes)+1) // documents by class, those without one last
	labels := h.from.Schemes[0] == solver.Labels
	n := 0
	for i := range h.c.Documents.Rows() {
		ids := h.c.Labels.Of(i)
		switch {
		case len(ids) > 0:
			classes[ids[0]] = append(classes[ids[0]], i)
		case labels:
			classes[len(h.c.Classes)] = append(classes[len(h.c.Classes)], i)
		default:
			continue // left out
		}
		n++
	}
	slices.SortStableFunc(classes, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	const each = 2 * ChoiceFolds // of the two greatest classes, so that no fold is left with one
	if n < fewDocuments || !labels && len(classes[1]) < each {
		return fmt.Sprintf("%d documents, %d of them outside the greatest class, are too few to choose by",
			n, n-len(classes[0]))
	}
	r := rand.New(rand.NewPCG(h.from.Seed, uint64(n)))
	at := make(map[int]float64, n) // by document: from which share of the corpus on it is in the sample
	for k, class := range classes {
		r.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
		first := r.Float64()
		for i, doc := range class {
			if at[doc] = (float64(i) + first) / float64(len(class)); k < 2 && i < each {
				at[doc] = -1
			}
			h.order = append(h.order, doc)
		}
	}
	slices.SortStableFunc(h.order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	h.most = min(n, mostSample)
	if h.opt.MemoryBytes > 0 { // tiles, a matrix in the order of folds, and as much again for the rest
		room := h.opt.MemoryBytes - h.opt.HeldBytes - 2*h.c.Documents.Bytes()
		h.most = min(h.most, int(math.Sqrt(float64(max(room, 0))/16)))
	}
	if h.most < min(n, leastSample) {
		return "memory is too little to choose on samples"
	}
	return ""
}

// trainingWork is the estimate of a training's work, in values of the kernel by document and
// document: a dot product of two documents, for both halves of the matrix, is worth a value of each,
// and the machines read each value about once and a half.
const trainingWork = 2.5

// fitWork is the part of it that is not dot products, in a validation: one-vs-one reads each value
// about once, all classes against the rest three times (measured on 20 Newsgroups).
func fitWork(scheme solver.Scheme) float64 {
	if scheme == solver.OneVsOne {
		return 1
	}
	return 3
}

// workOf is that of a round, relative to the square of the number of documents.
func workOf(all []candidate) float64 {
	const rest = float64(ChoiceFolds-1) / ChoiceFolds
	total := 0.0
	var embeddings []sparse.Embedding
	var kernels []engine.Kernel
	for _, q := range all {
		if e := q.kernel.Embedding(); !slices.Contains(embeddings, e) {
			embeddings = append(embeddings, e)
			total += 1
		}
		if !slices.ContainsFunc(kernels, func(k engine.Kernel) bool { return engine.SameKernel(k, q.kernel) }) {
			kernels = append(kernels, q.kernel)
			total += 0.5
		}
		total += ChoiceFolds * rest * rest * fitWork(q.scheme)
	}
	return total
}

// How many of the best kernels are compared by scheme, and how many of the best of these by C.
const keptKernels, keptSchemes = 3, 2

// run runs the rounds.
func (h *choosing) run(ctx context.Context) error {
	g := &h.from
	var rounds []string
	for _, q := range []struct {
		what string
		n    int
	}{{"kernel", len(g.Kernels)}, {"scheme", len(g.Schemes)}, {"C", len(g.C)}} {
		if q.n > 1 {
			rounds = append(rounds, q.what)
		}
	}
	var all []candidate
	for _, k := range g.Kernels {
		all = append(all, candidate{k, g.Schemes[0], g.C[0]})
	}
	n := float64(len(h.order))
	training := n * n * trainingWork
	least := min(len(h.order), leastSample)
	for _, what := range rounds {
		switch what {
		case "scheme":
			all = extended(all, keptKernels, len(g.Schemes), func(q *candidate, i int) { q.scheme = g.Schemes[i] })
		case "C":
			all = extended(all, keptSchemes, len(g.C), func(q *candidate, i int) { q.c = g.C[i] })
		}
		documents := math.Sqrt(g.Work * training / float64(len(rounds)) / workOf(all))
		least = min(max(int(min(documents, n)), least), h.most)
		r, err := h.round(ctx, what, least, all)
		if err != nil {
			return err
		}
		h.out.Rounds = append(h.out.Rounds, *r)
		// The best first; of equal ones those that were tried first.
		points := slices.Clone(r.Points)
		slices.SortStableFunc(points, func(a, b ChoicePoint) int {
			switch m := h.out.Measure; {
			case m.Better(a.Mean, b.Mean):
				return -1
			case m.Better(b.Mean, a.Mean):
				return 1
			}
			return 0
		})
		all = all[:0:0]
		for _, p := range points {
			all = append(all, candidate{p.Kernel, p.Scheme, p.C})
		}
	}
	best := h.leastC(all[0])
	h.out.Settings.Kernel, h.out.Settings.Scheme, h.out.Settings.C = best.kernel, best.scheme, best.c
	return nil
}

// leastC returns the best candidate with the least C that isn't clearly worse: with which the mean is
// lower by at most the standard error of the difference by fold.
func (h *choosing) leastC(best candidate) candidate {
	if len(h.out.Rounds) == 0 || len(h.from.C) < 2 {
		return best
	}
	r := &h.out.Rounds[len(h.out.Rounds)-1]
	top := r.Points[r.Best]
	for i, p := range r.Points {
		if p.Scheme != top.Scheme || !engine.SameKernel(p.Kernel, top.Kernel) || p.C >= r.Points[r.Best].C {
			continue
		}
		var lost []float64
		for fold, figure := range p.Figures {
			lost = append(lost, top.Figures[fold]-figure)
		}
		mean, sd := meanAndDeviation(lost)
		if mean <= sd/math.Sqrt(float64(len(lost))) {
			r.Best, best.c = i, p.C
		}
	}
	return best
}

// extended returns the first of some candidates, each with all values that set sets.
func extended(all []candidate, first, values int, set func(q *candidate, i int)) []candidate {
	var out []candidate
	for _, q := range all[:min(first, len(all))] {
		for i := range values {
			set(&q, i)
			out = append(out, q)
		}
	}
	return out
}

// round compares candidates on a sample: those of an embedding on the same tiles, and those of a
// scheme in one search.
func (h *choosing) round(ctx context.Context, what string, documents int, all []candidate) (*Round, error) {
	docs := slices.Clone(h.order[:documents])
	slices.Sort(docs)
	sample := h.c.Select(docs)
	r := &Round{Documents: documents, Compares: what, Points: make([]ChoicePoint, len(all))}
	opt := h.opt
	if opt.MemoryBytes > 0 {
		opt.HeldBytes += h.c.Documents.Bytes() + sample.Documents.Bytes()
	}
	done := 0
	if tell := h.opt.Progress; tell != nil {
		opt.Progress = func(p Progress) {
			p.Stage, p.Done, p.Total = "choosing the "+what, int64(done), int64(len(all))
			tell(p)
		}
	}
	var embeddings []sparse.Embedding
	for _, q := range all {
		e := q.kernel.Embedding()
		if slices.Contains(embeddings, e) {
			continue
		}
		embeddings = append(embeddings, e)
		p, err := NewProblem(ctx, sample, e, opt)
		if err != nil {
			return nil, err
		}
		for _, scheme := range h.from.Schemes {
			err := h.compare(ctx, p, scheme, all, r, &done)
			if err != nil {
				return nil, errors.Join(err, p.Engine().Close())
			}
		}
		if err := p.Engine().Close(); err != nil {
			return nil, err
		}
	}
	for i, p := range r.Points {
		if h.out.Measure.Better(p.Mean, r.Points[r.Best].Mean) {
			r.Best = i
		}
	}
	return r, nil
}

// compare searches those candidates that have a problem's embedding and a scheme.
func (h *choosing) compare(
	ctx context.Context, p *Problem, scheme solver.Scheme, all []candidate, r *Round, done *int,
) error {
	g := Grid{Folds: ChoiceFolds, Seed: h.from.Seed}
	var own []int
	for i, q := range all {
		if q.scheme != scheme || q.kernel.Embedding() != p.Embedding() {
			continue
		}
		own = append(own, i)
		same := func(k engine.Kernel) bool { return engine.SameKernel(k, q.kernel) }
		if !slices.ContainsFunc(g.Kernels, same) {
			g.Kernels = append(g.Kernels, q.kernel)
		}
		if !slices.Contains(g.C, q.c) {
			g.C = append(g.C, q.c)
		}
	}
	if len(own) == 0 {
		return nil
	}
	result, err := p.Search(ctx, *h.settings(scheme), g, nil)
	if err != nil {
		return err
	}
	h.out.DotProducts += result.DotProducts
	h.out.Fits += result.Fits()
	for _, i := range own {
		k := slices.IndexFunc(g.Kernels, func(k engine.Kernel) bool { return engine.SameKernel(k, all[i].kernel) })
		point := result.Points[k*len(g.C)+slices.Index(g.C, all[i].c)]
		point.Kernel = all[i].kernel // with a gamma that the corpus, not the sample, resolves
		r.Points[i] = ChoicePoint{scheme, point}
	}
	*done += len(own)
	return nil
}
