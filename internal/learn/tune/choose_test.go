package tune

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
)

// costs implements SampleEvaluator without training. In one-vs-one, each kernel value is read once.
type costs struct {
	classes float64
	room    int // number of documents that fit; 0 for all
}

func (m *costs) NewEvaluator(
	*Round, func(context.Context, int) (*corpus.Corpus, int64, error), func() (string, int64, int64),
) (Evaluator, func() error) {
	return nil, nil
}

func (m *costs) CheckMemory(kernel.Kernel) error { return nil }

func (m *costs) MaxDocuments(order []int) int {
	if m.room > 0 {
		return m.room
	}
	return len(order)
}

func (m *costs) TrainingCost() Cost { return Cost{2.5, 500 + 150*m.classes} }

func (m *costs) ValidationCost(all []Candidate, folds int) (total Cost) {
	for i, q := range all {
		if i == 0 || q.Kernel.Embedding() != all[i-1].Kernel.Embedding() {
			total.Add(1, Cost{1, 500}, 1)
		}
		fit := Cost{1, 100 * m.classes}
		if q.Scheme != solver.OneVsOne {
			fit = Cost{2 + m.classes/25, 50 * m.classes}
		}
		total.Add(float64(folds), fit, float64(folds-1)/float64(folds))
	}
	return total
}

// Each sample contains the smaller samples and has the class frequencies of the corpus.
func TestChooseSample(t *testing.T) {
	c := musttest.Get(corpus.Read(t.Context(), "synthetic:docs=4000,terms=300,length=10,classes=3,seed=3",
		corpus.Options{}))(t)
	on := &costs{classes: 3}
	h := &chooser{c: c, evaluator: on, candidates: Candidates{Seed: 1}}
	if why := h.orderSamples(); why != "" || h.maxDocuments != 4000 || len(h.order) != 4000 {
		t.Fatalf("%q, %d of %d", why, h.maxDocuments, len(h.order))
	}
	count := func(documents []int) []float64 {
		n := make([]float64, 3)
		for _, i := range documents {
			n[c.Labels.Classes(i)[0]] += 1 / float64(len(documents))
		}
		return n
	}
	all := count(h.order)
	for _, n := range []int{500, 1500, 3000} {
		for k, share := range count(h.order[:n]) {
			if !(math.Abs(share-all[k]) <= 0.02) {
				t.Errorf("of %d documents %v are of class %d, of all %v", n, share, k, all[k])
			}
		}
	}
	for room, want := range map[int]string{2000: "", 100: "memory is insufficient for samples"} {
		on.room, h.order = room, nil
		if why := h.orderSamples(); why != want || h.maxDocuments != room {
			t.Errorf("%q, %d documents of %d", why, h.maxDocuments, room)
		}
	}
}

// With many classes, the smallest sample stays within the work limit of a round, because only the
// first candidates are compared. A search compares all candidates.
func TestChooseWork(t *testing.T) {
	var kernels []kernel.Kernel
	for _, spec := range []string{"diffusion:t=2", "linear:embed=tfidf-l2", "diffusion:t=8", "diffusion:t=4"} {
		kernels = append(kernels, kernel.MustParse(spec))
	}
	for _, docs := range []int{600, 3000, 20000} {
		for _, classes := range []int{2, 20, 200} {
			h := &chooser{evaluator: &costs{classes: float64(classes)}, order: make([]int, docs), maxDocuments: docs,
				candidates: Candidates{Kernels: kernels, C: []float64{10, 1, 100}, Epsilons: []float64{0}, TokenizerCount: 1,
					WorkBudget: 1,
					Schemes:    []solver.Scheme{solver.OneVsOne, solver.OneVsRest}}}
			rounds := h.candidates.rounds()
			share := h.trainingCost(float64(docs)) / float64(len(rounds))
			best := []Candidate{{Kernel: kernels[0], Regularization: solver.Regularization{C: 10}}}
			least := min(docs, minSample)
			for _, round := range rounds {
				wanted := h.candidates.extend(round, best)
				got, n := h.planRound(round, wanted, len(rounds), least)
				over := max(maxOverrun*share, minCost)
				if round == "C" { // a sample above fullSampleFraction is extended to all documents
					over = max(over, 4*share/(fullSampleFraction*fullSampleFraction))
				}
				if takes := h.evaluator.ValidationCost(got, h.candidates.folds(round)).ForDocuments(float64(n)); len(got) > 1 &&
					!(takes <= over) {
					t.Errorf("%d documents, %d classes: %s takes %g, expected up to %g", docs, classes, round, takes, over)
				}
				if n < least || !slices.Equal(got, wanted[:len(got)]) {
					t.Errorf("%d documents, %d classes: %d of %d on %d", docs, classes, len(got), len(wanted), n)
				}
				if classes == 2 && docs > 600 && len(got) < len(wanted) {
					t.Errorf("%d documents, 2 classes: %d of %d are left out", docs, len(wanted)-len(got), len(wanted))
				}
				best, least = got, n
			}
			h.candidates.FinalistCount = 1
			if got, _ := h.planRound("kernel", h.candidates.extend("kernel", best[:1]), 1, least); len(got) != len(kernels) {
				t.Errorf("a search compares %d kernels", len(got))
			}
		}
	}
}

// The smallest C that isn't clearly worse is chosen.
func TestSmallestC(t *testing.T) {
	k := kernel.MustParse("diffusion")
	point := func(c float64, figures ...float64) Point {
		r := &Result{Measure: Accuracy, FoldValues: figures}
		r.computeStatistics()
		return Point{Candidate: Candidate{Kernel: k, Regularization: solver.Regularization{C: c}}, Result: r}
	}
	for want, points := range map[float64][]Point{
		1:   {point(10, 0.8, 0.9, 0.7), point(1, 0.81, 0.88, 0.69), point(0.1, 0.6, 0.6, 0.6)},
		10:  {point(10, 0.8, 0.9, 0.7), point(1, 0.79, 0.89, 0.68), point(100, 0.79, 0.9, 0.7)},
		100: {point(10, 0.7, 0.8, 0.6), point(100, 0.8, 0.9, 0.7)},
	} {
		for _, m := range []Measure{Accuracy, MeanSquaredError} {
			of, best := slices.Clone(points), 0
			for i := range of {
				if m == MeanSquaredError {
					own := *of[i].Result
					of[i].Result, own.Measure = &own, m
					of[i].FoldValues = slices.Clone(of[i].FoldValues)
					for fold := range of[i].FoldValues {
						of[i].FoldValues[fold] = 1 - of[i].FoldValues[fold]
					}
				}
				if of[i].Mean > of[best].Mean {
					best = i
				}
			}
			if at := smallestC(of, best, math.Inf(1)); of[at].C != want {
				t.Errorf("%s: C = %v, expected %v", m, of[at].C, want)
			}
		}
	}
	// A smaller C that is better in each fold wins, even if the first candidate would be kept.
	points := []Point{point(100, 0.6, 0.7, 0.5), point(10, 0.61, 0.71, 0.51)}
	if at := smallestC(points, 0, 0.1); points[at].C != 10 {
		t.Errorf("C = %v, expected 10", points[at].C)
	}
	points[1].UnfinishedCount = 1
	if at := smallestC(points, 0, 0.1); points[at].C != 100 {
		t.Errorf("C = %v, expected 100, whose searches ended", points[at].C)
	}
	h := &chooser{candidates: Candidates{Measure: MeanSquaredError}}
	ended := Point{Result: &Result{Measure: MeanSquaredError, Mean: 2}}
	less := Point{Result: &Result{Measure: MeanSquaredError, Mean: 1, UnfinishedCount: 3}}
	if !h.isBetter(&ended, &less) || h.isBetter(&less, &ended) {
		t.Error("a search that didn't end is better than one that did")
	}
}

func TestStepC(t *testing.T) {
	for _, q := range []struct {
		c     float64
		steps int
		want  float64
	}{{1, 1, 3}, {3, 1, 10}, {10, 2, 100}, {1, -1, 0.3}, {0.3, -1, 0.1}, {0.1, -2, 0.01}, {2, 1, 10}, {7, -1, 3}} {
		if got := stepC(q.c, q.steps); got != q.want {
			t.Errorf("%d steps from %v: %v, expected %v", q.steps, q.c, got, q.want)
		}
	}
}

// Kernels that only one tokenizer has win unless another candidate is better by more than half of
// the standard error (0.01 here), or than the standard error for mean squared errors (0.0707).
// selectBest keeps a candidate of each list of kernels.
func TestPreferOwn(t *testing.T) {
	linear, rbf := kernel.MustParse("linear"), kernel.MustParse("rbf:gamma=1")
	for _, q := range []struct {
		measure    Measure
		other, own float64
		want       int
	}{
		{Accuracy, 0.8, 0.791, 1}, {Accuracy, 0.8, 0.789, 0}, {Accuracy, 0.8, 0.81, 1},
		{MeanSquaredError, 1, 1.06, 1}, {MeanSquaredError, 1, 1.08, 0},
	} {
		point := func(terms int, k kernel.Kernel, mean float64) Point {
			return Point{Candidate{Tokenizer: terms, Kernel: k},
				&Result{Measure: q.measure, Mean: mean, FoldValues: []float64{mean}}}
		}
		r := &Round{DocumentCount: 400, Points: []Point{point(0, linear, q.other), point(1, rbf, q.own)}}
		h := &chooser{candidates: Candidates{Measure: q.measure, KernelsByTokenizer: map[int][]kernel.Kernel{1: {rbf}}},
			out: &Choice{}}
		if r.Points[1].IsBetter(r.Points[0].Result) {
			r.BestIndex = 1
		}
		if h.preferOwn(r); r.BestIndex != q.want {
			t.Errorf("%s %v and %v: candidate %d, expected %d", q.measure, q.other, q.own, r.BestIndex, q.want)
		}
	}
	g := Candidates{KernelsByTokenizer: map[int][]kernel.Kernel{1: {rbf}}}
	best := []Candidate{{Kernel: linear}, {Kernel: rbf}, {Tokenizer: 1, Kernel: rbf}}
	for n, want := range map[int]int{1: 2, 2: 3, 3: 3} {
		if kept := g.selectBest(best, n); len(kept) != want || kept[len(kept)-1].Tokenizer != 1 {
			t.Errorf("of the best %d: %v", n, kept)
		}
	}
}
