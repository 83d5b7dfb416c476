package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// Kernel is a positive (or conditionally positive) definite function of two documents: an elementwise map of c = 1 - cosine of the embedded
// documents and of their two norms.
//
// A Kernel is immutable and may be used concurrently. Two kernels from [Parse] are equal (==)
// exactly when their specifications mean the same, up to rewriting such as a + b for b + a. One's
// own come from [New], the values of a tile from [Apply], and what is known of a kernel from
// [PropertiesOf]. Norms are the Euclidean norms of the embedded documents before they were scaled
// to 1 (sparse.Embedded.Norms); the kernels of information geometry don't look at them.
type Kernel interface {
	// String returns the specification with all parameters, as [Parse] reads it. The embedding is named only where it isn't the kernel's
	// default, and a gamma that [Resolve] has yet to set is left out.
	String() string

	// Embedding returns the embedding that the kernel wants its documents in.
	Embedding() sparse.Embedding

	// Eval returns the kernel's value in float64 for c in [0, 2] and the norms x and y of the two documents. It is the reference: accurate to
	// a few float64 ulp of the largest term of its formula, for small c as for large. It is NaN while a gamma is not resolved.
	Eval(c, x, y float64) float64

	// mapTo applies the kernel to a tile, as [Apply] does, which is the way to it from outside: it
	// checks nothing, and panics where a custom kernel does. x and y may be nil where the kernel
	// doesn't look at norms.
	//
	// It allocates nothing, and an element's bits depend on its own c, x and y alone, in either order of x and y: tiles of any shape make the
	// same matrix, and a symmetric one.
	mapTo(k *asm.Kernels, dst, c, x, y []float32)

	// Error bounds the absolute error of one value that [Apply] computes from c, x and y that are
	// exact in float32, rounding of the result and of the kernel's parameters to float32 included.
	// It says nothing of values beyond the range of float32: there Apply gives an infinity, and
	// that is outside every finite bound. It is +Inf where something on the way to the value is
	// beyond that range, and so where Eval is no number: there is no bound then. It is never NaN.
	Error(c, x, y float64) float64
}

// Resolve returns k with what depends on the data filled in: a gamma that the specification left out becomes 1/terms, as svm-train has it,
// where terms is the number of columns of the embedded documents. Other kernels come back as they are.
func Resolve(k Kernel, terms int) Kernel {
	if r, ok := k.(interface{ resolve(terms int) Kernel }); ok {
		return r.resolve(terms)
	}
	return k
}

// in is the part that all kernels share: the embedding of their documents.
type in struct{ embedding sparse.Embedding }

// Embedding implements [Kernel].
func (e in) Embedding() sparse.Embedding { return e.embedding }

// Rounding to float32: half a unit in the last place relative to the value, and the same at the bottom of the range, where spacing is
// constant.
const (
	unit      = 1.0 / (1 << 24) // greatest relative error of rounding a normal number to float32
	underflow = 0x1p-149        // twice the greatest absolute error of rounding a number too small for that
)

// angle returns arccos(1-c), the angle between two unit vectors whose half squared distance is c, in radians.
//
//	angle = 2 arcsin √(c/2)              0 <= c <= 1
//	angle = π - 2 arcsin √((2-c)/2)      1 < c <= 2
//
// Both are 1-c = cos angle by the half-angle formula. Forming 1-c first would throw away half the digits of a small c; with 2-c exact for c
// in [1, 2], both branches are accurate to a few float64 ulp. c outside [0, 2] counts as the nearer end.
func angle(c float64) float64 {
	if c > 1 {
		return math.Pi - coangle(c)
	}
	return 2 * math.Asin(math.Sqrt(max(c, 0)/2))
}

// coangle returns π - arccos(1-c), the angle between one vector and the other's opposite, with full relative accuracy near c = 2, where it
// is 0. See [angle].
func coangle(c float64) float64 {
	if c > 1 {
		return 2 * math.Asin(math.Sqrt(max(2-c, 0)/2))
	}
	return math.Pi - angle(c)
}
