package kernel

import (
	"math"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/arccosine"
)

// arcDegree is the arc-cosine kernel of any degree n > -½,
//
//	k = (1/π) ‖x‖ⁿ ‖y‖ⁿ J_n(θ),   θ = arccos(1-c)
//
// see package arccosine. The degrees 0, 1 and 2 have maps of their own, see [arccos]; this one goes through a table. Documents without terms give 0 for n < 0,
// where the formula would divide by their norm.
//
// Source: Cho's thesis, ch. 2 and app. A.
type arcDegree struct {
	single
	n  float64
	of *arccosine.Degree
}

// newArcCosine makes the kernel of degree n, from arccosine.Least to arccosine.Most.
func newArcCosine(e in, n float64) component {
	if n == 0 || n == 1 || n == 2 {
		return arccos{e, int(n)}
	}
	return compile(arcDegree{single{e}, n, arccosine.New(n)})
}

func (f arcDegree) with([]component) form        { return f }
func (f arcDegree) spec() string                 { return format("arccos", f.e, pair{"n", f.n}) }
func (f arcDegree) homogeneous() (float64, bool) { return f.n, true }

func (f arcDegree) value(c, x, y float64) float64 {
	return realPower(float64(x*y), f.n) * f.of.J(min(max(c, 0), 2)) / math.Pi
}

// feature: see arccosine.Degree.Deficit, which keeps the digits of a small c.
func (f arcDegree) feature(c, x, y float64) (c2, x2, y2 float64) {
	a := math.Sqrt(f.of.Diagonal() / math.Pi)
	return f.of.Deficit(min(max(c, 0), 2)), a * realPower(x, f.n), a * realPower(y, f.n)
}

func (f arcDegree) properties() Properties {
	return Properties{Definite: Positive, Condition: "an inner product of infinitely many threshold units", Source: sourceCho + ", ch. 2 and app. A",
		NonNegative: true, PositiveDiagonal: true}
}

// realPower returns v^p for v >= 0, but 0 for v = 0 whatever p is.
func realPower(v, p float64) float64 {
	if v == 0 {
		return 0
	}
	if n := int(p); p == float64(n) && n >= 0 {
		return device.Power(v, n)
	}
	return math.Pow(v, p)
}

// shortLayer returns the degree and the embedding of a layer that is an arc-cosine kernel without further parameters.
func shortLayer(l component) (n float64, e in, ok bool) {
	switch k := l.(type) {
	case arccos:
		return float64(k.n), k.in, true
	case *compiled:
		if f, ok := k.form.(arcDegree); ok {
			return f.n, f.e, true
		}
	}
	return 0, in{}, false
}
