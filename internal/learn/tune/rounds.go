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

func (h *choosing) run(ctx context.Context) error {
	g, best, least := &h.from, []Candidate{h.first()}, h.least()
	rounds := g.rounds()
	h.total = h.plan(rounds)
	for _, round := range rounds {
		best, least = h.planned(round, g.extend(round, best), len(rounds), least)
		if len(best) < 2 && round != finalRound {
			continue // the other candidates take too much work
		}
		r := &Round{Documents: least, Folds: g.folds(round), Compares: round}
		if err := h.round(ctx, r, best); err != nil {
			return err
		}
		best = h.ranked(r.Points)
		margin := r.Chance() / 4
		if round == "terms" {
			margin *= 2 // other tokenizers take several times the work
		}
		if g.MinC && math.Abs(r.Points[r.Best].Mean-r.Points[0].Mean) <= margin { // keep the first candidate
			r.Best = 0
			first := slices.IndexFunc(best, r.Points[0].Same)
			best = slices.Insert(slices.Delete(best, first, first+1), 0, r.Points[0].Candidate)
		}
		h.conclude(r, best[0])
	}
	if len(rounds) > 0 && len(h.out.Rounds) == 0 {
		h.out.Why = fmt.Sprintf("%d classes are too many for a comparison on %d documents", len(h.c.Classes), len(h.order))
	}
	if n := len(h.out.Rounds); g.Own != nil && n > 0 {
		h.preferOwn(&h.out.Rounds[n-1])
	}
	if n := len(h.out.Rounds); g.MinC && n > 0 {
		r := &h.out.Rounds[n-1]
		r.Best = smallestC(r.Points, r.Best, r.Chance()/2)
		compare(r.Points, r.Best)
		h.out.Candidate = r.Points[r.Best].Candidate
	}
	if len(h.out.Rounds) > 0 {
		if err := h.weigh(ctx, len(rounds)); err != nil {
			return err
		}
	}
	if c := h.cuts[h.out.Terms]; c != nil && c.Documents.Rows() == h.c.Documents.Rows() {
		h.out.Corpus = c
	}
	return nil
}

// preferOwn chooses the best candidate of tokenizers with their own kernels (Own), unless another
// candidate is better by half of Chance, or by Chance for a mean squared error. Other candidates
// are more numerous, so the best of these candidates is more often better by chance.
func (h *choosing) preferOwn(r *Round) {
	best, margin := -1, r.Chance()/2
	if h.from.Measure == MeanSquaredError {
		margin *= 2
	}
	for i, p := range r.Points {
		if h.from.Own[p.Terms] != nil && (best < 0 || h.ranks(&p, &r.Points[best])) {
			best = i
		}
	}
	top := r.Points[r.Best]
	if best < 0 || h.from.Own[top.Terms] != nil || math.Abs(r.Points[best].Mean-top.Mean) > margin {
		return
	}
	r.Best = best
	compare(r.Points, r.Best)
	h.out.Candidate = r.Points[r.Best].Candidate
}

// maxSupervised is the maximum number of supervised kernels to compare with the chosen candidate.
const maxSupervised = 3

// weighted returns the chosen candidate and the supervised kernels to compare with it: first the
// kernel with the chosen kernel's t, then the first kernels of the list. It also returns the sample
// size.
func (h *choosing) weighted(rounds int) ([]Candidate, int) {
	kernels := h.from.Supervised
	if h.from.Final > 0 || len(kernels) == 0 || h.on.Fits(kernels[0]) != nil {
		return nil, 0
	}
	some := []Candidate{h.out.Candidate}
	if t, ok := kernel.ParamOf(h.out.Kernel, "t"); ok {
		if k, err := kernel.With(kernels[0], "t", t); err == nil {
			kernels = slices.Concat([]kernel.Kernel{k}, kernels)
		}
	}
	for _, k := range kernels {
		q := h.out.Candidate
		q.Kernel, q.C = k, h.from.C[0]
		some = append(some, q)
	}
	some = distinct(some)
	return h.planned(weighting, some[:min(len(some), 1+maxSupervised)], rounds, h.least())
}

// weigh compares the chosen candidate with supervised kernels, if work and memory allow.
func (h *choosing) weigh(ctx context.Context, rounds int) error {
	some, documents := h.weighted(rounds)
	if len(some) < 2 {
		return nil
	}
	r := &Round{Documents: documents, Folds: ChoiceFolds, Compares: weighting}
	err := h.round(ctx, r, some)
	if memory := (*run.MemoryError)(nil); errors.As(err, &memory) {
		return nil
	}
	if err != nil {
		return err
	}
	// Weights from labels help most on few documents, so a small sample favours such weights.
	few := math.Sqrt(float64(len(h.order)) / float64(r.Documents))
	if !(r.Points[r.Best].Mean-r.Points[0].Mean > r.Chance()*few) {
		r.Best = 0
	}
	h.conclude(r, r.Points[r.Best].Candidate)
	return nil
}

// conclude adds a completed round to the result, with q as the chosen candidate.
func (h *choosing) conclude(r *Round, q Candidate) {
	compare(r.Points, r.Best)
	h.out.Candidate = q
	h.out.Sample = slices.Clone(h.order[:r.Documents])
	slices.Sort(h.out.Sample)
	h.out.Rounds = append(h.out.Rounds, *r)
}

// Chance returns the standard error of the best score: √(p(1-p)/n) for a fraction p, and √(2/n)·e
// for a mean squared error e if errors are normal. Differences between candidates vary by about
// half as much, because candidates err on the same documents.
func (r *Round) Chance() float64 {
	p := r.Points[r.Best].Mean
	if r.Points[r.Best].Measure == MeanSquaredError {
		return p * math.Sqrt(2/float64(r.Documents))
	}
	return math.Sqrt(max(p*(1-p), 0) / float64(r.Documents))
}

// ranks reports whether point a is better than b.
func (h *choosing) ranks(a, b *Point) bool {
	if h.from.Measure == MeanSquaredError && (a.Unfinished > 0) != (b.Unfinished > 0) {
		return b.Unfinished > 0
	}
	return a.Ranks(b.Result)
}

// ranked returns the candidates of points, best first. Ties are broken by index.
func (h *choosing) ranked(points []Point) (out []Candidate) {
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
		out = append(out, p.Candidate)
	}
	return out
}

// maxWider limits how often a round continues with neighbours of its best candidate.
const maxWider = 8

// wider returns the neighbours of the best candidate of a round that the round hasn't tried.
func (h *choosing) wider(r *Round) (more []Candidate) {
	stuck := h.from.Measure == MeanSquaredError && r.Points[r.Best].Unfinished > 0 // C is too large to converge
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
	case len(h.from.C) > 1 && (r.Compares == "C" || r.Compares == finalRound):
		steps := []int{-2, 2} // factors 0.1 and 10
		if r.Compares == finalRound {
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

// lowestC and highestC bound values of C outside the list, in units of Candidates.Unit.
const lowestC, highestC = 1e-3, 1e4

// stepC rounds c to an element of the sequence 0.1, 0.3, 1, 3, 10, … and returns the element steps
// positions later.
func stepC(c float64, steps int) float64 {
	at := int(math.Round(2*math.Log10(c))) + steps
	digit := [2]string{"1", "3"}[at&1]
	v, _ := strconv.ParseFloat(fmt.Sprintf("%se%d", digit, (at-at&1)/2), 64)
	return v
}

// round compares candidates on a sample, and then the neighbours of the best candidate.
func (h *choosing) round(ctx context.Context, r *Round, some []Candidate) (err error) {
	docs := slices.Clone(h.order[:r.Documents])
	slices.Sort(docs)
	one := !slices.ContainsFunc(some, func(q Candidate) bool { return q.Terms != some[0].Terms })
	maps.DeleteFunc(h.cuts, func(cut int, _ *corpus.Corpus) bool {
		return !slices.ContainsFunc(some, func(q Candidate) bool { return q.Terms == cut })
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
	for wider := 0; len(some) > 0 && wider <= maxWider; wider++ {
		if err := h.compare(ctx, r, some, e); err != nil {
			return err
		}
		for i, p := range r.Points {
			if h.ranks(&p, &r.Points[r.Best]) {
				r.Best = i
			}
		}
		some = h.wider(r)
	}
	return nil
}

// sampleOf returns docs tokenised by tokenizer cut. If whole is set, because no other tokenizer is
// left, it tokenises all documents, for later rounds and the training.
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

func (h *choosing) compare(ctx context.Context, r *Round, some []Candidate, e Evaluator) error {
	h.now, h.tries = h.on.Work(some, r.Folds).On(float64(r.Documents)), len(some)
	h.tried.Store(0)
	if len(r.Points) > 0 {
		h.total += h.now // neighbours weren't planned
	}
	h.total = max(h.total, h.done+h.now) // other tokenizers may take more work than the first
	points := make([]Point, len(some))
	err := e.Evaluate(ctx, some, func(i int, p Point) {
		p.Candidate = some[i] // without parameters resolved on the sample, such as gamma
		points[i] = p
		h.tried.Add(1)
	})
	if err != nil {
		return err
	}
	h.done += h.now
	h.out.Fits += len(some) * r.Folds
	r.Points = append(r.Points, points...)
	return nil
}

func stageOf(r *Round) string {
	if r.Compares == finalRound {
		return "comparing the best candidates"
	}
	return "choosing the " + r.Compares
}
