package kernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/arccosine"
	"github.com/gramengine/gram/engine/kernel/internal/table"
)

func init() {
	n := signed("n", "degree of the threshold units", 1)
	n.min, n.max = arccosine.Least, arccosine.Most
	n.Allowed = fmt.Sprintf("a number above -1/2, at which the integral diverges (from %g to %g)", n.min, n.max)
	bias := signed("bias", "what thresholds are moved by, in units of the norms, for n=0", 0)
	register(family{
		Info: Info{
			Name: "arccos", Summary: "‖x‖ⁿ‖y‖ⁿ J_n(arccos(1-c))/π",
			What: "inner product of infinitely many threshold units of any degree, whole or fractional, in one " +
				"layer or several",
			Source: sourceCho + ", ch. 2 to 4, app. A",
			Examples: []string{
				"arccos:n=0",
				"arccos:n=1",
				"arccos:n=2",
				"arccos:n=1,layers=3",
				"arccos:n=3",
				"arccos:n=0.5",
				"arccos:n=-0.25",
				"arccos:n=0,sigma=0.5",
				"arccos:n=0,bias=0.3",
			},
		},
		place: 180,
		params: []param{
			n,
			whole("layers", "layers, each on the feature space of the one below", 1, 1, mostLayers),
			bias,
			positive("sigma",
				"width of thresholds that are smoothed by the normal distribution, in units of the norms, for n=0",
				0).or("none", 0),
		},
		refuse: refuseArcCosine,
		build: func(e in, v []float64) component {
			if v[arccosLayers] == 1 {
				return arcCosineLayer(e, v)
			}
			layers := slices.Repeat([]component{arcCosineLayer(in{}, v)}, int(v[arccosLayers]))
			layers[0] = arcCosineLayer(e, v) // which alone names the embedding
			return compile(compose(layers))
		},
	})
}

// The parameters of the arc-cosine kernels, in the order of their family.
const (
	arccosN = iota
	arccosLayers
	arccosBias
	arccosSigma
)

// refuseArcCosine finds parameters of thresholds for a degree that has none.
func refuseArcCosine(v []float64) (int, string) {
	if v[arccosN] == 0 {
		return 0, ""
	}
	if v[arccosBias] != 0 {
		return arccosBias, "n=0 as well: only units of degree 0 have thresholds to move"
	}
	if v[arccosSigma] > 0 {
		return arccosSigma, "n=0 as well: only units of degree 0 have thresholds to smooth"
	}
	return 0, ""
}

// arcCosineLayer makes the kernel of one layer.
func arcCosineLayer(e in, v []float64) component {
	switch {
	case v[arccosBias] != 0:
		return newBiased(e, v[arccosBias], v[arccosSigma])
	case v[arccosSigma] > 0:
		return compile(arcSmooth{single{e}, v[arccosSigma]})
	}
	return newArcCosine(e, v[arccosN])
}

// arccos is the arc-cosine kernel of degree n = 0, 1 or 2, the inner product of two infinite layers
// of threshold units,
//
//	k = (1/π) ‖x‖ⁿ ‖y‖ⁿ J_n(θ),   θ = arccos(1-c)
//	J_0 = π - θ
//	J_1 = sin θ + (π-θ) cos θ
//	J_2 = 3 sin θ cos θ + (π-θ)(1 + 2 cos² θ)
//
// Source: Cho, Kernel methods for deep learning, PhD thesis, UCSD 2012, ch. 2; Cho and Saul, NIPS
// 2009.
type arccos struct {
	in
	n int
}

func (k arccos) String() string { return format("arccos", k.in, pair{"n", float64(k.n)}) }

func (k arccos) Eval(c, x, y float64) float64 {
	phi := coangle(c)
	switch k.n {
	case 0:
		return phi / math.Pi
	case 1:
		return float64(x*y) * arcCosineJ1(phi) / math.Pi
	}
	xy := x * y
	return float64(xy*xy) * arcCosineJ2(phi) / math.Pi
}

func (k arccos) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	if k.n == 0 {
		asm.ArcCosine0(dst, c)
		return
	}
	row := asm.ArcCosine1
	if k.n == 2 {
		row = asm.ArcCosine2
	}
	n := len(y)
	for i, xi := range x {
		row(dst[i*n:][:n], c[i*n:][:n], y, xi)
	}
}

// Error: the maps of package asm are stated to be within 4, 8 and 12 ulp, of at most 2 units each,
// relative to the value even where it goes to 0 at c = 2. Where a product of norms is too small for
// float32, what is lost of it is multiplied by at most 3 = J_2(0)/π.
func (k arccos) Error(c, x, y float64) float64 {
	if table.RealPower(x*y, float64(k.n)) > mostProduct {
		return math.Inf(1)
	}
	return [3]float64{8, 16, 24}[k.n]*unit*k.Eval(c, x, y) + 4*underflow
}

func (k arccos) homogeneous() (float64, bool) { return float64(k.n), true }

// feature: with θ = arccos(1-c) and the functions of φ of [arcCosineJ1] and [arcCosineJ2], taken at
// θ,
//
//	c2 = θ/π                                       n = 0
//	c2 = c - J₁(π-θ)/π                             n = 1
//	c2 = (2/3) c(2-c) + J₂(π-θ)/(3π)               n = 2
//
// follow from J_n(θ) = ± J_n(π-θ) + a trigonometric polynomial, and no term takes more than two
// thirds of another away.
func (k arccos) feature(c, x, y float64) (float64, float64, float64) {
	theta := angle(c)
	switch k.n {
	case 0:
		return theta / math.Pi, 1, 1
	case 1:
		return c - arcCosineJ1(theta)/math.Pi, x, y
	}
	return 2*c*(2-c)/3 + arcCosineJ2(theta)/(3*math.Pi), math.Sqrt(3) * x * x, math.Sqrt(3) * y * y
}

func (k arccos) Properties() Properties {
	p := nonNegative("an inner product of infinitely many threshold units", sourceCho+", ch. 2")
	p.UsesNorms = k.n > 0
	return p
}

// arcCosineJ1 returns J_1 for φ = π - θ,
//
//	J_1 = sin φ - φ cos φ = Σ (-1)^(k+1) 2k φ^(2k+1)/(2k+1)!,   k >= 1
//
// The difference cancels to φ³/3 for small φ, so there the series is summed.
func arcCosineJ1(phi float64) float64 {
	if phi > 1 {
		s, c := math.Sincos(phi)
		return s - float64(phi*c)
	}
	return alternating(phi, 1, func(k float64) float64 { return 2 * k })
}

// arcCosineJ2 returns J_2 for φ = π - θ, with ψ = 2φ,
//
//	J_2 = φ(2 + cos ψ) - (3/2) sin ψ = Σ (-1)^k (k-1) ψ^(2k+1)/(2k+1)!,   k >= 2
//
// by the same reasoning as [arcCosineJ1]: it cancels to ψ⁵/120.
func arcCosineJ2(phi float64) float64 {
	psi := 2 * phi
	if psi > 2 {
		s, c := math.Sincos(psi)
		return float64(phi*(2+c)) - float64(1.5*s)
	}
	return -alternating(psi, 2, func(k float64) float64 { return k - 1 })
}

// alternating returns the sum of -(-1)^k factor(k) v^(2k+1)/(2k+1)! over k >= first, for v in [0,
// 2]: 16 terms are more than float64 holds.
func alternating(v float64, first int, factor func(k float64) float64) float64 {
	term := v // v^(2k+1)/(2k+1)!, with its sign
	var sum float64
	for k := 1; k <= 16; k++ {
		term *= v * v / float64(2*k*(2*k+1))
		if k >= first {
			sum += factor(float64(k)) * term
		}
		term = -term
	}
	return sum
}

// arcDegree is the arc-cosine kernel of any degree n > -½,
//
//	k = (1/π) ‖x‖ⁿ ‖y‖ⁿ J_n(θ),   θ = arccos(1-c)
//
// see package arccosine. The degrees 0, 1 and 2 have maps of their own, see [arccos]; this one goes
// through a table. Documents without terms give 0 for n < 0, where the formula would divide by
// their norm.
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

func (f arcDegree) spec() string                 { return format("arccos", f.e, pair{"n", f.n}) }
func (f arcDegree) homogeneous() (float64, bool) { return f.n, true }

func (f arcDegree) value(c, x, y float64) float64 {
	return table.RealPower(float64(x*y), f.n) * f.of.J(min(max(c, 0), 2)) / math.Pi
}

// feature: see arccosine.Degree.Deficit, which keeps the digits of a small c.
func (f arcDegree) feature(c, x, y float64) (c2, x2, y2 float64) {
	a := math.Sqrt(f.of.Diagonal() / math.Pi)
	return f.of.Deficit(min(max(c, 0), 2)), a * table.RealPower(x, f.n), a * table.RealPower(y, f.n)
}

func (f arcDegree) properties() Properties {
	return nonNegative("an inner product of infinitely many threshold units", sourceCho+", ch. 2 and app. A")
}

// shortLayer returns the degree and the embedding of a layer that is an arc-cosine kernel without
// further parameters.
func shortLayer(l component) (n float64, e in, ok bool) {
	if k, ok := l.(arccos); ok {
		return float64(k.n), k.in, true
	}
	f, ok := as[arcDegree](l)
	return f.n, f.e, ok
}
