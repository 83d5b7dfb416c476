package hyperbolic

import (
	"context"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
)

// Table approximates a kernel by interpolation of ln K + r²/4t, which is smooth. It may be used
// concurrently.
type Table struct {
	k           *Kernel
	interpolant *interpolant
}

// NewTable samples k for r from 0 to top, at 14 or more points per unit of r.
func NewTable(k *Kernel, top float64) *Table { return &Table{k, newInterpolant(k.logFactor, top)} }

// LogValue returns ln K(t, r) for r >= 0. It calls [Kernel.LogValue] if r exceeds the range of the
// table.
//
// Accuracy: the error of [Kernel.LogValue] plus 10⁻¹² (1+n).
func (t *Table) LogValue(r float64) float64 {
	v, ok := t.interpolant.eval(r)
	if !ok {
		return t.k.LogValue(r)
	}
	return t.k.logConstant - r*r/(4*t.k.t) + v
}

// interpolant interpolates a function by Chebyshev polynomials on intervals of equal width.
type interpolant struct {
	width        float64
	coefficients [][degree + 1]float64
}

// degree is the degree of the polynomials. If a function is analytic within distance π of the real
// axis, each additional degree divides the error on intervals of width 1 by 12.5. So degree 13
// reaches an error of 10⁻¹⁴.
const degree = 13

// newInterpolant interpolates f from 0 to top. It halves the interval width until the last
// coefficients are small enough, or the width is below 1/64.
func newInterpolant(f func(float64) float64, top float64) *interpolant {
	for width := 1.0; ; width /= 2 {
		p := &interpolant{width: width}
		good := true
		for lo := 0.0; lo == 0 || lo < top; lo += width {
			c := interpolate(f, lo, width)
			p.coefficients = append(p.coefficients, c)
			// The tolerance must exceed the rounding error of f.
			good = good && math.Abs(c[degree])+math.Abs(c[degree-1]) <= 1e-13*(1+math.Abs(c[0]))
		}
		if good || width < 0x1p-6 {
			return p
		}
	}
}

// interpolate returns the Chebyshev coefficients of the polynomial that interpolates f at degree+1
// nodes in [lo, lo+width].
func interpolate(f func(float64) float64, lo, width float64) (c [degree + 1]float64) {
	const nodes = degree + 1
	for i := range nodes {
		angle := math.Pi * (float64(i) + 0.5) / nodes
		v := f(lo + width/2*(1+math.Cos(angle)))
		for j := range c {
			c[j] += 2. / nodes * v * math.Cos(float64(j)*angle)
		}
	}
	c[0] /= 2
	return c
}

// eval returns the interpolated value at r, computed by Clenshaw's recurrence. It returns false if
// r is outside the interpolated range.
func (p *interpolant) eval(r float64) (float64, bool) {
	place := r / p.width
	i := int(place)
	if !(place < float64(len(p.coefficients))) {
		return 0, false
	}
	c := &p.coefficients[i]
	x := 2*(place-float64(i)) - 1
	var above, at float64
	for j := degree; j > 0; j-- {
		above, at = at, 2*x*at-above+c[j]
	}
	return x*at - above + c[0], true
}

// NormalisedKernel is the kernel K(t, r)/K(t, 0) on normal distributions. r is the [Distance]
// between two distributions. The kernel is positive definite if n is larger than the dimension p of
// the distributions. A NormalisedKernel may be used concurrently.
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §3.1, equations (5) and (6).
type NormalisedKernel struct {
	kernel    *Kernel
	table     *Table
	logAtZero float64 // ln K(t, 0)
}

// NewNormalisedKernel tabulates the kernel for all distances between the distributions in x. It
// fails if the time t or the dimension n is out of range.
func NewNormalisedKernel(t float64, n int, x []Normal) (*NormalisedKernel, error) {
	kernel, err := NewKernel(n, t)
	if err != nil {
		return nil, err
	}
	far := 0.0 // largest distance from x[0]; by the triangle inequality, no distance exceeds 2·far
	for _, y := range x {
		far = max(far, Distance(x[0], y))
	}
	return &NormalisedKernel{kernel, NewTable(kernel, 2*far), kernel.LogValue(0)}, nil
}

// At returns the kernel value at distance r.
func (h *NormalisedKernel) At(r float64) float32 {
	if r == 0 {
		return 1
	}
	return float32(math.Exp(h.table.LogValue(r) - h.logAtZero))
}

// ComputeRows writes the kernel values of all pairs of rows and columns to dst. Exchanging rows and
// columns transposes dst bit for bit. Results don't depend on the number of workers.
func (h *NormalisedKernel) ComputeRows(
	ctx context.Context, workers int, rows, columns []Normal, dst *engine.Dense,
) error {
	return run.Tasks(ctx, workers, len(rows), func(ctx context.Context, _, i int) error {
		row := dst.Row(i)
		for j, y := range columns {
			row[j] = h.At(Distance(rows[i], y))
		}
		return context.Cause(ctx)
	})
}
