package heat

import (
	"fmt"
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func sphere(t *testing.T, n, order int) *Sphere {
	t.Helper()
	return musttest.Get(NewSphere(n, order))(t)
}

// ratio returns ψ_k/ψ₀ at c, in units of time to the power -k.
func ratio(s *Sphere, k int, c float64) float64 {
	_, y, rest := seriesArguments(c)
	v := math.Ldexp(horner(s.coefficients(k, y), y), -2*k)
	for range poleOrder(s.n, k) {
		v /= rest
	}
	return v
}

// half returns c for the angle x.
func half(x float64) float64 {
	s := math.Sin(x / 2)
	return 2 * s * s
}

// The correction is 1 on the circle, e^τ on the 3-sphere, and e^(4τ) (1 - 2τ(1 - x cot x)/x²) on
// the 5-sphere, which follows from the 3-sphere by K₅ = -e^(3τ)/(2π sin x) ∂K₃/∂x.
func TestClosedForms(t *testing.T) {
	spheres := map[int]*Sphere{1: sphere(t, 1, MaxOrder), 3: sphere(t, 3, MaxOrder), 5: sphere(t, 5, MaxOrder)}
	for _, x := range []float64{0.3, 0.7, 1.1, math.Pi / 2, 2, 2.5, 3, 3.1, 3.14} {
		g := (1 - x/math.Tan(x)) / (x * x)
		for k := range MaxOrder + 1 {
			four, factorial := math.Pow(4, float64(k)), math.Gamma(float64(k+1))
			want := map[int]float64{1: 0, 3: 1 / factorial, 5: four / factorial}
			if k == 0 {
				want[1] = 1
			} else {
				want[5] -= 2 * g * four / 4 / math.Gamma(float64(k))
			}
			for n, s := range spheres {
				got := ratio(s, k, half(x)) * four
				// For angles near π, 2-c is about (π-x)²/2, so the rounding of c matters.
				tol := 32 * 0x1p-53 * (four/factorial + math.Abs(want[n])) * (1 + 1/((math.Pi-x)*(math.Pi-x)))
				if !(math.Abs(got-want[n]) <= tol) {
					t.Errorf("n = %d: 4^%d ψ_%d/ψ₀ at x = %v is %v, expected %v", n, k, k, x, got, want[n])
				}
			}
		}
	}
}

// ψ₁, ψ₂ and ψ₃ agree with quadrature of their transport equations, without power series.
func TestTransportEquations(t *testing.T) {
	angles := []float64{0.3, 1, math.Pi / 2, 2.2}
	if testing.Short() {
		angles = angles[1:2]
	}
	for _, n := range []int{2, 7, 60000} {
		s, o := sphere(t, n, 3), sphereOracle{n}
		for _, x := range angles {
			x := x
			wants := []float64{1, rounded(o.first(real(x))), o.second(x), o.third(x)}
			for k, want := range wants {
				got := ratio(s, k, half(x)) * math.Pow(4, float64(k))
				scale := math.Abs(want) + math.Pow(float64(n-1)/2, 2*float64(k))/math.Gamma(float64(k+1))
				if err := math.Abs(got-want) / scale; !(err <= 1e-12) {
					t.Errorf("n = %d: w_%d at x = %v is %v, expected %v, error %.2g", n, k, x, got, want, err)
				}
			}
		}
	}
}

// ln ψ₀ agrees with a logarithm of high precision, around the end of its series and near both ends
// of c.
func TestLogPsi0(t *testing.T) {
	for _, n := range []int{1, 2, 3, 100, 100000} {
		s := sphere(t, n, 0)
		for _, x := range []float64{1e-9, 1e-4, 0.01, 0.5, 0.78, 0.79, 1.2, 1.57, 1.58, 2, 3, 3.1} {
			for form, factor := range map[Form]float64{FormCorrected: 1, FormPrinted: 2} {
				if factor*x > 3.13 {
					continue
				}
				v := real(factor * x)
				sin, _ := sincos(v)
				want := rounded(times(naturalLog(over(v, sin)), real(float64(n-1)/2)))
				// The rounding of c changes x by 2⁻⁵² of x, or of π-x above c = 1.
				v0 := factor * x
				tol := want*16*0x1p-53 + s.a*0x1p-50*math.Abs(1-v0/math.Tan(v0))
				if got := s.LogPsi0(form, half(x)); !(math.Abs(got-want) <= tol) {
					t.Errorf("n = %d, form %d: ln ψ₀ at x = %v is %v, expected %v, error %.3g, tolerance %.3g", n, form,
						x, got, want, got-want, tol)
				}
			}
		}
		if n > 1 && !math.IsInf(s.LogPsi0(FormCorrected, 2), 1) || n > 1 && !math.IsInf(s.LogPsi0(FormPrinted, 1), 1) {
			t.Errorf("n = %d: ψ₀ is finite at its pole", n)
		}
	}
}

func TestNewSphereRefuses(t *testing.T) {
	for _, c := range [][2]int{{0, 0}, {-1, 0}, {math.MaxInt, 0}, {5, -1}, {5, MaxOrder + 1}} {
		if s, err := NewSphere(c[0], c[1]); err == nil || s != nil {
			t.Errorf("n = %d, order = %d is allowed", c[0], c[1])
		}
	}
}

// The maximum dimension and order give finite values for any time, and small ones give no NaN at
// the antipode.
func TestExtremes(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 9, 10, 1000, 100000, MaxDimension} {
		for _, order := range []int{0, 1, MaxOrder} {
			s := sphere(t, n, order)
			for _, tm := range []float64{1e-18, 1e-6, 1, 1e18} {
				for _, c := range []float64{0, 1e-300, 1e-9, 0.5, 1, math.Nextafter(1, 2), 1.999, math.Nextafter(2, 0),
					2} {
					k := Kernel{Sphere: s, Time: tm}
					l, sign := k.Log(c)
					name := fmt.Sprintf("n = %d, order = %d, t = %g, c = %v", n, order, tm, c)
					if math.IsNaN(l) || sign == 0 || math.IsInf(l, -1) {
						t.Errorf("%s: logarithm %v, sign %v", name, l, sign)
					}
					if inf := c == 2 && n > 1; math.IsInf(l, 1) != inf {
						t.Errorf("%s: logarithm %v, expected an infinity: %v", name, l, inf)
					}
					if c == 0 && order == 0 && l != 0 {
						t.Errorf("%s: logarithm %v, expected 0", name, l)
					}
				}
			}
		}
	}
}

// The bump is 1 inside, 0 outside, decreases in between, is symmetric about the middle with value
// ½, and is flatter at both ends than any power.
func TestCutoff(t *testing.T) {
	eta := func(d float64) float64 { return math.Exp(LogCutoff(3, d)) }
	for _, d := range []float64{0, 1, 1.5} {
		if v := eta(d); v != 1 {
			t.Errorf("η(%v) = %v, expected 1", d, v)
		}
	}
	for _, d := range []float64{3, 3.5, 100} {
		if v := eta(d); v != 0 {
			t.Errorf("η(%v) = %v, expected 0", d, v)
		}
	}
	last := 1.0
	for i := 1; i < 1000; i++ {
		u := float64(i) / 1000
		d := 1.5 + 1.5*u
		v := eta(d)
		f := func(u float64) float64 { return math.Exp(-1 / u) }
		if want := f(1-u) / (f(u) + f(1-u)); !(math.Abs(v-want) <= 1e-12) || !(v <= last) {
			t.Errorf("η(%v) = %v after %v, expected %v", d, v, last, want)
		}
		if mirror := eta(4.5 - d); !(math.Abs(v+mirror-1) <= 1e-12) {
			t.Errorf("η(%v) + η(%v) = %v, expected 1", d, 4.5-d, v+mirror)
		}
		last = v
	}
	if v := -LogCutoff(3, 1.5+1.5/50); !(v <= math.Exp(-48)) || !(v > 0) {
		t.Errorf("1 - η is %v a fiftieth into the fall, expected at most e⁻⁴⁸", v)
	}
	if v := LogCutoff(3, 3-1.5/1000); !(v <= -998) || math.IsInf(v, 0) {
		t.Errorf("ln η is %v a thousandth before the end, expected at most -998", v)
	}
	if v := LogCutoff(0, 1e9); v != 0 {
		t.Errorf("without a cut-off ln η is %v", v)
	}
}

// The logarithm of k(c)/k(0) is the difference of logarithms if that is accurate, and proportional
// to c for small c.
func TestLogRatio(t *testing.T) {
	for _, n := range []int{1, 2, 5, 50, 60000} {
		for _, order := range []int{-1, 0, 1, 3} {
			for _, tm := range []float64{1 / float64(n*n), 0.01, 0.5, 100} {
				k := Kernel{Time: tm, Cutoff: 3}
				if order >= 0 {
					k.Sphere = sphere(t, n, order)
				}
				there, _ := k.Log(0)
				for _, c := range []float64{1e-4, 1e-3, 0.01, 0.05, 0.3, 0.306, 0.31, 0.8} {
					here, _ := k.Log(c)
					scale := c/tm + float64(n)*c + math.Abs(here) + math.Abs(there) + 64
					if got := k.LogRatio(c); !(math.Abs(got-(here-there)) <= 0x1p-50*scale) {
						t.Errorf("n = %d, order = %d, t = %v: ln k(%v)/k(0) = %v, expected %v", n, order, tm, c, got,
							here-there)
					}
				}
				slope := k.LogRatio(1e-9) / 1e-9
				for _, c := range []float64{1e-12, 1e-30, 1e-200} {
					if got := k.LogRatio(c) / c; !(math.Abs(got-slope) <= 1e-8*float64(n)*math.Abs(slope)) {
						t.Errorf("n = %d, order = %d, t = %v: ln k(c)/k(0) = %v c for c = %v, %v c for 1e-9", n, order,
							tm, got, c, slope)
					}
				}
			}
		}
	}
	if v := (&Kernel{Time: 1, Cutoff: 1}).LogRatio(0.5); !math.IsInf(v, -1) {
		t.Errorf("beyond the cut-off the ratio is exp(%v)", v)
	}
	// At such a large time the 7th function dominates. It is negative on the diagonal of the
	// 5-sphere.
	if v := (&Kernel{Sphere: sphere(t, 5, 7), Time: 1e6}).LogRatio(0.1); !math.IsNaN(v) {
		t.Errorf("of a negative diagonal the ratio is exp(%v)", v)
	}
}

// exact computes the heat kernel of the n-sphere of radius 1 from its spectrum,
//
//	K(τ, x) = 1/vol Σ (2l+n-1)/(n-1) C_l(cos x) exp(-l(l+n-1)τ)
//
// with the Gegenbauer polynomials of index (n-1)/2, n > 1. The relative error of the sum grows with
// K(τ, 0)/K(τ, x).
func exact(n int, tau, x float64) float64 {
	a := float64(n-1) / 2
	before, at := 0.0, 1.0
	var sum float64
	for l := range 400 {
		v := float64(l)
		sum += (v + a) / a * at * math.Exp(-v*(v+2*a)*tau)
		before, at = at, (2*(v+a)*math.Cos(x)*at-(v+2*a-1)*before)/(v+1)
	}
	return sum * math.Gamma(a+1) / (2 * math.Pow(math.Pi, a+1))
}

// The parametrix with its constant converges to the heat kernel like t^(m+1).
func TestHeatKernel(t *testing.T) {
	for _, n := range []int{2, 3, 4, 6} {
		for m := range 4 {
			s := sphere(t, n, m)
			for _, x := range []float64{0, 0.3, 0.6} {
				err := func(tau float64) float64 {
					k := Kernel{Sphere: s, Time: 4 * tau, LogFactor: LogConstant(n, 4*tau)}
					return k.Eval(half(x))*math.Pow(2, float64(n))/exact(n, tau, x) - 1
				}
				coarse, fine := err(0.1), err(0.05)
				order := math.Log2(coarse / fine)
				if !(math.Abs(order-float64(m+1)) <= 0.6) ||
					!(math.Abs(fine) <= math.Pow(0.05*float64(n*n)/4, float64(m+1))) {
					t.Errorf("n = %d, m = %d, x = %v: errors %.3g and %.3g, of order %.3f", n, m, x, coarse, fine,
						order)
				}
			}
		}
	}
}
