package arccosine

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
)

// Sides gives the numbers of a side that asm.Kernels.Wedge wants, as piecewise polynomials in h: each of them is a smooth function of h, and the polynomials U and
// P are those through the Chebyshev nodes. They come with h a multiple of a few instructions, so every document may have its own.
type Sides struct {
	cells [sideStrips][degree][asm.WedgeNumbers]float64 // powers of h from the middle of a strip, in half widths
}

// WedgeLimit is the greatest h that has a side.
const WedgeLimit = asm.WedgeLimit

const sideStrips = WedgeLimit * perUnit

// AllSides returns the table, computed at the first call in some milliseconds.
var AllSides = sync.OnceValue(func() *Sides {
	t := new(Sides)
	var nodes [degree]float64
	for k := range nodes {
		nodes[k] = math.Cos((float64(k) + 0.5) * math.Pi / degree)
	}
	for i := range t.cells {
		var at [degree][asm.WedgeNumbers]float64
		for k, s := range nodes {
			at[k] = side((float64(i) + 0.5 + s/2) / perUnit)
		}
		for n := range asm.WedgeNumbers {
			var p [degree]float64
			for k := range p {
				p[k] = at[k][n]
			}
			toPolynomial(&p, &nodes)
			for k := range p {
				t.cells[i][k][n] = p[k]
			}
		}
	}
	return t
})

// side returns the numbers for h, but for what is added to a side's part, by their definition.
func side(h float64) (set [asm.WedgeNumbers]float64) {
	set[0], set[1], set[2] = h, math.Erfc(h/math.Sqrt2)/2, math.Exp(h*h/2)*math.Erf(h/math.Sqrt2)
	fit(set[4:4+asm.WedgeInner], func(a float64) float64 {
		return math.Exp(-h*h/2) / math.Pi * integrate(func(v float64) float64 { return math.Exp(-h*h*a*v*v/2) / (1 + a*v*v) }, 0, 1, 1)
	})
	fit(set[4+asm.WedgeInner:], func(q float64) float64 {
		return math.Exp(h*h/2) / math.Pi * integrate(func(v float64) float64 { return math.Exp(-h*h*v*v/2) / (1 + q*v*v) }, 0, 1, 1)
	})
	return set
}

// fit fills in the coefficients of the polynomial on [-1, 1] through the values of f on [0, 1] at as many Chebyshev nodes.
func fit(p []float64, f func(a float64) float64) {
	n := len(p)
	x := make([]float64, n)
	for k := range x {
		x[k] = math.Cos((float64(k) + 0.5) * math.Pi / float64(n))
		p[k] = f((1 + x[k]) / 2)
	}
	for k := 1; k < n; k++ { // Newton's differences, then powers
		for i := n - 1; i >= k; i-- {
			p[i] = (p[i] - p[i-1]) / (x[i] - x[i-k])
		}
	}
	for k := n - 2; k >= 0; k-- {
		for i := k; i < n-1; i++ {
			p[i] -= x[k] * p[i+1]
		}
	}
}

// At writes the numbers of the side h, from 0 to [WedgeLimit], to every stride-th place of dst; with more, erf(h/√2), what a bias below 0 adds, is among them.
// Each is the one by definition to 10⁻⁸ of exp(-h²/2), but for the third and those of P, which are so to exp(h²/2), and rounded to float32.
func (t *Sides) At(dst []float32, stride int, h float64, more bool) {
	z := h * perUnit
	i := min(int(z), sideStrips-1)
	s := 2*(z-float64(i)) - 1
	c := &t.cells[i]
	dst = dst[:(asm.WedgeNumbers-1)*stride+1]
	q := s * s
	for n := range asm.WedgeNumbers {
		dst[n*stride] = float32((c[0][n] + c[1][n]*s) + q*((c[2][n]+c[3][n]*s)+q*(c[4][n]+c[5][n]*s)))
	}
	dst[0] = float32(h)
	if more {
		dst[3*stride] = float32(1 - 2*float64(dst[stride]))
	}
}

// Scale returns what the error of a side's part of asm.Kernels.Wedge is in proportion to, for a = cot ξ and c: e and m²f there.
func Scale(h, a float64) (e, mf float64) {
	z := h * math.Abs(a)
	switch outer := math.Exp(-z * z / 2); {
	case math.IsInf(z, 1):
		if a > 0 {
			return 0, 0
		}
		return math.Exp(-h * h / 2), 0
	case a > 1:
		return outer, outer * (h*h + z*z)
	case a < -1:
		return math.Exp(-h * h / 2), outer * (h*h + z*z)
	}
	return math.Exp(-h * h / 2), 0
}
