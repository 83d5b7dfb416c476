package tune

import (
	"math"
	"slices"

	"github.com/gramengine/gram/engine/kernel"
)

// Work is an estimate of work on n documents, Square·n² + Linear·n, in values of a kernel by document and document.
type Work struct{ Square, Linear float64 }

// On returns the work on n documents.
func (w Work) On(n float64) float64 { return (w.Square*n + w.Linear) * n }

// documents returns on how many documents the work is so much.
func (w Work) documents(much float64) float64 {
	return 2 * much / (w.Linear + math.Sqrt(w.Linear*w.Linear+4*w.Square*much))
}

// Add adds some times the work on a share of the documents.
func (w *Work) Add(times float64, of Work, share float64) {
	w.Square += times * of.Square * share * share
	w.Linear += times * of.Linear * share
}

// How many of the best kernels are compared by scheme, and how many of the best of these by C.
const keptKernels, keptSchemes = 3, 2

// choiceStep is a round that is planned: what it compares the best of the round before by.
type choiceStep struct {
	what   string
	folds  int
	extend func(best []Candidate) []Candidate
}

// steps lists the rounds.
func (h *choosing) steps() (steps []choiceStep) {
	g := &h.from
	add := func(what string, kept, n int, set func(q *Candidate, i int)) {
		if n > 1 {
			steps = append(steps, choiceStep{what, ChoiceFolds, func(best []Candidate) []Candidate {
				return distinct(extended(best, kept, n, set))
			}})
		}
	}
	kernels := len(g.Kernels)
	switch {
	case g.Alike:
		add("kernel", 1, g.Cuts*kernels, func(q *Candidate, i int) { q.Cut, q.Kernel = i%g.Cuts, g.Kernels[i/g.Cuts] })
	case g.Final > 0: // a search tries all of them on all terms
		add("kernel", 1, g.Cuts*kernels, func(q *Candidate, i int) { q.Cut, q.Kernel = i/kernels, g.Kernels[i%kernels] })
	default:
		add("terms", 1, g.Cuts, func(q *Candidate, i int) { q.Cut = i })
		add("kernel", 1, kernels, func(q *Candidate, i int) { q.Kernel = g.Kernels[i] })
		if kernels > 1 {
			at := &steps[len(steps)-1]
			onBest := at.extend
			at.extend = func(best []Candidate) []Candidate {
				all := onBest(best)
				return distinct(slices.Insert(all, min(2, len(all)), g.onSecond(best)...))
			}
		}
	}
	add("scheme", keptKernels, len(g.Schemes), func(q *Candidate, i int) { q.Scheme = g.Schemes[i] })
	add("epsilon", keptSchemes, len(g.Epsilon), func(q *Candidate, i int) { q.Epsilon = g.Epsilon[i] })
	add("C", keptSchemes, len(g.C), func(q *Candidate, i int) { q.C = g.C[i] })
	if n := len(steps) - 1; g.Finer != nil && n >= 0 && steps[n].what == "C" {
		byC := steps[n].extend
		steps[n].extend = func(best []Candidate) []Candidate {
			finer := g.Finer(best[0].Kernel)
			near := extended(best, 1, len(finer), func(q *Candidate, i int) { q.Kernel = finer[i] })
			for cut := range g.Cuts {
				if !g.Alike || h.from.Measure != MeanSquaredError || cut == best[0].Cut {
					continue
				}
				other := best[0] // smoother kernels want a greater C
				other.Cut = cut
				near = append(near, extended([]Candidate{other}, 1, len(g.C), func(q *Candidate, i int) { q.C = g.C[i] })...)
			}
			return distinct(append(byC(best), near...))
		}
	}
	if g.Final > 0 {
		steps = append(steps, choiceStep{"all", g.Folds, func(best []Candidate) []Candidate {
			all := slices.Clone(best[:min(len(best), g.Final)])
			// The best settings on all terms tell what these are worth.
			return distinct(append(all, extended(best, 1, g.Cuts, func(q *Candidate, i int) { q.Cut = i })...))
		}})
	}
	return steps
}

// onSecond returns the second best terms, if any, with the kernels of the first other family than the one that terms
// were compared with, since terms that help one don't always help the other.
func (g *Candidates) onSecond(best []Candidate) (all []Candidate) {
	cut := slices.IndexFunc(best, func(q Candidate) bool { return q.Cut != best[0].Cut })
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

// distinct returns candidates, each once.
func distinct(all []Candidate) (out []Candidate) {
	for _, q := range all {
		if !slices.ContainsFunc(out, q.Same) {
			out = append(out, q)
		}
	}
	return out
}

// nearlyAll is the share of the documents from which on a sample has all of them.
const nearlyAll = 0.9

// A round whose sample is the least may take mostOver times its share of the work, and leastWork, about
// a tenth of a second, anyway.
const mostOver, leastWork = 2.5, 24e6

// leastTraining is what a training counts for, at least, where terms are chosen, too: about a second of one
// core; leastAlike where cuts are alike, and as cheap.
const leastTraining, leastAlike = 6e8, 1.5e8

// mayTake is what the training of so many documents counts for.
func (h *choosing) mayTake(n float64) float64 {
	much := h.on.Training().On(n)
	switch {
	case h.from.Alike:
		much = max(much, leastAlike)
	case h.from.Cuts > 1:
		much = max(much, leastTraining)
	}
	return much
}

// least is how many documents the first sample has at least. A choice of terms takes all of at most 2·leastSample.
func (h *choosing) least() int {
	if n := len(h.order); h.from.Cuts > 1 && !h.from.Alike && n <= 2*leastSample {
		return min(n, h.most)
	}
	return min(len(h.order), leastSample)
}

// planned returns what a round of some candidates compares, and on how many documents, at least those
// of the round before. Where the least sample is too dear for all candidates, it keeps the first, and then in order
// each that still fits into the work; a search that somebody asked for keeps all.
func (h *choosing) planned(at choiceStep, all []Candidate, rounds, least int) ([]Candidate, int) {
	n := float64(len(h.order))
	share := h.from.Work * h.mayTake(n) / float64(rounds)
	much := share
	switch at.what {
	case "terms", weighting:
		much *= 2 // small samples are for fewer terms, and for weights from labels
	case "C", "all":
		much *= 4 // and for a greater C: these rounds have few candidates, and samples closest to all documents
	}
	documents := h.on.Work(all, at.folds).documents(much)
	most := mostSample
	if at.what == "all" {
		most = mostFinal
	}
	if documents > nearlyAll*n {
		documents = n
	}
	least = min(max(int(min(documents, n, float64(most))), least), h.most)
	over := max(mostOver*share, leastWork)
	forced := h.from.Final == 0 && float64(least) > documents // else the sample was made for all candidates
	if !forced {
		return all, least
	}
	kept := all[:1:1]
	for _, q := range all[1:] {
		if more := append(kept, q); h.on.Work(more, at.folds).On(float64(least)) <= over {
			kept = more
		}
	}
	return kept, least
}

// plan estimates the work of all rounds, as if the first candidates were the best.
func (h *choosing) plan(steps []choiceStep, all []Candidate) (total float64) {
	least := h.least()
	for _, at := range steps {
		all, least = h.planned(at, at.extend(all), len(steps), least)
		total += h.on.Work(all, at.folds).On(float64(least))
	}
	if weighed, least := h.weighted(len(steps)); len(weighed) > 1 {
		total += h.on.Work(weighed, ChoiceFolds).On(float64(least))
	}
	return total
}
