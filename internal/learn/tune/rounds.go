package tune

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
	"github.com/gramengine/gram/internal/run"
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
			first := slices.IndexFunc(all, r.Points[0].Same)
			all = slices.Insert(slices.Delete(all, first, first+1), 0, r.Points[0].Candidate)
		}
		h.conclude(r, all[0])
	}
	if len(steps) > 0 && len(h.out.Rounds) == 0 {
		h.out.Why = fmt.Sprintf("%d classes are too many for a comparison on %d documents", len(h.c.Classes), len(h.order))
	}
	if n := len(h.out.Rounds); g.LeastC && n > 0 {
		r := &h.out.Rounds[n-1]
		r.Best = smallestC(r.Points, r.Best, r.Chance()/2)
		compare(r.Points, r.Best)
		h.out.Candidate = r.Points[r.Best].Candidate
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
	kernels := h.from.Supervised
	if h.from.Final > 0 || len(kernels) == 0 || h.on.Fits(kernels[0]) != nil {
		return nil, 0
	}
	all := []Candidate{h.out.Candidate}
	if t, ok := kernel.ParamOf(h.out.Kernel, "t"); ok {
		if k, err := kernel.With(kernels[0], "t", t); err == nil {
			kernels = slices.Concat([]kernel.Kernel{k}, kernels)
		}
	}
	for _, k := range kernels {
		q := h.out.Candidate
		q.Kernel, q.C = k, h.from.C[0]
		all = append(all, q)
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
	h.out.Candidate = q
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

// ranks says whether point a is better than b.
func (h *choosing) ranks(a, b *Point) bool {
	if h.from.Measure == MeanSquaredError && (a.Unfinished > 0) != (b.Unfinished > 0) {
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
	stuck := h.from.Measure == MeanSquaredError && r.Points[r.Best].Unfinished > 0 // C is too great for such values
	if h.from.Near == nil && !stuck {
		return nil
	}
	best := r.Points[r.Best].Candidate
	add := func(q Candidate) {
		if !slices.ContainsFunc(r.Points, func(p Point) bool { return p.Same(q) }) {
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
func (h *choosing) round(ctx context.Context, r *Round, all []Candidate) (err error) {
	docs := slices.Clone(h.order[:r.Documents])
	slices.Sort(docs)
	one := !slices.ContainsFunc(all, func(q Candidate) bool { return q.Cut != all[0].Cut })
	maps.DeleteFunc(h.cuts, func(cut int, _ *corpus.Corpus) bool {
		return !slices.ContainsFunc(all, func(q Candidate) bool { return q.Cut == cut })
	})
	e, free := h.on.Open(r, func(ctx context.Context, cut int) (*corpus.Corpus, int64, error) {
		sample, err := h.sampleOf(ctx, cut, docs, one)
		if err != nil {
			return nil, 0, err
		}
		held := h.c.Documents.Bytes() + sample.Documents.Bytes()
		for _, c := range h.cuts {
			if c != sample {
				held += c.Documents.Bytes()
			}
		}
		return sample, held, nil
	}, func() (string, int64, int64) {
		const parts = 1000
		done := h.done + h.now*float64(h.tried.Load())/float64(h.tries)
		return stageOf(r), int64(parts * done / h.total), parts
	})
	defer func() { err = errors.Join(err, free()) }()
	for wider := 0; len(all) > 0 && wider <= mostWider; wider++ {
		if err := h.compare(ctx, r, all, e); err != nil {
			return err
		}
		for i, p := range r.Points {
			if h.ranks(&p, &r.Points[r.Best]) {
				r.Best = i
			}
		}
		all = h.wider(r)
	}
	return nil
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
			if rows < n || h.from.LowMemory {
				clear(h.cuts)
			}
			var err error
			if c, err = h.from.Corpus(ctx, cut, of); err != nil {
				return nil, err
			}
			h.cuts[cut] = c
		}
	}
	if len(docs) < c.Documents.Rows() {
		c = c.Select(docs)
	}
	return c, nil
}

// compare evaluates candidates on the sample of a round.
func (h *choosing) compare(ctx context.Context, r *Round, all []Candidate, e Evaluator) error {
	h.now, h.tries = h.on.Work(all, r.Folds).On(float64(r.Documents)), len(all)
	h.tried.Store(0)
	if len(r.Points) > 0 {
		h.total += h.now // that wasn't planned
	}
	h.total = max(h.total, h.done+h.now) // where other terms than the first cost more
	points := make([]Point, len(all))
	err := e.Evaluate(ctx, all, func(i int, p Point) {
		p.Candidate = all[i] // with a gamma that the corpus, not the sample, resolves
		points[i] = p
		h.tried.Add(1)
	})
	if err != nil {
		return err
	}
	h.done += h.now
	h.out.Fits += len(all) * r.Folds
	r.Points = append(r.Points, points...)
	return nil
}

// stageOf names a round in progress.
func stageOf(r *Round) string {
	if r.Compares == "all" {
		return "choosing among the best"
	}
	return "choosing the " + r.Compares
}
