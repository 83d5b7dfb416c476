package normal

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine/internal/hyperbolic"
	"github.com/gramengine/gram/internal/run"
)

// Heat is the heat kernel K(t, r) of the hyperbolic space Hⁿ on distributions, where r is their
// [Distributions.Distance]: K itself, or K(t, r)/K(t, 0). Values come from a table of ln K, in
// float64, and are rounded to float32 once; Error says how exact that is.
//
// A Heat is immutable and may be used concurrently. Source: Lafferty and Lebanon, JMLR 6 (2005),
// §3.1, equations (5) and (6).
type Heat struct {
	x      *Distributions
	full   bool
	kernel *hyperbolic.Kernel
	table  *hyperbolic.Table
	t, n   float64
	shift  float64 // subtracted from ln K
}

// NewHeat makes a table of the kernel of time t on Hⁿ up to the greatest distance that two of the
// distributions x may have. An n of 0 is that of their own space, P+1. With full it is K(t, r), not
// divided by its value at r = 0. Errors: an n that the kernel is not made for, such as that of
// points of 2,000 coordinates and more, a t that isn't above 0, the end of ctx, with its own error.
func NewHeat(ctx context.Context, t float64, n int, full bool, x *Distributions) (*Heat, error) {
	if err := run.Given(ctx, "engine"); err != nil {
		return nil, err
	}
	if x == nil {
		return nil, errors.New("engine: no distributions, expected some")
	}
	if n == 0 {
		n = x.p + 1
	}
	if n == x.p+1 && n > hyperbolic.MaxDimension {
		return nil, fmt.Errorf("points of %d coordinates, expected at most %d of them, one less than n: %s",
			x.p, hyperbolic.MaxDimension-1, hyperbolic.Beyond)
	}
	kernel, err := hyperbolic.New(n, t)
	if err != nil {
		return nil, fmt.Errorf("points of %d coordinates: %w", x.p, err)
	}
	h := &Heat{x: x, full: full, kernel: kernel, t: t, n: float64(n)}
	// No two are farther from each other than by way of the first.
	var far float64
	for i := range x.Len() {
		far = max(far, x.Distance(0, i))
	}
	if h.table, err = hyperbolic.NewTable(ctx, kernel, 2*far); err != nil {
		return nil, err
	}
	if !full {
		h.shift = kernel.Log(0)
	}
	return h, nil
}

// Of returns the distributions.
func (h *Heat) Of() *Distributions { return h.x }

// Eval returns the value for distributions i and j in float64, from the kernel's definition without
// the table: the reference.
func (h *Heat) Eval(i, j int) float64 { return math.Exp(h.kernel.Log(h.x.Distance(i, j)) - h.shift) }

// Error bounds how far At is from Eval: half an ulp, and what the table of ln K is off by,
// 10⁻¹² (1+n) and a few float64 ulp of the terms that are summed, which are up to n²t/4 and r²/4t.
func (h *Heat) Error(i, j int) float64 {
	const ulp = 0x1p-52
	const unit, underflow = 0x1p-24, 0x1p-149 // rounding to float32
	r, n, t := h.x.Distance(i, j), h.n, h.t
	off := 1e-12*(1+n) + 8*ulp*(r*r/(4*t)+n*n*t/4+math.Abs(h.shift)+n*math.Abs(math.Log(4*math.Pi*t)))
	return h.Eval(i, j)*(math.Expm1(off)+unit*math.Exp(off)) + underflow
}

// At returns the value for distributions i and j. On the diagonal it is exactly 1, unless the
// kernel isn't divided by that.
func (h *Heat) At(i, j int) float32 {
	if i == j && !h.full {
		return 1
	}
	return h.value(h.x.Distance(i, j))
}

func (h *Heat) value(distance float64) float32 {
	return float32(math.Exp(h.table.Log(distance) - h.shift))
}

// Against writes the values of the distributions with distribution j of others, of as many
// coordinates: dst[i] belongs to distribution i.
func (h *Heat) Against(others *Distributions, j int, dst []float32) error {
	if others == nil {
		return errors.New("engine: no distributions, expected some")
	}
	if j < 0 || j >= others.Len() {
		return fmt.Errorf("engine: distribution %d of %d, expected one from 0 to %d", j, others.Len(), others.Len()-1)
	}
	if others.p != h.x.p || len(dst) != h.x.Len() {
		return fmt.Errorf("engine: a distribution of %d coordinates and room for %d values, expected %d and %d",
			others.p, len(dst), h.x.p, h.x.Len())
	}
	for i := range dst {
		dst[i] = h.value(hyperbolic.Distance(h.x.normal[i], others.normal[j]))
	}
	return nil
}
