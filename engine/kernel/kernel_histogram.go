package kernel

import "math"

// The kernels of this file are functions of c where that is 1 - similarity of two histograms θ and θ′; see sparse.Pairing. Both similarities are positive definite, so that 2c
// is the square of a distance in a Hilbert space, and exponentials of its negative multiples are positive definite by Schoenberg's theorem.

// chiSquareExp is the exponential kernel of the χ² distance,
//
//	k = exp(-gamma d),   d = Σ (θᵢ-θ′ᵢ)²/(θᵢ+θ′ᵢ) = 2c
//
// Source: Vedaldi and Zisserman, IEEE PAMI 34 (2012), §3, for the additive χ² kernel 1 - c.
type chiSquareExp struct {
	single
	gamma float64
}

func (f chiSquareExp) with([]component) form         { return f }
func (f chiSquareExp) spec() string                  { return format("chi2", f.e, pair{"gamma", f.gamma}) }
func (f chiSquareExp) value(c, x, y float64) float64 { return math.Exp(-2 * f.gamma * c) }
func (f chiSquareExp) homogeneous() (float64, bool)  { return 0, true }
func (f chiSquareExp) feature(c, x, y float64) (float64, float64, float64) {
	return -math.Expm1(-2 * f.gamma * c), 1, 1
}
func (f chiSquareExp) properties() Properties {
	return Properties{Definite: Positive, Condition: "the χ² distance is the square of one in a Hilbert space", Source: sourceVedaldi + "; " + sourceSchoenberg,
		NonNegative: true, PositiveDiagonal: true}
}

// jensenShannonExp is the exponential kernel of the Jensen-Shannon divergence,
//
//	k = exp(-JS/t),   JS = ½ Σ θᵢ ln(2θᵢ/(θᵢ+θ′ᵢ)) + ½ Σ θ′ᵢ ln(2θ′ᵢ/(θᵢ+θ′ᵢ)) = ln 2 c
//
// Source: Hein and Bousquet, AISTATS 2005, §3, for JS being the square of a Hilbertian metric.
type jensenShannonExp struct {
	single
	t float64
}

func (f jensenShannonExp) rate() float64                 { return math.Ln2 / f.t }
func (f jensenShannonExp) with([]component) form         { return f }
func (f jensenShannonExp) spec() string                  { return format("js", f.e, pair{"t", f.t}) }
func (f jensenShannonExp) value(c, x, y float64) float64 { return math.Exp(-f.rate() * c) }
func (f jensenShannonExp) homogeneous() (float64, bool)  { return 0, true }
func (f jensenShannonExp) feature(c, x, y float64) (float64, float64, float64) {
	return -math.Expm1(-f.rate() * c), 1, 1
}
func (f jensenShannonExp) properties() Properties {
	return Properties{Definite: Positive, Condition: "the divergence is the square of a Hilbertian metric", Source: sourceHein + "; " + sourceSchoenberg,
		NonNegative: true, PositiveDiagonal: true}
}
