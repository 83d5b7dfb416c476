package hyperbolic

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A table is as accurate as the kernel between its nodes and beyond its range, for small and large
// dimensions and times.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 4, 7, 10, 101, 102, 785} {
		for _, tm := range []float64{1e-6, 1e-3, 0.05, 0.7, 12, 1000} {
			k := kernel(t, n, tm)
			const top = 8.5
			table := NewTable(k, top)
			var worst float64
			for i := range 60 {
				at := []float64{0, 1, top, top + 1, 9, math.Nextafter(9, 0)}
				at = append(at, 1.2*top*r.Float64())
				v := at[min(i, len(at)-1)]
				got, want := table.LogValue(v), k.LogValue(v)
				// Adding the constant and r²/4t causes a rounding error, too.
				tol := 1e-12*float64(1+n) + 0x1p-51*(math.Abs(k.logConstant)+v*v/tm)
				if err := math.Abs(got - want); !(err <= tol) {
					t.Errorf("n = %d, t = %v, r = %v: ln K = %v, expected %v, error %.3g, tolerance %.3g", n, tm, v,
						got, want, err, tol)
				} else {
					worst = max(worst, err/tol)
				}
			}
			if !(worst > 0) && n > 3 && tm < 1 {
				t.Errorf("n = %d, t = %v: the table is exact to the bit, which no interpolation is", n, tm)
			}
		}
	}
}

// If a function is too rough for intervals of width 1, the intervals become narrower. Halving also
// ends if no width resolves the function.
func TestTableHalves(t *testing.T) {
	p := newInterpolant(func(r float64) float64 { return 1 / (0.01 + (r-0.7)*(r-0.7)) }, 2)
	if !(p.width <= 0.125) {
		t.Errorf("the intervals have the width %v", p.width)
	}
	for r := 0.0; r < 2; r += 0.003 {
		want := 1 / (0.01 + (r-0.7)*(r-0.7))
		if got, ok := p.eval(r); !ok || !(math.Abs(got-want) <= 1e-10*100) {
			t.Errorf("at %v: %v, expected %v", r, got, want)
		}
	}
	newInterpolant(func(r float64) float64 { return math.Sin(1e9 * r) }, 1)
}

// The integral is the same with the quadrature step, two thirds of it and half of it.
func TestQuadratureStep(t *testing.T) {
	for _, n := range []int{2, 4, 10, 100, 1000} {
		for _, tm := range []float64{1e-6, 1e-3, 0.05, 0.7, 12, 1e4, 1e12} {
			if testing.Short() && n > 100 {
				continue
			}
			k := kernel(t, n, tm)
			var d derivatives
			g := func(s float64) float64 { return d.log(k.m+1, tm, s) }
			for _, r := range []float64{0, 1e-8, 0.1, 1.7, 30} {
				want := k.logIntegral(g, r, k.quadratureStep())
				for _, part := range []float64{0.5, 0.66} {
					got := k.logIntegral(g, r, part*k.quadratureStep())
					if !(math.Abs(got-want) <= 0x1p-52*(64+2*float64(n)+8*math.Abs(want))) {
						t.Errorf(
							"n = %d, t = %v, r = %v: ln of the integral is %v with %v of the step, %v with all of it",
							n, tm, r, got, part, want)
					}
				}
			}
		}
	}
}

// For all dimensions, times and distances, the logarithm is finite.
func TestExtremes(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 100, 401, MaxDimension - 1, MaxDimension} {
		for _, tm := range []float64{1e-12, 1e-3, 1, 1e12} {
			for _, r := range []float64{0, 1e-300, 1e-12, 1e-3, 1, 40, 1e4} {
				if n > 401 && n%2 == 0 && (r > 1 || tm > 1) && testing.Short() {
					continue
				}
				if v := kernel(t, n, tm).LogValue(r); math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("n = %d, t = %v, r = %v: ln K = %v", n, tm, r, v)
				}
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		n int
		t float64
	}{{0, 1}, {-3, 1}, {MaxDimension + 1, 1}, {3, 0}, {3, -1}, {3, math.NaN()}, {3, math.Inf(1)}} {
		if k, err := NewKernel(c.n, c.t); err == nil || k != nil {
			t.Errorf("n = %d, t = %v is allowed", c.n, c.t)
		}
	}
}
