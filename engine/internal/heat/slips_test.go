package heat

import (
	"math"
	"testing"
)

// The image of the simplex under F(θ) = 2√θ has Σ F² = 4, where the source prints 2 (§3.2): with
// the Fisher metric Σ dθ²/θ the length of the curve on which √θ moves along a great circle is 2
// arccos(√θ·√θ′), on a sphere of radius 2. On one of radius √2 it would be √2 arccos.
func TestSphereHasRadiusTwo(t *testing.T) {
	a, b := []float64{0.5, 0.3, 0.2}, []float64{0.1, 0.2, 0.7}
	cos, square := 0.0, 0.0
	for i := range a {
		cos += math.Sqrt(a[i] * b[i])
		square += math.Pow(2*math.Sqrt(a[i]), 2)
	}
	if !(math.Abs(square-4) <= 1e-15) {
		t.Errorf("Σ F² = %v, expected 4", square)
	}
	angle := math.Acos(cos)
	at := func(i int, s float64) float64 { // θ_i at the share s of the way
		root := (math.Sin((1-s)*angle)*math.Sqrt(a[i]) + math.Sin(s*angle)*math.Sqrt(b[i])) / math.Sin(angle)
		return root * root
	}
	const steps = 1000
	length := 0.0
	for k := range steps {
		sum := 0.0
		for i := range a {
			from, to := at(i, float64(k)/steps), at(i, float64(k+1)/steps)
			sum += (to - from) * (to - from) / at(i, (float64(k)+0.5)/steps)
		}
		length += math.Sqrt(sum)
	}
	// The midpoint rule errs by the order of 1/steps².
	if !(math.Abs(length-2*angle) <= 1e-6) {
		t.Errorf("the Fisher length is %v, expected 2 arccos = %v; on radius √2 it were %v", length, 2*angle,
			math.Sqrt2*angle)
	}
}

// Near by, the divergence D of Kullback and Leibler is d²/2 (Appendix B), so that exp(-αD) is about
// exp(-αd²/2), where §6 prints exp(-2αd²): D/d² tends to 1/2, with an error of the order of d.
func TestDivergenceIsHalfTheSquare(t *testing.T) {
	a := []float64{0.5, 0.3, 0.2}
	for _, h := range []float64{0.1, 0.01, 0.001} {
		b := []float64{0.5 + h*0.2, 0.3 - h*0.3, 0.2 + h*0.1}
		d, c := 0.0, 0.0
		for i := range a {
			// p ln(p/q) + q - p, whose terms are of the size of the sum
			d += a[i]*-math.Log1p((b[i]-a[i])/a[i]) + b[i] - a[i]
			root := (b[i] - a[i]) / (math.Sqrt(a[i]) + math.Sqrt(b[i]))
			c += root * root / 2 // 1 - cosine
		}
		x, _, _ := places(c)
		if got := d / (4 * x * x); !(math.Abs(got-0.5) <= h) {
			t.Errorf("D/d² is %v at d = %v, expected 1/2 to %v", got, 2*x, h)
		}
	}
}
