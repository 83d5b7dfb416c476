package hyperbolic

import (
	"context"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
)

// Heat is the heat kernel of Hⁿ on normal distributions,
//
//	k = K(t, r)/K(t, 0), or K(t, r) itself if full
//
// where r is their [Distance]. K is positive definite on Hⁿ, so k is for n > P, the dimension of the
// points. Values come from a table of ln K in float64 and are rounded to float32 once; Error bounds
// their error. It is immutable and may be used concurrently.
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §3.1, equations (5) and (6).
type Heat struct {
	kernel *Kernel
	table  *Table
	full   bool
	t, n   float64
	shift  float64 // subtracted from ln K
}

// NewHeat makes a table of the kernel for all distances among the distributions of x.
// Errors: n or t out of range, the error of ctx when it is done.
func NewHeat(ctx context.Context, t float64, n int, full bool, x []Normal) (*Heat, error) {
	kernel, err := New(n, t)
	if err != nil {
		return nil, err
	}
	h := &Heat{kernel: kernel, full: full, t: t, n: float64(n)}
	far := 0.0 // by the triangle inequality, no two are farther apart than twice this
	for _, y := range x {
		far = max(far, Distance(x[0], y))
	}
	if h.table, err = NewTable(ctx, kernel, 2*far); err != nil {
		return nil, err
	}
	if !full {
		h.shift = kernel.Log(0)
	}
	return h, nil
}

// At returns the value at distance r. It is exactly 1 at r = 0 unless the kernel is full.
func (h *Heat) At(r float64) float32 {
	if r == 0 && !h.full {
		return 1
	}
	return float32(math.Exp(h.table.Log(r) - h.shift))
}

// Eval returns the value at distance r in float64 from the kernel's definition, without the table: the
// reference.
func (h *Heat) Eval(r float64) float64 { return math.Exp(h.kernel.Log(r) - h.shift) }

// Error bounds |At - Eval|: half an ulp, and the error of the table of ln K, 10⁻¹² (1+n) and a few
// float64 ulp of the terms that are summed, which are up to n²t/4 and r²/4t.
func (h *Heat) Error(r float64) float64 {
	const ulp = 0x1p-52
	const unit, underflow = 0x1p-24, 0x1p-149 // rounding to float32
	off := 1e-12*(1+h.n) +
		8*ulp*(r*r/(4*h.t)+h.n*h.n*h.t/4+math.Abs(h.shift)+h.n*math.Abs(math.Log(4*math.Pi*h.t)))
	return h.Eval(r)*(math.Expm1(off)+unit*math.Exp(off)) + underflow
}

// Rows writes the kernel values of rows with columns to dst, a row for each of rows. Values are the
// same bits from any number of workers, and for (x, y) and (y, x).
func (h *Heat) Rows(ctx context.Context, workers int, rows, columns []Normal, dst *engine.Dense) error {
	return run.Tasks(ctx, workers, len(rows), func(ctx context.Context, _, i int) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		row := dst.Row(i)
		for j, y := range columns {
			row[j] = h.At(Distance(rows[i], y))
		}
		return nil
	})
}
