// Package kernel defines kernels, which are functions of c = 1 - cosine of two documents and of
// their norms.
//
// [Parse] reads a specification such as diffusion:t=0.5, [Apply] maps a tile of c to values, and
// [PropertiesOf] returns the properties of a kernel. Eval is the reference in float64. Engines use
// faster maps, and Error bounds the difference. Package engine computes c.
//
// # Expressions
//
// A kernel is an expression of c, constants, and functions of the norm of a single document. A
// family or combination (such as a sum) has two expressions: the value, and 1 - cosine in the
// feature space. With k(x, y) = ⟨φ(x), φ(y)⟩ the second expression is
//
//	c₂ = 1 - k(x, y)/√(k(x, x) k(y, y))
//
// c₂ and the norms √k(x, x), √k(y, y) are the input of a kernel on this feature space. The formulas
// of c₂ have no cancellation, so that a small c₂ is accurate relative to its value.
//
// Eval evaluates the expression node by node (expr.go). Maps pass chunks of a tile through all
// nodes (machine.go). Error propagates error bounds from node to node. GPUs run the expression as a
// program (program.go). Most kernels are separable, that is, of the form (‖x‖‖y‖)^p g(c). The
// function g becomes a table: a piecewise polynomial in float32 (package internal/table).
// Frequently used formulas have hand-written maps in package asm. A user-defined kernel is a Go
// function (see [New]).
//
// # Families
//
// To add a kernel, add a file that registers a family. A family has a name, a formula, a source,
// parameters with ranges and defaults, and a function that returns the expression for given
// parameters. cosine_power.go is an example.
package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel/internal/table"
	"github.com/gramengine/gram/sparse"
)

// Kernel is a function of c = 1 - cosine of two embedded documents and of their Euclidean norms
// before normalisation (sparse.Embedded.Norms). It is immutable and may be used concurrently.
// [Parse] and [New] make kernels.
type Kernel interface {
	// String returns the specification for [Parse]. It includes the embedding if that isn't the
	// kernel's default. It omits parameters that aren't resolved (see [Resolve]).
	String() string

	// Embedding returns the embedding of the documents.
	Embedding() sparse.Embedding

	// Eval returns the kernel's value in float64 for c in [0, 2] and the norms x and y of the two
	// documents. It is the reference: accurate to a few float64 ulp of the largest term of the
	// formula, for small and large c. It is NaN while a parameter isn't resolved.
	Eval(c, x, y float64) float64

	// Error bounds the absolute error of a value that [Apply] computes from exact float32 c, x and
	// y. If a value overflows float32, [Apply] returns ±Inf, and no finite bound holds. Error is
	// +Inf if an intermediate result overflows, and never NaN.
	Error(c, x, y float64) float64

	// mapTo is [Apply] without its checks. Each element depends only on its own c, x and y, bit for
	// bit, and is symmetric in x and y. So tiles of any shape give the same symmetric matrix.
	mapTo(k *asm.Kernels, dst, c, x, y []float32)
}

// Resolve sets the parameters of k that depend on the data. An omitted gamma becomes 1/terms, as in
// svm-train. terms is the number of terms of the embedder.
func Resolve(k Kernel, terms int) Kernel {
	if k == nil {
		return nil
	}
	return k.(*kernel).resolve(terms)
}

// Key returns a comparable value that is the same for equal kernels: the specification, or the
// kernel itself if it is or contains a kernel from [New].
func Key(k Kernel) any {
	if of, ok := k.(*kernel); ok && !of.hasCustom {
		return of.text
	}
	return k
}

// Equal reports whether two kernels have the same [Key].
func Equal(a, b Kernel) bool { return Key(a) == Key(b) }

// Rounding errors of float32 (see package table).
const (
	unitRoundoff   = table.UnitRoundoff
	underflowError = table.UnderflowError
)

// angle returns arccos(1-c) in radians,
//
//	angle = 2 arcsin √(c/2)              0 <= c <= 1
//	angle = π - 2 arcsin √((2-c)/2)      1 < c <= 2
//
// to a few float64 ulp. (1-c would lose the digits of a small c, and 2-c is exact for c in [1, 2].)
// c outside [0, 2] is clamped.
func angle(c float64) float64 {
	if c > 1 {
		return math.Pi - supplementaryAngle(c)
	}
	return 2 * math.Asin(math.Sqrt(max(c, 0)/2))
}

// supplementaryAngle returns π - arccos(1-c) with full relative accuracy near c = 2, where it is 0.
func supplementaryAngle(c float64) float64 {
	if c > 1 {
		return 2 * math.Asin(math.Sqrt(max(2-c, 0)/2))
	}
	return math.Pi - angle(c)
}

// ToleranceTerms describes the terms of [Tolerance].
const ToleranceTerms = "change of the kernel value if c changes by min(2.7e-6, 2.7e-5·c) and each norm by one " +
	"float32 rounding, plus the error bound of the float32 kernel function"

// Tolerance returns the allowed difference between a value of the float32 engine and the float64
// reference, for a pair with the reference's c and norms x and y,
//
//	max |k(c′, x′, y′) - k(c, x, y)| + Error(c′, x′, y′)
//	over c′ = c, c ± δ, x′ = x, x ± u(x), y′ = y, y ± u(y)
//
// with δ = device.ErrorBound(c) and the rounding of a norm to float32, u(x) = max(2⁻²⁴ x, 2⁻¹⁵⁰).
// Kernels are assumed to be monotone or convex in each variable within these bounds, so that the
// maximum is at a corner. For kernels of the distance, ‖x-y‖² from float64 norms is rounded to
// float32 and perturbed instead. Tolerance is +Inf if there is no bound, and never NaN.
func Tolerance(k Kernel, c, x, y float64) float64 {
	v := k.Eval(c, x, y)
	delta := device.ErrorBound(c)
	tol := k.Error(c, x, y)
	widen := func(c, x, y float64) { tol = max(tol, math.Abs(k.Eval(c, x, y)-v)+k.Error(c, x, y)) }
	for _, c := range [2]float64{max(c-delta, 0), min(c+delta, 2)} {
		switch {
		case !UsesNorms(k):
			widen(c, x, y)
		case VariableOf(k) == VariableDistance:
			half := (x-y)*(x-y)/2 + x*y*c
			widen(shiftByRounding(half, 1), 1, 1)
			widen(shiftByRounding(half, -1), 1, 1)
		default:
			for corner := range 4 {
				widen(c, shiftByRounding(x, float64(corner&1*2-1)), shiftByRounding(y, float64(corner&2-1)))
			}
		}
	}
	return nanToInf(tol)
}

// shiftByRounding returns x plus sign times the largest error of rounding x to float32.
func shiftByRounding(x, sign float64) float64 {
	if x == 0 {
		return 0
	}
	return max(x+sign*max(unitRoundoff*x, underflowError/2), 0)
}

// WithinTolerance reports whether got is within [Tolerance] of want, the reference value k.Eval(c,
// x, y). NaN is never within the tolerance. An infinity is within the tolerance of the same
// infinity, and of a value that overflows float32 if Tolerance is +Inf. Except for the kernel c,
// all bounds are at least half a unit in the last place, so that most values pass without
// evaluating a bound.
func WithinTolerance(k Kernel, got, want, c, x, y float64) bool {
	if got == want {
		return true
	}
	err := math.Abs(got - want)
	if !(err <= math.MaxFloat64) { // one of the values is infinite or NaN
		return !math.IsInf(want, 0) && got == float64(float32(want)) && math.IsInf(Tolerance(k, c, x, y), 1)
	}
	if !IsC(k) && err <= unitRoundoff*math.Abs(want) {
		return true
	}
	slope := math.Abs(k.Eval(max(c-device.ErrorBound(c), 0), x, y) - want) // a lower bound on the tolerance
	return err <= slope || err <= k.Error(c, x, y) || err <= Tolerance(k, c, x, y)
}

// PartialDerivatives returns the derivatives of k(c, x, y) with respect to c and the first norm x.
// They are fourth-order differences in the angle arccos(1-c) and in x. If the kernel is smooth over
// a thousandth of the angle and of x, and c isn't close to 0 or 2, the error is about 10⁻⁸ of the
// kernel's largest value.
func PartialDerivatives(k Kernel, c, x, y float64) (byC, byX float64) {
	slope := func(at, h float64, g func(float64) float64) float64 { // the error is h⁴g⁽⁵⁾/30
		return (8*(g(at+h)-g(at-h)) - (g(at+2*h) - g(at-2*h))) / (12 * h)
	}
	at := angle(c)
	byC = slope(at, min(1e-3, at/4, (math.Pi-at)/4), func(a float64) float64 {
		half := math.Sin(a / 2)
		return k.Eval(2*half*half, x, y)
	}) / math.Sin(at)
	if UsesNorms(k) && x > 0 {
		byX = slope(x, x*1e-3, func(x float64) float64 { return k.Eval(c, x, y) })
	}
	return byC, byX
}
