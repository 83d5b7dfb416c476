package svm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// lottery returns documents of rare words with random labels. Only leaked labels allow predictions
// better than chance.
func lottery(n, labels int) *corpus.Corpus {
	r := rand.New(rand.NewPCG(9, 9))
	c := &corpus.Corpus{Source: "lottery", Classes: []string{"a", "b", "c"}}
	c.Documents = &sparse.CSR{Cols: 6 * n, Offsets: []int64{0}}
	for range n {
		words := map[uint32]bool{}
		for len(words) < 30 {
			words[uint32(r.IntN(c.Documents.Cols))] = true
		}
		for w := range uint32(c.Documents.Cols) {
			if words[w] {
				c.Documents.Terms, c.Documents.Values = append(c.Documents.Terms, w), append(c.Documents.Values, 1)
			}
		}
		c.Documents.Offsets = append(c.Documents.Offsets, int64(len(c.Documents.Terms)))
		var own []int32
		for id := range int32(3) {
			if r.IntN(3) < labels {
				own = append(own, id)
			}
		}
		if labels == 0 {
			own = []int32{int32(r.IntN(3))}
		}
		c.Labels.Add(own...)
	}
	return c
}

var supervised = kernel.MustParse("diffusion:t=2,embed=tfkl-l1-sqrt")

// If an embedding learns from labels, folds, calibrations and thresholds don't see the labels that
// they are tested on. An embedding fitted to all documents would see these labels, which the test
// also checks.
func TestSupervisedIsHeldOut(t *testing.T) {
	c := lottery(300, 0)
	s := Settings{Kernel: supervised, C: 10, Scheme: solver.OneVsRest}
	p := problem(t, c, supervised, Options{})
	if got := crossValidate(t, p, s, 5, 1).Mean; !(got < 0.45) { // 1/3, with a standard deviation of .03
		t.Errorf("%v of the drawn labels are predicted by folds", got)
	}
	p.heldOutFold = true
	if got := crossValidate(t, p, s, 5, 1).Mean; !(got > 0.6) {
		t.Errorf("%v of the drawn labels by an embedding that has seen them, expected most: the test shows nothing", got)
	}

	s.Calibrated = true
	_, report := train(t, c, s, Options{})
	if got := report.Calibration.LogLoss; !(got > 0.98*math.Log(3)) {
		t.Errorf("the log loss of drawn labels is %v, expected about ln 3", got)
	}

	s.Calibrated, s.Probabilities = false, true // probabilities from folds on the matrix of all documents
	musttest.WantError(p.Train(t.Context(), s))(t, "probabilities of models trained on all labels", "require calibration")

	s = Settings{Kernel: supervised, C: 10, Scheme: solver.MultiLabel, TuneThresholds: true}
	m, report := train(t, lottery(300, 1), s, Options{})
	th := report.Thresholds
	if th == nil || !(th.F1 < 0.55) { // predicting all labels gives 1/2
		t.Fatalf("thresholds of drawn labels are %+v", th)
	}
	s.TuneThresholds = false
	plain, _ := train(t, lottery(300, 1), s, Options{})
	for l, machine := range m.Classifier.Functions {
		if want := plain.Classifier.Functions[l].Rho + th.Above[l]; !(math.Abs(machine.Rho-want) <= 1e-12) {
			t.Errorf("label %d is decided at %v, expected %v, with its threshold", l, machine.Rho, want)
		}
	}
}

// A fold's predictions equal the predictions of a model that learns only from labels of the other
// folds.
func TestSupervisedByHand(t *testing.T) {
	c := noisy(t)
	s := Settings{Kernel: supervised, C: 1, Scheme: solver.OneVsRest}
	v := crossValidate(t, problem(t, c, supervised, Options{}), s, 3, 4)
	for fold := range 3 {
		rest, held := divide(v, fold)
		m, _ := train(t, c.Select(rest), s, Options{})
		differ := 0
		for i, class := range predict(t, m, c.Select(held).Documents, Options{}).ClassIndices {
			if class != v.Class[held[i]] {
				differ++
			}
		}
		if differ > 2 { // decisions near 0
			t.Errorf("fold %d: %d of %d documents are of another class", fold, differ, len(held))
		}
	}
}

// told returns documents in which one word in twenty separates classes, so that labels help.
func told(seed uint64) *corpus.Corpus {
	r := rand.New(rand.NewPCG(seed, 1))
	const n, common, own = 400, 300, 20
	c := &corpus.Corpus{Source: "told", Classes: []string{"a", "b", "c"}, Documents: &sparse.CSR{
		Cols: common + 3*own, Offsets: []int64{0}}}
	for i := range n {
		class := i % 3
		for w := range c.Documents.Cols {
			chance := 0.3
			if w >= common {
				chance = 0.03
				if (w-common)/own == class {
					chance = 0.09
				}
			}
			if r.Float64() < chance {
				c.Documents.Terms, c.Documents.Values = append(c.Documents.Terms, uint32(w)), append(c.Documents.Values, 1)
			}
		}
		c.Documents.Offsets = append(c.Documents.Offsets, int64(len(c.Documents.Terms)))
		c.Labels.Add(int32(class))
	}
	return c
}

// A choice compares supervised kernels last with the chosen kernel, which stays unless supervised
// kernels are clearly better and affordable. A search with a last round doesn't compare supervised
// kernels.
func TestChooseSupervised(t *testing.T) {
	from := tune.Candidates{
		Kernels: kernelsFor("diffusion:t=2,embed=tfidf-l1-sqrt", "diffusion:t=4,embed=tfidf-l1-sqrt"), C: []float64{10, 1},
		SupervisedKernels: kernelsFor("diffusion:t=2,embed=tfkl-l1-sqrt", "diffusion:t=4,embed=tfkl-l1-sqrt"),
		Schemes:           []solver.Scheme{solver.OneVsRest}, PreferSmallC: true, WorkBudget: 20, Seed: 3,
	}
	choose := func(c *corpus.Corpus, from tune.Candidates) (*choice, *tune.Round) {
		t.Helper()
		got := musttest.Get(choose(t.Context(), c, Settings{}, from, Options{}))(t)
		return got, &got.Rounds[len(got.Rounds)-1]
	}
	got, last := choose(told(1), from)
	before := got.Rounds[len(got.Rounds)-2]
	if k := got.Settings.Kernel.Embedding(); !k.Supervised() || last.Parameter != "weighting" || got.Settings.C != 10 {
		t.Errorf("%s, C = %v, by a round of %s", got.Settings.Kernel, got.Settings.C, last.Parameter)
	}
	best := before.Points[before.BestIndex].Candidate
	if len(last.Points) != 3 || !last.Points[0].Equal(best) || last.DocumentCount != 400 {
		t.Errorf("%d points on %d documents, the first %v, expected what was chosen before, %v", len(last.Points),
			last.DocumentCount, last.Points[0].Candidate, best)
	}
	if len(got.Sample) != last.DocumentCount || got.Tokenizer != 0 {
		t.Errorf("a sample of %d documents, terms %d, expected the last round's, %d", len(got.Sample), got.Tokenizer,
			last.DocumentCount)
	}
	if !(last.Points[last.BestIndex].Mean > last.Points[0].Mean+last.StandardError()) {
		t.Errorf("%v is chosen over %v", last.Points[last.BestIndex].Mean, last.Points[0].Mean)
	}

	c := told(1).Select(run.Range(0, 400))
	r := rand.New(rand.NewPCG(2, 2))
	for i := range c.Labels.IDs { // nine of ten labels are random, so that no difference is clear
		if i%10 != 0 {
			c.Labels.IDs[i] = int32(r.IntN(3))
		}
	}
	if got, last = choose(c, from); got.Settings.Kernel.Embedding().Supervised() || last.Parameter != "weighting" {
		t.Errorf("%s is chosen by a round of %s: %v over %v", got.Settings.Kernel, last.Parameter,
			last.Points[last.BestIndex].Mean, last.Points[0].Mean)
	}

	from.FinalistCount, from.FinalFolds = 2, 3
	if _, last = choose(told(1), from); last.Parameter != "all" {
		t.Errorf("a search ends with a round of %s", last.Parameter)
	}
}

// A word in one document of each of two equal classes has no information. A document removed from
// the vocabulary would reveal its label in folds: its remaining words are all from its own class.
func TestSupervisedKeepsAllWords(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	const n, each = 300, 20
	words := make([][]uint32, n)
	for w := range uint32(n * each / 2) {
		for _, i := range r.Perm(n)[:2] {
			words[i] = append(words[i], w)
		}
	}
	c := &corpus.Corpus{Source: "pairs", Classes: []string{"a", "b"}, Documents: &sparse.CSR{Cols: n * each / 2,
		Offsets: []int64{0}}}
	labels := r.Perm(n)
	for i, own := range words {
		c.Documents.Terms = append(c.Documents.Terms, own...)
		c.Documents.Values = append(c.Documents.Values, slices.Repeat([]float32{1}, len(own))...)
		c.Documents.Offsets = append(c.Documents.Offsets, int64(len(c.Documents.Terms)))
		c.Labels.Add(int32(labels[i] % 2))
	}
	s := Settings{Kernel: supervised, C: 10}
	if got := crossValidate(t, problem(t, c, supervised, Options{}), s, 5, 1).Mean; !(got < 0.62) { // 1/2 ± 0.03
		t.Errorf("%v of the drawn labels are predicted by folds", got)
	}
}

// Few documents, or classes of one document each, don't suffice for calibration.
func TestCalibrates(t *testing.T) {
	c := lottery(60, 0)
	few, single := c.Select(run.Range(0, 4)), c.Select(run.Range(0, 6))
	single.Classes = []string{"1", "2", "3", "4", "5", "6"}
	for i := range single.Labels.IDs {
		single.Labels.IDs[i] = int32(i)
	}
	for want, of := range map[bool][]*corpus.Corpus{true: {c}, false: {few, single}} {
		for i, c := range of {
			if got := CanCalibrate(c, solver.OneVsOne); got != want {
				t.Errorf("corpus %d: %v, expected %v", i, got, want)
			}
		}
	}
	many := *c
	many.Classes = make([]string, 3000)
	if CanCalibrate(&many, solver.OneVsOne) || !CanCalibrate(&many, solver.OneVsRest) {
		t.Error("4.5 million machines on 60 documents have more than 2^27 decision values, 3,000 have less")
	}
}
