package svm_test

import (
	"flag"
	"math"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// All pairs of 20 Newsgroups take two minutes and 2 GB of disk, nearly all of it for svm-train,
// which reads the matrix as text.
var libsvmClasses = flag.Int("libsvm.classes", 4, "how many classes of 20 Newsgroups to hold against LIBSVM, up to 20")

const c10 = 10 // the bound C of the comparison

// TestLIBSVMSameOptimumAndPredictions trains one-vs-one on documents of 20 Newsgroups, and
// svm-train -t 4 with its default tolerance on the same matrix. For every pair of classes the dual
// objectives must agree within 10⁻⁵, and of the predictions for the test documents 99.9 %.
//
// Objectives are computed here in float64 from the coefficients of both and the same float32
// values, so neither program's word is taken for its own result. Both searches end within a
// violation of 10⁻³ of the optimality conditions. That alone bounds the distance to the optimum by
// 10⁻³·Σα, and Σα is up to twice the objective's size where no coefficient is at its bound; in
// practice the distance falls with the square of the violation: 10⁻⁵ is what is asked for, not what
// the bound gives.
func TestLIBSVMSameOptimumAndPredictions(t *testing.T) {
	if testing.Short() {
		t.Skip("trains on thousands of documents")
	}
	libsvm := findLIBSVM(t)
	train, test := newsgroups(t, *libsvmClasses)
	kernel := kernel.MustParse(svm.DefaultKernel)

	problem := musttest.Get(svm.NewProblem(t.Context(), train, kernel.Embedding(), svm.Options{}))(t)
	ours, _, err := problem.Train(t.Context(), svm.Settings{Kernel: kernel, C: c10})
	if err != nil {
		t.Fatal(err)
	}

	// The matrices, for LIBSVM and for the objectives, come from an engine that has the documents
	// in the corpus's own order.
	embedder := kernel.Embedding().Fit(train.Documents)
	e := musttest.Get(engine.New(embedded(t, embedder, train), engine.Options{}))(t)
	gram := musttest.Get(e.Gram(t.Context(), kernel))(t)
	theirs := libsvm.train(t, gram, train)

	worst := 0.0
	classes := len(train.Classes)
	for a, machine := 0, 0; a < classes; a++ {
		for b := a + 1; b < classes; b++ {
			m := ours.Classifier.Machines[machine]
			at := make([]int, len(m.Support))
			for s, v := range m.Support {
				at[s] = int(ours.SupportDoc[v])
			}
			want := theirs.machine(a, b)
			got, ref := objective(t, gram, at, m.Coef), objective(t, gram, want.Support, want.Coef)
			if !(math.Abs(got-m.Objective) <= 1e-9*math.Abs(got)) { // some 10⁶ products and sums in float64
				t.Errorf(
					"%s against %s: the objective is said to be %v and is %v", train.Classes[a], train.Classes[b],
					m.Objective, got,
				)
			}
			difference := math.Abs(got-ref) / math.Abs(ref)
			worst = max(worst, difference)
			if !(difference <= 1e-5) {
				t.Errorf("%s against %s: objective %v, svm-train has %v", train.Classes[a], train.Classes[b], got, ref)
			}
			machine++
		}
	}

	cross := musttest.Get(e.Cross(t.Context(), kernel, embedded(t, embedder, test)))(t)
	want := libsvm.predict(t, cross, theirs)
	predictor := musttest.Get(svm.NewPredictor(t.Context(), ours, svm.PredictOptions{}))(t)
	predicted := musttest.Get(predictor.Predict(t.Context(), test.Documents))(t)
	got := predicted.Class
	equal, right, right2 := 0, 0, 0
	for i := range got {
		label := int(test.Labels.Of(i)[0])
		if got[i] == want[i] {
			equal++
		}
		if got[i] == label {
			right++
		}
		if want[i] == label {
			right2++
		}
	}
	n := float64(len(got))
	t.Logf("%d pairs, objectives within %.1e; of %d predictions %d equal; right: %.2f %%, svm-predict %.2f %%",
		len(ours.Classifier.Machines), worst,
		len(got), equal, 100*float64(right)/n, 100*float64(right2)/n)
	if !(float64(equal) >= 0.999*n) {
		t.Errorf("%d of %d predictions are svm-predict's, expected 99.9 %%", equal, len(got))
	}
}

// objective returns ½ Σ_s Σ_t coef[s]·coef[t]·K[s][t] - Σ_t |coef[t]|, having held the coefficients
// against the bounds and the equation of the problem.
func objective(t *testing.T, k *engine.Symmetric, documents []int, coef []float64) float64 {
	t.Helper()
	value, sum, size := 0.0, 0.0, 0.0
	for s, i := range documents {
		row, inner := k.Row(i), 0.0
		for r, j := range documents {
			inner += coef[r] * float64(row[j])
		}
		value += coef[s] * inner / 2
		sum += coef[s]
		size += math.Abs(coef[s])
		if !(math.Abs(coef[s]) <= c10) {
			t.Errorf("coefficient %v, expected at most %d", coef[s], c10)
		}
	}
	if !(math.Abs(sum) <= 1e-12*float64(len(coef))*size) {
		t.Errorf("the coefficients have the sum %v, expected 0", sum)
	}
	return value - size
}

// embedded returns the documents of a corpus in embedded form.
func embedded(t *testing.T, e *sparse.Embedder, c *corpus.Corpus) *sparse.Embedded {
	t.Helper()
	x := musttest.Get(e.Transform(c.Documents))(t)
	return x
}
