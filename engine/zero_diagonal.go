package engine

import (
	"math"

	"github.com/gramengine/gram/engine/kernel"
)

// ZeroDiagonal are documents whose k(x, x) comes out as 0, though it is above 0: it is too small for float32,
// or for the accuracy that the kernel states. Since a positive definite kernel has |k(x, y)| <= √(k(x, x) k(y,
// y)), their kernel values with all other documents are nearly 0, and little can be learnt from them.
type ZeroDiagonal struct {
	Documents           int     // 0 where there are none
	LeastNorm, MostNorm float64 // of them, where the kernel uses norms
}

// ZeroDiagonal finds the documents whose k(x, x) is 0 as the kernel's map gives it, for kernels
// whose diagonal is above 0 by their [kernel.Properties], and of norm above 0, where the kernel uses
// norms: a document without terms is nothing to warn of. It takes some 0.1 µs a document and as
// much for each part of a kernel that is made of others. It fails where Gram would before it
// computes anything. It may be called concurrently.
func (e *Engine) ZeroDiagonal(k kernel.Kernel) (ZeroDiagonal, error) {
	k, err := e.bind(k)
	if err != nil {
		return ZeroDiagonal{}, err
	}
	known := kernel.PropertiesOf(k)
	if !known.PositiveDiagonal {
		return ZeroDiagonal{}, nil
	}
	d, err := e.c.Diagonal(k)
	if err != nil {
		return ZeroDiagonal{}, err
	}
	found := ZeroDiagonal{LeastNorm: math.Inf(1)}
	for i, v := range d {
		if v != 0 || known.UsesNorms && e.c.Norms[i] == 0 {
			continue
		}
		found.Documents++
		if known.UsesNorms {
			norm := e.c.X.Norms[i]
			found.LeastNorm, found.MostNorm = min(found.LeastNorm, norm), max(found.MostNorm, norm)
		}
	}
	if found.MostNorm == 0 {
		found.LeastNorm = 0
	}
	return found, nil
}
