package hyperbolic

import (
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func kernel(t *testing.T, n int, time float64) *Kernel {
	t.Helper()
	k := musttest.Get(New(n, time))(t)
	return k
}

var (
	times4    = []float64{1e-3, 0.05, 0.7, 12}
	distances = []float64{0, 1e-5, 0.02, 0.3, 1, 2.2, 5, 9}
)

// Odd dimensions against equation (5) as it stands, with its derivatives in 3000 bits. cosh r is
// exact here, so that r carries its rounding.
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
				if got := k.Log(r); !(math.Abs(got-want) <= tol) {
					t.Errorf("n = %d, t = %v, cosh r = %v: ln K = %v, expected %v, error %.3g, tolerance %.3g", n, tm,
						v, got, want, got-want, tol)
				}
			}
		}
	}
}

// The plane against the integral (6) with the substitution s = r + w², by Simpson's rule.
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
			if got := k.Log(r); !(math.Abs(got-want) <= 1e-11*(1+r*r/tm)) {
				t.Errorf("t = %v, r = %v: ln K = %v, expected %v", tm, r, got, want)
			}
		}
	}
}

// Every dimension follows from the second one below it, even and odd alike: K_{n+2} = -exp(-nt)/(2π
// sinh r) ∂K_n/∂r.
func TestRecursion(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for _, tm := range times4 {
			low, high := kernel(t, n, tm), kernel(t, n+2, tm)
			for _, r := range distances[3:] {
				slope, _ := differentiate(low.Log, r, 0.02)
				want := low.Log(r) + math.Log(-slope) - float64(n)*tm - math.Log(2*math.Pi*math.Sinh(r))
				if got := high.Log(r); !(math.Abs(got-want) <= 1e-11*(1+r*r/tm)) {
					t.Errorf("n = %d, t = %v, r = %v: ln K = %v, expected %v from n = %d", n+2, tm, r, got, want, n)
				}
			}
		}
	}
}

// The heat equation, ∂K/∂t = K″ + (n-1) coth r K′, in logarithms.
func TestHeatEquation(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 8, 9, 30, 31} {
		for _, tm := range times4 {
			for _, r := range distances[3:] {
				k := kernel(t, n, tm)
				inR, inRR := differentiate(k.Log, r, 0.02)
				inT, _ := differentiate(func(tm float64) float64 { return kernel(t, n, tm).Log(r) }, tm, 0.005*tm)
				right := inRR + inR*inR + float64(n-1)/math.Tanh(r)*inR
				scale := 1/tm + r*r/(tm*tm) + float64(n*n)
				if !(math.Abs(inT-right) <= 1e-9*scale) {
					t.Errorf("n = %d, t = %v, r = %v: ∂ln K/∂t is %v, expected %v", n, tm, r, inT, right)
				}
			}
		}
	}
}

// Heat isn't lost: K integrates to 1 over Hⁿ.
func TestMass(t *testing.T) {
	for n := 1; n <= 13; n++ {
		for _, tm := range times4 {
			k := kernel(t, n, tm)
			lgamma, _ := math.Lgamma(float64(n) / 2)
			sphere := math.Ln2 + float64(n)/2*math.Log(math.Pi) - lgamma
			f := func(r float64) float64 {
				if r == 0 {
					return map[bool]float64{true: math.Exp(k.Log(0) + sphere), false: 0}[n == 1]
				}
				return math.Exp(k.Log(r) + sphere + float64(n-1)*logSinh(r))
			}
			// Heat spreads at the speed n-1, and by √(2t) about that.
			top := 2*float64(n-1)*tm + 14*math.Sqrt(2*tm) + 3*math.Sqrt(2*tm*float64(n))
			if mass := simpson(f, 0, top, 1000); !(math.Abs(mass-1) <= 1e-8) {
				t.Errorf("n = %d, t = %v: the mass is %v, expected 1", n, tm, mass)
			}
		}
	}
}

// Equation (6) as it is printed, with √(4πt³) for (4πt)^(3/2), of the plane: its mass is 4π, not 1.
// Its integral is taken with s = r + w², by Simpson's rule.
func TestPrintedPlane(t *testing.T) {
	const tm = 0.5
	mass := simpson(func(r float64) float64 {
		if r == 0 {
			return 0
		}
		inner := simpson(func(w float64) float64 {
			s := r + w*w
			// √(cosh s - cosh r) = √(2 sinh((s+r)/2) sinh(w²/2))
			root := 1 / math.Sqrt(math.Sinh((s+r)/2))
			if w > 0 {
				root *= w / math.Sqrt(2*math.Sinh(w*w/2))
			}
			return 2 * s * math.Exp(-tm/4-s*s/(4*tm)) * root
		}, 0, 3, 400)
		return 2 * math.Pi * math.Sinh(r) * math.Sqrt2 / math.Sqrt(4*math.Pi*tm*tm*tm) * inner
	}, 0, 12, 1200)
	if !(math.Abs(mass-4*math.Pi) <= 1e-6) {
		t.Errorf("the mass of what is printed is %v, expected 4π", mass)
	}
}

// The semigroup property ∫ K_s(x,z) K_t(z,y) dz = K_{s+t}(x,y): in polar coordinates about x, z has
// the distance cosh r′ = cosh r cosh ρ - sinh r sinh ρ cos α from y.
func TestSemigroup(t *testing.T) {
	for _, n := range []int{2, 3} {
		for _, c := range []struct{ s, t, rho float64 }{{0.3, 0.5, 0}, {0.3, 0.5, 0.8}, {1, 0.4, 2.5}} {
			first, second := kernel(t, n, c.s), kernel(t, n, c.t)
			table := musttest.Get(NewTable(t.Context(), second, 30))(t)
			ring := func(r float64) float64 {
				if r == 0 {
					return 0
				}
				inner := func(alpha float64) float64 {
					// cosh r′ - 1 = 2 sinh²((r-ρ)/2) + 2 sinh r sinh ρ sin²(α/2)
					across, turned := math.Sinh((r-c.rho)/2), math.Sin(alpha/2)
					to := 2 * math.Asinh(math.Sqrt(across*across+math.Sinh(r)*math.Sinh(c.rho)*turned*turned))
					v := math.Exp(table.Log(to))
					if n == 3 {
						return 2 * math.Pi * math.Sin(alpha) * v
					}
					return 2 * v
				}
				return simpson(inner, 0, math.Pi, 600) * math.Exp(first.Log(r)) * math.Pow(math.Sinh(r), float64(n-1))
			}
			want := math.Exp(kernel(t, n, c.s+c.t).Log(c.rho))
			if got := simpson(ring, 0, 14, 600); !(math.Abs(got-want) <= 1e-7*want) {
				t.Errorf("n = %d, s = %v, t = %v, ρ = %v: the integral is %v, expected %v", n, c.s, c.t, c.rho, got,
					want)
			}
		}
	}
}

// flat returns ln K relative to the Gaussian of Rⁿ.
func flat(t *testing.T, n int, tm, r float64) float64 {
	return kernel(t, n, tm).Log(r) + float64(n)/2*math.Log(4*math.Pi*tm) + r*r/(4*tm)
}

// Odd dimensions come from closed forms, even ones from a quadrature: relative to the Gaussian both
// fall with n, each between its neighbours, and not by chance: the differences are smooth in n too.
func TestInterlace(t *testing.T) {
	for _, tm := range times4 {
		for _, r := range distances {
			var v []float64
			for n := 1; n <= 30; n++ {
				v = append(v, flat(t, n, tm, r))
			}
			for i := 1; i+1 < len(v); i++ {
				if !(v[i-1] > v[i] && v[i] > v[i+1]) {
					t.Errorf("t = %v, r = %v: ln K relative to the Gaussian is %v, %v, %v for n = %d on", tm, r, v[i-1],
						v[i], v[i+1], i)
				}
				if i > 1 && i+2 < len(v) {
					// Were even dimensions off by a factor, fourth differences would show 16 times
					// its logarithm.
					fourth := v[i-2] - 4*v[i-1] + 6*v[i] - 4*v[i+1] + v[i+2]
					if !(math.Abs(fourth) <= 0.02*(v[i-1]-v[i+1])) {
						t.Errorf("t = %v, r = %v: fourth difference %v about n = %d, first ones of %v", tm, r, fourth,
							i+1, v[i-1]-v[i+1])
					}
				}
			}
		}
	}
}

// For small r and t the kernel tends to the Gaussian, where the deviation is of the order of n² (r²
// + t).
func TestGaussianLimit(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 9, 10, 101, 102} {
		for _, small := range []float64{1e-2, 1e-4, 1e-6} {
			tm, r := small/float64(n*n), math.Sqrt(small)/float64(n)
			if v := flat(t, n, tm, r); !(math.Abs(v) <= small) {
				t.Errorf("n = %d, t = %v, r = %v: ln K is %v from that of the Gaussian", n, tm, r, v)
			}
		}
	}
	// From zero time on the deviation is (n-1)/2 ln(r/sinh r), at any distance.
	for _, n := range []int{2, 5, 8} {
		for _, r := range []float64{0.5, 2, 7} {
			want := float64(n-1) / 2 * math.Log(r/math.Sinh(r))
			if v := flat(t, n, 1e-7, r); !(math.Abs(v-want) <= 1e-5) {
				t.Errorf("n = %d, r = %v: at zero time ln K is %v from that of the Gaussian, expected %v", n, r, v,
					want)
			}
		}
	}
}
