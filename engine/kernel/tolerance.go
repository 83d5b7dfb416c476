package kernel

import "math"

// ToleranceReason says in words what [Tolerance] is made of.
const ToleranceReason = "an error of min(1e-6, 1e-5·c) in c and of one float32 rounding in each norm, " +
	"carried through the kernel, plus the stated error of the float32 map"

// The errors that c may have, as a whole and relative to itself: what the engine promises of its
// dot products and their recomputation.
const (
	deltaC         = 1e-6
	deltaCRelative = 1e-5
)

// Tolerance returns how far a value that the float32 engine computes may be from the float64
// reference, for a pair with the reference's c and norms x and y,
//
//	max |k(c′, x′, y′) - k(c, x, y)| + Error(c′, x′, y′)
//	over c′ = c, c ± δ, x′ = x, x(1 ± u), y′ = y, y(1 ± u)
//
// with δ = min(10⁻⁶, 10⁻⁵ c) + 2⁻¹⁵⁰, the promise for c and the rounding of the least float32, and
// u = 2⁻²⁴, the rounding of a norm to float32. The terms are largest at corners, since kernels are
// monotone or convex in each variable over so small a box. It is +Inf where there is no bound, see
// [Kernel].Error, never NaN. See [ToleranceReason].
func Tolerance(k Kernel, c, x, y float64) float64 {
	v := k.Eval(c, x, y)
	delta := min(deltaC, deltaCRelative*c) + underflow/2
	tol := k.Error(c, x, y)
	widen := func(c, x, y float64) { tol = max(tol, math.Abs(k.Eval(c, x, y)-v)+k.Error(c, x, y)) }
	for _, c := range [2]float64{max(c-delta, 0), min(c+delta, 2)} {
		if !UsesNorms(k) {
			widen(c, x, y)
			continue
		}
		for corner := range 4 {
			widen(c, x*(1+unit*float64(corner&1*2-1)), y*(1+unit*float64(corner&2-1)))
		}
	}
	return bound(tol)
}

// Within reports whether a value got is within [Tolerance] of want, the reference's value k.Eval(c,
// x, y), by the cheapest sufficient test: the bounds of [Kernel].Error and Tolerance hold half a
// unit in the last place at least (Error does for every kernel but c, whose value is copied), so
// most values pass without evaluating them. NaN is never within, and an infinity only of the same
// infinity, or of a value beyond float32 where there is no bound: where there is none, any finite
// value is within it of another.
func Within(k Kernel, got, want, c, x, y float64) bool {
	if got == want {
		return true
	}
	err := math.Abs(got - want)
	if !(err <= math.MaxFloat64) { // one is an infinity, or no number
		return !math.IsInf(want, 0) && got == float64(float32(want)) && math.IsInf(Tolerance(k, c, x, y), 1)
	}
	if _, exact := k.(C); !exact && err <= unit*math.Abs(want) {
		return true
	}
	return err <= k.Error(c, x, y) || err <= Tolerance(k, c, x, y)
}
