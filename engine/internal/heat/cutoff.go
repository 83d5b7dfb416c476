package heat

import "math"

// LogCutoff returns ln η of the cut-off with the given radius, in units of d: the C^∞ bump
//
//	η(d) = 1                                                d <= radius/2
//	η(d) = f(1-u) / (f(u) + f(1-u)),  u = 2d/radius - 1     between them, f(u) = exp(-1/u)
//	η(d) = 0                                                d >= radius
//
// for d >= 0. A radius of 0 means no cut-off, η = 1. The source requires a smooth function that is
// 1 near the diagonal and vanishes far from it, with radius at most 2π (half a great circle), but
// doesn't specify the function. The bump is the usual choice. The error is a few float64 ulp of 1 +
// |ln η|, plus the error of d times 1/(1-u).
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §2.1.1; the bump: Lee, Introduction to Smooth
// Manifolds (2013), lemma 2.21.
func LogCutoff(radius, d float64) float64 {
	if radius == 0 || d <= radius/2 {
		return 0
	}
	if d >= radius {
		return math.Inf(-1)
	}
	// Subtraction before division avoids cancellation near d = radius/2 and d = radius.
	half := radius / 2
	w := half/(radius-d) - half/(d-half) // 1/(1-u) - 1/u
	if w > 0 {
		return -w - math.Log1p(math.Exp(-w)) // 1/(1+e^w)
	}
	return -math.Log1p(math.Exp(w))
}
