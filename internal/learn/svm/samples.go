package svm

import (
	"context"
	"math"
	"slices"
	"sort"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// SampleEvaluator implements [tune.SampleEvaluator] for support vector machines. It computes on the
// CPU, and ignores Options.Device, SingleUse and CacheBytes.
type SampleEvaluator struct {
	Corpus     *corpus.Corpus
	Settings   Settings // settings that candidates don't override, see [Settings.Resolve]
	Candidates *tune.Candidates
	Options    Options // Options.PlannedRuns lists the runs that follow the search

	DotProducts int64 // number of computed dot products
}

// problemSource creates the problems of an evaluation, one at a time.
type problemSource struct {
	// corpus returns the corpus, and the size in bytes of other memory in use.
	corpus    func(ctx context.Context, cut int) (*corpus.Corpus, int64, error)
	opt       Options
	last      *Problem
	tokenizer int // index of the tokenizer with which the documents of last were tokenised
}

// next returns the problem for a tokenizer and an embedding. If this isn't the previous problem,
// the previous problem is closed.
func (o *problemSource) next(ctx context.Context, cut int, e sparse.Embedding) (*Problem, error) {
	if o.last != nil && o.tokenizer == cut && o.last.Embedding() == e {
		return o.last, nil
	}
	if err := o.close(); err != nil {
		return nil, err
	}
	c, held, err := o.corpus(ctx, cut)
	if err != nil {
		return nil, err
	}
	opt := o.opt
	if opt.MemoryBytes > 0 {
		opt.HeldBytes += held
	}
	o.last, err = NewProblem(ctx, c, e, opt)
	o.tokenizer = cut
	return o.last, err
}

func (o *problemSource) close() error {
	if o.last == nil {
		return nil
	}
	e := o.last.Engine()
	o.last = nil
	return e.Close()
}

// If C is too large for noisy targets, training a regression takes very many steps. In an automatic
// choice, training of a regression stops after stepsPerDocument steps per document, but not before
// minSteps steps. A stopped regression ranks below regressions that reach the tolerance.
const stepsPerDocument, minSteps = 200, 50_000

// NewEvaluator implements tune.SampleEvaluator. Only the last round of a choice computes
// probabilities.
func (m *SampleEvaluator) NewEvaluator(
	r *tune.Round, tokenize func(ctx context.Context, tokenizer int) (*corpus.Corpus, int64, error),
	stage func() (string, int64, int64),
) (tune.Evaluator, func() error) {
	own := &problemSource{opt: m.Options, corpus: tokenize}
	own.opt.Device, own.opt.SingleUse, own.opt.CacheBytes, own.opt.PlannedRuns = nil, false, 0, m.plannedRuns()
	if tell := m.Options.Progress; tell != nil {
		own.opt.Progress = func(p Progress) {
			p.Stage, p.Done, p.Total = stage()
			tell(p)
		}
	}
	s := m.Settings
	s.Probabilities = s.Probabilities && r.Parameter == "all"
	if s.Measure() == tune.MeanSquaredError {
		s.maxSteps = max(minSteps, stepsPerDocument*r.DocumentCount)
	}
	e := &Evaluator{Settings: s, Division: tune.Division{Folds: r.Folds, Seed: m.Candidates.Seed}, Problem: own.next}
	return e, func() error {
		m.DotProducts += e.DotProducts
		return own.close()
	}
}

// The unit of work is the cost of a dot product of two documents. Mapping a dot product to a kernel
// value takes half as much work. Linear terms are for embedding and tokenising.
var (
	dotCost      = tune.Cost{Quadratic: 1, Linear: 500}
	kernelCost   = tune.Cost{Quadratic: 0.5}
	tokenizeCost = tune.Cost{Linear: 12} // per term
)

// fitCost estimates the work of a solver. One-vs-one reads each kernel value about once.
// One-vs-rest reads each value three times for 20 classes, and more often for more classes. Each
// step also takes as much work as a few hundred kernel values. In one-vs-one, every document is in
// a classifier for each other class, but steps are short. The numbers were measured on 20
// Newsgroups, WebKB, and synthetic documents of 4, 20 and 200 classes.
func (m *SampleEvaluator) fitCost(scheme solver.Scheme) tune.Cost {
	k := float64(len(m.Corpus.Classes))
	switch {
	case m.Settings.Measure() == tune.MeanSquaredError: // two variables for each document
		return tune.Cost{Quadratic: 4, Linear: 200}
	case scheme == solver.OneVsOne:
		return tune.Cost{Quadratic: 1, Linear: 100 * k}
	}
	return tune.Cost{Quadratic: 2 + k/25, Linear: 50 * k}
}

// TrainingCost implements tune.SampleEvaluator. It assumes 1.5 times the fitCost of one-vs-one.
func (m *SampleEvaluator) TrainingCost() (total tune.Cost) {
	total.Add(1, dotCost, 1)
	total.Add(1.5, m.fitCost(solver.OneVsOne), 1)
	return total
}

func (m *SampleEvaluator) ValidationCost(all []tune.Candidate, folds int) (total tune.Cost) {
	values := 1.0
	for i, q := range all {
		first := func(same func(o tune.Candidate) bool) bool { return !slices.ContainsFunc(all[:i], same) }
		sameCut := func(o tune.Candidate) bool { return o.Tokenizer == q.Tokenizer }
		if m.Candidates.TermCounts != nil && first(sameCut) { // counted once for all embeddings
			total.Add(m.Candidates.TermCounts[q.Tokenizer], tokenizeCost, 1)
		}
		e := q.Kernel.Embedding()
		if first(func(o tune.Candidate) bool { return sameCut(o) && o.Kernel.Embedding() == e }) {
			if m.Candidates.RelativeValueCounts != nil {
				values = m.Candidates.RelativeValueCounts[q.Tokenizer]
			}
			if needsFoldEmbedding(e) {
				total.Add(float64(folds)*values, dotCost, 1)
			} else {
				total.Add(values, dotCost, 1)
			}
		}
		if first(q.HasSameKernel) {
			total.Add(1, kernelCost, 1)
		}
		total.Add(float64(folds), m.fitCost(q.Scheme), float64(folds-1)/float64(folds))
	}
	return total
}

// CheckMemory implements tune.SampleEvaluator. It fails if memory doesn't suffice for
// Options.PlannedRuns.
func (m *SampleEvaluator) CheckMemory(k kernel.Kernel) error {
	if m.Options.MemoryBytes == 0 || len(m.Options.PlannedRuns) == 0 {
		return nil
	}
	p, docs := &Problem{opt: m.Options}, m.Corpus.Documents
	p.sizes = p.opt.memorySizes(m.Corpus, corpus.Fit(k.Embedding(), m.Corpus), docs.Rows(),
		docs.NNZ()+int64(docs.EmptyRowCount()))
	p.sizes.engine = p.sizes.engineHeld
	if p.sizes.requiredBytes(&p.opt, p.opt.PlannedRuns) <= p.opt.MemoryBytes {
		return nil
	}
	return p.memoryError()
}

func (m *SampleEvaluator) plannedRuns() (plannedRuns []PlannedRun) {
	g := m.Candidates
	for _, scheme := range g.Schemes {
		s := m.Settings
		s.Scheme = scheme
		plannedRuns = append(plannedRuns, PlannedRun{s, max(tune.ChoiceFolds, g.FinalFolds),
			max(len(g.C), len(g.Epsilons), g.FinalistCount)})
	}
	return plannedRuns
}

// MaxDocuments implements tune.SampleEvaluator. Memory must hold tiles, a matrix in the order of
// folds, as much again for other data, and a problem in addition to the corpus.
func (m *SampleEvaluator) MaxDocuments(order []int) int {
	if m.Options.MemoryBytes == 0 {
		return len(order)
	}
	docs, g := m.Corpus.Documents, m.Candidates
	free := m.Options.MemoryBytes - m.Options.HeldBytes - 2*docs.Bytes()
	most := 1.0 // largest number of values of a tokenizer, relative to tokenizer 0
	if g.RelativeValueCounts != nil {
		most = max(1, slices.Max(g.RelativeValueCounts))
	}
	values := make([]int64, len(order)+1)
	for i, doc := range order {
		n := max(docs.Offsets[doc+1]-docs.Offsets[doc], 1)
		values[i+1] = values[i] + int64(math.Ceil(most*float64(n)))
	}
	e := g.Kernels[0].Embedding()
	if i := slices.IndexFunc(g.Kernels, func(k kernel.Kernel) bool { return needsFoldEmbedding(k.Embedding()) }); i >= 0 {
		e = g.Kernels[i].Embedding() // takes the most memory
	}
	embedder, tasks := corpus.Fit(e, m.Corpus), m.plannedRuns()
	n := sort.Search(len(order), func(n int) bool {
		opt := m.Options
		opt.HeldBytes += docs.Bytes() + 8*values[n+1] + 8*int64(n+2)
		z := opt.memorySizes(m.Corpus, embedder, n+1, values[n+1])
		return z.requiredBytes(&opt, tasks) > opt.MemoryBytes
	})
	return min(n, int(math.Sqrt(float64(max(free, 0))/16)))
}
