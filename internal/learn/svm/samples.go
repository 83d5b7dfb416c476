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

// Samples implements [tune.Samples] for support vector machines. It computes on the CPU, and
// ignores Options.Device, Once and CacheBytes.
type Samples struct {
	Corpus   *corpus.Corpus
	Settings Settings // settings that candidates don't override, see [Settings.Resolve]
	From     *tune.Candidates
	Options  Options // Options.Tasks lists the tasks that follow the search

	DotProducts int64 // number of computed dot products
}

// problems creates the problems of an evaluation, one at a time.
type problems struct {
	// corpus returns the corpus, and the bytes of memory in use outside the corpus.
	corpus func(ctx context.Context, cut int) (*corpus.Corpus, int64, error)
	opt    Options
	last   *Problem
	cut    int // index of the tokenizer of last's documents
}

// next returns the problem for a tokenizer and an embedding. If this isn't the previous problem,
// the previous problem is closed.
func (o *problems) next(ctx context.Context, cut int, e sparse.Embedding) (*Problem, error) {
	if o.last != nil && o.cut == cut && o.last.Embedding() == e {
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
	o.cut = cut
	return o.last, err
}

func (o *problems) close() error {
	if o.last == nil {
		return nil
	}
	e := o.last.Engine()
	o.last = nil
	return e.Close()
}

// If C is too large for noisy targets, training a regression takes very many steps. In a choice, a
// fit stops after stepsEach steps per document, or minSteps if that is more, and ranks below fits
// that reach the tolerance.
const stepsEach, minSteps = 200, 50_000

// Open implements tune.Samples. Only the last round of a choice computes probabilities.
func (m *Samples) Open(
	r *tune.Round, cut func(ctx context.Context, cut int) (*corpus.Corpus, int64, error),
	stage func() (string, int64, int64),
) (tune.Evaluator, func() error) {
	own := &problems{opt: m.Options, corpus: cut}
	own.opt.Device, own.opt.Once, own.opt.CacheBytes, own.opt.Tasks = nil, false, 0, m.tasks()
	if tell := m.Options.Progress; tell != nil {
		own.opt.Progress = func(p Progress) {
			p.Stage, p.Done, p.Total = stage()
			tell(p)
		}
	}
	s := m.Settings
	s.Probabilities = s.Probabilities && r.Compares == "all"
	if s.Measure() == tune.MeanSquaredError {
		s.steps = max(minSteps, stepsEach*r.Documents)
	}
	e := &Evaluator{Settings: s, Division: tune.Division{Folds: r.Folds, Seed: m.From.Seed}, Problem: own.next}
	return e, func() error {
		m.DotProducts += e.DotProducts
		return own.close()
	}
}

// The unit of work is the cost of a dot product of two documents. Mapping a dot product to a kernel
// value takes half as much work. Linear terms are for embedding and tokenising.
var (
	dotWork    = tune.Work{Square: 1, Linear: 500}
	kernelWork = tune.Work{Square: 0.5}
	countWork  = tune.Work{Linear: 12} // per term
)

// fitWork estimates the work of a solver. One-vs-one reads each kernel value about once.
// One-vs-rest reads each value three times for 20 classes, and more often for more classes. Each
// step also takes as much work as a few hundred kernel values. In one-vs-one, every document is in
// a classifier for each other class, but steps are short. The numbers were measured on 20
// Newsgroups, WebKB, and synthetic documents of 4, 20 and 200 classes.
func (m *Samples) fitWork(scheme solver.Scheme) tune.Work {
	k := float64(len(m.Corpus.Classes))
	switch {
	case m.Settings.Measure() == tune.MeanSquaredError: // two variables for each document
		return tune.Work{Square: 4, Linear: 200}
	case scheme == solver.OneVsOne:
		return tune.Work{Square: 1, Linear: 100 * k}
	}
	return tune.Work{Square: 2 + k/25, Linear: 50 * k}
}

// Training implements tune.Samples. It assumes one-vs-one, which reads each kernel value about 1.5
// times.
func (m *Samples) Training() (total tune.Work) {
	total.Add(1, dotWork, 1)
	total.Add(1.5, m.fitWork(solver.OneVsOne), 1)
	return total
}

// Work implements tune.Samples.
func (m *Samples) Work(all []tune.Candidate, folds int) (total tune.Work) {
	values := 1.0
	for i, q := range all {
		first := func(same func(o tune.Candidate) bool) bool { return !slices.ContainsFunc(all[:i], same) }
		sameCut := func(o tune.Candidate) bool { return o.Terms == q.Terms }
		if m.From.Counted != nil && first(sameCut) { // counted once for all embeddings
			total.Add(m.From.Counted[q.Terms], countWork, 1)
		}
		e := q.Kernel.Embedding()
		if first(func(o tune.Candidate) bool { return sameCut(o) && o.Kernel.Embedding() == e }) {
			if m.From.Values != nil {
				values = m.From.Values[q.Terms]
			}
			if byFold(e) {
				total.Add(float64(folds)*values, dotWork, 1)
			} else {
				total.Add(values, dotWork, 1)
			}
		}
		if first(q.SameKernel) {
			total.Add(1, kernelWork, 1)
		}
		total.Add(float64(folds), m.fitWork(q.Scheme), float64(folds-1)/float64(folds))
	}
	return total
}

// Fits implements tune.Samples. It fails if memory doesn't suffice for the tasks after the choice.
func (m *Samples) Fits(k kernel.Kernel) error {
	if m.Options.MemoryBytes == 0 || len(m.Options.Tasks) == 0 {
		return nil
	}
	p, docs := &Problem{opt: m.Options}, m.Corpus.Documents
	p.bound = p.opt.sizes(m.Corpus, corpus.Fit(k.Embedding(), m.Corpus), docs.Rows(), docs.NNZ()+int64(docs.EmptyRows()))
	p.bound.engine = p.bound.kept
	if p.bound.need(&p.opt, p.opt.Tasks) <= p.opt.MemoryBytes {
		return nil
	}
	return p.tooLarge()
}

func (m *Samples) tasks() (tasks []Task) {
	g := m.From
	for _, scheme := range g.Schemes {
		s := m.Settings
		s.Scheme = scheme
		tasks = append(tasks, Task{s, max(tune.ChoiceFolds, g.Folds), max(len(g.C), len(g.Epsilon), g.Final)})
	}
	return tasks
}

// Room implements tune.Samples. Memory must hold tiles, a matrix in the order of folds, as much
// again for other data, and a problem in addition to the corpus.
func (m *Samples) Room(order []int) int {
	if m.Options.MemoryBytes == 0 {
		return len(order)
	}
	docs, g := m.Corpus.Documents, m.From
	free := m.Options.MemoryBytes - m.Options.HeldBytes - 2*docs.Bytes()
	most := 1.0 // largest number of values of a tokenizer, relative to tokenizer 0
	if g.Values != nil {
		most = max(1, slices.Max(g.Values))
	}
	values := make([]int64, len(order)+1)
	for i, doc := range order {
		n := max(docs.Offsets[doc+1]-docs.Offsets[doc], 1)
		values[i+1] = values[i] + int64(math.Ceil(most*float64(n)))
	}
	e := g.Kernels[0].Embedding()
	if i := slices.IndexFunc(g.Kernels, func(k kernel.Kernel) bool { return byFold(k.Embedding()) }); i >= 0 {
		e = g.Kernels[i].Embedding() // takes the most memory
	}
	embedder, tasks := corpus.Fit(e, m.Corpus), m.tasks()
	n := sort.Search(len(order), func(n int) bool {
		opt := m.Options
		opt.HeldBytes += docs.Bytes() + 8*values[n+1] + 8*int64(n+2)
		z := opt.sizes(m.Corpus, embedder, n+1, values[n+1])
		return z.need(&opt, tasks) > opt.MemoryBytes
	})
	return min(n, int(math.Sqrt(float64(max(free, 0))/16)))
}
