package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel/internal/table"
	"github.com/gramengine/gram/sparse"
)

// Powers and logarithms of distances, negative.
func init() {
	beta := func(initial, most float64) []param { return []param{between("beta", "the power", initial, most)} }
	register(family{
		Info: Info{
			Name: "ngd-power", Summary: "-(2 arccos(1-c))^beta", What: "power of the geodesic distance, negative",
			Source: sourceProduct, Examples: []string{"ngd-power:beta=0.5"},
		},
		place: 40, embedding: sparse.Sphere, params: beta(0.5, 1),
		build: func(e in, v []float64) component { return newGeodesic(e, v[0]) },
	})
	register(family{
		Info: Info{
			Name: "ngd-log", Summary: "-ln(1 + 2 arccos(1-c))", What: "logarithm of the geodesic distance, negative",
			Source: sourceLog, Examples: []string{"ngd-log"},
		},
		place: 50, embedding: sparse.Sphere,
		build: func(e in, _ []float64) component { return newGeodesic(e, 0) },
	})
	register(family{
		Info: Info{
			Name: "ned", Summary: "-‖x-y‖^beta", What: "Euclidean distance or its power, negative",
			Source: sourceZhang + ", §4, for beta = 1", Examples: []string{"ned:beta=1", "ned:beta=0.5"},
		},
		place: 150, params: beta(1, 2),
		build: func(e in, v []float64) component { return newEuclidean(e, v[0]) },
	})
	register(family{
		Info: Info{
			Name: "ned-log", Summary: "-ln(1 + ‖x-y‖)", What: "logarithm of the Euclidean distance, negative",
			Source: sourceLog, Examples: []string{"ned-log"},
		},
		place: 160, build: func(e in, _ []float64) component { return newEuclidean(e, 0) },
	})
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

// distanceSpec writes such a kernel, whose power is β = 0 for the logarithm.
func distanceSpec(name string, e in, beta float64) string {
	if beta == 0 {
		return format(name+"-log", e)
	}
	if name == "ngd" {
		name = "ngd-power"
	}
	return format(name, e, pair{"beta", beta})
}

// newGeodesic makes a function of the geodesic distance on the sphere of radius 2,
// d = 2 arccos(1-c),
//
//	k = -d^β          0 < β <= 1
//	k = -ln(1+d)      β = 0
//
// conditionally positive definite, as d is of the opposite kind on a sphere of any dimension, and
// powers up to 1 and the logarithm keep that. Source: Schoenberg; Berg, Christensen and Ressel,
// ch. 3; Boughorbel, Tarel and Boujemaa, ICME 2005, for the logarithm.
func newGeodesic(e in, beta float64) component {
	return compile(function{
		single: single{e}, text: distanceSpec("ngd", e, beta),
		g:     func(c float64) float64 { return negative(2*angle(c), beta) },
		known: distanceProperties("for 0 < beta <= 1, and for the logarithm"),
	})
}

func distanceProperties(condition string) Properties {
	return Properties{Definite: ConditionallyPositive, Condition: condition, Source: sourceProduct, Falling: true,
		NonPositive: true}
}

// euclidean is a function of the Euclidean distance d = ‖x-y‖, d² = (x-y)² + 2 x y c in terms of
// the norms,
//
//	k = -d^β          0 < β <= 2
//	k = -ln(1+d)      β = 0
//
// conditionally positive definite. β = 1 is the negative Euclidean distance of Zhang, Chen and Lee,
// SIGIR 2005; for the others see [newGeodesic].
type euclidean struct {
	single
	beta float64
	of   *table.HalfLine // from d² to k, where that isn't its negative
}

func newEuclidean(e in, beta float64) component {
	f := euclidean{single: single{e}, beta: beta}
	if beta != 2 {
		f.of = table.NewHalfLine(func(v float64) float64 { return negative(math.Sqrt(v), beta) })
	}
	return compile(f)
}

func (f euclidean) spec() string { return distanceSpec("ned", f.e, f.beta) }

func (f euclidean) value(c, x, y float64) float64 {
	d := x - y
	square := float64(d*d) + float64(2*float64(x*y)*c)
	if f.beta == 2 {
		return -square
	}
	return negative(math.Sqrt(square), f.beta)
}

func (f euclidean) feature(c, x, y float64) (float64, float64, float64) { return noFeature() }

func (f euclidean) properties() Properties {
	return distanceProperties("for 0 < beta <= 2, and for the logarithm")
}

// rows works in float64: only the result is rounded.
func (f euclidean) rows(k *asm.Kernels, b *block) {
	v := b.sum[:len(b.y)]
	for i, x := range b.x {
		dst, c := b.row(i)
		k.Squares(v, c, b.y, float64(x))
		if f.beta != 2 {
			f.of.Row(k, dst, v)
			continue
		}
		for j, v := range v {
			dst[j] = float32(-v)
		}
	}
}

// error: the table's and the rounding of the result.
func (f euclidean) error(c, x, y float64) float64 {
	return (unit+table.HalfLineError)*math.Abs(f.value(c, x, y)) + underflow
}

func (f euclidean) program(b *programBuilder, l layer) {
	b.square(l)
	switch f.beta {
	case 0:
		b.ops(device.OpSqrt, device.OpLog1p)
	case 1:
		b.op(device.OpSqrt)
	case 2:
	default:
		b.parameter(device.OpPow, f.beta/2)
	}
	b.op(device.OpNeg)
}
