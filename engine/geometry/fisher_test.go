package geometry

import (
	"math"
	"testing"
)

// The metric is the second derivative of the Kullback-Leibler divergence, and its determinant the
// product of the probabilities.
func TestFisher(t *testing.T) {
	theta := []float64{0.2, 0.5, 0.3}
	g, err := Fisher(theta)
	if err != nil {
		t.Fatal(err)
	}
	divergence := func(a, b float64) (sum float64) { // from θ to θ + (a, b, -a-b)
		for i, d := range []float64{a, b, -a - b} {
			sum -= theta[i] * math.Log1p(d/theta[i])
		}
		return sum
	}
	const h = 1e-4 // the error is h²/θ², the rounding 2⁻⁵² h/h²
	at := [2][2]float64{{h, 0}, {0, h}}
	for i := range 2 {
		for j := range 2 {
			a, b := at[i], at[j]
			second := (divergence(a[0]+b[0], a[1]+b[1]) + divergence(-a[0]-b[0], -a[1]-b[1]) -
				divergence(a[0]-b[0], a[1]-b[1]) - divergence(b[0]-a[0], b[1]-a[1])) / (4 * h * h)
			if !near(g[2*i+j], second, 1e-5) {
				t.Errorf("g[%d][%d] is %v, differences say %v", i, j, g[2*i+j], second)
			}
		}
	}
	if det := g[0]*g[3] - g[1]*g[2]; !near(det, 1/(0.2*0.5*0.3), 1e-13) {
		t.Errorf("the determinant is %v, expected %v", det, 1/(0.2*0.5*0.3))
	}
}

// Points of a geodesic are apart as their shares are, its length is the distance, which near p is
// that of the metric, and opposite corners are π apart.
func TestFisherGeodesic(t *testing.T) {
	p, q := []float64{0.2, 0.5, 0.3}, []float64{0.7, 0, 0.3}
	whole, err := FisherDistance(p, q)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []float64{0, 1e-6, 0.25, 0.5, 1} {
		at, err := FisherGeodesic(p, q, s)
		if err != nil {
			t.Fatal(err)
		}
		d, err := FisherDistance(p, at)
		if err != nil || !(math.Abs(d-s*whole) <= 1e-12) {
			t.Errorf("%v of the way is %v from p, %v, expected %v", s, d, err, s*whole)
		}
		if s == 1e-6 {
			g, _ := Fisher(p)
			a, b := at[0]-p[0], at[1]-p[1]
			if length := math.Sqrt(g[0]*a*a + 2*g[1]*a*b + g[3]*b*b); !near(length/d, 1, 1e-5) {
				t.Errorf("by the metric the step is %v long, by the distance %v", length, d)
			}
		}
	}
	if d, err := FisherDistance([]float64{1, 0}, []float64{0, 1}); err != nil || !near(d, math.Pi, 1e-15) {
		t.Errorf("corners are %v apart, %v, expected π", d, err)
	}
	if at, err := FisherGeodesic(p, p, 0.5); err != nil || !near(at[1], 0.5, 1e-15) {
		t.Errorf("from p to p there is %v, %v", at, err)
	}
}

// The volume is the integral of √det g: of two outcomes π, of three 2π.
func TestFisherVolume(t *testing.T) {
	for outcomes, want := range map[int]float64{2: math.Pi, 3: 2 * math.Pi, 4: math.Pi * math.Pi} {
		if v, err := FisherLogVolume(outcomes); err != nil || !near(math.Exp(v), want, 1e-13) {
			t.Errorf("%d outcomes: %v, %v, expected %v", outcomes, math.Exp(v), err, want)
		}
	}
	const steps = 1000 // θ = sin² a of dθ = 2 sin a cos a da: √det g dθ = 2 da
	sum := 0.0
	for i := range steps {
		a := (float64(i) + 0.5) / steps * math.Pi / 2
		theta := math.Sin(a) * math.Sin(a)
		g, err := Fisher([]float64{theta, 1 - theta})
		if err != nil {
			t.Fatal(err)
		}
		sum += math.Sqrt(g[0]) * 2 * math.Sin(a) * math.Cos(a) * math.Pi / 2 / steps
	}
	if !near(sum, math.Pi, 1e-9) {
		t.Errorf("√g adds up to %v, expected π", sum)
	}
}

func TestFisherErrors(t *testing.T) {
	good := []float64{0.5, 0.5}
	for name, bad := range map[string][]float64{
		"one": {1}, "none": nil, "negative": {-0.5, 1.5}, "nan": {math.NaN(), 1}, "sum": {0.5, 0.6},
		"length": {0.2, 0.3, 0.5},
	} {
		if name != "length" {
			if _, err := Fisher(bad); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		if _, err := FisherDistance(good, bad); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := FisherGeodesic(bad, good, 0.5); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := Fisher([]float64{1, 0}); err == nil {
		t.Error("a metric on the edge")
	}
	if _, err := FisherGeodesic(good, good, 1.5); err == nil {
		t.Error("a share above 1")
	}
	if _, err := FisherLogVolume(1); err == nil {
		t.Error("one outcome")
	}
}
