package tune

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/solver"
)

// Candidates are the settings that [Choose] compares. Each list has at least one value. The first
// value of a list is used while other lists are compared, and wins ties.
type Candidates struct {
	Measure Measure
	Kernels []kernel.Kernel
	C       []float64
	Nu      float64
	Schemes []solver.Scheme // solver.Labels must be the only one
	Epsilon []float64

	// Unit is the unit of C and Epsilon, for a regression about the standard deviation of the
	// targets. A round of C also tries Unit times 0.1, 0.3, 1 and so on.
	Unit float64

	// Cuts is the number of ways in which text is cut into terms. The corpus is cut in way 0. Corpus
	// returns documents cut in another way: the given ones in ascending order, or all for nil.
	Cuts   int
	Corpus func(ctx context.Context, cut int, documents []int) (*corpus.Corpus, error)
	Alike  bool // cuts cost about the same, such as widths of numbers: all kernels are compared on each cut

	// Values, if not nil, has the approximate number of values per document of each cut, relative to
	// cut 0. Counted has the number of terms per document that Corpus counts.
	Values, Counted []float64

	// Near, if not nil, returns the neighbours of a kernel, such as the kernels with half and twice
	// its parameter. A round goes on with neighbours of its best kernel, or of its best C, until the
	// best is better than its neighbours.
	Near func(k kernel.Kernel) []kernel.Kernel

	// Finer, if not nil, returns neighbours of the best kernel that the round of C tries, too.
	Finer func(k kernel.Kernel) []kernel.Kernel

	// Supervised are kernels whose embeddings learn from labels, see [sparse.Embedding.Supervised].
	// They are compared last, with the first C, unless Final is set: each fold needs dot products of
	// its own. On m of n documents one of them is taken only if it is better by √(n/m) standard
	// errors of its figure.
	Supervised []kernel.Kernel

	// Final is the number of candidates that a last round compares by Folds folds of all documents,
	// with the best settings on each cut. If it is 0 there is no such round.
	Final, Folds int

	// LeastC takes the smallest C that isn't worse than the best by more than the standard error of
	// the difference, or half the standard error of the figure. A round then keeps its first
	// candidate unless another is better by a quarter of that error, or by half of it between cuts.
	LeastC bool

	LowMemory bool // keep only one cut at a time

	Work float64 // limit, in multiples of the work of one training
	Seed uint64  // of samples and folds
}

// ChoiceFolds is the number of folds of a choice, except its last round.
const ChoiceFolds = 3

// Bounds of a choice. With fewer than fewDocuments nothing is compared, unless there is a last
// round. A sample has at least leastSample documents, or all, even if that exceeds the work:
// figures of fewer say little. It has at most mostSample, whose matrix takes 144 MB, and at most
// mostFinal in the last round, 1.6 GB.
const leastSample, mostSample, mostFinal, fewDocuments = 600, 6000, 20000, 100

// Samples evaluates candidates on samples of a corpus, and estimates the work.
type Samples interface {
	// Open returns an evaluator for a round, and a function that frees its memory. cut returns the
	// documents of the sample cut in a way, and the bytes that the process holds beside them. The
	// evaluator reports progress as stage says.
	Open(
		r *Round, cut func(ctx context.Context, cut int) (*corpus.Corpus, int64, error), stage func() (string, int64, int64),
	) (Evaluator, func() error)

	Training() Work                       // the work of a training
	Work(all []Candidate, folds int) Work // the work of a cross-validation
	Fits(k kernel.Kernel) error           // fails if there is too little memory for the training that follows
	Room(order []int) int                 // how many documents, from the first on, fit into memory
}

// Round is a part of a choice: candidates that were compared on a sample.
type Round struct {
	Documents int     // size of the sample
	Folds     int     // number of folds
	Points    []Point // in the order in which they were tried
	Best      int     // of Points
	Compares  string  // the parameter: "kernel", "scheme", "epsilon", "C", "terms", "weighting" or "all"
}

// Choice is the result of [Choose].
type Choice struct {
	Candidate                // that was chosen
	Corpus    *corpus.Corpus // all documents cut in way Cut; nil if Cut is 0, or if they weren't cut yet
	Rounds    []Round        // empty if there was nothing to compare, or Why says why it wasn't compared
	Sample    []int          // the documents of the last round, in ascending order
	Why       string         // a sentence without a full stop
	Fits      int            // number of models that were trained
}

// Choose chooses kernel, C, scheme, epsilon and terms for a corpus by cross-validation on
// stratified samples. Rounds compare one parameter each:
//
//   - terms, with the first kernel;
//   - kernels, on the best terms, and those of the first other family on the second best;
//   - schemes, then epsilon, then C, for the best candidates so far;
//   - kernels that learn from labels, see [Candidates.Supervised].
//
// A search with a last round, and cuts that are alike, compare all kernels on all terms at once.
// Each sample contains the one before. Rounds of fewer candidates get larger samples.
//
// The work is bounded by counts instead of time, so that the choice is the same from any number of
// workers and from run to run with the same instruction set, unless there is memory for smaller
// samples only. With too few documents, or too little memory, the result has the first candidates.
// After an error it has the rounds that are complete. Documents of one class are an error.
func Choose(ctx context.Context, c *corpus.Corpus, from Candidates, on Samples) (*Choice, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	other := func(id int32) bool { return id != c.Labels.IDs[0] }
	if from.Measure == Accuracy && !slices.ContainsFunc(c.Labels.IDs, other) {
		return nil, fmt.Errorf("tune: %s: the documents are of 1 class, expected two or more", c.Source)
	}
	from.Cuts = max(from.Cuts, 1)
	h := &choosing{c: c, from: from, on: on, cuts: map[int]*corpus.Corpus{}}
	h.out = &Choice{Candidate: h.first()}
	if err := on.Fits(from.Kernels[0]); err != nil {
		return nil, err
	}
	if h.out.Why = h.sample(); h.out.Why != "" {
		return h.out, nil
	}
	return h.out, h.run(ctx)
}

// choosing is a choice under way.
type choosing struct {
	c    *corpus.Corpus
	from Candidates
	on   Samples
	out  *Choice

	order []int // the documents, so that each beginning is a sample
	most  int   // documents that memory has room for

	cuts map[int]*corpus.Corpus // documents of a sample, or all, cut in other ways than the corpus

	done, total float64 // work, of rounds
	now         float64 // that of what is compared
	tries       int     // candidates of it
	tried       atomic.Int64
}

// first is the candidate that the others are first tried with.
func (h *choosing) first() Candidate {
	g := &h.from
	return Candidate{Kernel: g.Kernels[0], Scheme: g.Schemes[0],
		Regularization: solver.Regularization{C: g.C[0], Nu: g.Nu, Epsilon: g.Epsilon[0]}}
}

// sample puts the documents into an order of which each beginning is a sample, in which classes are
// as frequent as in the corpus, or says why there is nothing to choose by.
func (h *choosing) sample() (why string) {
	classes := make([][]int, len(h.c.Classes)+2) // documents by class, those without one behind the last
	n := 0
	for i, class := range Strata(h.c.Labels, h.c.Documents.Rows(), len(h.c.Classes), h.from.Measure == MicroF1) {
		if class >= 0 { // others are left out
			classes[class] = append(classes[class], i)
			n++
		}
	}
	slices.SortStableFunc(classes, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	const each = 2 * ChoiceFolds // of the two greatest classes, so that no fold is left with one
	few := fewDocuments
	if h.from.Final > 0 {
		few = 2 * each
	}
	// Many small classes do as well: folds have documents of several.
	small := len(classes[1]) < each && (n-len(classes[0]) < fewDocuments || len(classes[0]) > n/2)
	switch {
	case n < few && h.from.Measure == MeanSquaredError:
		return fmt.Sprintf("%d documents are too few", n)
	case n < few || small && h.from.Measure == Accuracy:
		return fmt.Sprintf("%d documents are too few, with %d outside the largest class", n, n-len(classes[0]))
	}
	r := rand.New(rand.NewPCG(h.from.Seed, uint64(n)))
	at := make(map[int]float64, n) // by document: from which share of the corpus on it is in the sample
	for k, class := range classes {
		r.Shuffle(len(class), func(i, j int) { class[i], class[j] = class[j], class[i] })
		first := r.Float64()
		for i, doc := range class {
			if at[doc] = (float64(i) + first) / float64(len(class)); k < 2 && i < each {
				at[doc] = -1
			}
			h.order = append(h.order, doc)
		}
	}
	slices.SortStableFunc(h.order, func(a, b int) int { return cmp.Compare(at[a], at[b]) })
	if h.most = h.on.Room(h.order); h.most < min(n, leastSample) {
		return "there is too little memory to choose on samples"
	}
	return ""
}
