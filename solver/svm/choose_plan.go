package svm

import (
	"math"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

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
func workOf(all []Candidate, folds int) float64 {
	rest := float64(folds-1) / float64(folds)
	total := 0.0
	type of struct {
		cut       int
		embedding sparse.Embedding
	}
	var problems []of
	var kernels []Candidate
	for _, q := range all {
		if p := (of{q.Cut, q.Kernel.Embedding()}); !slices.Contains(problems, p) {
			problems = append(problems, p)
			total += 1
		}
		if !slices.ContainsFunc(kernels, q.sameKernel) {
			kernels = append(kernels, q)
			total += 0.5
		}
		total += float64(folds) * rest * rest * fitWork(q.Scheme)
	}
	return total
}

// sameKernel says whether another candidate has the same kernel on the same terms.
func (q Candidate) sameKernel(o Candidate) bool {
	return q.Cut == o.Cut && engine.SameKernel(q.Kernel, o.Kernel)
}

// same says whether another candidate is the same.
func (q Candidate) same(o Candidate) bool {
	return q.sameKernel(o) && q.Scheme == o.Scheme && q.C == o.C
}

// How many of the best kernels are compared by scheme, how many of the best of these by C, and how
// many of these by cut.
const keptKernels, keptSchemes, keptC = 3, 2, 2

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
				return extended(best, kept, n, set)
			}})
		}
	}
	add("kernel", 1, len(g.Kernels), func(q *Candidate, i int) { q.Kernel = g.Kernels[i] })
	add("scheme", keptKernels, len(g.Schemes), func(q *Candidate, i int) { q.Scheme = g.Schemes[i] })
	add("C", keptSchemes, len(g.C), func(q *Candidate, i int) { q.C = g.C[i] })
	add("terms", keptC, g.Cuts, func(q *Candidate, i int) { q.Cut = i })
	if g.Final > 0 {
		steps = append(steps, choiceStep{"all", g.Folds, func(best []Candidate) []Candidate {
			return best[:min(len(best), g.Final)]
		}})
	}
	return steps
}

// nearlyAll is the share of the documents from which on a sample has all of them.
const nearlyAll = 0.9

// documents is how many a round of some candidates has.
func (h *choosing) documents(at choiceStep, all []Candidate, rounds, least int) int {
	n := float64(len(h.order))
	documents := math.Sqrt(h.from.Work * n * n * trainingWork / float64(rounds) / workOf(all, at.folds))
	most := mostSample
	if at.what == "all" {
		most = mostFinal
	}
	if documents > nearlyAll*n {
		documents = n
	}
	return min(max(int(min(documents, n, float64(most))), least), h.most)
}

// plan estimates the work of all rounds, as if the first candidates were the best.
func (h *choosing) plan(steps []choiceStep, all []Candidate) (total float64) {
	least := min(len(h.order), leastSample)
	for _, at := range steps {
		all = at.extend(all)
		least = h.documents(at, all, len(steps), least)
		total += workOf(all, at.folds) * float64(least) * float64(least)
	}
	return total
}
