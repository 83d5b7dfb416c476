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

// Candidates are the settings that [Choose] compares. Kernels, C, Schemes and Epsilons have at
// least one value each. The first value of a list is used while other lists are compared, and wins
// ties.
type Candidates struct {
	Measure  Measure
	Kernels  []kernel.Kernel
	C        []float64
	Nu       float64
	Schemes  []solver.Scheme // solver.MultiLabel excludes other schemes
	Epsilons []float64

	// ParameterUnit is the unit of C and Epsilon; for a regression, it is about the standard deviation
	// of the targets. Values of C outside the list are ParameterUnit times 0.1, 0.3, 1 and so on.
	ParameterUnit float64

	// TokenizerCount is the number of tokenizers. The corpus passed to [Choose] is tokenised by
	// tokenizer 0. Corpus returns documents tokenised by another tokenizer: the documents with the
	// given ascending indices, or all if documents is nil.
	TokenizerCount int
	Corpus         func(ctx context.Context, tokenizer int, documents []int) (*corpus.Corpus, error)

	// UniformCost is true if training takes about the same time with all tokenizers, for example if
	// tokenizers differ only in the encoding of numbers. If UniformCost is set, tokenizer i is
	// compared with all its kernels: KernelsByTokenizer[i] if set, or else Kernels. KernelsByTokenizer
	// requires UniformCost or FinalistCount.
	UniformCost        bool
	KernelsByTokenizer map[int][]kernel.Kernel

	// RelativeValueCounts, if not nil, has the approximate number of values per document for each
	// tokenizer, relative to tokenizer 0. TermCounts has the number of term occurrences per
	// document that Corpus counts.
	RelativeValueCounts, TermCounts []float64

	// Neighbours, if not nil, returns neighbours of a kernel, such as kernels with half and twice
	// its parameter. A round of kernels continues with neighbours of its best kernel until no
	// neighbour is better. If Neighbours is set, a round of C also continues with values around its
	// best C.
	Neighbours func(k kernel.Kernel) []kernel.Kernel

	// FinerNeighbours, if not nil, returns neighbours of the best kernel k for the round of C.
	FinerNeighbours func(k kernel.Kernel) []kernel.Kernel

	// SupervisedKernels lists kernels with supervised embeddings, see
	// [sparse.Embedding.Supervised]. They are compared last and only with the first C, because each
	// fold needs separate dot products. If FinalistCount is set, supervised kernels aren't
	// compared. If a sample has m of n documents, a supervised kernel wins only if it is better by
	// more than √(n/m) standard errors.
	SupervisedKernels []kernel.Kernel

	// FinalistCount is the number of candidates in a last round, which uses FinalFolds folds. The
	// last round also compares the best settings on each tokenizer. If FinalistCount is 0, there is
	// no last round.
	FinalistCount, FinalFolds int

	// PreferSmallC selects the smallest C that isn't much worse than the best. The limit is the
	// standard error of the difference or half the standard error of the score, whichever is smaller.
	// If PreferSmallC is set, a round keeps its first candidate unless another candidate is better by
	// more than a quarter of the score's standard error. In a round of tokenizers, the limit is half
	// of the standard error.
	PreferSmallC bool

	LowMemory bool // store the documents of only one tokenizer at a time

	WorkBudget float64 // work limit, in multiples of one training run
	Seed       uint64  // seed of samples and folds
}

// ChoiceFolds is the number of folds in each round except the last round of FinalistCount
// candidates.
const ChoiceFolds = 3

// These constants are numbers of documents. With fewer than minDocuments documents, nothing is
// compared unless there is a last round. A sample has at least minSample documents, or all, even if
// that exceeds the work limit, because smaller samples are too noisy. A sample has at most
// maxSample documents (a matrix of 144 MB), and in the last round at most maxFinal (1.6 GB).
const minSample, maxSample, maxFinal, minDocuments = 600, 6000, 20000, 100

// SampleEvaluator evaluates candidates on samples of a corpus, and estimates the work.
type SampleEvaluator interface {
	// NewEvaluator returns an evaluator for a round, and a function that frees the evaluator's
	// memory. tokenize returns the sample, tokenised by the given tokenizer, and the size of all
	// stored documents in bytes. The evaluator reports the progress that stage returns.
	NewEvaluator(
		r *Round, tokenize func(ctx context.Context, tokenizer int) (*corpus.Corpus, int64, error),
		stage func() (string, int64, int64),
	) (Evaluator, func() error)

	TrainingCost() Cost                             // work of one training run
	ValidationCost(all []Candidate, folds int) Cost // work of cross-validating the candidates
	CheckMemory(k kernel.Kernel) error              // returns an error if memory doesn't suffice for training with k
	MaxDocuments(order []int) int                   // maximum n such that the first n documents of order fit into memory
}

// Round is a step of a choice: candidates that were compared on a sample.
type Round struct {
	DocumentCount int     // size of the sample
	Folds         int     // number of cross-validation folds
	Points        []Point // in the order in which they were tried
	BestIndex     int     // index of the best point
	Parameter     string  // compared parameter: "kernel", "scheme", "epsilon", "C", "terms", "weighting" or "all"
}

// Choice is the candidate that [Choose] selected, with the rounds that led to it.
type Choice struct {
	Candidate                // chosen candidate
	Corpus    *corpus.Corpus // all documents, tokenised by Tokenizer; nil if Tokenizer is 0 or only samples were read
	Rounds    []Round        // empty if nothing was compared
	Sample    []int          // documents of the last round, in ascending order
	Reason    string         // reason why nothing was compared, without a full stop
	FitCount  int            // number of trained models
}

// Choose chooses tokenizer, kernel, C, scheme and epsilon for a corpus by cross-validation on
// stratified samples. Rounds compare one parameter each:
//
//   - tokenizers, with the first kernel;
//   - kernels: all with the best tokenizer, and the second family with the second-best tokenizer;
//   - schemes, then epsilon, then C, for the best candidates so far;
//   - kernels with supervised embeddings, see [Candidates.SupervisedKernels].
//
// If FinalistCount or UniformCost is set, the first round compares all kernels with all tokenizers.
// Samples are nested. Except for supervised embeddings, no sample is smaller than the previous
// sample.
//
// Work is limited by operation counts instead of time, so that the choice is the same for any
// number of workers and in every run with the same instruction set, unless memory limits samples.
// If there are too few documents, or if samples don't fit into memory, the result is the first
// candidate. After an error, the result has the completed rounds. Choose fails if memory doesn't
// suffice for training, or if the measure is Accuracy and all labels are of one class.
func Choose(ctx context.Context, c *corpus.Corpus, from Candidates, on SampleEvaluator) (*Choice, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	other := func(id int32) bool { return id != c.Labels.IDs[0] }
	if from.Measure == Accuracy && !slices.ContainsFunc(c.Labels.IDs, other) {
		return nil, fmt.Errorf("tune: %s has only 1 class, but at least 2 are required", c.Source)
	}
	from.TokenizerCount = max(from.TokenizerCount, 1)
	h := &chooser{c: c, candidates: from, evaluator: on, tokenized: map[int]*corpus.Corpus{}}
	h.out = &Choice{Candidate: h.firstCandidate()}
	if err := on.CheckMemory(from.Kernels[0]); err != nil {
		return nil, err
	}
	if h.out.Reason = h.orderSamples(); h.out.Reason != "" {
		return h.out, nil
	}
	return h.out, h.run(ctx)
}

type chooser struct {
	c          *corpus.Corpus
	candidates Candidates
	evaluator  SampleEvaluator
	out        *Choice

	order        []int // documents, ordered so that each prefix is a sample
	maxDocuments int   // number of documents that fit into memory

	tokenized map[int]*corpus.Corpus // tokenised documents of samples or the corpus, by tokenizer index above 0

	doneCost, totalCost float64 // work of the completed rounds, and of all rounds
	currentCost         float64 // work of the current comparison
	candidateCount      int     // number of candidates in the current comparison
	triedCount          atomic.Int64
}

func (h *chooser) firstCandidate() Candidate {
	g := &h.candidates
	return Candidate{Kernel: g.Kernels[0], Scheme: g.Schemes[0],
		Regularization: solver.Regularization{C: g.C[0], Nu: g.Nu, Epsilon: g.Epsilons[0]}}
}

// orderSamples orders the documents so that each prefix is a sample with the class frequencies of
// the corpus. It returns a reason if documents or memory don't suffice for a choice.
func (h *chooser) orderSamples() (why string) {
	classes := make([][]int, len(h.c.Classes)+2) // documents of each class; the last list is for unlabelled documents
	n := 0
	for i, class := range FirstClasses(h.c.Labels, h.c.Documents.Rows(), len(h.c.Classes),
		h.candidates.Measure == MicroF1) {
		if class >= 0 { // a document without a class is skipped
			classes[class] = append(classes[class], i)
			n++
		}
	}
	slices.SortStableFunc(classes, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	const each = 2 * ChoiceFolds // minimum number of documents per sample in each of the two largest classes
	few := minDocuments
	if h.candidates.FinalistCount > 0 {
		few = 2 * each
	}
	// Many small classes suffice, because each fold has documents of several classes.
	small := len(classes[1]) < each && (n-len(classes[0]) < minDocuments || len(classes[0]) > n/2)
	switch {
	case n < few && h.candidates.Measure == MeanSquaredError:
		return fmt.Sprintf("%d documents are too few", n)
	case n < few || small && h.candidates.Measure == Accuracy:
		return fmt.Sprintf("%d documents, %d of them outside the largest class, are too few", n, n-len(classes[0]))
	}
	r := rand.New(rand.NewPCG(h.candidates.Seed, uint64(n)))
	at := make(map[int]float64, n) // per document: fraction of documents in the smallest sample that contains it
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
	if h.maxDocuments = h.evaluator.MaxDocuments(h.order); h.maxDocuments < min(n, minSample) {
		return "memory is insufficient for samples"
	}
	return ""
}
