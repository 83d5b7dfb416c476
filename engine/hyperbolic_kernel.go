package engine

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// Kernel returns h in the form of a [Kernel], for programs that carry one about, such as those that train: it has a specification and properties, and [Resolve] fills n
// in, but it has no values: it is no function of c, and an [Engine] refuses it. Its documents are distributions as vectors, see [Normals.Vectors], raw.
func (h Hyperbolic) Kernel() Kernel { return setKernel{h} }

// HyperbolicOf returns what [Hyperbolic.Kernel] was made of; false for other kernels.
func HyperbolicOf(k Kernel) (Hyperbolic, bool) {
	s, ok := k.(setKernel)
	return s.h, ok
}

// setKernel is a kernel of sets of points.
type setKernel struct{ h Hyperbolic }

func (k setKernel) String() string { return k.h.String() }

// Embedding implements [Kernel].
func (setKernel) Embedding() sparse.Embedding { return sparse.Embedding{} }

// Eval implements [Kernel]: there is no value.
func (setKernel) Eval(c, x, y float64) float64 { return math.NaN() }

// mapTo implements [Kernel]: there is no value.
func (setKernel) mapTo(_ *asm.Kernels, dst, c, x, y []float32) {
	for i := range dst {
		dst[i] = float32(math.NaN())
	}
}

// Error implements [Kernel].
func (setKernel) Error(c, x, y float64) float64 { return math.Inf(1) }

// Properties returns what is known of the kernel where n is above the number of coordinates; [Hyperbolic.PropertiesFor] knows that.
func (setKernel) Properties() Properties { return hyperbolicFamily().Properties }

// resolve fills n in: the vectors of distributions have P+1 columns.
func (k setKernel) resolve(terms int) Kernel {
	if k.h.N == 0 {
		k.h.N = terms
	}
	return k
}
