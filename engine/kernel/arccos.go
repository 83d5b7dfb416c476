package kernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/arccosine"
)

func init() {
	n := signed("n", "degree of the threshold units", 1)
	n.min, n.max = arccosine.Min, arccosine.Max
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
			whole("layers", "layers, each on the feature space of the one below", 1, 1, maxLayers).hiddenAtDefault(),
			bias.hiddenAtDefault(),
			positive("sigma",
				"width of thresholds that are smoothed by the normal distribution, in units of the norms, for n=0",
				0).or("none", 0),
		},
		refuse: refuseArcCosine,
		build: func(v []float64) formula {
			if v[arccosLayers] == 1 {
				return arcCosineLayer(v)
			}
			one := newKernel(familyOf("arccos"), oneLayer(v))
			return layered(slices.Repeat([]*kernel{one}, int(v[arccosLayers])))
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

// oneLayer returns the parameters of each layer.
func oneLayer(v []float64) []float64 {
	v = slices.Clone(v)
	v[arccosLayers] = 1
	return v
}

// arcCosineLayer makes the kernel of one layer.
func arcCosineLayer(v []float64) formula {
	n := v[arccosN]
	switch {
	case v[arccosBias] != 0:
		return biased(v[arccosBias], v[arccosSigma])
	case v[arccosSigma] > 0:
		return smoothed(v[arccosSigma])
	case n == 0 || n == 1 || n == 2:
		return arccos(int(n))
	}
	return arcDegree(n)
}

// homogeneous makes the formula of a kernel ‖x‖ⁿ‖y‖ⁿ g(c), given 1 - g(c)/g(0).
func homogeneous(n float64, g, deficit func(c float64) float64, known Properties) formula {
	f := ofCosine(g, deficit, known)
	of := f.value
	f.value = func(a at) ref { return a.mul(a.both(a.norm.raised(1, n)), of(a)) }
	return f
}

// arccos is the arc-cosine kernel of degree n = 0, 1 or 2, the inner product of two infinite layers
// of threshold units,
//
//	k = (1/π) ‖x‖ⁿ ‖y‖ⁿ J_n(θ),   θ = arccos(1-c)
//	J_0 = π - θ
//	J_1 = sin θ + (π-θ) cos θ
//	J_2 = 3 sin θ cos θ + (π-θ)(1 + 2 cos² θ)
//
// Its feature space has, with the functions of φ of [arcCosineJ1] and [arcCosineJ2], taken at θ,
//
//	c2 = θ/π                                       n = 0
//	c2 = c - J₁(π-θ)/π                             n = 1
//	c2 = (2/3) c(2-c) + J₂(π-θ)/(3π)               n = 2
//
// which follow from J_n(θ) = ± J_n(π-θ) + a trigonometric polynomial, and no term takes more than
// two thirds of another away.
//
// Source: Cho, Kernel methods for deep learning, PhD thesis, UCSD 2012, ch. 2; Cho and Saul, NIPS
// 2009.
func arccos(n int) formula {
	g := [...]func(c float64) float64{
		func(c float64) float64 { return coangle(c) / math.Pi },
		func(c float64) float64 { return arcCosineJ1(coangle(c)) / math.Pi },
		func(c float64) float64 { return arcCosineJ2(coangle(c)) / math.Pi },
	}[n]
	deficit := [...]func(c float64) float64{
		func(c float64) float64 { return angle(c) / math.Pi },
		func(c float64) float64 { return c - arcCosineJ1(angle(c))/math.Pi },
		func(c float64) float64 { return 2*c*(2-c)/3 + arcCosineJ2(angle(c))/(3*math.Pi) },
	}[n]
	f := homogeneous(float64(n), g, deficit,
		nonNegative("an inner product of infinitely many threshold units", sourceCho+", ch. 2"))
	f.direct = &direct{
		apply: func(asm *asm.Kernels, dst, c, x, y []float32) {
			if n == 0 {
				asm.ArcCosine0(dst, c)
				return
			}
			row := asm.ArcCosine1
			if n == 2 {
				row = asm.ArcCosine2
			}
			byRow(dst, c, x, y, func(dst, c []float32, x float32) { row(dst, c, y, x) })
		},
		// The maps are within 4, 8 and 12 ulp, of at most 2 units each, relative to the value even where it
		// goes to 0 at c = 2. Where a product of norms is too small for float32, what is lost of it is
		// multiplied by at most 3 = J_2(0)/π.
		error: func(c, x, y float64) float64 {
			norms := device.Power(x*y, n)
			if norms > maxProduct {
				return math.Inf(1)
			}
			return [3]float64{8, 16, 24}[n]*unit*norms*g(c) + 4*underflow
		},
	}
	return f
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
// see package arccosine, whose Degree.Deficit keeps the digits of a small c. The degrees 0, 1 and 2
// have maps of their own, see [arccos]. Documents without terms give 0 for n < 0, where the formula
// would divide by their norm.
//
// Source: Cho's thesis, ch. 2 and app. A.
func arcDegree(n float64) formula {
	of := arccosine.New(n)
	return homogeneous(n, func(c float64) float64 { return of.J(c) / math.Pi }, of.Deficit,
		nonNegative("an inner product of infinitely many threshold units", sourceCho+", ch. 2 and app. A"))
}
