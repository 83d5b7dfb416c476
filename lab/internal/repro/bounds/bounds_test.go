package bounds

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/musttest"
)

func byDefinition(values []float64, n float64) (int, float64) {
	for j := 1; ; j++ {
		product := 1.0
		for _, v := range values[:j] {
			product *= v
		}
		mean := math.Pow(product/(n*n), 1/float64(j))
		if j == len(values) || values[j] < mean {
			sum := 0.0
			for _, v := range values[j-1:] {
				sum += v
			}
			return j, math.Sqrt(float64(j)*mean + sum)
		}
	}
}

func TestCoveringRadius(t *testing.T) {
	for _, values := range [][]float64{
		{1}, {0.5, 0.25, 0.125, 0.0625, 0.01, 0.001}, {1, 1, 1, 1}, {0.9, 1e-3, 1e-9, 1e-10, 1e-11},
	} {
		for _, n := range []float64{1, 2, 10, 1e6, 1e30} {
			index, got := coveringRadius(values, math.Log(n))
			j, radius := byDefinition(values, n)
			if want := math.Log(radius); index != j || !(math.Abs(got-want) <= 1e-13*(1+math.Log(n))) {
				t.Errorf("%v, n = %g: j = %d, ln ε = %v, expected %d, %v", values, n, index, got, j, want)
			}
			// Zero and negative eigenvalues after the last eigenvalue change nothing.
			if i, v := coveringRadius(append(append([]float64{}, values...), 0, -1e-9), math.Log(n)); i != index || v != got {
				t.Errorf("%v, n = %g, with eigenvalues of rounding: %d, %v, expected %d, %v", values, n, i, v, index, got)
			}
		}
	}
	for _, values := range [][]float64{nil, {0}, {-1, -2}, {math.NaN()}} {
		if index, v := coveringRadius(values, 3); index != 0 || !math.IsInf(v, -1) {
			t.Errorf("%v: %d, %v", values, index, v)
		}
	}
	if index, v := coveringRadius([]float64{0.5, 0.25}, math.Inf(1)); index != 2 || !(math.Abs(v-math.Log(0.5)) <= 1e-15) {
		t.Errorf("all of them: %d, %v, expected 2, ln √0.25", index, v)
	}
}

// Theorem 4 on the circle, d = 1, with eigenvalues 1 and twice each exp(-j²t): ln N grows like
// t^(-1/2) for fixed ε and like ln^(3/2)(1/ε) for fixed t. With j up to J = j*/2 of both signs, the
// definition of j* is 2 ln n = 4/3 t J³ and ε is about exp(-tJ²/2), so that
//
//	ln n = 2/3 (2 ln 1/ε)^(3/2) t^(-1/2)
//
// up to terms of order 1/J and ln J/(tJ²).
func TestCoveringOfTheCircle(t *testing.T) {
	logN := func(tm, logInverse float64) float64 { // ln n of the smallest n with ε <= exp(-logInverse)
		values := []float64{1}
		for j := 1.0; j*j*tm < 700; j++ {
			values = append(values, math.Exp(-j*j*tm), math.Exp(-j*j*tm))
		}
		lo, hi := 0.0, 1e9
		for range 60 {
			mid := (lo + hi) / 2
			if _, v := coveringRadius(values, mid); v > -logInverse {
				lo = mid
			} else {
				hi = mid
			}
		}
		return hi
	}
	const ln4 = 2 * math.Ln2
	for _, c := range []struct{ tm, l, tol float64 }{{1e-3, 60, 0.1}, {1e-4, 100, 0.06}, {1e-5, 250, 0.03}} {
		leading := 2. / 3 * math.Pow(2*c.l, 1.5) / math.Sqrt(c.tm)
		if got := logN(c.tm, c.l); !(math.Abs(math.Log(got/leading)) <= c.tol) {
			t.Errorf("t = %v, ln 1/ε = %v: ln n = %v, expected about %v", c.tm, c.l, got, leading)
		}
		if got := math.Log(logN(c.tm/4, c.l)/logN(c.tm, c.l)) / ln4; !(math.Abs(got-0.5) <= c.tol) {
			t.Errorf("t = %v, ln 1/ε = %v: ln N grows as t^-%v, expected 1/2", c.tm, c.l, got)
		}
		if got := math.Log(logN(c.tm, c.l)/logN(c.tm, c.l/4)) / ln4; !(math.Abs(got-1.5) <= 2*c.tol) {
			t.Errorf("t = %v, ln 1/ε = %v: ln N grows as ln^%v, expected 3/2", c.tm, c.l, got)
		}
	}
}

// An admissible function attains the supremum, no other function exceeds it, and the supremum is
// below its bound.
func TestSupremum(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 5, 40} {
		values, signs := make([]float64, n), make([]float64, n)
		for j := range values {
			values[j] = math.Exp(-3 * random.Float64() * math.Sqrt(float64(j)))
			signs[j] = random.NormFloat64()
		}
		if n > 3 {
			values[n-1] = -1e-9 // rounding error
		}
		of := func(a []float64, r float64) (value, norm, square float64) {
			for j, v := range values {
				v = max(v, 0)
				value += a[j] * math.Sqrt(v/float64(n)) * signs[j]
				norm += a[j] * a[j]
				square += v * a[j] * a[j]
			}
			over := math.Sqrt(math.Max(1, math.Max(norm, square/r)))
			return value / over, norm, square
		}
		for _, r := range []float64{1e-6, 0.01, 0.1, 0.5, 2} {
			got := supremum(values, signs, r)
			bound, best := 0.0, 0.0
			for j, v := range values {
				bound += 2 * math.Min(r, math.Max(v, 0)) * signs[j] * signs[j] / float64(n)
			}
			a := make([]float64, n)
			// The maximum over θ, in steps of ln θ/(1-θ) that change each a by at most 0.1%.
			for k := 0; k <= 40000; k++ {
				theta := 1 / (1 + math.Exp(-20+float64(k)/1000))
				for j, v := range values {
					a[j] = 0
					if v > 0 {
						a[j] = 1e9 * math.Sqrt(v) * signs[j] / (theta + (1-theta)*v/r)
					}
				}
				v, _, _ := of(a, r)
				best = math.Max(best, v)
			}
			for range 100 {
				for j := range a {
					a[j] = 1e9 * random.NormFloat64()
				}
				if v, _, _ := of(a, r); !(v <= got*(1+1e-12)) {
					t.Errorf("n = %d, r = %v: %v is above the supremum %v", n, r, v, got)
				}
			}
			if !(best <= got*(1+1e-12) && best >= got*(1-1e-3) && got*got <= bound*(1+1e-12)) {
				t.Errorf("n = %d, r = %v: %v, attained %v, bound %v", n, r, got, best, math.Sqrt(bound))
			}
		}
	}
}

// The matrix has two orthogonal pairs of equal documents. λ of K/4 are ½, ½, 0, 0, with
// eigenfunctions √2 on one pair and 0 on the other, or rotations of them, whose maximum is at most
// 2. For n = 1, j* is 2 (λ_2 = ½ isn't below λ_1), and ε is 6 C √(2·½ + ½). For r >= ½ the supremum
// is the norm of ½(s₁, s₂)/√2, where s is the sum of the signs of a pair: 0 or ±2.
func TestBounds(t *testing.T) {
	m := &engine.Symmetric{N: 4, Data: []float32{1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1}}
	b := musttest.Get(computeBounds(m, []float64{0, 5}, []float64{1e-3, 1}))(t)
	c := b.maxEigenfunction
	if !(c >= 1 && c <= 2+1e-9) {
		t.Errorf("C_K = %v, want one from 1 to 2", c)
	}
	for i, want := range []float64{math.Log(6 * c * math.Sqrt(1.5)), math.Log(6 * c * math.Sqrt(math.Exp(-5)+0.5))} {
		if got := b.coverings[i]; got.index != 2 || !(math.Abs(got.radius-want) <= 1e-12) {
			t.Errorf("%+v, expected j = 2 and ln ε = %v", got, want)
		}
	}
	// For r = 1, √(s₁² + s₂²)/4 is 0, ½ or 1/√2 with probabilities ¼, ½, ¼: mean 0.427; the mean of
	// a hundred draws has deviation 0.026.
	if got := b.averages[1].mean; !(math.Abs(got-0.25-math.Sqrt(0.5)/4) <= 0.1) {
		t.Errorf("Rademacher average %v, expected about 0.427", got)
	}
	for _, a := range b.averages {
		want := math.Sqrt(math.Min(a.r, 0.5))
		if !(math.Abs(a.bound-want) <= 1e-12) || !(a.mean <= a.bound) {
			t.Errorf("%+v, expected the bound %v", a, want)
		}
	}
}
