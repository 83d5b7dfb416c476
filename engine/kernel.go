package engine

import (
	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// Kernel is a positive (or conditionally positive) definite function of two documents: an elementwise map of c = 1 - cosine of the embedded
// documents and of their two norms.
//
// A Kernel is immutable and may be used concurrently.
type Kernel interface {
	// String returns the specification with all parameters, as [ParseKernel] reads it.
	String() string

	// Embedding returns the embedding that the kernel wants its documents in.
	Embedding() sparse.Embedding

	// Eval returns the kernel's value in float64 for c in [0, 2] and the norms x and y of the two documents. It is the reference.
	Eval(c, x, y float64) float64

	// Map applies the kernel to a tile of len(x) rows and len(y) columns: dst[i*len(y)+j] = Eval(c[i*len(y)+j], x[i], y[j]).
	// dst and c have the same length and may be the same slice.
	Map(k *asm.Kernels, dst, c, x, y []float32)

	// Error bounds the absolute error of one value that Map computes from an exact c, rounding to float32 included.
	Error(c, x, y float64) float64
}

// ParseKernel reads a kernel specification such as "diffusion:t=0.5".
func ParseKernel(spec string) (Kernel, error) { panic("not written yet") }

// Names returns the names that ParseKernel knows, with the parameters of each, for help texts.
func Names() []string { panic("not written yet") }
