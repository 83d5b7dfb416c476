package engine

import (
	"math"

	"github.com/gramengine/gram/engine/kernel"
)

// ZeroDiagonal are documents whose k(x, x) comes out as 0, though it is above 0: it is too small
// for float32, or for the accuracy that the kernel states. Since a positive definite kernel has
// |k(x, y)| <= √(k(x, x) k(y, y)), they have next to nothing with any other document, and next to
// nothing can be learnt from them.
type ZeroDiagonal struct {
	Documents           int     // 0 where there are none
	LeastNorm, MostNorm float64 // of them, where the kernel uses norms
}

// ZeroDiagonal finds the documents whose k(x, x) is 0 as the kernel's map gives it, for kernels
// whose diagonal is above 0 by their [Properties], and of norm above 0, where the kernel uses
// norms: a document without terms is nothing to warn of. It takes some 0.1 µs a document and as
// much for each part of a kernel that is made of others. It fails where Gram would before it
// computes anything. It may be called concurrently.
func (e *Engine) ZeroDiagonal(k Kernel) (ZeroDiagonal, error) {
	k, err := e.bind(k)
	if err != nil {
		return ZeroDiagonal{}, err
	}
	known := PropertiesOf(k)
	if !known.PositiveDiagonal {
		return ZeroDiagonal{}, nil
	}
	var d [1]float32
	zero := func(norm float32) (bool, error) {
		norms := [1]float32{norm}
		d[0] = 0 // c
		err := kernel.Map(k, e.c.Kernels, d[:], d[:], norms[:], norms[:])
		return d[0] == 0, err
	}
	if !known.UsesNorms {
		all, err := zero(1)
		if err != nil || !all {
			return ZeroDiagonal{}, err
		}
		return ZeroDiagonal{Documents: e.Len()}, nil
	}
	found := ZeroDiagonal{LeastNorm: math.Inf(1)}
	for i, norm := range e.c.Norms {
		if norm == 0 {
			continue
		}
		none, err := zero(norm)
		if err != nil {
			return ZeroDiagonal{}, err
		}
		if none {
			found.Documents++
			found.LeastNorm, found.MostNorm = min(found.LeastNorm, e.c.X.Norms[i]), max(found.MostNorm, e.c.X.Norms[i])
		}
	}
	if found.Documents == 0 {
		return ZeroDiagonal{}, nil
	}
	return found, nil
}
