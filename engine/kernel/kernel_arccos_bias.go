package kernel

import (
	"math"

	"github.com/gramengine/gram/engine/internal/arccosine"
)

// arcBias is the arc-cosine kernel of degree 0 whose thresholds have a bias b, and may be smoothed besides,
//
//	k = 2 ∫ dw (2π)^(-d/2) e^(-|w|²/2) Θ(w·x - b) Θ(w·y - b)
//
// so that the length of documents counts: a long one is above a threshold more often. See arccosine.Biased for the formula. With smoothed thresholds,
// Φ((w·x - b)/σ), it is the same of the longer documents of [arcSmooth]. b → 0 gives the degree 0. Where an embedding scales all documents to norm 1, b is in units
// of that.
//
// Its map counts less than 2⁻¹¹⁶ as nothing, so that for b > 0 documents of norms (with smoothed thresholds, lengths) up to b/12.5 have 0 with all.
//
// Source: Cho's thesis, ch. 3, eq. 3.3-3.5 and 3.16.
type arcBias struct {
	single
	bias, sigma float64 // sigma 0 for steps
}

func (f arcBias) with([]component) form        { return f }
func (f arcBias) homogeneous() (float64, bool) { return 0, false }
func (f arcBias) spec() string {
	if f.sigma == 0 {
		return format("arccos", f.e, pair{"n", 0}, pair{"bias", f.bias})
	}
	return format("arccos", f.e, pair{"n", 0}, pair{"bias", f.bias}, pair{"sigma", f.sigma})
}

// lengthened returns c and the norms with the coordinates that smooth thresholds.
func (f arcBias) lengthened(c, x, y float64) (c2, x2, y2 float64) {
	if f.sigma == 0 {
		return c, x, y
	}
	a, b := smoothNorm(x, f.sigma), smoothNorm(y, f.sigma)
	return smooth(c, x, y, f.sigma, a, b), a, b
}

func (f arcBias) value(c, x, y float64) float64 {
	c, x, y = f.lengthened(min(max(c, 0), 2), x, y)
	return arccosine.Biased(c, x, y, f.bias)
}

// differ returns arccosine.Differ of the lengthened documents.
func (f arcBias) differ(c, x, y float64) float64 {
	c, x, y = f.lengthened(c, x, y)
	return arccosine.Differ(c, x, y, f.bias)
}

// feature: with the diagonals p = k(x, x) and q = k(y, y),
//
//	c2 = ((p+q)/2 - k - (√p-√q)²/2) / √(pq)
//
// and (p+q)/2 - k is known by itself: for steps and one norm with full accuracy, otherwise to some 10⁻¹⁶ of p + q. A c2 above ½ is taken from the definition.
func (f arcBias) feature(c, x, y float64) (c2, x2, y2 float64) {
	p, q := f.value(0, x, x), f.value(0, y, y)
	x2, y2 = math.Sqrt(p), math.Sqrt(q)
	if p == 0 || q == 0 { // c stands for itself, but the kernel is nowhere below 0, and roots of it count on that
		return min(c, 1), x2, y2
	}
	if ratio := f.value(c, x, y) / (x2 * y2); !(ratio > 0.5) {
		return 1 - ratio, x2, y2
	}
	gap := f.differ(c, x, y)
	if f.sigma > 0 {
		gap -= (f.differ(0, x, x) + f.differ(0, y, y)) / 2
	}
	d := x2 - y2
	return min(max((gap-d*d)/(2*x2*y2), 0), 2), x2, y2
}

// properties: for b > 0 documents far shorter than b, and those without terms, are never above the threshold, and k(x, x) comes out as 0.
func (f arcBias) properties() Properties {
	p := Properties{Definite: Positive, Condition: "an inner product of infinitely many biased threshold units", Source: sourceCho + ", ch. 3, eq. 3.3-3.5",
		NonNegative: true, PositiveDiagonal: true}
	if f.bias > 0 {
		p.Condition += "; 0 for documents shorter than bias/12.5"
	}
	return p
}
