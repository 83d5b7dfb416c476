package svm

import (
	"math"
	"slices"
	"sort"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// cost is an estimate of work on n documents, square·n² + linear·n, in values of the kernel by document
// and document.
type cost struct{ square, linear float64 }

// on returns the work on so many documents.
func (w cost) on(n float64) float64 { return (w.square*n + w.linear) * n }

// documents returns on how many documents the work is so much.
func (w cost) documents(much float64) float64 {
	return 2 * much / (w.linear + math.Sqrt(w.linear*w.linear+4*w.square*much))
}

// add adds some times the work on a share of the documents.
func (w *cost) add(times float64, of cost, share float64) {
	w.square += times * of.square * share * share
	w.linear += times * of.linear * share
}

// The estimates. Dot products of all documents, for both halves of the matrix, are worth a value of
// each; mapping one kernel from them half of that. Documents are embedded at the price of values.
var (
	dotWork    = cost{square: 1, linear: 500}
	kernelWork = cost{square: 0.5}
	countWork  = cost{linear: 12} // of a term
)

// fitWork is the work of a solver. One-vs-one reads each value about once; all classes against the
// rest three times for 20 classes, and more for more. Each step costs as much as a few hundred values
// beside: in one-vs-one every document takes part in a machine for each other class, and steps there
// are short. Measured on 20 Newsgroups, WebKB, and synthetic documents of 4, 20 and 200 classes.
func (h *choosing) fitWork(scheme solver.Scheme) cost {
	k := float64(len(h.c.Classes))
	if h.s.Measure() == MeanSquaredError { // two variables for each document
		return cost{4, 200}
	}
	if scheme == solver.OneVsOne {
		return cost{1, 100 * k}
	}
	return cost{2 + k/25, 50 * k}
}

// trainingWork is the work of a training, as one-vs-one has it: the machines read each value about
// once and a half.
func (h *choosing) trainingWork() (total cost) {
	total.add(1, dotWork, 1)
	total.add(1.5, h.fitWork(solver.OneVsOne), 1)
	return total
}

// workOf is that of a round.
func (h *choosing) workOf(all []Candidate, folds int) (total cost) {
	type of struct {
		cut       int
		embedding sparse.Embedding
	}
	var problems []of
	var kernels []Candidate
	var cut []int // each once, for all embeddings
	for _, q := range all {
		if h.from.Counted != nil && !slices.Contains(cut, q.Cut) {
			cut = append(cut, q.Cut)
			total.add(h.from.Counted[q.Cut], countWork, 1)
		}
		if p := (of{q.Cut, q.Kernel.Embedding()}); !slices.Contains(problems, p) {
			problems = append(problems, p)
			values := 1.0
			if h.from.Values != nil {
				values = h.from.Values[q.Cut]
			}
			if byFold(p.embedding) {
				total.add(float64(folds)*values, dotWork, 1)
			} else {
				total.add(values, dotWork, 1)
			}
		}
		if !slices.ContainsFunc(kernels, q.sameKernel) {
			kernels = append(kernels, q)
			total.add(1, kernelWork, 1)
		}
		total.add(float64(folds), h.fitWork(q.Scheme), float64(folds-1)/float64(folds))
	}
	return total
}

// sameKernel says whether another candidate has the same kernel on the same terms.
func (q Candidate) sameKernel(o Candidate) bool {
	return q.Cut == o.Cut && kernel.Equal(q.Kernel, o.Kernel)
}

// same says whether another candidate is the same.
func (q Candidate) same(o Candidate) bool {
	return q.sameKernel(o) && q.Scheme == o.Scheme && q.C == o.C && q.Nu == o.Nu && q.Epsilon == o.Epsilon
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
				if !g.Alike || h.out.Measure != MeanSquaredError || cut == best[0].Cut {
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
		if q.Kernel != nil && !slices.ContainsFunc(out, q.same) {
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
	much := h.trainingWork().on(n)
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
	documents := h.workOf(all, at.folds).documents(much)
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
		if more := append(kept, q); h.workOf(more, at.folds).on(float64(least)) <= over {
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
		total += h.workOf(all, at.folds).on(float64(least))
	}
	if weighed, least := h.weighted(len(steps)); len(weighed) > 1 {
		total += h.workOf(weighed, ChoiceFolds).on(float64(least))
	}
	return total
}

// fits refuses documents that memory is too little for to do what comes after the choice.
func (h *choosing) fits() error {
	return h.fitsOn(h.from.Kernels[0])
}

// fitsOn is fits with a kernel.
func (h *choosing) fitsOn(k kernel.Kernel) error {
	if h.opt.MemoryBytes == 0 || len(h.opt.Tasks) == 0 {
		return nil
	}
	p, docs := &Problem{opt: h.opt}, h.c.Documents
	embedder := corpus.Fit(k.Embedding(), h.c)
	p.bound = h.opt.sizes(h.c, embedder, docs.Rows(), docs.NNZ()+int64(docs.EmptyRows()))
	p.bound.engine = p.bound.kept
	if p.bound.need(&h.opt, h.opt.Tasks) <= h.opt.MemoryBytes {
		return nil
	}
	return p.tooLarge()
}

// tasks are what rounds do.
func (h *choosing) tasks() (tasks []Task) {
	for _, scheme := range h.from.Schemes {
		s := h.s
		s.Scheme = scheme
		tasks = append(tasks, Task{s, max(ChoiceFolds, h.from.Folds), max(len(h.from.C), len(h.from.Epsilon), h.from.Final)})
	}
	return tasks
}

// roomFor returns how many documents a sample may have: as many as a problem of them has memory for,
// beside the corpus.
func (h *choosing) roomFor() int {
	most := 1.0 // values for each of the first cut
	if h.from.Values != nil {
		most = max(1, slices.Max(h.from.Values))
	}
	values := make([]int64, len(h.order)+1)
	for i, doc := range h.order {
		n := max(h.c.Documents.Offsets[doc+1]-h.c.Documents.Offsets[doc], 1)
		values[i+1] = values[i] + int64(math.Ceil(most*float64(n)))
	}
	e := h.from.Kernels[0].Embedding()
	if i := slices.IndexFunc(h.from.Kernels, func(k kernel.Kernel) bool { return byFold(k.Embedding()) }); i >= 0 {
		e = h.from.Kernels[i].Embedding() // which takes the most
	}
	embedder, tasks := corpus.Fit(e, h.c), h.tasks()
	return sort.Search(len(h.order), func(m int) bool {
		opt := h.opt
		opt.HeldBytes += h.c.Documents.Bytes() + 8*values[m+1] + 8*int64(m+2)
		z := opt.sizes(h.c, embedder, m+1, values[m+1])
		return z.need(&opt, tasks) > h.opt.MemoryBytes
	})
}
