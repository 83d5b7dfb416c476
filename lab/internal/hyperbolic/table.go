package hyperbolic

import (
	"context"
	"fmt"
	"math"
)

// Table holds ln K(t, r) for 0 <= r <= Top, to be looked up for many r: an interpolation of the
// smooth part ln K + r²/4t. It is immutable and may be used concurrently.
type Table struct {
	k   *Kernel
	sum *pieces
}

// NewTable samples k from 0 to top, at some 14 places in a unit of r. It returns soon after the end
// of ctx, with its cause.
func NewTable(ctx context.Context, k *Kernel, top float64) (*Table, error) {
	if !(top >= 0) || math.IsInf(top, 1) {
		return nil, fmt.Errorf("hyperbolic: a table up to %v, expected a distance of at least 0", top)
	}
	factor := k.logFactor
	if k.n%2 == 0 {
		// The quadrature meets g_{m+1} at many places: it has a table of its own, a little longer.
		// Beyond it there is the function itself.
		var d derivatives
		exact := func(s float64) float64 { return d.log(k.m+1, k.t, s) }
		g, err := newPieces(ctx, exact, top+4)
		if err != nil {
			return nil, err
		}
		look := func(s float64) float64 {
			if v, ok := g.at(s); ok {
				return v
			}
			return exact(s)
		}
		factor = func(r float64) float64 { return k.logIntegral(look, r, k.step()) }
	}
	sum, err := newPieces(ctx, factor, top)
	if err != nil {
		return nil, err
	}
	return &Table{k, sum}, nil
}

// Log returns ln K(t, r) for r >= 0, from the kernel itself beyond Top.
//
// Accuracy: besides that of [Kernel.Log], 10⁻¹² times 1 + n, which the tests measure.
func (t *Table) Log(r float64) float64 {
	v, ok := t.sum.at(r)
	if !ok {
		return t.k.Log(r)
	}
	return t.k.constant - r*r/(4*t.k.t) + v
}

// pieces is a function interpolated on intervals of equal width by Chebyshev polynomials.
type pieces struct {
	width float64
	sum   [][degree + 1]float64
}

// degree of the polynomials: a function that is analytic at distances below π from the axis, as
// those of this package are, loses a factor of 12.5 with every degree on intervals of width 1, so
// that 10⁻¹⁴ is reached with 13.
const degree = 13

// newPieces interpolates f from 0 to top. Where the last coefficients say that intervals are too
// wide, all are halved.
func newPieces(ctx context.Context, f func(float64) float64, top float64) (*pieces, error) {
	for width := 1.0; ; width /= 2 {
		p := &pieces{width: width}
		good := true
		for lo := 0.0; lo == 0 || lo < top; lo += width {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			c := interpolate(f, lo, width)
			p.sum = append(p.sum, c)
			// Rounding of f itself isn't to be mistaken for it.
			good = good && math.Abs(c[degree])+math.Abs(c[degree-1]) <= 1e-13*(1+math.Abs(c[0]))
		}
		if good || width < 0x1p-6 {
			return p, nil
		}
	}
}

// interpolate returns the coefficients of the Chebyshev polynomials that take f's values at the
// degree+1 nodes of [lo, lo+width], of which that of degree 0 counts in full.
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

// at returns the value at r, by Clenshaw's recurrence, unless r is beyond the last piece.
func (p *pieces) at(r float64) (float64, bool) {
	place := r / p.width
	i := int(place)
	if !(place < float64(len(p.sum))) {
		return 0, false
	}
	c := &p.sum[i]
	x := 2*(place-float64(i)) - 1
	var above, at float64
	for j := degree; j > 0; j-- {
		above, at = at, 2*x*at-above+c[j]
	}
	return x*at - above + c[0], true
}
