package svm

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// run runs the rounds.
func (h *choosing) run(ctx context.Context) error {
	g := &h.from
	all := []Candidate{h.first()}
	steps := h.steps()
	h.total = h.plan(steps, all)
	least := h.least()
	for _, at := range steps {
		all, least = h.planned(at, at.extend(all), len(steps), least)
		if len(all) == 0 || len(all) < 2 && at.what != "all" {
			continue // the others cost too much
		}
		r := &Round{Documents: least, Folds: at.folds, Compares: at.what}
		if err := h.round(ctx, r, all); err != nil {
			return err
		}
		all = h.ranked(r.Points)
		margin := r.Chance() / 4
		if at.what == "terms" {
			margin *= 2 // others cost several times as much
		}
		if g.LeastC && math.Abs(r.Points[r.Best].Mean-r.Points[0].Mean) <= margin { // what is first stays
			r.Best = 0
			first := slices.IndexFunc(all, r.Points[0].same)
			all = slices.Insert(slices.Delete(all, first, first+1), 0, r.Points[0].Candidate)
		}
		h.conclude(r, all[0])
	}
	if len(steps) > 0 && len(h.out.Rounds) == 0 {
		h.out.Why = fmt.Sprintf("%d classes are too many for a comparison on %d documents", len(h.c.Classes), len(h.order))
	}
	if n := len(h.out.Rounds); g.LeastC && n > 0 {
		r := &h.out.Rounds[n-1]
		r.Best = leastC(r.Points, r.Best, r.Chance()/2)
		compare(r.Points, r.Best)
		h.take(r.Points[r.Best].Candidate)
	}
	if len(h.out.Rounds) > 0 {
		if err := h.weigh(ctx, len(steps)); err != nil {
			return err
		}
	}
	if c := h.cuts[h.out.Cut]; c != nil && c.Documents.Rows() == h.c.Documents.Rows() {
		h.out.Corpus = c
	}
	return nil
}

// mostSupervised is how many kernels whose embeddings learn from labels are compared with what was chosen, and
// weighting names the round.
const mostSupervised, weighting = 3, "weighting"

// weighted returns what was chosen, with kernels whose embeddings learn from labels, that of the t that was chosen and
// the first ones of the list, and on how many documents a round compares them.
func (h *choosing) weighted(rounds int) ([]Candidate, int) {
	s, kernels := &h.out.Settings, h.from.Supervised
	if h.from.Final > 0 || len(kernels) == 0 || h.fitsOn(kernels[0]) != nil {
		return nil, 0
	}
	all := []Candidate{{Cut: h.out.Cut, Kernel: s.Kernel, Scheme: s.Scheme, Regularization: model.Regularization{C: s.C}}}
	if t, ok := kernel.ParamOf(s.Kernel, "t"); ok {
		if k, err := kernel.With(kernels[0], "t", t); err == nil {
			kernels = slices.Concat([]kernel.Kernel{k}, kernels)
		}
	}
	for _, k := range kernels {
		all = append(all, Candidate{Cut: h.out.Cut, Kernel: k, Scheme: s.Scheme,
			Regularization: model.Regularization{C: h.from.C[0]}})
	}
	all = distinct(all)
	at := choiceStep{what: weighting, folds: ChoiceFolds}
	return h.planned(at, all[:min(len(all), 1+mostSupervised)], rounds, h.least())
}

// weigh compares what was chosen with kernels whose embeddings learn from labels, as far as work and memory allow.
func (h *choosing) weigh(ctx context.Context, rounds int) error {
	all, documents := h.weighted(rounds)
	if len(all) < 2 {
		return nil
	}
	r := &Round{Documents: documents, Folds: ChoiceFolds, Compares: weighting}
	err := h.round(ctx, r, all)
	if memory := (*run.MemoryError)(nil); errors.As(err, &memory) {
		return nil
	}
	if err != nil {
		return err
	}
	// What labels say of terms helps most where documents are few, so a small sample says too much for it.
	few := math.Sqrt(float64(len(h.order)) / float64(r.Documents))
	if !(r.Points[r.Best].Mean-r.Points[0].Mean > r.Chance()*few) {
		r.Best = 0
	}
	h.conclude(r, r.Points[r.Best].Candidate)
	return nil
}

// conclude ends a round with its choice.
func (h *choosing) conclude(r *Round, q Candidate) {
	compare(r.Points, r.Best)
	h.take(q)
	h.out.Sample = slices.Clone(h.order[:r.Documents])
	slices.Sort(h.out.Sample)
	h.out.Rounds = append(h.out.Rounds, *r)
}

// Chance is the standard error of the best figure: of a share of the documents √(p(1-p)/n), of a mean squared error e
// √(2/n)·e, that of normal errors. Differences vary by about half as much, since candidates err on the same documents.
// It is NaN of a round without points or documents.
func (r *Round) Chance() float64 {
	if r.Best < 0 || r.Best >= len(r.Points) {
		return math.NaN()
	}
	p := r.Points[r.Best].Mean
	if r.Points[r.Best].Measure == MeanSquaredError {
		return p * math.Sqrt(2/float64(r.Documents))
	}
	return math.Sqrt(max(p*(1-p), 0) / float64(r.Documents))
}

// first is the candidate that the others are first tried with.
func (h *choosing) first() Candidate {
	g := &h.from
	return Candidate{Kernel: g.Kernels[0], Scheme: g.Schemes[0],
		Regularization: model.Regularization{C: g.C[0], Nu: h.s.Nu, Epsilon: g.Epsilon[0]}}
}

// take makes a candidate the choice.
func (h *choosing) take(q Candidate) {
	s := &h.out.Settings
	s.Kernel, s.Scheme, s.C, s.Epsilon, h.out.Cut = q.Kernel, q.Scheme, q.C, q.Epsilon, q.Cut
}

// A regression whose C is too great for noisy targets takes steps without end: a fit of a choice ends after stepsEach
// for each document, leastSteps at least, and is worse than one that reaches the tolerance.
const stepsEach, leastSteps = 200, 50_000

// ranks says whether point a is better than b.
func (h *choosing) ranks(a, b *Point) bool {
	if h.out.Measure == MeanSquaredError && (a.Unfinished > 0) != (b.Unfinished > 0) {
		return b.Unfinished > 0
	}
	return a.Ranks(b.Result)
}

// ranked returns the candidates of points, the best first; of equal ones those that were tried first.
func (h *choosing) ranked(points []Point) (all []Candidate) {
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b Point) int {
		switch {
		case h.ranks(&a, &b):
			return -1
		case h.ranks(&b, &a):
			return 1
		}
		return 0
	})
	for _, p := range points {
		all = append(all, p.Candidate)
	}
	return all
}

// leastC returns which of some points has the least C of those that differ from the best in C alone
// and aren't clearly worse: whose mean is worse by at most the standard error of the difference by
// fold, and by no more than most, since few folds say little of that. best is the index of the best point.
func leastC(points []Point, best int, most float64) int {
	top := points[best]
	for i, p := range points {
		other := p.Candidate
		if other.C = top.C; !other.same(top.Candidate) || p.C >= points[best].C {
			continue
		}
		lost := Paired(top.Figures, p.Figures)
		if top.Measure == MeanSquaredError {
			lost.Mean = -lost.Mean
		}
		if p.Unfinished <= top.Unfinished && lost.Mean <= min(lost.SE, most) {
			best = i
		}
	}
	return best
}

// extended returns the first of some candidates, each with all values that set sets.
func extended(all []Candidate, first, values int, set func(q *Candidate, i int)) []Candidate {
	var out []Candidate
	for _, q := range all[:min(first, len(all))] {
		for i := range values {
			set(&q, i)
			out = append(out, q)
		}
	}
	return out
}

// mostWider bounds how often a round goes on beyond its best candidate.
const mostWider = 8

// wider returns the neighbours of the best candidate of a round that haven't been tried in it.
func (h *choosing) wider(r *Round) (more []Candidate) {
	stuck := h.out.Measure == MeanSquaredError && r.Points[r.Best].Unfinished > 0 // C is too great for such values
	if h.from.Near == nil && !stuck {
		return nil
	}
	best := r.Points[r.Best].Candidate
	add := func(q Candidate) {
		if !slices.ContainsFunc(r.Points, func(p Point) bool { return p.same(q) }) {
			more = append(more, q)
		}
	}
	switch {
	case r.Compares == "kernel":
		for _, k := range h.from.Near(best.Kernel) {
			q := best
			q.Kernel = k
			add(q)
		}
	case len(h.from.C) > 1 && (r.Compares == "C" || r.Compares == "all"):
		steps := []int{-2, 2} // powers of 10
		if r.Compares == "all" {
			steps = []int{-1, 1}
		}
		if stuck {
			for _, p := range r.Points {
				best.C = min(best.C, p.C)
			}
			steps = []int{-4}
		}
		for _, steps := range steps {
			q := best
			c := stepC(best.C/h.from.Unit, steps)
			if q.C = run.Round(c*h.from.Unit, 12); c >= lowestC && c <= highestC {
				add(q)
			}
		}
	}
	return more
}

// lowestC and highestC bound the values of C, in units, that a choice tries beyond its list.
const lowestC, highestC = 1e-3, 1e4

// stepC goes so many steps along 0.1, 0.3, 1, 3, 10, …, from the nearest of these values.
func stepC(c float64, steps int) float64 {
	at := int(math.Round(2*math.Log10(c))) + steps
	digit := [2]string{"1", "3"}[at&1]
	v, _ := strconv.ParseFloat(fmt.Sprintf("%se%d", digit, (at-at&1)/2), 64)
	return v
}

// round compares candidates on a sample, and then their neighbours.
func (h *choosing) round(ctx context.Context, r *Round, all []Candidate) error {
	docs := slices.Clone(h.order[:r.Documents])
	slices.Sort(docs)
	own := oneProblem{opt: h.opt}
	own.opt.Tasks = h.tasks()
	one := !slices.ContainsFunc(all, func(q Candidate) bool { return q.Cut != all[0].Cut })
	maps.DeleteFunc(h.cuts, func(cut int, _ *corpus.Corpus) bool {
		return !slices.ContainsFunc(all, func(q Candidate) bool { return q.Cut == cut })
	})
	own.corpus = func(cut int) (*corpus.Corpus, error) {
		sample, err := h.sampleOf(ctx, cut, docs, one)
		if err == nil && h.opt.MemoryBytes > 0 {
			own.opt.HeldBytes = h.opt.HeldBytes + h.c.Documents.Bytes() + sample.Documents.Bytes()
			for _, c := range h.cuts {
				if c != sample {
					own.opt.HeldBytes += c.Documents.Bytes()
				}
			}
		}
		return sample, err
	}
	for wider := 0; len(all) > 0 && wider <= mostWider; wider++ {
		if err := h.compare(ctx, r, all, &own); err != nil {
			return errors.Join(err, own.close())
		}
		for i, p := range r.Points {
			if h.ranks(&p, &r.Points[r.Best]) {
				r.Best = i
			}
		}
		all = h.wider(r)
	}
	return own.close()
}

// sampleOf returns some documents cut in a way. Where it is the one that is left, as whole says, it cuts all
// documents, for later rounds and the training.
func (h *choosing) sampleOf(ctx context.Context, cut int, docs []int, whole bool) (*corpus.Corpus, error) {
	c, n := h.c, h.c.Documents.Rows()
	if cut > 0 {
		if c = h.cuts[cut]; c == nil || c.Documents.Rows() != len(docs) && c.Documents.Rows() != n {
			of, rows := docs, len(docs)
			if whole || rows == n {
				of, rows = nil, n
			}
			if rows < n || h.opt.MemoryBytes > 0 {
				clear(h.cuts)
			}
			var err error
			if c, err = h.from.Corpus(ctx, cut, of); err != nil {
				return nil, err
			}
			if c == nil || c.Documents == nil || c.Documents.Rows() != rows || !slices.Equal(c.Classes, h.c.Classes) {
				return nil, fmt.Errorf("svm: other documents than those of %s, cut in another way, expected the same",
					h.c.Source)
			}
			if err := c.Validate(); err != nil {
				return nil, fmt.Errorf("svm: the corpus, cut in another way: %w", err)
			}
			h.cuts[cut] = c
		}
	}
	if len(docs) < c.Documents.Rows() {
		c = c.Select(docs)
	}
	return c, nil
}

// compare validates candidates on the sample of a round.
func (h *choosing) compare(ctx context.Context, r *Round, all []Candidate, own *oneProblem) error {
	h.now, h.tries = h.workOf(all, r.Folds).on(float64(r.Documents)), len(all)
	h.tried.Store(0)
	if len(r.Points) > 0 {
		h.total += h.now // that wasn't planned
	}
	h.total = max(h.total, h.done+h.now) // where other terms than the first cost more
	if tell := h.opt.Progress; tell != nil {
		own.opt.Progress = func(p Progress) {
			const parts = 1000
			done := h.done + h.now*float64(h.tried.Load())/float64(h.tries)
			p.Stage, p.Done, p.Total = stageOf(r), int64(parts*done/h.total), parts
			tell(p)
		}
	}
	s := h.s
	s.Probabilities = s.Probabilities && r.Compares == "all"
	if h.out.Measure == MeanSquaredError {
		s.steps = max(leastSteps, stepsEach*r.Documents)
	}
	q := searchingOf(s, all, r.Folds, h.from.Seed, func(Point) { h.tried.Add(1) })
	err := q.run(ctx, func(cut int, e sparse.Embedding) (*Problem, error) { return own.next(ctx, cut, e) })
	if err != nil {
		return err
	}
	result := q.finish()
	h.done += h.now
	h.out.DotProducts += result.DotProducts
	h.out.Fits += result.Fits()
	for i, p := range result.Points {
		p.Kernel = all[i].Kernel // with a gamma that the corpus, not the sample, resolves
		r.Points = append(r.Points, p)
	}
	return nil
}

// stageOf names a round in progress.
func stageOf(r *Round) string {
	if r.Compares == "all" {
		return "choosing among the best"
	}
	return "choosing the " + r.Compares
}
