package hyperbolic

import (
	"fmt"
	"math"
)

// MaxDimension is the largest dimension of a space. For small t the g_j rise up to e^(n/2e) above
// the last one, which is outside of float64 beyond n = 3,800. A value takes O(n²) operations, for
// even n at every point of a quadrature.
const MaxDimension = 2000

// Kernel is the heat kernel of Hⁿ of curvature -1 at one time. It is immutable and may be used
// concurrently.
type Kernel struct {
	n, m     int     // n = 2m+1 or 2m+2
	t        float64 // time
	constant float64 // logarithm of what stands before exp(-r²/4t)
}

// Times within which the terms r²/4t and n²t/4 of ln K are float64 numbers, whatever r a distance
// of float64 numbers is.
const minTime, maxTime = 1e-290, 1e290

// New returns the heat kernel of Hⁿ, 1 <= n <= [MaxDimension], at a time t from 10⁻²⁹⁰ to 10²⁹⁰ in
// squared units of r.
func New(n int, t float64) (*Kernel, error) {
	if n < 1 || n > MaxDimension {
		return nil, fmt.Errorf("hyperbolic: dimension %d, expected 1 to %d", n, MaxDimension)
	}
	if !(t >= minTime && t <= maxTime) {
		return nil, fmt.Errorf("hyperbolic: time %v, expected %v to %v", t, minTime, maxTime)
	}
	k := &Kernel{n: n, m: (n - 1) / 2, t: t}
	m, flat := float64(k.m), math.Log(4*math.Pi*t)
	if n%2 == 1 {
		k.constant = -m*math.Log(2*math.Pi) - flat/2 - m*m*t
	} else {
		k.constant = -m*math.Log(2*math.Pi) + math.Ln2/2 - 1.5*flat - (2*m+1)*(2*m+1)*t/4 + math.Log(4*t)
	}
	return k, nil
}

// Log returns ln K(t, r) for r >= 0.
//
// Accuracy: some n float64 ulp of 1, and a few of r²/4t and of n²t/4. It takes O(n²) operations for
// odd n, and the same at each of some 20 to 300 points of a quadrature for even n; [Table] is for
// many r.
func (k *Kernel) Log(r float64) float64 {
	return k.constant - r*r/(4*k.t) + k.logFactor(r)
}

// logFactor returns ln K + r²/4t without its constant, a smooth function.
func (k *Kernel) logFactor(r float64) float64 {
	var d derivatives
	if k.n%2 == 1 {
		return d.log(k.m, k.t, r)
	}
	return k.logIntegral(func(s float64) float64 { return d.log(k.m+1, k.t, s) }, r, k.step())
}

// step returns the step of the quadrature in logIntegral: half the width of its integrand. See
// there.
func (k *Kernel) step() float64 { return 0.5 / math.Sqrt(1/(2*k.t)+float64(k.m+1)/2+0.5) }

// logIntegral returns the logarithm of
//
//	∫₀^∞ g(s) f(s)/f(r) dy,   y² = cosh s - cosh r
//
// given ln g for g = g_{m+1}. With s² = r² + q² the quotient of f is exp(-q²/4t), and y an odd
// analytic function of q:
//
//	y² = 2 sinh((s+r)/2) sinh((s-r)/2),   s-r = q²/(s+r),   dy/dq = q sinh s/(2sy)
//
// So the integrand is even and analytic in a strip about the real axis, and falls like a Gaussian:
// the trapezoidal rule converges geometrically. The widths are √(2t), of exp(-q²/4t), and some
// √(2/(m+1)), of g, which goes like (1 + cosh s)^-(m+1). With half the width of the product for a
// step the error of a Gaussian is e^(-8π²), and the nearest singularity, s = iπ, allows e^(-4π²). A
// test holds it against other steps.
func (k *Kernel) logIntegral(logG func(s float64) float64, r, step float64) float64 {
	slope := -math.Ln2 / 2 // ln dy/dq for q = 0, where it is √(sinh r/2r)
	if r > 0 {
		slope = (logSinh(r) - math.Log(2*r)) / 2
	}
	// Terms are taken relative to the first one, the greatest up to a factor of moderate size.
	first := logG(r) + slope
	sum := 0.5
	for i := 1; ; i++ {
		q := step * float64(i)
		s := math.Hypot(r, q)
		y := (math.Ln2 + logSinh((s+r)/2) + logSinh(q*q/(s+r)/2)) / 2
		slope = math.Log(q/(2*s)) + logSinh(s) - y
		term := math.Exp(logG(s) - q*q/(4*k.t) + slope - first)
		sum += term
		if !(term > 0x1p-60*sum) {
			return first + math.Log(sum*step)
		}
	}
}
