package arccosine

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/interpolate"
)

// Sides gives the numbers of a side that asm.Kernels.BivariateTail wants, as piecewise polynomials
// in h. With z = h cot ξ >= 0, m² = h²+z² and w = tan(ξ/2) = h/(m+z), a sector is
//
//	I(h, ξ) = exp(-m²/2) G(h, w)
//
// where the exponential is the same for both sides of a triangle and G is smooth: as a function of
// w its only singularities in the plane are w = ±i and w = 0, which is felt from w = h on. For h
// from 1 on it is, as good as float32, y times a polynomial in y = w/((1-λ)w + λ), with a λ that
// stretches the neighbourhood of w = 1, where G changes within some 1/h, for the w that matter:
// after them the exponential counts as 0. For smaller h Owen's identity splits the scale of h off,
//
//	G + π erf(h/√2) exp(h²/2) M(z)
//
// for M(z) = exp(z²/2) times the upper tail of the normal distribution
// has no singularity at w = 0. The numbers come with h a multiple of a few instructions, so every
// document may have its own.
type Sides struct {
	strips [sideStrips]sideStrip
}

// sideStrip is 1/perUnit of h. The map from w to y is one for the whole strip.
type sideStrip struct {
	w, t, shift float32
	cells       [interpolated][degree]float64 // powers of h from the middle of the strip, in half widths
}

const (
	degree       = 6
	perUnit      = 4
	sideStrips   = asm.BivariateMost * perUnit
	plain        = 1 // from this h on G is a polynomial by itself
	interpolated = 2 + asm.BivariateTerms

	greatestSquare = asm.BivariateMost * asm.BivariateMost // m² that matter
)

// AllSides returns the table, computed at the first call in some 20 ms.
var AllSides = sync.OnceValue(func() *Sides {
	t := new(Sides)
	nodes := interpolate.Chebyshev(degree)
	for i := range t.strips {
		low := float64(i) / perUnit
		m := mapping{lambda: 0.85, identity: low < plain}
		if !m.identity {
			m.lambda = 0.32 + 0.16*low
			w := low / (math.Sqrt(greatestSquare) + math.Sqrt(max(greatestSquare-low*low, 0)))
			m.least = w / ((1-m.lambda)*w + m.lambda)
		}
		// t = 2y/(1-least) - (1+least)/(1-least)
		strip, wide := &t.strips[i], 1-m.least
		strip.w, strip.t, strip.shift = float32((1-m.lambda)*wide), float32(m.lambda*wide), float32(-(1+m.least)/wide)
		var at [degree][interpolated]float64
		for k, s := range nodes {
			at[k] = m.numbers(low + (1+s)/(2*perUnit))
		}
		var p [degree]float64
		for n := range interpolated {
			for k := range p {
				p[k] = at[k][n]
			}
			interpolate.Newton(nodes, p[:])
			strip.cells[n] = p
		}
	}
	return t
})

// mapping is how a strip maps w to [-1, 1].
type mapping struct {
	lambda, least float64 // least y
	identity      bool    // Owen's identity is used
}

// numbers returns what a strip interpolates, for one h: M(h), the factor of M(z), and Q.
func (f mapping) numbers(h float64) (set [interpolated]float64) {
	set[0] = mills(h)
	if f.identity {
		set[1] = math.Exp(h*h/2) * math.Erf(h/math.Sqrt2)
	}
	nodes := interpolate.Chebyshev(asm.BivariateTerms)
	for k, s := range nodes {
		y := (f.least*(1-s) + (1 + s)) / 2
		w := f.lambda * y / (1 - (1-f.lambda)*y)
		a := (1/w - w) / 2
		g := scaled(h, a) / math.Pi
		if f.identity {
			g += set[1] * mills(h*a)
		}
		set[2+k] = g / y * (1 - f.least)
	}
	interpolate.Newton(nodes, set[2:])
	return set
}

// scaled returns G = exp(h²(1+a²)/2) I(h, ξ) for a = cot ξ >= 0 and h up to 30, with full relative
// accuracy: for z = h a > 2 with q = h²(t²-a²)/2,
//
//	∫ exp(-q) h/((h²+z²+2q) √(z²+2q)) dq,   q >= 0
//
// of which less than e^-40 is left behind 40.
func scaled(h, a float64) float64 {
	z := h * a
	if z <= 2 {
		return math.Exp((h*h+z*z)/2) * sector(h, a)
	}
	return integrate(func(q float64) float64 {
		u := z*z + 2*q
		return math.Exp(-q) * h / ((h*h + u) * math.Sqrt(u))
	}, 0, 40, 8)
}

// mills returns M(z) = e^(z²/2) times the upper tail of the normal distribution at z >= 0; from 30
// on, where the tail nears the end of float64, by its asymptotic series, whose next term is below
// 10⁻¹¹ of it.
func mills(z float64) float64 {
	if z < 30 {
		return math.Exp(z*z/2) * math.Erfc(z/math.Sqrt2) / 2
	}
	v := 1 / (z * z)
	return (1 - v*(1-v*(3-v*(15-v*105)))) / (z * math.Sqrt(2*math.Pi))
}

// place returns the strip of h and where in it that is, from -1 to 1.
func (t *Sides) place(h float64) (strip *sideStrip, s float64) {
	z := h * perUnit
	i := min(int(z), sideStrips-1)
	return &t.strips[i], 2*(z-float64(i)) - 1
}

// half returns erfc(h/√2)/2 as At writes it, for an h that At takes as it is.
func (f *sideStrip) half(h, s float64) float64 {
	if float32(h) >= asm.BivariateMost { // whatever is written as this much
		return 0
	}
	return math.Exp(-h*h/2) * horner(&f.cells[0], s)
}

// horner evaluates a polynomial in pairs, whose products don't wait for each other.
func horner(p *[degree]float64, s float64) float64 {
	q := s * s
	return (p[0] + p[1]*s) + q*((p[2]+p[3]*s)+q*(p[4]+p[5]*s))
}

// At writes the numbers of the side h, which is taken for the nearest from asm.BivariateLeast to
// asm.BivariateMost, to every stride-th place of dst; with more, erf(h/√2), what a bias below 0
// adds, is among them. What they describe is the sector by definition to 10⁻⁷ exp(-m²/2)/max(m, 1),
// and each is rounded to float32.
func (t *Sides) At(dst []float32, stride int, h float64, more bool) {
	h = min(max(h, asm.BivariateLeast), asm.BivariateMost)
	strip, s := t.place(h)
	half := strip.half(h, s)
	dst = dst[:(asm.BivariateNumbers-1)*stride+1]
	dst[0], dst[stride], dst[2*stride] = float32(h), float32(half), 0
	if more {
		dst[2*stride] = float32(1 - 2*half)
	}
	dst[3*stride] = float32(horner(&strip.cells[1], s))
	dst[4*stride], dst[5*stride], dst[6*stride] = strip.w, strip.t, strip.shift
	for n, at := 2, 7*stride; n < interpolated; n, at = n+1, at+stride {
		dst[at] = float32(horner(&strip.cells[n], s))
	}
}

// Diagonal returns what asm.Kernels.BivariateTail gives for the numbers of h, as row and column,
// and c = 0.
func (t *Sides) Diagonal(h float64, more bool) float32 {
	h = min(max(h, asm.BivariateLeast), asm.BivariateMost)
	strip, s := t.place(h)
	half := strip.half(h, s)
	part := float32(half)
	if more {
		part += float32(1 - 2*half)
	}
	return part + part
}

// SidesError bounds the error of asm.Kernels.BivariateTail with the numbers of Sides, for any h and
// k, but for what is added and the rounding of the result,
//
//	2⁻²⁴ ((10 + 4m²) exp(-m²/2)/max(m, 1) + Σ (2+h²) erfc(h/√2) over sides with a < 0) + 2⁻¹¹⁶
//
// which is what the kernel states, with h² more for a side that is taken from erfc of h as it is,
// not as it is rounded; and for documents out of the range of sides what that changes.
func SidesError(c, h, k float64) float64 {
	const unit = 0x1p-24
	var err float64
	if min(h, k) < asm.BivariateLeast {
		err = 2 * asm.BivariateLeast
	}
	h, k = min(max(h, asm.BivariateLeast), asm.BivariateMost), min(max(k, asm.BivariateLeast), asm.BivariateMost)
	c = max(c, 0x1p-60)
	d := k - h
	if square := c * (2 - c); square > 0 {
		m := math.Sqrt((d*d + 2*h*k*c) / square)
		err += unit * (10 + 4*m*m) * math.Exp(-m*m/2) / max(m, 1)
	}
	if d+h*c < 0 {
		err += unit * (2 + h*h) * math.Erfc(h/math.Sqrt2)
	}
	if k*c-d < 0 {
		err += unit * (2 + k*k) * math.Erfc(k/math.Sqrt2)
	}
	return err + 0x1p-116
}
