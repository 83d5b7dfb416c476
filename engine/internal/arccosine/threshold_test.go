package arccosine

import (
	"math"
	"testing"
)

// orthant computes k^b from its definition as twice a probability in the plane. With one normal
// variable along x and a conditional normal variable for y,
//
//	k^b = 2 ∫_h^∞ φ(u) Φ((ρu - k)/√(1-ρ²)) du,   h = b/x, k = b/y, ρ = 1-c
//
// by Gauss-Legendre in panels around the step of width √(1-ρ²)/ρ at u = k/ρ. It doesn't use polar
// coordinates, triangles or cotangents.
func orthant(c, x, y, b float64) float64 {
	h, k, rho := b/x, b/y, 1-c
	root := math.Sqrt(c * (2 - c))
	f := func(u float64) float64 {
		return math.Exp(-u*u/2) / math.Sqrt(2*math.Pi) * math.Erfc(-(rho*u-k)/root/math.Sqrt2)
	}
	low, high := max(h, -14), max(h, 0)+14
	points := []float64{low, high}
	if rho != 0 {
		step, width := k/rho, root/math.Abs(rho)
		for _, at := range []float64{-12, -6, -3, 0, 3, 6, 12} {
			if p := step + at*width; p > low && p < high {
				points = append(points, p)
			}
		}
	}
	for i := range points { // insertion sort
		for j := i; j > 0 && points[j] < points[j-1]; j-- {
			points[j], points[j-1] = points[j-1], points[j]
		}
	}
	var sum float64
	for i := 1; i < len(points); i++ {
		sum += integrate(f, points[i-1], points[i], 8)
	}
	return sum
}

var (
	someNorms = []float64{0.05, 0.3, 0.9, 1, 1.0000001, 4, 30, 1000}
	someCs    = []float64{1e-6, 1e-3, 0.05, 0.3, 0.7, 0.99, 1, 1.2, 1.8, 1.999}
	someBias  = []float64{-2, -0.3, -1e-3, 1e-3, 0.3, 1, 2.5}
)

// k^b agrees with orthant, a probability in Cartesian coordinates, within 10⁻¹³ √(k(x,x) k(y,y)),
// with k(x,x) = erfc(h/√2), and within 10⁻¹³ for b < 0.
func TestBiased(t *testing.T) {
	for _, b := range someBias {
		for _, x := range someNorms {
			for _, y := range someNorms {
				for _, c := range someCs {
					want := orthant(c, x, y, b)
					got := BiasedKernel(c, x, y, b)
					scale := math.Sqrt(math.Erfc(b/x/math.Sqrt2) * math.Erfc(b/y/math.Sqrt2))
					if !(math.Abs(got-want) <= 1e-13*scale+1e-300) {
						t.Errorf("b = %v, norms %v and %v, c = %v: found %v, expected %v, %g of the diagonal", b, x, y,
							c, got, want, math.Abs(got-want)/scale)
					}
					differ := math.Erfc(b/x/math.Sqrt2) + math.Erfc(b/y/math.Sqrt2) - 2*want
					if d := BiasedSquaredDistance(c, x, y, b); !(math.Abs(d-differ) <= 1e-13*max(1, scale)) {
						t.Errorf("b = %v, norms %v and %v, c = %v: Differ is %v, expected %v", b, x, y, c, d, differ)
					}
				}
			}
		}
	}
}

// k^b agrees with closed forms: b = 0 gives degree 0, the diagonal is erfc(h/√2), orthogonal
// documents are independent, opposite documents aren't both above b > 0, and a document without
// terms is never above b > 0 and always above b < 0.
func TestBiasedKnown(t *testing.T) {
	twice := func(h float64) float64 { return math.Erfc(h / math.Sqrt2) }
	for _, c := range []float64{0, 1e-12, 0.3, 1, 1.7, 2} {
		want := New(0).J(c) / math.Pi
		for _, b := range []float64{0, 1e-9, -1e-9} {
			if got := BiasedKernel(c, 2, 3, b); !(math.Abs(got-want) <= 2*math.Abs(b)+8*ulp) {
				t.Errorf("b = %v, c = %v: found %v, the degree 0 %v", b, c, got, want)
			}
		}
	}
	for _, b := range []float64{-3, -0.2, 0.2, 1, 3} {
		for _, x := range []float64{0.5, 1, 7} {
			const y = 2.0
			for _, known := range []struct{ c, x, y, want float64 }{
				{0, x, x, twice(b / x)}, {0, x, y, twice(b / min(x, y))}, {1, x, y, twice(b/x) * twice(b/y) / 2},
				{2, x, y, max(twice(b/x)+twice(b/y)-2, 0)}, {1, 0, y, 0}, {1, y, 0, 0}, {1, 0, 0, 0},
			} {
				if b < 0 && min(known.x, known.y) == 0 {
					known.want = twice(b / max(known.x, known.y))
				} else if b < 0 && known.c == 0 && x != known.y {
					known.want = twice(b / max(x, y))
				}
				got := BiasedKernel(known.c, known.x, known.y, b)
				bound := 16*ulp*max(known.want, 1e-300) + 4*ulp*twice(b/max(known.x, known.y))
				if !(math.Abs(got-known.want) <= bound) {
					t.Errorf("b = %v, norms %v and %v, c = %v: found %v, expected %v", b, known.x, known.y, known.c,
						got, known.want)
				}
			}
		}
	}
	// BiasedSquaredDistance doesn't cancel: it is θ exp(-h²/2)·2/π for small angles and equal
	// norms.
	for c := 1e-3; c > 1e-40; c /= 1e3 {
		theta := 2 * math.Asin(math.Sqrt(c/2))
		want := 2 / math.Pi * theta * math.Exp(-0.5*0.3*0.3)
		if got := BiasedSquaredDistance(c, 1, 1, 0.3); !(math.Abs(got-want) <= (c+64*ulp)*want) {
			t.Errorf("c = %v: Differ is %v, expected %v", c, got, want)
		}
	}
}
