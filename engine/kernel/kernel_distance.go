package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// single is what forms share that aren't made of others.
type single struct{ e in }

func (f single) parts() []component          { return nil }
func (f single) embedding() sparse.Embedding { return f.e.embedding }

// geodesic is a function of the geodesic distance d = 2 arccos(1-c) on the sphere of radius 2,
//
//	k = -d^β          0 < β <= 1
//	k = -ln(1+d)      β = 0
//
// conditionally positive definite, as d is of the opposite kind on a sphere of any dimension, and powers up to 1 and the logarithm keep that.
// Source: Schoenberg; Berg, Christensen and Ressel, ch. 3; Boughorbel, Tarel and Boujemaa, ICME 2005, for the logarithm.
type geodesic struct {
	single
	beta float64
}

func (f geodesic) with([]component) form { return f }
func (f geodesic) spec() string {
	if f.beta == 0 {
		return format("ngd-log", f.e)
	}
	return format("ngd-power", f.e, pair{"beta", f.beta})
}

func (f geodesic) value(c, x, y float64) float64 { return negative(2*angle(c), f.beta) }
func (f geodesic) homogeneous() (float64, bool)  { return 0, true }
func (f geodesic) feature(c, x, y float64) (float64, float64, float64) {
	return math.NaN(), math.NaN(), math.NaN()
}
func (f geodesic) properties() Properties {
	return Properties{Definite: ConditionallyPositive, Condition: "for 0 < beta <= 1, and for the logarithm", Source: sourceProduct}
}

// negative returns -d^β, or -ln(1+d) for β = 0.
func negative(d, beta float64) float64 {
	switch beta {
	case 0:
		return -math.Log1p(d)
	case 1:
		return -d
	case 2:
		return -d * d
	}
	return -math.Pow(d, beta)
}

// euclidean is a function of the Euclidean distance d = ‖x-y‖, d² = (x-y)² + 2 x y c in terms of the norms,
//
//	k = -d^β          0 < β <= 2
//	k = -ln(1+d)      β = 0
//
// conditionally positive definite. β = 1 is the negative Euclidean distance of Zhang, Chen and Lee, SIGIR 2005; for the others see [geodesic].
type euclidean struct {
	single
	beta float64
	of   *halfLine // from d² to k, where that isn't its negative
}

func newEuclidean(e in, beta float64) component {
	f := euclidean{single: single{e}, beta: beta}
	if beta != 2 {
		f.of = newHalfLine(func(v float64) float64 { return negative(math.Sqrt(v), beta) })
	}
	return compile(f)
}

func (f euclidean) with([]component) form { return f }
func (f euclidean) spec() string {
	if f.beta == 0 {
		return format("ned-log", f.e)
	}
	return format("ned", f.e, pair{"beta", f.beta})
}

func square(c, x, y float64) float64 {
	d := x - y
	return float64(d*d) + float64(2*float64(x*y)*c)
}

func (f euclidean) value(c, x, y float64) float64 {
	if f.beta == 2 {
		return -square(c, x, y)
	}
	return negative(math.Sqrt(square(c, x, y)), f.beta)
}

func (f euclidean) homogeneous() (float64, bool) { return 0, false }
func (f euclidean) feature(c, x, y float64) (float64, float64, float64) {
	return math.NaN(), math.NaN(), math.NaN()
}
func (f euclidean) properties() Properties {
	return Properties{Definite: ConditionallyPositive, Condition: "for 0 < beta <= 2, and for the logarithm", Source: sourceProduct}
}

// rows works in float64: only the result is rounded.
func (f euclidean) rows(k *asm.Kernels, b *block) {
	v := b.sum[:len(b.y)]
	for i, x := range b.x {
		dst, c := b.row(i)
		k.Squares(v, c, b.y, float64(x))
		if f.beta != 2 {
			f.of.row(k, dst, v)
			continue
		}
		for j, v := range v {
			dst[j] = float32(-v)
		}
	}
}

// error: the table's and the rounding of the result.
func (f euclidean) error(c, x, y float64) float64 {
	return (unit+halfLineError)*math.Abs(f.value(c, x, y)) + underflow
}

// hellingerExp is the exponential kernel of the squared Hellinger distance,
//
//	k = exp(-gamma c),   c = ½ Σ (√θᵢ - √θ′ᵢ)²
//
// the Gaussian kernel of the points on the sphere, with half their gamma.
type hellingerExp struct {
	single
	gamma float64
}

func (f hellingerExp) with([]component) form         { return f }
func (f hellingerExp) spec() string                  { return format("hellinger", f.e, pair{"gamma", f.gamma}) }
func (f hellingerExp) value(c, x, y float64) float64 { return math.Exp(-f.gamma * c) }
func (f hellingerExp) homogeneous() (float64, bool)  { return 0, true }
func (f hellingerExp) feature(c, x, y float64) (float64, float64, float64) {
	return -math.Expm1(-f.gamma * c), 1, 1
}
func (f hellingerExp) properties() Properties {
	return Properties{Definite: Positive, Source: sourceSchoenberg, NonNegative: true, PositiveDiagonal: true}
}
