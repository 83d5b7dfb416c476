package svm

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// setsCorpus draws sets of points of the plane in two classes that differ in spread, as a corpus of
// their distributions; the classes take turns.
func setsCorpus(t *testing.T, sets int, seed uint64, spreads ...float64) *sparse.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	points := &sparse.CSR{Cols: 2, Offsets: []int64{0}}
	var of []int32
	c := &sparse.Corpus{Source: "sets", Classes: []string{"narrow", "wide"}, Labels: sparse.Labels{Offsets: []int64{0}}}
	for s := range sets {
		x, y, spread := r.NormFloat64(), r.NormFloat64(), spreads[s%2]*math.Exp(0.1*r.NormFloat64())
		for range 8 {
			points.Terms = append(points.Terms, 0, 1)
			points.Values = append(points.Values, float32(x+spread*r.NormFloat64()), float32(y+spread*r.NormFloat64()))
			points.Offsets = append(points.Offsets, int64(len(points.Terms)))
			of = append(of, int32(s))
		}
		c.Labels.Add(int32(s % 2))
	}
	x, err := normal.Fit(t.Context(), points, of, sets)
	if err != nil {
		t.Fatal(err)
	}
	if c.Documents, err = x.Vectors(2); err != nil {
		t.Fatal(err)
	}
	return c
}

// planar is the kernel of H³ between two distributions of the plane as vectors, r/sinh r
// exp(-r²/4t), by its definition.
func planar(a, b []float32, time float64) float64 {
	d := func(i int) float64 { return float64(a[i]) - float64(b[i]) }
	r := math.Acosh(1 + (d(0)*d(0)/4+d(1)*d(1)/4+d(2)*d(2))/(2*float64(a[2])*float64(b[2])))
	if r == 0 {
		return 1
	}
	return r / math.Sinh(r) * math.Exp(-r*r/(4*time))
}

// A machine on sets of points meets the optimality conditions of its definition, decides as Σ
// coef·k - rho says with the kernel by its closed form, and does so from a model.
func TestTrainSets(t *testing.T) {
	const time, c, sets = 0.5, 5.0, 120
	corpus := setsCorpus(t, sets, 1, 0.3, 2)
	k := kernel.Hyperbolic{T: time}.Kernel()
	m, _ := train(t, corpus, Settings{Kernel: k, C: c, Tolerance: 1e-4}, Options{Workers: 2})
	if m.Kernel != "hyperbolic:t=0.5,n=3" {
		t.Errorf("the kernel is %s", m.Kernel)
	}
	machine := m.Classifier.Machines[0]
	test := setsCorpus(t, 40, 2, 0.3, 2)
	sum := 0.0
	for _, a := range machine.Coef {
		sum += math.Abs(a)
	}
	alpha := make([]float64, sets)
	for s, row := range machine.Support {
		alpha[m.SupportDoc[row]] = math.Abs(machine.Coef[s])
	}
	for name, docs := range map[string]*sparse.CSR{"training": corpus.Documents, "test": test.Documents} {
		out := predict(t, m, docs, PredictOptions{Workers: 2})
		for i := range docs.Rows() {
			_, x := docs.Row(i)
			want := -machine.Rho
			for s, row := range machine.Support {
				_, y := m.Support.Row(row)
				want += machine.Coef[s] * planar(x, y, time)
			}
			// Values are rounded to float32; arcosh above loses half the digits of near sets, to
			// some 10⁻⁸.
			within(t, name+" decision", out.Decisions[i][0], want, sum*(0x1p-24+2e-8))
			if class := int(test.Labels.Of(i % 2)[0]); out.Class[i] != class {
				t.Errorf("%s set %d is of class %d, predicted %d", name, i, class, out.Class[i])
			}
			if name == "test" {
				continue
			}
			side := out.Decisions[i][0] * []float64{1, -1}[i%2]
			const tolerance = 1e-3
			if alpha[i] < c && !(side >= 1-tolerance) || alpha[i] > 0 && !(side <= 1+tolerance) {
				t.Errorf("set %d has the coefficient %v and is %v on its side of the plane", i, alpha[i], side)
			}
		}
	}
}

// A validation predicts each fold as a machine that was trained on the others alone does, and says
// so of the right sets, though folds are in an order of their own. The classes overlap, so that
// some sets are predicted wrongly.
func TestCrossValidateSets(t *testing.T) {
	corpus := setsCorpus(t, 90, 3, 0.7, 1.2)
	k := kernel.Hyperbolic{T: 1}.Kernel()
	s := Settings{Kernel: k, C: 10, Tolerance: 1e-6}
	v := musttest.Get(problem(t, corpus, k, Options{}).CrossValidate(t.Context(), s, 3, 1))(t)
	wrong := 0
	for fold := range 3 {
		var in, out []int
		for i, f := range v.Fold {
			if f == fold {
				out = append(out, i)
			} else {
				in = append(in, i)
			}
		}
		m, _ := train(t, corpus.Select(in), s, Options{})
		for at, class := range predict(t, m, corpus.Select(out).Documents, PredictOptions{}).Class {
			i := out[at]
			name := m.Classes[class]
			if got := corpus.Classes[v.Class[i]]; got != name {
				t.Errorf("fold %d: set %d is predicted as %s, a machine of its own predicts %s", fold, i, got, name)
			}
			if v.Class[i] != i%2 {
				wrong++
			}
		}
	}
	if wrong == 0 || wrong > 30 || v.DotProducts != 0 {
		t.Errorf("%d sets are predicted wrongly, %d dot products", wrong, v.DotProducts)
	}
}

// What doesn't go together is refused: documents that are no distributions, memory without room for
// the matrix, a model without deviations.
func TestSetsRefuses(t *testing.T) {
	corpus := setsCorpus(t, 90, 3, 0.3, 2)
	k := kernel.Hyperbolic{T: 1}.Kernel()
	p := musttest.Get(NewProblem(t.Context(), corpus, sparse.Embedding{Norm: sparse.NormL2}, Options{}))(t)
	if _, _, err := p.Train(t.Context(), Settings{Kernel: k}); err == nil ||
		!strings.Contains(err.Error(), "vectors embedded as tf-l2, expected distributions of sets of points") {
		t.Errorf("distributions that are scaled to length 1: %v", err)
	}
	// Documents, the last of them with nothing in the column of deviations: it is the 3rd of the
	// corpus, whatever the order of the problem.
	docs := &sparse.Corpus{Source: "docs.svm", Classes: []string{"a", "b"}, Documents: &sparse.CSR{Cols: 2,
		Offsets: []int64{0, 2, 4, 5, 7},
		Terms:   []uint32{0, 1, 0, 1, 0, 0, 1}, Values: []float32{1, 2, 3, 1, 1, 2, 5}},
		Labels: sparse.Labels{Offsets: []int64{0}}}
	for _, class := range []int32{1, 0, 0, 1} {
		docs.Labels.Add(class)
	}
	if _, _, err := problem(t, docs, k, Options{}).Train(t.Context(), Settings{Kernel: k}); err == nil ||
		!strings.Contains(
			err.Error(), "document 3 of docs.svm is no set of points",
		) || !strings.Contains(err.Error(), "found the deviation 0") {
		t.Errorf("documents instead of sets: %v", err)
	}
	small := setsCorpus(t, 2000, 3, 0.3, 2)
	if _, _, err := problem(
		t, small, k, Options{CacheBytes: 8 << 20},
	).Train(t.Context(), Settings{Kernel: k}); err == nil || !strings.Contains(
		err.Error(), "the matrix of 2000 sets of points",
	) {
		t.Errorf("a matrix that doesn't fit: %v", err)
	}
	m, _ := train(t, corpus, Settings{Kernel: k}, Options{})
	m.Kernel = "hyperbolic:t=0"
	if _, err := NewPredictor(m, PredictOptions{}); err == nil || !strings.Contains(err.Error(), "t=0") {
		t.Errorf("a model without a time: %v", err)
	}
	m.Kernel = "hyperbolic:t=1,n=3"
	predictor := musttest.Get(NewPredictor(m, PredictOptions{}))(t)
	none := &sparse.CSR{Cols: 3, Offsets: []int64{0, 2, 3}, Terms: []uint32{0, 2, 0}, Values: []float32{1, 1, 1}}
	if _, err := predictor.Predict(t.Context(), none); err == nil ||
		!strings.Contains(err.Error(), "document 2 is no set of points") ||
		!strings.Contains(err.Error(), "deviation 0") {
		t.Errorf("a document without a deviation: %v", err)
	}
}
