package hyperbolic

import (
	"fmt"
	"math"
)

// MaxDimension is the maximum supported dimension. For small t, the largest of g_0 to g_m can
// exceed g_m by a factor of e^(n/2e), which overflows float64 for n > 3,800. Computing a kernel
// value takes O(n²) operations if n is odd, and O(n²) operations per quadrature point if n is even.
const MaxDimension = 2000

// Kernel is the heat kernel of Hⁿ with curvature -1 at time t. It is immutable and may be used
// concurrently.
type Kernel struct {
	n, m        int     // n = 2m+1 or 2m+2
	t           float64 // time, in units of r²
	logConstant float64 // logarithm of the factors before exp(-r²/4t)
}

// For t from minTime to maxTime, the terms r²/4t and n²t/4 of ln K don't overflow for any distance
// r between points with float64 coordinates.
const minTime, maxTime = 1e-290, 1e290

// NewKernel returns the heat kernel of Hⁿ at time t. The dimension n must be from 1 to
// [MaxDimension], and t from 10⁻²⁹⁰ to 10²⁹⁰ in squared units of r.
func NewKernel(n int, t float64) (*Kernel, error) {
	if n < 1 || n > MaxDimension {
		return nil, fmt.Errorf("hyperbolic: dimension must be between 1 and %d, got %d", MaxDimension, n)
	}
	if !(t >= minTime && t <= maxTime) {
		return nil, fmt.Errorf("hyperbolic: time must be between %v and %v, got %v", minTime, maxTime, t)
	}
	k := &Kernel{n: n, m: (n - 1) / 2, t: t}
	m, flat := float64(k.m), math.Log(4*math.Pi*t)
	if n%2 == 1 {
		k.logConstant = -m*math.Log(2*math.Pi) - flat/2 - m*m*t
	} else {
		k.logConstant = -m*math.Log(2*math.Pi) + math.Ln2/2 - 1.5*flat - (2*m+1)*(2*m+1)*t/4 + math.Log(4*t)
	}
	return k, nil
}

// LogValue returns ln K(t, r) for r >= 0.
//
// Accuracy: the error is about n float64 ulp of 1, plus several ulp of r²/4t and of n²t/4. LogValue
// takes O(n²) operations if n is odd. If n is even, it takes O(n²) operations at each of about 20
// to 300 quadrature points. [Table] is faster for many values of r.
func (k *Kernel) LogValue(r float64) float64 {
	return k.logConstant - r*r/(4*k.t) + k.logFactor(r)
}

// logFactor returns ln K + r²/4t - k.logConstant, a smooth function of r.
func (k *Kernel) logFactor(r float64) float64 {
	var d derivatives
	if k.n%2 == 1 {
		return d.log(k.m, k.t, r)
	}
	return k.logIntegral(func(s float64) float64 { return d.log(k.m+1, k.t, s) }, r, k.quadratureStep())
}

// quadratureStep returns the quadrature step of logIntegral, half the width of the integrand.
func (k *Kernel) quadratureStep() float64 { return 0.5 / math.Sqrt(1/(2*k.t)+float64(k.m+1)/2+0.5) }

// logIntegral returns the logarithm of
//
//	∫₀^∞ g(s) f(s)/f(r) dy,   y² = cosh s - cosh r
//
// for g = g_{m+1}, where logG returns ln g. With s² = r² + q² the quotient f(s)/f(r) is
// exp(-q²/4t), and y is an odd analytic function of q:
//
//	y² = 2 sinh((s+r)/2) sinh((s-r)/2),   s-r = q²/(s+r),   dy/dq = q sinh s/(2sy)
//
// So the integrand is even in q, analytic in a strip around the real axis, and decays like a
// Gaussian. Therefore the trapezoidal rule converges geometrically. The factor exp(-q²/4t) has the
// width √(2t). g behaves like (1 + cosh s)^-(m+1) and has a width of about √(2/(m+1)). If the step
// is half the width of the product, the error for a Gaussian would be e^(-8π²). The nearest
// singularity, s = iπ, increases the error to e^(-4π²). TestQuadratureStep compares other steps.
func (k *Kernel) logIntegral(logG func(s float64) float64, r, step float64) float64 {
	slope := -math.Ln2 / 2 // ln dy/dq at q = 0, where dy/dq = √(sinh r/2r)
	if r > 0 {
		slope = (logSinh(r) - math.Log(2*r)) / 2
	}
	// Terms are computed relative to the first term, which is nearly the largest.
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
