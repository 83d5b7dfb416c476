package kernel

import (
	"math"

	"github.com/gramengine/gram/engine/device"
)

// component is a kernel as others can be made of it. Besides its value it gives its feature space, as far as two documents are concerned: with k(x, y) = ⟨φ(x), φ(y)⟩,
//
//	c2 = 1 - k(x, y) / √(k(x, x) k(y, y)),   x2 = √k(x, x),   y2 = √k(y, y)
//
// are 1 - cosine and the norms of φ(x) and φ(y), which is what a kernel wants to be given. So a kernel on another's feature space is a function of three
// numbers again. The point of going from c to c2 is that nothing cancels: 1 minus a value near 1 would keep no digits of c2.
type component interface {
	Kernel

	// homogeneous returns p where the kernel is separable, k = (‖x‖‖y‖)^p g(c), so that g(c) = k(c, 1, 1). With p = 0 it doesn't look at norms.
	homogeneous() (p float64, separable bool)

	// feature returns c2, x2 and y2; c2 has full relative accuracy where it is small. It is asked of kernels with Properties.PositiveDiagonal only.
	feature(c, x, y float64) (c2, x2, y2 float64)

	// Properties returns what is known of the kernel.
	Properties() Properties
}

// UsesNorms reports whether k looks at the norms of documents.
func UsesNorms(k Kernel) bool { return PropertiesOf(k).UsesNorms }

// plainFeature is [component].feature by its definition, for kernels for which nothing better is known: c2 carries the rounding of a number near 1.
func plainFeature(k Kernel, c, x, y float64) (c2, x2, y2 float64) {
	x2, y2 = math.Sqrt(k.Eval(0, x, x)), math.Sqrt(k.Eval(0, y, y))
	return min(max(1-k.Eval(c, x, y)/(x2*y2), 0), 2), x2, y2
}

// What follows gives the kernels that are no combinations their part.

func (C) homogeneous() (float64, bool) { return 0, true }
func (k C) feature(c, x, y float64) (float64, float64, float64) {
	return plainFeature(k, c, x, y)
}

// Properties returns what is known of the kernel.
func (C) Properties() Properties {
	return Properties{Condition: "its negative is conditionally positive definite", Source: sourceSchoenberg, NonNegative: true}
}

func (bhattacharyya) homogeneous() (float64, bool)                        { return 0, true }
func (bhattacharyya) feature(c, x, y float64) (float64, float64, float64) { return c, 1, 1 }

// Properties returns what is known of the kernel.
func (bhattacharyya) Properties() Properties {
	return Properties{Definite: Positive, Condition: "an inner product", Source: sourceJebara, PositiveDiagonal: true}
}

func (diffusion) homogeneous() (float64, bool) { return 0, true }
func (k diffusion) feature(c, x, y float64) (float64, float64, float64) {
	a := angle(c)
	return -math.Expm1(-a * a / k.t), 1, 1
}

// Properties returns what is known of the kernel.
func (k diffusion) Properties() Properties {
	return Properties{Unrefuted: k.t <= 1, Condition: "the leading term alone is not positive definite for every t: least eigenvalue -0.03 at t = 8 on a grid of 3 outcomes, none below rounding seen for t <= 1",
		Source: sourceLafferty + ", §3.2", NonNegative: true, PositiveDiagonal: true}
}

func (ngd) homogeneous() (float64, bool) { return 0, true }
func (k ngd) feature(c, x, y float64) (float64, float64, float64) {
	root := math.Sqrt(k.shift)
	return 2 * angle(c) / k.shift, root, root
}

// Properties returns what is known of the kernel.
func (k ngd) Properties() Properties {
	return Properties{Definite: ConditionallyPositive, Source: sourceZhang + ", §4", NonNegative: k.shift >= 2*math.Pi, PositiveDiagonal: k.shift > 0}
}

func (ngdExp) homogeneous() (float64, bool) { return 0, true }
func (k ngdExp) feature(c, x, y float64) (float64, float64, float64) {
	return -math.Expm1(-angle(c) / k.t), 1, 1
}

// Properties returns what is known of the kernel.
func (ngdExp) Properties() Properties {
	return Properties{Definite: Positive, Condition: "the exponential of a conditionally positive definite kernel", Source: sourceSchoenberg, NonNegative: true, PositiveDiagonal: true}
}

func (linear) homogeneous() (float64, bool)                        { return 1, true }
func (linear) feature(c, x, y float64) (float64, float64, float64) { return c, x, y }

// Properties returns what is known of the kernel.
func (linear) Properties() Properties {
	return Properties{Definite: Positive, Condition: "an inner product", Source: sourceLIBSVM, UsesNorms: true, PositiveDiagonal: true}
}

func (polynomial) homogeneous() (float64, bool) { return 0, false }

func (k polynomial) feature(c, x, y float64) (float64, float64, float64) {
	if k.gamma == 0 {
		return math.NaN(), math.NaN(), math.NaN()
	}
	a, b := math.Sqrt(k.gamma*x*x+k.r), math.Sqrt(k.gamma*y*y+k.r)
	return powerDeficit(k.base(c, x, y, float64(a*b)), k.degree), device.Power(a, k.degree), device.Power(b, k.degree)
}

// base returns c2 for the base of the power, given the product of its norms, root: with A = γx²+r, B = γy²+r and P = γxy+r, AB - P² = γr(x-y)², so that
//
//	c2 = 1 - (P-γxyc)/√(AB) = (γr(x-y)²/(√(AB)+P) + γxyc) / √(AB).
func (k polynomial) base(c, x, y, root float64) float64 {
	if !(root > 0) { // one of the documents has no terms
		return c
	}
	d, xy := x-y, k.gamma*float64(x*y)
	return min((k.gamma*k.r*float64(d*d)/(root+(xy+k.r))+float64(xy*c))/root, 2)
}

// Properties returns what is known of the kernel.
func (k polynomial) Properties() Properties {
	p := Properties{Definite: Positive, Condition: "for r >= 0", Source: sourceLIBSVM, UsesNorms: true, NonNegative: k.degree%2 == 0, PositiveDiagonal: k.r >= 0}
	if k.r < 0 {
		p.Definite, p.Condition = NotProven, "r < 0: positive definite for r >= 0"
	}
	return p
}

func (sigmoid) homogeneous() (float64, bool) { return 0, false }
func (k sigmoid) feature(c, x, y float64) (float64, float64, float64) {
	return plainFeature(k, c, x, y)
}

// Properties returns what is known of the kernel.
func (sigmoid) Properties() Properties {
	return Properties{Condition: "not positive definite for most of its parameters", Source: "Lin and Lin, A study on sigmoid kernels for SVM (2003)", UsesNorms: true}
}

func (gaussian) homogeneous() (float64, bool) { return 0, false }
func (k gaussian) feature(c, x, y float64) (float64, float64, float64) {
	return -math.Expm1(-k.exponent(c, x, y)), 1, 1
}

// Properties returns what is known of the kernel.
func (gaussian) Properties() Properties {
	return Properties{Definite: Positive, Source: sourceSchoenberg, UsesNorms: true, NonNegative: true, PositiveDiagonal: true}
}

func (k arccos) homogeneous() (float64, bool) { return float64(k.n), true }

// feature: with θ = arccos(1-c) and the functions of φ of [arcCosineJ1] and [arcCosineJ2], taken at θ,
//
//	c2 = θ/π                                       n = 0
//	c2 = c - J₁(π-θ)/π                             n = 1
//	c2 = (2/3) c(2-c) + J₂(π-θ)/(3π)               n = 2
//
// follow from J_n(θ) = ± J_n(π-θ) + a trigonometric polynomial, and no term takes more than two thirds of another away.
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

// Properties returns what is known of the kernel.
func (k arccos) Properties() Properties {
	return Properties{Definite: Positive, Condition: "an inner product of infinitely many threshold units", Source: sourceCho + ", ch. 2",
		UsesNorms: k.n > 0, NonNegative: true, PositiveDiagonal: true}
}

// powerDeficit returns 1 - (1-c)ⁿ = c Σ (1-c)ᵏ, k < n, which has no differences for c <= 1.
func powerDeficit(c float64, n int) float64 {
	if n > 8 {
		return deficitPower(c, float64(n))
	}
	var s float64
	for range n {
		s = float64(s*(1-c)) + 1
	}
	return c * s
}

// deficitPower returns 1 - (1-c)^p for c in [0, 2], without cancellation for small c. A fractional p wants c <= 1.
func deficitPower(c, p float64) float64 {
	if c < 0.5 {
		return -math.Expm1(p * math.Log1p(-c))
	}
	return 1 - math.Pow(1-c, p)
}
