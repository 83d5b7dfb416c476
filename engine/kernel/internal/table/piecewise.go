// Package table approximates functions of a real variable by piecewise polynomials, for maps that
// would otherwise call package math for each value. [Piecewise] is for functions of c in [0, 2] in
// float32. [HalfLine] is for functions of nonnegative numbers in float64.
package table

import (
	"math"
	"slices"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/interpolate"
)

// Bounds on rounding errors of float32.
const (
	UnitRoundoff   = 1.0 / (1 << 24) // largest relative error of rounding a normal number to float32
	UnderflowError = 0x1p-149        // twice the largest absolute error of rounding a subnormal number to float32
)

// Piecewise approximates a function g of c in [0, 2] by a piecewise polynomial in float32; see
// asm.Kernels.Piecewise. If g is positive and spans too many orders of magnitude for a polynomial,
// the table holds log g. A Piecewise is immutable.
//
// The seventh element of each row bounds the row's error. The bound is measured when the table is
// made. A table of log g may have holes, which are intervals above c = 1 in which g isn't positive.
// Only documents with negative values have c > 1. Values in holes are computed by g. If no table is
// accurate, all values are computed by g.
type Piecewise struct {
	Rows      [][8]float32
	Bits      uint
	IsLog     bool                    // true if the table holds log g
	HoleValue func(c float64) float64 // g, if there may be holes; else nil
	Fallback  func(c float64) float64 // g, if the table is inaccurate; else nil

	maxAbs     float64 // largest |g| at c = 0, ½ and 1; set if Bits is maxBits
	inaccurate bool    // true if an interpolation error exceeds maxRelativeError, or a coefficient overflows float32
}

const (
	nodeCount        = 6                 // number of interpolation nodes, and of coefficients
	rowError         = 6                 // index of the error bound in a row
	minBits          = 3                 // at least 2³ intervals per power of 2
	maxBits          = 8                 // at most 2⁸ intervals per power of 2
	logBits          = 6                 // if more bits are needed, log g is tried
	maxRelativeError = 64 * UnitRoundoff // maximum error relative to maxAbs or to the largest |g| of the interval
)

var holeRow = [8]float32(slices.Repeat([]float32{float32(math.NaN())}, 8))

// New returns a table of g. It uses the smallest number of intervals for which the error of
// interpolation in float64 is below a quarter of a float32 rounding error, relative to the largest
// |g| of the interval. Rounding coefficients and Horner's rule add about 3 units of 2⁻²⁴. log is ln
// g if g is positive at least for c <= 1, else nil.
func New(g, log func(c float64) float64) *Piecewise {
	if log != nil {
		if t := newLog(log, nil, g); t != nil {
			return t
		}
	}
	t := &Piecewise{}
	if g(0.5) != g(0.5) { // g returns NaN if a parameter isn't resolved yet
		t.Fallback = g
		return t
	}
	t.Bits = minBits
	for t.Bits < maxBits && !t.fill(g, true) {
		if t.Bits == logBits {
			if l := newLog(func(c float64) float64 { return math.Log(g(c)) }, nil); l != nil {
				return l
			}
		}
		t.Bits++
	}
	if t.Bits == maxBits {
		t.maxAbs = max(math.Abs(g(0)), math.Abs(g(0.5)), math.Abs(g(1)))
		t.fill(g, false)
	}
	if t.inaccurate {
		t.Fallback = g
	}
	return t
}

// newLog returns a table of a logarithm h. HoleValue is the first of holes with which the table is
// accurate. newLog returns nil if polynomials don't approximate h.
func newLog(h func(c float64) float64, holes ...func(c float64) float64) *Piecewise {
	t := &Piecewise{IsLog: true}
	for _, t.HoleValue = range holes {
		for t.Bits = minBits; t.Bits <= maxBits; t.Bits++ {
			if t.fill(h, true) {
				return t
			}
		}
	}
	return nil
}

// fill computes the rows for t.Bits. If strict is set, it returns false at the first inaccurate row
// that may not be a hole.
func (t *Piecewise) fill(g func(c float64) float64, strict bool) bool {
	t.Rows, t.inaccurate = make([][8]float32, asm.PiecewiseRows(t.Bits)), false
	t.Rows[len(t.Rows)-1] = holeRow
	for _, c := range [3]float32{0, 1, 2} {
		row, _ := asm.PiecewiseRow(c, t.Bits)
		v := g(float64(c))
		t.Rows[row] = [8]float32{float32(v), rowError: float32(1.01*UnitRoundoff*math.Abs(v) + UnderflowError)}
		if c == 0 && float64(float32(v)) == v || t.IsLog && math.IsInf(v, -1) {
			t.Rows[row][rowError] = 0 // the row holds the exact value
		}
	}
	// Rows are computed from c = 1, where functions are steepest, to both ends. Exponents are
	// biased as in float32. The exponent of 2²⁴c is between 2, for the smallest float32, and 150.
	// The exponent of 2²⁴(2-c) is at least 128.
	n := 1 << t.Bits
	for exponent := 150; exponent >= 2; exponent-- {
		for j := n - 1; j >= 0; j-- {
			mid := 1 + (float64(j)+0.5)/float64(n)
			at := func(m float64) float64 { return math.Ldexp(m, exponent-127-24) }
			row, ok := t.fitInterval(mid, func(m float64) (float64, float64) { return g(at(m)), m })
			if !ok && strict {
				return false
			}
			if t.Rows[exponent<<t.Bits+j] = row; exponent < 128 {
				continue
			}
			row, ok = t.fitInterval(mid, func(m float64) (float64, float64) { // nodes at which 2-c is exact
				c := 2 - at(m)
				return g(c), math.Ldexp(2-c, 127+24-exponent)
			})
			if !ok && strict {
				if t.HoleValue == nil {
					return false
				}
				row = holeRow
			}
			t.Rows[(exponent+asm.PiecewiseFold)<<t.Bits+j] = row
		}
	}
	return true
}

var nodePositions = interpolate.ChebyshevNodes(nodeCount)

// fitInterval returns the row of the interval around the mantissa mid, and reports whether
// interpolation is accurate. f returns the function near a mantissa, and the mantissa at which it
// was evaluated.
func (t *Piecewise) fitInterval(mid float64, f func(m float64) (v, m2 float64)) ([8]float32, bool) {
	half := math.Ldexp(1, -int(t.Bits)-1)
	var x, p [nodeCount]float64
	var most float64
	for k, place := range nodePositions {
		v, m := f(mid + half*place)
		x[k], p[k] = m-mid, v
		most = max(most, math.Abs(v))
	}
	interpolate.FitPolynomial(x[:], p[:])
	var row [8]float32
	for k := range p {
		row[k] = float32(p[k])
	}
	// Errors are measured between the nodes, where the remainder of interpolation has its extremes,
	// and at the ends.
	var remainder, stored float64
	for k := range nodeCount + 1 {
		v, m := f(mid + half*math.Cos(float64(k)*math.Pi/nodeCount))
		s := m - mid
		a, b := p[nodeCount-1], float64(row[nodeCount-1])
		for i := nodeCount - 2; i >= 0; i-- {
			a, b = a*s+p[i], b*s+float64(row[i])
		}
		remainder, stored = max(remainder, math.Abs(a-v)), max(stored, math.Abs(b-v))
		if v != v {
			remainder = v
		}
		most = max(most, math.Abs(v))
	}
	scale := most
	if t.IsLog {
		scale = max(most, 1)
	}
	ok := remainder <= UnitRoundoff/4*scale+UnderflowError
	if most <= math.MaxFloat32/2 && !(remainder <= maxRelativeError*max(scale, t.maxAbs)+UnderflowError) {
		t.inaccurate = true
	}
	// Elsewhere the remainder is at most a quarter larger. In Horner's rule in float32, the term of
	// tᵏ is rounded in k products and k+1 sums, or k sums for the last coefficient.
	bound := 1.25*stored + UnderflowError*4
	size := 1.0
	for k := range p {
		bound += UnitRoundoff * float64(2*k+1) * math.Abs(float64(row[k])) * size
		size *= half
	}
	if !(most <= math.MaxFloat32/2) {
		bound, t.inaccurate = math.Inf(1), t.inaccurate || most == most
	}
	row[rowError] = float32(bound * 1.01)
	return row, ok
}

// chunk is the number of values per pass. The values of a pass fit in the L1 cache.
const chunk = 1024

var scratch = sync.Pool{New: func() any { return new([chunk]float32) }}

// Apply maps c to g(c). dst may be c.
func (t *Piecewise) Apply(k *asm.Kernels, dst, c []float32) {
	if t.Fallback != nil {
		for j, v := range c {
			dst[j] = float32(t.Fallback(float64(v)))
		}
		return
	}
	holes := t.HoleValue != nil && slices.ContainsFunc(c, func(v float32) bool { return v > 1 })
	s := scratch.Get().(*[chunk]float32)
	defer scratch.Put(s)
	for lo := 0; lo < len(dst); lo += chunk {
		part, from := dst[lo:min(lo+chunk, len(dst))], c[lo:]
		if holes {
			from = s[:copy(s[:], from[:len(part)])]
		}
		k.Piecewise(part, from[:len(part)], t.Rows, t.Bits)
		if t.IsLog {
			k.Exp(part, part)
		}
		for j := 0; holes && j < len(part); j++ {
			if part[j] != part[j] && from[j] > 1 {
				part[j] = float32(t.HoleValue(float64(from[j])))
			}
		}
	}
}

// Error bounds the error of Apply at c, where g(c) = v. For a table of logarithms, the row's bound
// is for the exponent, and asm.Exp adds 4 ulp (at most 2 UnitRoundoff each).
func (t *Piecewise) Error(c, v float64) float64 {
	if t.Fallback != nil {
		return UnitRoundoff*math.Abs(v) + UnderflowError
	}
	row, _ := asm.PiecewiseRow(float32(c), t.Bits)
	e, h := float64(t.Rows[row][rowError]), math.Log(math.Abs(v))
	switch {
	case !t.IsLog:
		return e
	case e != e: // the row is a hole
		return UnitRoundoff*math.Abs(v) + UnderflowError
	case h+e < -120:
		return UnderflowError
	}
	return math.Exp(h)*(math.Expm1(e)+8*UnitRoundoff*math.Exp(e)) + UnderflowError
}
