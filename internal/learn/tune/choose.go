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
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/solver"
)

// Candidates are what [Choose] chooses from. Each list has at least one value, which the others are first tried with,
// and which wins where figures and macro F1 are equal.
type Candidates struct {
	Measure Measure
	Kernels []kernel.Kernel
	C       []float64
	Nu      float64
	Schemes []solver.Scheme // without solver.Labels, unless it is the only one
	Epsilon []float64

	// Unit is that of C and Epsilon: values of C that a round tries beyond its list are Unit times 0.1, 0.3, 1 and
	// such. For a regression it is about the standard deviation of the targets.
	Unit float64

	// Cuts are ways in which the text is cut into terms. Corpus returns the given documents, which ascend,
	// or all for nil, cut in another way than the corpus, which is number 0. It may
	// be called again for a cut when samples grow, and with nil when one cut is left. Values,
	// if not nil, has the number of values per document of each cut, about, as a multiple of that of cut 0:
	// dot products cost so much more. Counted, if not nil, has the number of terms per document that Corpus
	// counts.
	Cuts            int
	Alike           bool // cuts cost about the same, such as widths of numbers: they come with all kernels at once
	Corpus          func(ctx context.Context, cut int, documents []int) (*corpus.Corpus, error)
	Values, Counted []float64

	// Near returns the neighbours of a kernel, such as those with half and twice its parameter. If it
	// isn't nil, kernels near the best one are tried as long as that isn't better than its neighbours,
	// and so are values of C, where there are several.
	Near func(k kernel.Kernel) []kernel.Kernel

	// Finer, if not nil, returns kernels near another one, which the round of C compares with the best, on more
	// documents than the rounds before have.
	Finer func(k kernel.Kernel) []kernel.Kernel

	// Supervised are kernels whose embeddings learn from labels, see [sparse.Embedding.Supervised]. Each fold takes
	// dot products of its own, so they come last: a round on m of n documents compares up to three of them, with the
	// first C, with what was chosen, which stays unless one is better by √(n/m) times the standard error of its figure.
	// Not if Final asks for a last round.
	Supervised []kernel.Kernel

	// Final is how many of the best are compared in a last round, and the best on each cut, by Folds folds
	// of all documents, as far as Work allows; 0: there is no such round.
	Final, Folds int

	// LeastC takes the least of several C that isn't worse than the best by more than the standard
	// error of their difference, or half that of the figure, and in each round what was first in its list
	// unless another is better by a quarter of the latter, of cuts by half of it.
	LeastC bool

	LowMemory bool // documents cut in other ways than the one that is compared aren't kept

	Work float64 // what the choice may cost, as a multiple of the training
	Seed uint64  // of samples and folds
}

// ChoiceFolds is the number of folds of a choice, except its last round.
const ChoiceFolds = 3

// Bounds of a choice: of fewer than fewDocuments it makes none, unless it has a last round: that is
// a search somebody asked for, not a default. A sample has leastSample documents at
// least, or all there are, even if that costs more than it may: figures of fewer say little. It has
// mostSample at most, whose matrix takes 144 MB, and mostFinal in the last round, 1.6 GB.
const leastSample, mostSample, mostFinal, fewDocuments = 600, 6000, 20000, 100

// Samples evaluates candidates on samples, and knows what that costs.
type Samples interface {
	// Open returns an evaluator for the candidates of a round, and a function that frees what it holds. cut returns the
	// documents of the sample cut in a way, and the bytes that are held beside a problem of them. The evaluator reports
	// its progress as stage says.
	Open(
		r *Round, cut func(ctx context.Context, cut int) (*corpus.Corpus, int64, error), stage func() (string, int64, int64),
	) (Evaluator, func() error)

	Training() Work                       // the work of a training
	Work(all []Candidate, folds int) Work // the work of a cross-validation
	Fits(k kernel.Kernel) error           // refuses kernels that memory is too little for after the choice
	Room(order []int) int                 // how many documents, from the first on, memory has room for
}

// Round is a part of a choice: candidates that were compared on a sample.
type Round struct {
	Documents int     // of the sample
	Folds     int     // of it
	Points    []Point // in the order in which they were tried
	Best      int     // of Points
	Compares  string  // what it compares: "kernel", "scheme", "epsilon", "C", "terms", "weighting" or "all"
}

// Choice is the result of [Choose].
type Choice struct {
	Candidate                // that was chosen
	Corpus    *corpus.Corpus // all documents cut in that way; nil where Cut is 0, or they weren't cut
	Rounds    []Round        // empty where nothing was to be compared, or Why says why nothing could be
	Sample    []int          // the documents of the last round, ascending
	Why       string         // in a sentence without a full stop
	Fits      int            // models that were trained
}

// Choose chooses kernel, C, scheme and epsilon for a corpus, and how its text is cut, by cross-validation on samples
// in which classes are as frequent as in the corpus. The best kernels by
// the first scheme and C are compared by all schemes, and the best of these by all C. All cuts come first, with
// the first kernel; the second best of them is tried once more with the kernels of the first other family, which
// stay in later rounds while they are among the best. In a search, which has a last round, all cuts come with all
// kernels, and again in that round, with the best settings. Each round's sample contains the one before, and fewer
// candidates make it larger. Kernels that learn from labels come last, on a sample that may be smaller. Cuts that are
// alike come with all kernels in any case, and in a regression with the best of them and all C.
//
// The work is bounded by counts, not by time. So the choice is
// the same from any number of workers and on every run with the same instruction set, unless
// memory leaves room for smaller samples only.
//
// Where documents are too few to choose by, or memory is, the result has the first of the candidates
// and says why. At the end of ctx, or after another error, the result has the rounds that are complete, and
// the best of them. Errors: documents of one class, those of evaluations.
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
		Regularization: model.Regularization{C: g.C[0], Nu: g.Nu, Epsilon: g.Epsilon[0]}}
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
