package hyperbolic

import (
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func kernel(t *testing.T, n int, time float64) *Kernel {
	t.Helper()
	return musttest.Get(NewKernel(n, time))(t)
}

var (
	times4    = []float64{1e-3, 0.05, 0.7, 12}
	distances = []float64{0, 1e-5, 0.02, 0.3, 1, 2.2, 5, 9}
)

// In odd dimensions, the kernel agrees with equation (5), whose derivatives are computed with 3000
// bits. cosh r is exact here, and r is rounded.
func TestOddDimensions(t *testing.T) {
	dimensions := []int{1, 3, 11, 61}
	if testing.Short() {
		dimensions = dimensions[:3]
	}
	for _, n := range dimensions {
		m := (n - 1) / 2
		for _, tm := range times4 {
			k := kernel(t, n, tm)
			for _, v := range []float64{1 + 0x1p-20, 1.25, 3, 500} {
				r := 2 * math.Asinh(math.Sqrt((v-1)/2))
				want := derivative(m, tm, real(v)) - float64(m)*math.Log(2*math.Pi) - math.Log(
					4*math.Pi*tm)/2 - float64(m*m)*tm
				tol := 0x1p-52 * (float64(8*n) + 8*r*r/tm + float64(n*n)*tm + 4*math.Abs(want))
				if got := k.LogValue(r); !(math.Abs(got-want) <= tol) {
					t.Errorf("n = %d, t = %v, cosh r = %v: ln K = %v, expected %v, error %.3g, tolerance %.3g", n, tm,
						v, got, want, got-want, tol)
				}
			}
		}
	}
}

// For n = 2, the kernel agrees with integral (6) after the substitution s = r + w², by Simpson's
// rule.
func TestPlane(t *testing.T) {
	for _, tm := range times4 {
		k := kernel(t, 2, tm)
		for _, r := range distances[1:] {
			// Relative to exp(-r²/4t), with s² - r² = w²(s+r).
			f := func(w float64) float64 {
				s := r + w*w
				root := math.Sqrt(math.Sinh((s+r)/2)) * w // √(2 sinh((s+r)/2) sinh(w²/2)) = root √(2 sinh(w²/2)/w²)
				if w == 0 {
					return 2 * s / math.Sqrt(math.Sinh(r))
				}
				return 2 * w * s * math.Exp(-w*w*(s+r)/(4*tm)) / (root * math.Sqrt(2*math.Sinh(w*w/2)/(w*w)))
			}
			top := math.Pow(160*tm, 0.25)
			integral := simpson(f, 0, min(top, math.Sqrt(80*tm/r)), 200000)
			want := math.Log(integral) - r*r/(4*tm) + math.Ln2/2 - 1.5*math.Log(4*math.Pi*tm) - tm/4
			if got := k.LogValue(r); !(math.Abs(got-want) <= 1e-11*(1+r*r/tm)) {
				t.Errorf("t = %v, r = %v: ln K = %v, expected %v", tm, r, got, want)
			}
		}
	}
}

// Each dimension, even or odd, follows from the dimension n two below: K_{n+2} = -exp(-nt)/(2π sinh
// r) ∂K_n/∂r.
func TestRecursion(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for _, tm := range times4 {
			low, high := kernel(t, n, tm), kernel(t, n+2, tm)
			for _, r := range distances[3:] {
				slope := differentiate(low.LogValue, r, 0.02)
				want := low.LogValue(r) + math.Log(-slope) - float64(n)*tm - math.Log(2*math.Pi*math.Sinh(r))
				if got := high.LogValue(r); !(math.Abs(got-want) <= 1e-11*(1+r*r/tm)) {
					t.Errorf("n = %d, t = %v, r = %v: ln K = %v, expected %v from n = %d", n+2, tm, r, got, want, n)
				}
			}
		}
	}
}
