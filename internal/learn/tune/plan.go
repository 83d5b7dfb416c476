package tune

import (
	"math"
	"slices"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
)

// Work estimates the work on n documents, Square·n² + Linear·n. The unit is the work of one dot
// product of two documents.
type Work struct{ Square, Linear float64 }

// On returns the work on n documents.
func (w Work) On(n float64) float64 { return (w.Square*n + w.Linear) * n }

// documents is the inverse of On: it returns the number of documents for an amount of work.
func (w Work) documents(much float64) float64 {
	return 2 * much / (w.Linear + math.Sqrt(w.Linear*w.Linear+4*w.Square*much))
}

// Add adds the work on a fraction of the documents, multiplied by the factor times.
func (w *Work) Add(times float64, of Work, share float64) {
	w.Square += times * of.Square * share * share
	w.Linear += times * of.Linear * share
}

// The scheme round compares the best keptKernels kernels. Later rounds compare the best keptSchemes
// candidates.
const keptKernels, keptSchemes = 3, 2

// finalRound and weighting are the names of the last round, and of the round of supervised kernels.
const finalRound, weighting = "all", "weighting"

func (g *Candidates) rounds() (names []string) {
	kernels := len(g.Kernels)
	if g.Alike || g.Final > 0 { // compare all kernels with all tokenizers
		kernels = len(g.everywhere(Candidate{}))
	} else if g.Terms > 1 {
		names = append(names, "terms")
	}
	for i, n := range []int{kernels, len(g.Schemes), len(g.Epsilon), len(g.C)} {
		if n > 1 {
			names = append(names, []string{"kernel", "scheme", "epsilon", "C"}[i])
		}
	}
	if g.Final > 0 {
		names = append(names, finalRound)
	}
	return names
}

func (g *Candidates) folds(round string) int {
	if round == finalRound {
		return g.Folds
	}
	return ChoiceFolds
}

// extend returns the candidates of a round, from the best candidates of the previous round.
func (g *Candidates) extend(round string, best []Candidate) []Candidate {
	cuts := func(q *Candidate, i int) { *q = g.on(best, i) }
	cs := func(q *Candidate, i int) { q.C = g.C[i] }
	switch round {
	case "terms":
		return extended(best, 1, g.Terms, cuts)
	case "kernel":
		switch {
		case g.Alike, g.Final > 0:
			return distinct(g.everywhere(best[0]))
		}
		own := extended(best, 1, len(g.Kernels), func(q *Candidate, i int) { q.Kernel = g.Kernels[i] })
		return distinct(slices.Insert(own, min(2, len(own)), g.onSecond(best)...))
	case "scheme":
		return extended(g.kept(best, keptKernels), keptKernels+1, len(g.Schemes), func(q *Candidate, i int) {
			q.Scheme = g.Schemes[i]
		})
	case "epsilon":
		return extended(g.kept(best, keptSchemes), keptSchemes+1, len(g.Epsilon), func(q *Candidate, i int) {
			q.Epsilon = g.Epsilon[i]
		})
	case finalRound: // also tries the best settings on each tokenizer, to show how much tokenizers matter
		return distinct(append(slices.Clone(best[:min(len(best), g.Final)]), extended(best, 1, g.Terms, cuts)...))
	}
	kept := g.kept(best, keptSchemes)
	own := extended(kept, len(kept), len(g.C), cs)
	if g.Finer == nil {
		return own
	}
	for _, q := range append(kept[:1:1], kept[min(len(kept), keptSchemes):]...) {
		finer := g.Finer(q.Kernel)
		own = append(own, extended([]Candidate{q}, 1, len(finer), func(q *Candidate, i int) { q.Kernel = finer[i] })...)
	}
	for cut := range g.Terms {
		if g.Alike && g.Measure == MeanSquaredError && cut != best[0].Terms { // other tokenizers may need a larger C
			own = append(own, extended([]Candidate{g.on(best, cut)}, 1, len(g.C), cs)...)
		}
	}
	return distinct(own)
}

func (g *Candidates) kernelsOn(cut int) []kernel.Kernel {
	if own := g.Own[cut]; own != nil {
		return own
	}
	return g.Kernels
}

// everywhere returns q with each kernel on each tokenizer. If Alike is set, tokenizers alternate,
// because a choice may compare only the first candidates.
func (g *Candidates) everywhere(q Candidate) (out []Candidate) {
	lists := make([][]Candidate, g.Terms)
	for q.Terms = range g.Terms {
		for _, q.Kernel = range g.kernelsOn(q.Terms) {
			lists[q.Terms] = append(lists[q.Terms], q)
		}
	}
	if !g.Alike {
		return slices.Concat(lists...)
	}
	return run.InTurn(lists...)
}

// kept returns the first n of the best candidates. If some tokenizers have their own kernels, it
// adds the best candidate of the other tokenizers, because a round favours the longer list of
// kernels.
func (g *Candidates) kept(best []Candidate, n int) []Candidate {
	kept := slices.Clone(best[:min(len(best), n)])
	for _, own := range []bool{false, true} {
		is := func(q Candidate) bool { return (g.Own[q.Terms] != nil) == own }
		if at := slices.IndexFunc(best, is); at >= len(kept) {
			return append(kept, best[at])
		}
	}
	return kept
}

// on returns the best candidate, but with tokenizer cut. If cut or the best candidate's tokenizer
// has its own kernels, on returns the best candidate that was tried with cut. If there is no such
// candidate, it uses cut's first kernel.
func (g *Candidates) on(best []Candidate, cut int) Candidate {
	q := best[0]
	if g.Own[cut] == nil && g.Own[q.Terms] == nil {
		q.Terms = cut
		return q
	}
	if at := slices.IndexFunc(best, func(q Candidate) bool { return q.Terms == cut }); at >= 0 {
		return best[at]
	}
	q.Terms, q.Kernel = cut, g.kernelsOn(cut)[0]
	return q
}

// extended returns the first candidates, each with all values that set assigns, without duplicates.
func extended(all []Candidate, first, values int, set func(q *Candidate, i int)) (out []Candidate) {
	for _, q := range all[:min(first, len(all))] {
		for i := range values {
			set(&q, i)
			out = append(out, q)
		}
	}
	return distinct(out)
}

// onSecond returns candidates with the second-best tokenizer, if any, and the kernels of the second
// kernel family. A tokenizer that suits one kernel family may not suit another family.
func (g *Candidates) onSecond(best []Candidate) (all []Candidate) {
	cut := slices.IndexFunc(best, func(q Candidate) bool { return q.Terms != best[0].Terms })
	family := slices.IndexFunc(g.Kernels, func(k kernel.Kernel) bool {
		return kernel.Family(k) != kernel.Family(g.Kernels[0])
	})
	if cut < 0 || family < 0 {
		return nil
	}
	q := best[cut]
	for _, k := range g.Kernels {
		if kernel.Family(k) == kernel.Family(g.Kernels[family]) {
			q.Kernel = k
			all = append(all, q)
		}
	}
	return all
}

func distinct(all []Candidate) (out []Candidate) {
	for _, q := range all {
		if !slices.ContainsFunc(out, q.Same) {
			out = append(out, q)
		}
	}
	return out
}

// nearlyAll is the fraction of the documents above which a sample is extended to all.
const nearlyAll = 0.9

// A round on the smallest sample may take maxOver times the round's share of the work. It may
// always take minWork, about a tenth of a second.
const maxOver, minWork = 2.5, 24e6

// minTraining is the assumed minimum work of a training run if tokenizers are compared, about a
// second on one core. minAlike is the minimum if Alike is set.
const minTraining, minAlike = 6e8, 1.5e8

// mayTake returns the work of training on n documents, but at least minAlike or minTraining if
// tokenizers are compared.
func (h *choosing) mayTake(n float64) float64 {
	much := h.on.Training().On(n)
	switch {
	case h.from.Alike:
		much = max(much, minAlike)
	case h.from.Terms > 1:
		much = max(much, minTraining)
	}
	return much
}

// least returns the minimum size of the first sample. A comparison of tokenizers starts with all
// documents if there are at most 2·minSample.
func (h *choosing) least() int {
	if n := len(h.order); h.from.Terms > 1 && !h.from.Alike && n <= 2*minSample {
		return min(n, h.most)
	}
	return min(len(h.order), minSample)
}

// planned returns the candidates that a round compares, and the round's sample size, which is at
// least the previous size. If the smallest sample is too much work for all candidates, the round
// keeps the first candidate and each further candidate that fits into the work limit. If Final is
// set, all candidates are kept.
func (h *choosing) planned(round string, some []Candidate, rounds, least int) ([]Candidate, int) {
	n := float64(len(h.order))
	share := h.from.Work * h.mayTake(n) / float64(rounds)
	much := share
	switch round {
	case "terms", weighting:
		much *= 2 // small samples favour fewer terms, and weights from labels
	case "C", finalRound:
		much *= 4 // small samples also favour a larger C; these rounds have few candidates
	}
	folds := h.from.folds(round)
	documents := h.on.Work(some, folds).documents(much)
	most := maxSample
	if round == finalRound {
		most = maxFinal
	}
	if documents > nearlyAll*n {
		documents = n
	}
	least = min(max(int(min(documents, n, float64(most))), least), h.most)
	over := max(maxOver*share, minWork)
	forced := h.from.Final == 0 && float64(least) > documents // the smallest sample is too large for all candidates
	if !forced {
		return some, least
	}
	kept := some[:1:1]
	for _, q := range some[1:] {
		if more := append(kept, q); h.on.Work(more, folds).On(float64(least)) <= over {
			kept = more
		}
	}
	return kept, least
}

// plan estimates the work of all rounds, as if the first candidates were the best.
func (h *choosing) plan(rounds []string) (total float64) {
	some, least := []Candidate{h.first()}, h.least()
	for _, round := range rounds {
		some, least = h.planned(round, h.from.extend(round, some), len(rounds), least)
		total += h.on.Work(some, h.from.folds(round)).On(float64(least))
	}
	if weighed, least := h.weighted(len(rounds)); len(weighed) > 1 {
		total += h.on.Work(weighed, ChoiceFolds).On(float64(least))
	}
	return total
}
