package tune

import (
	"math"
	"slices"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
)

// Cost estimates the work on n documents, Quadratic·n² + Linear·n. The unit is the work of one dot
// product of two documents.
type Cost struct{ Quadratic, Linear float64 }

// ForDocuments returns the work on n documents, in dot products.
func (w Cost) ForDocuments(n float64) float64 { return (w.Quadratic*n + w.Linear) * n }

// affordableDocuments returns the n for which ForDocuments(n) = much.
func (w Cost) affordableDocuments(much float64) float64 {
	return 2 * much / (w.Linear + math.Sqrt(w.Linear*w.Linear+4*w.Quadratic*much))
}

// Add changes w so that w.ForDocuments(n) increases by times · of.ForDocuments(share·n).
func (w *Cost) Add(times float64, of Cost, share float64) {
	w.Quadratic += times * of.Quadratic * share * share
	w.Linear += times * of.Linear * share
}

// The scheme round compares the best maxKernels kernels. The epsilon and C rounds compare the best
// maxSchemes candidates.
const maxKernels, maxSchemes = 3, 2

const finalRound, weighting = "all", "weighting"

func (g *Candidates) rounds() (names []string) {
	kernels := len(g.Kernels)
	if g.UniformCost || g.FinalistCount > 0 { // compare all kernels with all tokenizers
		kernels = len(g.onAllTokenizers(Candidate{}))
	} else if g.TokenizerCount > 1 {
		names = append(names, "terms")
	}
	for i, n := range []int{kernels, len(g.Schemes), len(g.Epsilons), len(g.C)} {
		if n > 1 {
			names = append(names, []string{"kernel", "scheme", "epsilon", "C"}[i])
		}
	}
	if g.FinalistCount > 0 {
		names = append(names, finalRound)
	}
	return names
}

func (g *Candidates) folds(round string) int {
	if round == finalRound {
		return g.FinalFolds
	}
	return ChoiceFolds
}

// extend derives the candidates of a round from the best candidates of the previous round.
func (g *Candidates) extend(round string, best []Candidate) []Candidate {
	cuts := func(q *Candidate, i int) { *q = g.withTokenizer(best, i) }
	cs := func(q *Candidate, i int) { q.C = g.C[i] }
	switch round {
	case "terms":
		return extended(best, 1, g.TokenizerCount, cuts)
	case "kernel":
		switch {
		case g.UniformCost, g.FinalistCount > 0:
			return distinct(g.onAllTokenizers(best[0]))
		}
		own := extended(best, 1, len(g.Kernels), func(q *Candidate, i int) { q.Kernel = g.Kernels[i] })
		return distinct(slices.Insert(own, min(2, len(own)), g.withSecondTokenizer(best)...))
	case "scheme":
		return extended(g.selectBest(best, maxKernels), maxKernels+1, len(g.Schemes), func(q *Candidate, i int) {
			q.Scheme = g.Schemes[i]
		})
	case "epsilon":
		return extended(g.selectBest(best, maxSchemes), maxSchemes+1, len(g.Epsilons), func(q *Candidate, i int) {
			q.Epsilon = g.Epsilons[i]
		})
	case finalRound: // also tries the best settings on each tokenizer, to show how much tokenizers matter
		return distinct(append(slices.Clone(best[:min(len(best), g.FinalistCount)]),
			extended(best, 1, g.TokenizerCount, cuts)...))
	}
	kept := g.selectBest(best, maxSchemes)
	own := extended(kept, len(kept), len(g.C), cs)
	if g.FinerNeighbours == nil {
		return own
	}
	for _, q := range append(kept[:1:1], kept[min(len(kept), maxSchemes):]...) {
		finer := g.FinerNeighbours(q.Kernel)
		own = append(own, extended([]Candidate{q}, 1, len(finer), func(q *Candidate, i int) { q.Kernel = finer[i] })...)
	}
	for cut := range g.TokenizerCount {
		// other tokenizers may need a larger C
		if g.UniformCost && g.Measure == MeanSquaredError && cut != best[0].Tokenizer {
			own = append(own, extended([]Candidate{g.withTokenizer(best, cut)}, 1, len(g.C), cs)...)
		}
	}
	return distinct(own)
}

func (g *Candidates) kernelsFor(tokenizer int) []kernel.Kernel {
	if own := g.KernelsByTokenizer[tokenizer]; own != nil {
		return own
	}
	return g.Kernels
}

// onAllTokenizers returns q with each kernel on each tokenizer. If UniformCost is set, tokenizers
// alternate, because a choice may compare only the first candidates.
func (g *Candidates) onAllTokenizers(q Candidate) (out []Candidate) {
	lists := make([][]Candidate, g.TokenizerCount)
	for q.Tokenizer = range g.TokenizerCount {
		for _, q.Kernel = range g.kernelsFor(q.Tokenizer) {
			lists[q.Tokenizer] = append(lists[q.Tokenizer], q)
		}
	}
	if !g.UniformCost {
		return slices.Concat(lists...)
	}
	return run.Interleave(lists...)
}

// selectBest returns the first n of the best candidates. If these candidates' tokenizers all have
// their own kernels, or none of them has, it adds the best candidate of the other tokenizers,
// because a round favours the longer list of kernels.
func (g *Candidates) selectBest(best []Candidate, n int) []Candidate {
	kept := slices.Clone(best[:min(len(best), n)])
	for _, own := range []bool{false, true} {
		is := func(q Candidate) bool { return (g.KernelsByTokenizer[q.Tokenizer] != nil) == own }
		if at := slices.IndexFunc(best, is); at >= len(kept) {
			return append(kept, best[at])
		}
	}
	return kept
}

// withTokenizer returns the best candidate, but with the given tokenizer. If this tokenizer or the
// best candidate's tokenizer has its own kernels, it returns the best candidate that was tried with
// the given tokenizer. If there is no such candidate, it uses the tokenizer's first kernel.
func (g *Candidates) withTokenizer(best []Candidate, tokenizer int) Candidate {
	q := best[0]
	if g.KernelsByTokenizer[tokenizer] == nil && g.KernelsByTokenizer[q.Tokenizer] == nil {
		q.Tokenizer = tokenizer
		return q
	}
	if at := slices.IndexFunc(best, func(q Candidate) bool { return q.Tokenizer == tokenizer }); at >= 0 {
		return best[at]
	}
	q.Tokenizer, q.Kernel = tokenizer, g.kernelsFor(tokenizer)[0]
	return q
}

// extended calls set for each candidate q of all[:first] and each i < values. It drops duplicates.
func extended(all []Candidate, first, values int, set func(q *Candidate, i int)) (out []Candidate) {
	for _, q := range all[:min(first, len(all))] {
		for i := range values {
			set(&q, i)
			out = append(out, q)
		}
	}
	return distinct(out)
}

// withSecondTokenizer combines the second-best tokenizer, if any, with the kernels of the second
// kernel family. A tokenizer that suits one kernel family may not suit another family.
func (g *Candidates) withSecondTokenizer(best []Candidate) (all []Candidate) {
	cut := slices.IndexFunc(best, func(q Candidate) bool { return q.Tokenizer != best[0].Tokenizer })
	family := slices.IndexFunc(g.Kernels, func(k kernel.Kernel) bool {
		return kernel.FamilyName(k) != kernel.FamilyName(g.Kernels[0])
	})
	if cut < 0 || family < 0 {
		return nil
	}
	q := best[cut]
	for _, k := range g.Kernels {
		if kernel.FamilyName(k) == kernel.FamilyName(g.Kernels[family]) {
			q.Kernel = k
			all = append(all, q)
		}
	}
	return all
}

func distinct(all []Candidate) (out []Candidate) {
	for _, q := range all {
		if !slices.ContainsFunc(out, q.Equal) {
			out = append(out, q)
		}
	}
	return out
}

// Samples above fullSampleFraction of the documents are extended to all documents.
const fullSampleFraction = 0.9

// A round on the smallest sample may take maxOverrun times the round's share of the work. It may
// always take minCost, about a tenth of a second.
const maxOverrun, minCost = 2.5, 24e6

// minTrainingCost is the assumed minimum work of a training run if tokenizers are compared.
// minUniformCost is this minimum if UniformCost is set.
const minTrainingCost, minUniformCost = 6e8, 1.5e8

// trainingCost returns the work of training on n documents, but at least minUniformCost or
// minTrainingCost if tokenizers are compared.
func (h *chooser) trainingCost(n float64) float64 {
	much := h.evaluator.TrainingCost().ForDocuments(n)
	switch {
	case h.candidates.UniformCost:
		much = max(much, minUniformCost)
	case h.candidates.TokenizerCount > 1:
		much = max(much, minTrainingCost)
	}
	return much
}

// minFirstSample returns the minimum size of the first sample. Unless UniformCost is set, a
// comparison of tokenizers starts with all documents if there are at most 2·minSample documents.
func (h *chooser) minFirstSample() int {
	if n := len(h.order); h.candidates.TokenizerCount > 1 && !h.candidates.UniformCost && n <= 2*minSample {
		return min(n, h.maxDocuments)
	}
	return min(len(h.order), minSample)
}

// planRound returns the candidates that a round compares, and the round's sample size, which is at
// least the previous size. If comparing all candidates on the smallest sample exceeds the work
// limit, the round keeps the first candidate, and each further candidate with which the total work
// stays within max(maxOverrun·share, minCost). If FinalistCount is set, all candidates are kept.
func (h *chooser) planRound(round string, some []Candidate, rounds, least int) ([]Candidate, int) {
	n := float64(len(h.order))
	share := h.candidates.WorkBudget * h.trainingCost(n) / float64(rounds)
	much := share
	switch round {
	case "terms", weighting:
		much *= 2 // small samples favour fewer terms, and weights from labels
	case "C", finalRound:
		much *= 4 // small samples also favour a larger C; these rounds have few candidates
	}
	folds := h.candidates.folds(round)
	documents := h.evaluator.ValidationCost(some, folds).affordableDocuments(much)
	most := maxSample
	if round == finalRound {
		most = maxFinal
	}
	if documents > fullSampleFraction*n {
		documents = n
	}
	least = min(max(int(min(documents, n, float64(most))), least), h.maxDocuments)
	over := max(maxOverrun*share, minCost)
	// forced is true if the smallest sample is above the work limit, and FinalistCount isn't set
	forced := h.candidates.FinalistCount == 0 && float64(least) > documents
	if !forced {
		return some, least
	}
	kept := some[:1:1]
	for _, q := range some[1:] {
		if more := append(kept, q); h.evaluator.ValidationCost(more, folds).ForDocuments(float64(least)) <= over {
			kept = more
		}
	}
	return kept, least
}

// estimateCost estimates the work of all rounds, as if the first candidates were the best.
func (h *chooser) estimateCost(rounds []string) (total float64) {
	some, least := []Candidate{h.firstCandidate()}, h.minFirstSample()
	for _, round := range rounds {
		some, least = h.planRound(round, h.candidates.extend(round, some), len(rounds), least)
		total += h.evaluator.ValidationCost(some, h.candidates.folds(round)).ForDocuments(float64(least))
	}
	if weighed, least := h.supervisedCandidates(len(rounds)); len(weighed) > 1 {
		total += h.evaluator.ValidationCost(weighed, ChoiceFolds).ForDocuments(float64(least))
	}
	return total
}
