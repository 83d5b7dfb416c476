package heat

import (
	"math"
	"testing"
)

// Theorem 1 on the circle and the line, the two spaces of dimension 1 whose heat kernels the source
// gives. Both are oracles of the parametrix for n = 1, whose functions ψ_k are ψ₀ = 1 and 0, so that
// it is the kernel of the line: that of the circle less the ways around it.

// circle is the heat kernel of a circle of radius ρ by its expansion in eigenfunctions,
//
//	K_t(d) = 1/(2πρ) (1 + 2 Σ_{j>=1} exp(-j²t/ρ²) cos(jd/ρ))
//
// The source sums j from 0 with the factor 1/2π, where it sums exp(ijθ), for which j has both signs:
// what is printed counts the half of each j > 0.
func circle(t, d, rho float64) float64 { return circleSum(t, d, rho, 2) }

func circleSum(t, d, rho, factor float64) float64 {
	sum := 0.0
	for j := 200.0; j > 0; j-- {
		sum += math.Exp(-j*j*t/(rho*rho)) * math.Cos(j*d/rho)
	}
	return (1 + factor*sum) / (2 * math.Pi * rho)
}

// line is the heat kernel of ℝ, exp(-d²/4t)/√(4πt).
func line(t, d float64) float64 { return math.Exp(-d*d/(4*t)) / math.Sqrt(4*math.Pi*t) }

// wound is that of the circle by its other expansion, the sum of line over all ways around it.
func wound(t, d, rho float64) float64 {
	sum := 0.0
	for k := -60.0; k <= 60; k++ {
		sum += line(t, d+2*math.Pi*rho*k)
	}
	return sum
}

var oracleTimes = []float64{0.02, 0.1, 0.5, 2}

// The parametrix of the sphere of radius 2 and dimension 1 is the kernel of the line to rounding, and
// that of the circle but for the ways around it: of those the shorter ones to both sides are the
// greatest, and three times them more than all.
func TestCircleAndLine(t *testing.T) {
	const rho = 2
	for _, order := range []int{0, 1, MaxOrder} {
		for _, tm := range oracleTimes {
			k := Kernel{Sphere: sphere(t, 1, order), T: tm, LogFactor: LogConstant(1, tm)}
			for _, x := range []float64{0, 0.1, 0.5, 1, math.Pi / 2} { // d = 2x, up to that of no common term
				d := 2 * x
				got, flat := k.Eval(half(x)), line(tm, d)
				if tol := flat * 0x1p-50 * (4 + d*d/tm); !(math.Abs(got-flat) <= tol) {
					t.Errorf("order %d, t = %v, d = %v: %v, on the line %v", order, tm, d, got, flat)
				}
				around := line(tm, 2*math.Pi*rho-d) + line(tm, 2*math.Pi*rho+d)
				if want := circle(tm, d, rho); !(math.Abs(got-want) <= 3*around+1e-15) {
					t.Errorf("order %d, t = %v, d = %v: %v, on the circle %v, ways around %v", order, tm, d, got, want,
						around)
				}
			}
		}
	}
}

// integral is ∫₀^{2πρ} f over the circle: by the trapezoidal rule, which is exact to rounding for a
// function as smooth as a heat kernel.
func integral(f func(at float64) float64, rho float64) float64 {
	const n = 1000
	sum := 0.0
	for i := range n {
		sum += f(2 * math.Pi * rho * float64(i) / n)
	}
	return sum * 2 * math.Pi * rho / n
}

// Theorem 1 on the circle: both expansions agree (compactness), K is symmetric and solves the heat
// equation, its limit for t = 0 is δ, and it is a semigroup. What the source prints for the circle,
// with half of each j > 0, has the mass 1, too, but neither that limit nor the semigroup.
func TestTheorem1(t *testing.T) {
	const rho = 1
	printed := func(t, d float64) float64 { return circleSum(t, d, rho, 1) }
	for _, tm := range oracleTimes {
		for _, d := range []float64{0, 0.3, 1, 2, math.Pi} {
			k := circle(tm, d, rho)
			if want := wound(tm, d, rho); !(math.Abs(k-want) <= 1e-13) {
				t.Errorf("t = %v, d = %v: %v, by ways around %v", tm, d, k, want)
			}
			if back := circle(tm, 2*math.Pi*rho-d, rho); !(math.Abs(k-back) <= 1e-13) {
				t.Errorf("t = %v: K(%v) = %v, the other way around %v", tm, d, k, back)
			}
			// Δ - ∂/∂t by central differences: their errors are of the order of h² times the fourth
			// derivative by d, below 60 at t = 0.02.
			h := 1e-3
			laplacian := (circle(tm, d+h, rho) - 2*k + circle(tm, d-h, rho)) / (h * h)
			slope := (circle(tm+h*tm, d, rho) - circle(tm-h*tm, d, rho)) / (2 * h * tm)
			if tol := 1e-4 * math.Pow(tm, -1.5); !(math.Abs(laplacian-slope) <= tol) {
				t.Errorf("t = %v, d = %v: ΔK = %v, ∂K/∂t = %v", tm, d, laplacian, slope)
			}
			for _, s := range []float64{tm / 4, tm / 2} {
				product := func(k func(t, d float64) float64) float64 {
					return integral(func(z float64) float64 { return k(tm-s, z) * k(s, z-d) }, rho)
				}
				whole := func(t, d float64) float64 { return circle(t, d, rho) }
				if got := product(whole); !(math.Abs(got-k) <= 1e-13) {
					t.Errorf("∫ K_%v K_%v = %v at d = %v, expected %v", tm-s, s, got, d, k)
				}
				off := math.Abs(product(printed) - printed(tm, d))
				if want := math.Abs(k-1/(2*math.Pi*rho)) / 4; !(math.Abs(off-want) <= 1e-13) {
					t.Errorf("t = %v, d = %v: printed, the semigroup is off by %v, expected %v", tm, d, off, want)
				}
			}
		}
	}
	// The limit: f(0) for a function f, here 1/(2-cos z) with f(0) = 1 and mean 1/√3; of what is
	// printed half of both.
	at := func(k func(t, d float64) float64, tm float64) float64 {
		return integral(func(z float64) float64 { return k(tm, z) / (2 - math.Cos(z)) }, rho)
	}
	const tm = 1e-3 // t f″(0) = -t is left
	if got := at(func(t, d float64) float64 { return circle(t, d, rho) }, tm); !(math.Abs(got-1+tm) <= 20*tm*tm) {
		t.Errorf("∫ K f = %v at t = %v, expected f(0) = 1 but for t", got, tm)
	}
	if got, want := at(printed, tm), (1+1/math.Sqrt(3))/2; !(math.Abs(got-want) <= tm) {
		t.Errorf("printed: ∫ K f = %v, expected (f(0) + the mean of f)/2 = %v", got, want)
	}
}
