package svm

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/solver"
)

// Candidates are what [Choose] chooses from. An empty list stands for the value that Settings have.
// What is first in a list is what the others are first tried with, and wins where figures and macro F1 are equal.
type Candidates struct {
	Kernels []kernel.Kernel
	C       []float64
	Schemes []solver.Scheme // without solver.Labels, unless it is the only one
	Epsilon []float64       // of epsilon_svr

	// Unit is that of C and Epsilon: values of C that a round tries beyond its list are Unit times 0.1, 0.3, 1 and
	// such. For a regression it is about the standard deviation of the targets. Default 1.
	Unit float64

	// Cuts are ways in which the text is cut into terms. Corpus returns the given documents, which ascend,
	// or all for nil, cut in another way than the corpus, which is number 0; nil where there is none. It may
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
	// and so are values of C, where there are several. Default: the lists are all.
	Near func(k kernel.Kernel) []kernel.Kernel

	// Finer, if not nil, returns kernels near another one, which the round of C compares with the best, on more
	// documents than the rounds before have.
	Finer func(k kernel.Kernel) []kernel.Kernel

	// Supervised are kernels whose embeddings learn from labels, see [sparse.Embedding.Supervised]. Each fold takes
	// dot products of its own, so they come last: a round on m of n documents compares up to three of them, with the
	// first C, with what was chosen, which stays unless one is better by √(n/m) times the standard error of its figure.
	// Not where Final asks for a last round.
	Supervised []kernel.Kernel

	// Final is how many of the best are compared in a last round, and the best on each cut, by Folds folds
	// (default [DefaultFolds]) of all documents, as far as Work allows; 0: there is no such round.
	Final, Folds int

	// LeastC takes the least of several C that isn't worse than the best by more than the standard
	// error of their difference, or half that of the figure, and in each round what was first in its list
	// unless another is better by a quarter of the latter, of cuts by half of it. Default: the best.
	LeastC bool

	Work float64 // what the choice may cost, as a multiple of the training; default 1
	Seed uint64  // of samples and folds
}

// ChoiceFolds is the number of folds of a choice, except its last round.
const ChoiceFolds = 3

// Bounds of a choice: of fewer than fewDocuments it makes none, unless it has a last round: that is
// a search somebody asked for, not a default. A sample has leastSample documents at
// least, or all there are, even if that costs more than it may: figures of fewer say little. It has
// mostSample at most, whose matrix takes 144 MB, and mostFinal in the last round, 1.6 GB.
const leastSample, mostSample, mostFinal, fewDocuments = 600, 6000, 20000, 100

// Round is a part of a choice: candidates that were compared on a sample.
type Round struct {
	Documents int     // of the sample
	Folds     int     // of it
	Points    []Point // in the order in which they were tried
	Best      int     // of Points
	Compares  string  // what it compares: "kernel", "scheme", "epsilon", "C", "terms", "weighting" or "all"
}

// Chosen is the result of a choice.
type Chosen struct {
	Settings Settings       // those that were given, with the kernel, C, scheme and epsilon that were chosen
	Cut      int            // the way in which the text is cut that was chosen
	Corpus   *corpus.Corpus // all documents cut in that way; nil where Cut is 0, or they weren't cut
	Measure  Measure
	Rounds   []Round // empty where nothing was to be compared, or Why says why nothing could be
	Sample   []int   // the documents of the last round, ascending
	Why      string  // in a sentence without a full stop

	DotProducts int64 // that were computed
	Fits        int   // classifiers that were trained
}

// Choose chooses kernel, C and scheme of c_svc for a corpus, or kernel, C and epsilon of a regression, and how its
// text is cut, by cross-validation on samples in which classes are as frequent as in the corpus. The best kernels by
// the first scheme and C are compared by all schemes, and the best of these by all C. All cuts come first, with
// the first kernel; the second best of them is tried once more with the kernels of the first other family, which
// stay in later rounds while they are among the best. In a search, which has a last round, all cuts come with all
// kernels, and again in that round, with the best settings. Each round's sample contains the one before, and fewer
// candidates make it larger. Kernels that learn from labels come last, on a sample that may be smaller. Cuts that are
// alike come with all kernels in any case, and in a regression with the best of them and all C.
//
// The work is bounded by counts, not by time: the values of the kernel that are computed, and those
// that the training of a machine reads, all estimated from numbers of documents. So the choice is
// the same from any number of workers and on every run with the same instruction set, unless
// Options.MemoryBytes leaves room for smaller samples only.
//
// Where documents are too few to choose by, or memory is, the result has the first of the candidates
// and says why. At the end of ctx, or after another error, the result has the rounds that are complete, and
// the best of them. It computes on the processor and ignores Options.Device, Store, Once and CacheBytes.
//
// Errors: those of [Problem.Search], another type than c_svc, epsilon_svr and nu_svr, documents without labels or of
// one class, Work, a C, an epsilon or a unit that isn't a positive number.
func Choose(
	ctx context.Context, c *corpus.Corpus, s Settings, from Candidates, opt Options,
) (*Chosen, error) {
	if _, err := kernels(opt.ISA); err != nil {
		return nil, err
	}
	if len(c.Labels.IDs) == 0 {
		return nil, fmt.Errorf("svm: %s has no labels, expected some to choose by", c.Source)
	}
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	if from, err = from.resolve(&s); err != nil {
		return nil, err
	}
	opt.Device, opt.Once, opt.CacheBytes = nil, false, 0
	h := &choosing{c: c, s: s, from: from, opt: opt, out: &Chosen{Settings: s}, cuts: map[int]*corpus.Corpus{}}
	h.s.Scheme = from.Schemes[0]
	h.out.Measure = h.s.Measure()
	other := func(id int32) bool { return id != c.Labels.IDs[0] }
	if h.out.Measure == Accuracy && !slices.ContainsFunc(c.Labels.IDs, other) {
		return nil, fmt.Errorf("svm: %s: the documents are of 1 class, expected two or more", c.Source)
	}
	h.take(h.first())
	if err := h.fits(); err != nil {
		return nil, err
	}
	if h.out.Why = h.sample(); h.out.Why != "" {
		return h.out, nil
	}
	return h.out, h.run(ctx)
}

// resolve checks the candidates and fills in the settings' own values.
func (g Candidates) resolve(s *Settings) (Candidates, error) {
	if s.Type == model.NuSVC || s.Type == model.OneClass {
		return g, fmt.Errorf("svm: a choice for type %s, expected %s, %s or %s", s.Type, model.CSVC, model.EpsilonSVR,
			model.NuSVR)
	}
	if g.Work == 0 {
		g.Work = 1
	}
	if !(g.Work > 0) || math.IsInf(g.Work, 0) {
		return g, fmt.Errorf("svm: the work of a choice is %v, expected a positive number", g.Work)
	}
	if len(g.Kernels) == 0 {
		g.Kernels = []kernel.Kernel{s.Kernel}
	}
	if len(g.C) == 0 {
		g.C = []float64{s.C}
	}
	if s.Measure() == MeanSquaredError {
		g.Supervised = nil // there are no classes
	}
	if g.Unit == 0 {
		g.Unit = 1
	}
	for _, list := range []struct {
		name   string
		values []float64
	}{{"C", g.C}, {"epsilon", g.Epsilon}, {"unit", []float64{g.Unit}}} {
		for _, v := range list.values {
			if !(v > 0) || math.IsInf(v, 0) {
				return g, fmt.Errorf("svm: %s %v among the candidates, expected a number above 0", list.name, v)
			}
		}
	}
	if s.Type != model.EpsilonSVR || len(g.Epsilon) == 0 {
		g.Epsilon = []float64{s.Epsilon}
	}
	if len(g.Schemes) == 0 {
		g.Schemes = []solver.Scheme{s.Scheme}
	}
	if g.Folds == 0 {
		g.Folds = DefaultFolds
	}
	g.Cuts = max(g.Cuts, 1)
	return g, checkSchemes(g.Schemes)
}

// choosing is a choice under way.
type choosing struct {
	c    *corpus.Corpus
	s    Settings
	from Candidates
	opt  Options
	out  *Chosen

	order []int // the documents, so that each beginning is a sample
	most  int   // documents that memory has room for

	cuts map[int]*corpus.Corpus // documents of a sample, or all, cut in other ways than the corpus

	done, total float64 // work, of rounds
	now         float64 // that of what is compared
	tries       int     // candidates of it
	tried       atomic.Int64
}

// sample puts the documents into an order of which each beginning is a sample, in which classes are
// as frequent as in the corpus, or says why there is nothing to choose by.
func (h *choosing) sample() (why string) {
	classes := make([][]int, len(h.c.Classes)+1) // documents by class, those without one last
	labels := h.from.Schemes[0] == solver.Labels
	n := 0
	for i := range h.c.Documents.Rows() {
		ids := h.c.Labels.Of(i)
		switch {
		case len(ids) > 0:
			classes[ids[0]] = append(classes[ids[0]], i)
		case labels:
			classes[len(h.c.Classes)] = append(classes[len(h.c.Classes)], i)
		default:
			continue // left out
		}
		n++
	}
	slices.SortStableFunc(classes, func(a, b []int) int { return cmp.Compare(len(b), len(a)) })
	const each = 2 * ChoiceFolds // of the two greatest classes, so that no fold is left with one
	few := fewDocuments
	if h.from.Final > 0 {
		few = 2 * each
	}
	// Many small classes do as well: folds have documents of several.
	small := len(classes[1]) < each && (n-len(classes[0]) < fewDocuments || len(classes[0]) > n/2)
	if n < few || h.s.Measure() == Accuracy && small {
		if h.s.Measure() == MeanSquaredError {
			return fmt.Sprintf("%d documents are too few", n)
		}
		return fmt.Sprintf("%d documents are too few, with %d outside the largest class",
			n, n-len(classes[0]))
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
	h.most = n
	if h.opt.MemoryBytes > 0 { // tiles, a matrix in the order of folds, and as much again for the rest
		room := h.opt.MemoryBytes - h.opt.HeldBytes - 2*h.c.Documents.Bytes()
		h.most = min(h.roomFor(), int(math.Sqrt(float64(max(room, 0))/16)))
	}
	if h.most < min(n, leastSample) {
		return "there is too little memory to choose on samples"
	}
	return ""
}
