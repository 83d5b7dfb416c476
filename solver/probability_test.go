package solver

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/musttest"
)

// At the maximum likelihood, the sum of the residuals is 0, and the sum of the residuals times the
// decision values is 0. The fit recovers the sigmoid from which the data were drawn.
func TestSigmoidIsOfGreatestLikelihood(t *testing.T) {
	const n, a, b = 20000, -1.5, 0.4
	r := rand.New(rand.NewPCG(1, 1))
	f, positive := make([]float64, n), make([]bool, n)
	truth, count := Sigmoid{a, b}, 0.0
	for i := range f {
		f[i] = 2 * r.NormFloat64()
		if positive[i] = r.Float64() < truth.Probability(f[i]); positive[i] {
			count++
		}
	}
	got := musttest.Get(FitSigmoid(f, positive))(t)
	var g1, g2 float64
	for i := range f {
		target := 1 / (n - count + 2)
		if positive[i] {
			target = (count + 1) / (count + 2)
		}
		d := target - 1/(1+math.Exp(got.A*f[i]+got.B))
		g1 += f[i] * d
		g2 += d
	}
	if !(math.Abs(g1) <= 1e-4 && math.Abs(g2) <= 1e-4) { // the fit stops below 10^-5, computed differently
		t.Errorf("derivatives %v and %v, expected 0", g1, g2)
	}
	// The standard errors are about 0.02; the tolerance is five standard errors.
	if !(math.Abs(got.A-a) <= 0.1 && math.Abs(got.B-b) <= 0.1) {
		t.Errorf("found %+v, expected %+v", got, truth)
	}
}

func TestSigmoidOfExtremes(t *testing.T) {
	s := Sigmoid{-1, 0}
	for _, x := range [][2]float64{{1e9, 1}, {-1e9, 0}, {0, 0.5}} {
		if got := s.Probability(x[0]); got != x[1] {
			t.Errorf("probability of %v is %v, expected %v", x[0], got, x[1])
		}
	}
	// The classes are separable. The slope stays finite because the targets are inside (0, 1), and
	// the probability of each object is its target.
	got := musttest.Get(FitSigmoid([]float64{-1, -1, -1, 1, 1, 1}, []bool{false, false, false, true, true, true}))(t)
	if p := got.Probability(1); !(math.Abs(p-0.8) <= 1e-4) { // (3+1)/(3+2)
		t.Errorf("probability %v, expected 0.8", p)
	}
}

// If pairwise probabilities are consistent with class probabilities p, coupling returns p.
func TestCoupling(t *testing.T) {
	want := []float64{0.5, 0.25, 0.15, 0.1}
	c := &Classifier{Scheme: OneVsOne, Classes: 5} // class 2 has no documents
	var decisions []float64
	at := map[int]int{0: 0, 1: 1, 3: 2, 4: 3}
	for a := range 5 {
		for b := a + 1; b < 5; b++ {
			if a == 2 || b == 2 {
				c.Functions, decisions = append(c.Functions, nil), append(decisions, 0)
				continue
			}
			c.Functions = append(c.Functions, &DecisionFunction{Sigmoid: &Sigmoid{-1, 0}})
			decisions = append(decisions, math.Log(want[at[a]]/want[at[b]]))
		}
	}
	got := make([]float64, 5)
	musttest.NoError(t, c.Probabilities(got, decisions))
	for a, i := range at {
		if !(math.Abs(got[a]-want[i]) <= 1e-7) { // coupling gives six correct digits
			t.Errorf("class %d: probability %v, expected %v", a, got[a], want[i])
		}
	}
	if got[2] != 0 {
		t.Errorf("a class without documents has probability %v", got[2])
	}
	c.Functions[0].Sigmoid = nil
	if c.Probabilities(got, decisions) == nil {
		t.Error("no error without a sigmoid")
	}
}

// For inconsistent pairwise probabilities, coupling finds the minimiser to six digits. The
// reference solves Qp = λe, Σp = 1 by Gaussian elimination.
func TestCouplingIsTheMinimiser(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for try := range 60 {
		n := 3 + r.IntN(20)
		pairs := make([]float64, n*n)
		for a := range n {
			for b := range a {
				p := 1 / (1 + math.Exp(float64(1+try%3)*r.NormFloat64()))
				pairs[a*n+b], pairs[b*n+a] = p, 1-p
			}
		}
		m, right := mat.NewDense(n+1, n+1, nil), mat.NewVecDense(n+1, nil)
		right.SetVec(n, 1)
		for a := range n {
			m.Set(a, n, -1)
			m.Set(n, a, 1)
			for b := range n {
				if b != a {
					m.Set(a, a, m.At(a, a)+pairs[b*n+a]*pairs[b*n+a])
					m.Set(a, b, -pairs[a*n+b]*pairs[b*n+a])
				}
			}
		}
		var want mat.VecDense
		musttest.NoError(t, want.SolveVec(m, right))
		for a, p := range coupleProbabilities(pairs, n) {
			if !(math.Abs(p-want.AtVec(a)) <= 5e-7) {
				t.Fatalf("%d classes: class %d has the probability %v, expected %v", n, a, p, want.AtVec(a))
			}
		}
	}
}

// Probabilities are calibrated: of the held-out documents with predicted probability p, about a
// fraction p belongs to the class.
func TestProbabilitiesAreCalibrated(t *testing.T) {
	const n, k = 900, 3
	m, x := gaussian(t, 21, n, 2, 1)
	labels := classes(x, k)
	r := rand.New(rand.NewPCG(3, 3))
	for i := range labels {
		if r.Float64() < 0.3 {
			labels[i] = r.IntN(k)
		}
	}
	training := make([]int, n)
	for i := range training {
		if training[i] = labels[i]; i%3 == 0 {
			training[i] = -1
		}
	}
	for _, par := range []Parameters{{Regularization: Regularization{C: 1}, Probabilities: true},
		{Regularization: Regularization{Nu: 0.5}, Probabilities: true}} {
		of := Training{Labels: training, Classes: k, Parameters: par}
		c := musttest.Get(Train(context.Background(), m, of, Options{}))(t)
		opt := musttest.Get(Options{Workers: 1}.resolve())(t)
		var held []int
		for i := 0; i < n; i += 3 {
			held = append(held, i)
		}
		var said, right float64
		err := c.predictRows(context.Background(), sourceOf(t, m), held, &opt, func(i int, decisions []float64) {
			p := make([]float64, k)
			musttest.NoError(t, c.Probabilities(p, decisions))
			best := 0
			for a := range p {
				if p[a] > p[best] {
					best = a
				}
			}
			said += p[best]
			if best == labels[i] {
				right++
			}
		})
		musttest.NoError(t, err)
		// For 300 documents with accuracy 0.8, the tolerance is four standard errors of 7.
		if !(math.Abs(said-right) <= 28) || right < 200 {
			t.Errorf("%+v: %v of %d right, by the probabilities %v", par, right, len(held), said)
		}
	}
}
