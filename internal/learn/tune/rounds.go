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

func (h *chooser) run(ctx context.Context) error {
	g, best, least := &h.candidates, []Candidate{h.firstCandidate()}, h.minFirstSample()
	rounds := g.rounds()
	h.totalCost = h.estimateCost(rounds)
	for _, round := range rounds {
		best, least = h.planRound(round, g.extend(round, best), len(rounds), least)
		if len(best) < 2 && round != finalRound {
			continue // the other candidates take too much work
		}
		r := &Round{DocumentCount: least, Folds: g.folds(round), Parameter: round}
		if err := h.runRound(ctx, r, best); err != nil {
			return err
		}
		best = h.ranked(r.Points)
		margin := r.StandardError() / 4
		if round == "terms" {
			margin *= 2 // other tokenizers take several times the work
		}
		if g.PreferSmallC && math.Abs(r.Points[r.BestIndex].Mean-r.Points[0].Mean) <= margin { // keep the first candidate
			r.BestIndex = 0
			first := slices.IndexFunc(best, r.Points[0].Equal)
			best = slices.Insert(slices.Delete(best, first, first+1), 0, r.Points[0].Candidate)
		}
		h.conclude(r, best[0])
	}
	if len(rounds) > 0 && len(h.out.Rounds) == 0 {
		h.out.Reason = fmt.Sprintf("%d classes are too many for a comparison on %d documents", len(h.c.Classes), len(h.order))
	}
	if n := len(h.out.Rounds); g.KernelsByTokenizer != nil && n > 0 {
		h.preferOwn(&h.out.Rounds[n-1])
	}
	if n := len(h.out.Rounds); g.PreferSmallC && n > 0 {
		r := &h.out.Rounds[n-1]
		r.BestIndex = smallestC(r.Points, r.BestIndex, r.StandardError()/2)
		setDifferences(r.Points, r.BestIndex)
		h.out.Candidate = r.Points[r.BestIndex].Candidate
	}
	if len(h.out.Rounds) > 0 {
		if err := h.compareSupervised(ctx, len(rounds)); err != nil {
			return err
		}
	}
	if c := h.tokenized[h.out.Tokenizer]; c != nil && c.Documents.Rows() == h.c.Documents.Rows() {
		h.out.Corpus = c
	}
	return nil
}

// preferOwn chooses the best candidate whose tokenizer is in KernelsByTokenizer, unless another
// candidate is better by more than a margin. The margin is half of [Round.StandardError], or
// [Round.StandardError] for a mean squared error. The other candidates are more numerous, so their
// best is more often better by chance.
func (h *chooser) preferOwn(r *Round) {
	best, margin := -1, r.StandardError()/2
	if h.candidates.Measure == MeanSquaredError {
		margin *= 2
	}
	for i, p := range r.Points {
		if h.candidates.KernelsByTokenizer[p.Tokenizer] != nil && (best < 0 || h.isBetter(&p, &r.Points[best])) {
			best = i
		}
	}
	top := r.Points[r.BestIndex]
	if best < 0 || h.candidates.KernelsByTokenizer[top.Tokenizer] != nil ||
		math.Abs(r.Points[best].Mean-top.Mean) > margin {
		return
	}
	r.BestIndex = best
	setDifferences(r.Points, r.BestIndex)
	h.out.Candidate = r.Points[r.BestIndex].Candidate
}

const maxSupervised = 3

// supervisedCandidates returns the chosen candidate and the supervised kernels to compare with it:
// first the kernel with the chosen kernel's t, then the first kernels of the list. It also returns
// the sample size.
func (h *chooser) supervisedCandidates(rounds int) ([]Candidate, int) {
	kernels := h.candidates.SupervisedKernels
	if h.candidates.FinalistCount > 0 || len(kernels) == 0 || h.evaluator.CheckMemory(kernels[0]) != nil {
		return nil, 0
	}
	some := []Candidate{h.out.Candidate}
	if t, ok := kernel.ParamOf(h.out.Kernel, "t"); ok {
		if k, err := kernel.WithParam(kernels[0], "t", t); err == nil {
			kernels = slices.Concat([]kernel.Kernel{k}, kernels)
		}
	}
	for _, k := range kernels {
		q := h.out.Candidate
		q.Kernel, q.C = k, h.candidates.C[0]
		some = append(some, q)
	}
	some = distinct(some)
	return h.planRound(weighting, some[:min(len(some), 1+maxSupervised)], rounds, h.minFirstSample())
}

func (h *chooser) compareSupervised(ctx context.Context, rounds int) error {
	some, documents := h.supervisedCandidates(rounds)
	if len(some) < 2 {
		return nil
	}
	r := &Round{DocumentCount: documents, Folds: ChoiceFolds, Parameter: weighting}
	err := h.runRound(ctx, r, some)
	if memory := (*run.MemoryError)(nil); errors.As(err, &memory) {
		return nil
	}
	if err != nil {
		return err
	}
	// Weights from labels help most on few documents, so a small sample favours such weights.
	few := math.Sqrt(float64(len(h.order)) / float64(r.DocumentCount))
	if !(r.Points[r.BestIndex].Mean-r.Points[0].Mean > r.StandardError()*few) {
		r.BestIndex = 0
	}
	h.conclude(r, r.Points[r.BestIndex].Candidate)
	return nil
}

func (h *chooser) conclude(r *Round, q Candidate) {
	setDifferences(r.Points, r.BestIndex)
	h.out.Candidate = q
	h.out.Sample = slices.Clone(h.order[:r.DocumentCount])
	slices.Sort(h.out.Sample)
	h.out.Rounds = append(h.out.Rounds, *r)
}

// StandardError returns the standard error of the best score: √(p(1-p)/n) for a fraction p, and
// √(2/n)·e for a mean squared error e if errors are normal. Differences between candidates vary by
// about half as much, because candidates err on the same documents.
func (r *Round) StandardError() float64 {
	p := r.Points[r.BestIndex].Mean
	if r.Points[r.BestIndex].Measure == MeanSquaredError {
		return p * math.Sqrt(2/float64(r.DocumentCount))
	}
	return math.Sqrt(max(p*(1-p), 0) / float64(r.DocumentCount))
}

// isBetter reports whether point a is better than b. In regression, points that didn't converge are
// worse than points that converged.
func (h *chooser) isBetter(a, b *Point) bool {
	if h.candidates.Measure == MeanSquaredError && (a.UnfinishedCount > 0) != (b.UnfinishedCount > 0) {
		return b.UnfinishedCount > 0
	}
	return a.IsBetter(b.Result)
}

// ranked returns the candidates of points, best first. Ties are broken by index.
func (h *chooser) ranked(points []Point) (out []Candidate) {
	points = slices.Clone(points)
	slices.SortStableFunc(points, func(a, b Point) int {
		switch {
		case h.isBetter(&a, &b):
			return -1
		case h.isBetter(&b, &a):
			return 1
		}
		return 0
	})
	for _, p := range points {
		out = append(out, p.Candidate)
	}
	return out
}

// maxExtensions limits how often a round continues with neighbours of its best candidate.
const maxExtensions = 8

func (h *chooser) untriedNeighbours(r *Round) (more []Candidate) {
	// stuck is true if C is too large for training to converge
	stuck := h.candidates.Measure == MeanSquaredError && r.Points[r.BestIndex].UnfinishedCount > 0
	if h.candidates.Neighbours == nil && !stuck {
		return nil
	}
	best := r.Points[r.BestIndex].Candidate
	add := func(q Candidate) {
		if !slices.ContainsFunc(r.Points, func(p Point) bool { return p.Equal(q) }) {
			more = append(more, q)
		}
	}
	switch {
	case r.Parameter == "kernel":
		for _, k := range h.candidates.Neighbours(best.Kernel) {
			q := best
			q.Kernel = k
			add(q)
		}
	case len(h.candidates.C) > 1 && (r.Parameter == "C" || r.Parameter == finalRound):
		steps := []int{-2, 2} // factors 0.1 and 10
		if r.Parameter == finalRound {
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
			c := stepC(best.C/h.candidates.ParameterUnit, steps)
			if q.C = run.RoundSignificant(c*h.candidates.ParameterUnit, 12); c >= minExtendedC && c <= maxExtendedC {
				add(q)
			}
		}
	}
	return more
}

// minExtendedC and maxExtendedC bound values of C outside the list, in units of
// Candidates.ParameterUnit.
const minExtendedC, maxExtendedC = 1e-3, 1e4

// stepC rounds c to an element of the sequence 0.1, 0.3, 1, 3, 10, … and returns the element that
// is the given number of steps after the rounded element.
func stepC(c float64, steps int) float64 {
	at := int(math.Round(2*math.Log10(c))) + steps
	digit := [2]string{"1", "3"}[at&1]
	v, _ := strconv.ParseFloat(fmt.Sprintf("%se%d", digit, (at-at&1)/2), 64)
	return v
}

// runRound compares candidates on a sample, and then the neighbours of the best candidate.
func (h *chooser) runRound(ctx context.Context, r *Round, some []Candidate) (err error) {
	docs := slices.Clone(h.order[:r.DocumentCount])
	slices.Sort(docs)
	one := !slices.ContainsFunc(some, func(q Candidate) bool { return q.Tokenizer != some[0].Tokenizer })
	maps.DeleteFunc(h.tokenized, func(cut int, _ *corpus.Corpus) bool {
		return !slices.ContainsFunc(some, func(q Candidate) bool { return q.Tokenizer == cut })
	})
	e, free := h.evaluator.NewEvaluator(r, func(ctx context.Context, cut int) (*corpus.Corpus, int64, error) {
		sample, err := h.tokenizeSample(ctx, cut, docs, one)
		if err != nil {
			return nil, 0, err
		}
		held := h.c.Documents.Bytes() + sample.Documents.Bytes()
		for _, c := range h.tokenized {
			if c != sample {
				held += c.Documents.Bytes()
			}
		}
		return sample, held, nil
	}, func() (string, int64, int64) {
		const parts = 1000
		done := h.doneCost + h.currentCost*float64(h.triedCount.Load())/float64(h.candidateCount)
		return stageOf(r), int64(parts * done / h.totalCost), parts
	})
	defer func() { err = errors.Join(err, free()) }()
	for wider := 0; len(some) > 0 && wider <= maxExtensions; wider++ {
		if err := h.compare(ctx, r, some, e); err != nil {
			return err
		}
		for i, p := range r.Points {
			if h.isBetter(&p, &r.Points[r.BestIndex]) {
				r.BestIndex = i
			}
		}
		some = h.untriedNeighbours(r)
	}
	return nil
}

// tokenizeSample returns docs tokenised by the given tokenizer. If whole is set, because no other
// tokenizer is left, it tokenises all documents, for later rounds and the training.
func (h *chooser) tokenizeSample(ctx context.Context, tokenizer int, docs []int, whole bool) (*corpus.Corpus, error) {
	c, n := h.c, h.c.Documents.Rows()
	if tokenizer > 0 {
		if c = h.tokenized[tokenizer]; c == nil || c.Documents.Rows() != len(docs) && c.Documents.Rows() != n {
			of, rows := docs, len(docs)
			if whole || rows == n {
				of, rows = nil, n
			}
			if rows < n || h.candidates.LowMemory {
				clear(h.tokenized)
			}
			var err error
			if c, err = h.candidates.Corpus(ctx, tokenizer, of); err != nil {
				return nil, err
			}
			h.tokenized[tokenizer] = c
		}
	}
	if len(docs) < c.Documents.Rows() {
		c = c.Select(docs)
	}
	return c, nil
}

func (h *chooser) compare(ctx context.Context, r *Round, some []Candidate, e Evaluator) error {
	h.currentCost, h.candidateCount = h.evaluator.ValidationCost(some, r.Folds).ForDocuments(float64(r.DocumentCount)),
		len(some)
	h.triedCount.Store(0)
	if len(r.Points) > 0 {
		h.totalCost += h.currentCost // the plan doesn't include neighbours
	}
	h.totalCost = max(h.totalCost, h.doneCost+h.currentCost) // other tokenizers may take more work than tokenizer 0
	points := make([]Point, len(some))
	err := e.Evaluate(ctx, some, func(i int, p Point) {
		p.Candidate = some[i] // without parameters resolved on the sample, such as gamma
		points[i] = p
		h.triedCount.Add(1)
	})
	if err != nil {
		return err
	}
	h.doneCost += h.currentCost
	h.out.FitCount += len(some) * r.Folds
	r.Points = append(r.Points, points...)
	return nil
}

func stageOf(r *Round) string {
	if r.Parameter == finalRound {
		return "comparing the best candidates"
	}
	return "choosing the " + r.Parameter
}
