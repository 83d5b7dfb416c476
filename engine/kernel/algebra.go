package kernel

import (
	"fmt"
	"math"
	"slices"
)

func init() {
	register(family{
		Name: "product", Summary: "∏ kᵢ", Operands: "kernels", Description: "product of kernels", Source: sourceProduct,
		Examples: []string{"product(arccos:n=1,arccos:n=0,arccos:n=0)", "product(rbf,linear)"},
		sortKey:  200, combine: product,
	})
	register(family{
		Name: "sum", Summary: "Σ wᵢ kᵢ", Operands: "kernels; or written 2*k₁ + 0.5*k₂",
		Description: "weighted sum of kernels", Source: sourceProduct,
		Examples: []string{"0.5*diffusion:t=0.5 + 0.5*linear", "0.5*diffusion:t=0.1 + 0.5*bhattacharyya"},
		sortKey:  210, combine: sum,
	})
	register(family{
		Name: "power", Summary: "k^p", Operands: "a kernel", Description: "power of a kernel", Source: sourceProduct,
		Examples: []string{"power(arccos:n=1):p=2.5"},
		sortKey:  220, singlePart: true,
		params: []param{
			rangeParam("p", "exponent; a fractional exponent requires a nonnegative kernel", 2, 64)},
		checkParts: func(parts []*kernel, v []float64) (_ int, expected string) {
			if v[0] != math.Trunc(v[0]) && !parts[0].properties.NonNegative {
				expected = fmt.Sprintf("a nonnegative kernel, as required by the fractional exponent %s", formatNumber(v[0]))
			}
			return 0, expected
		},
		combine: power,
	})
	register(family{
		Name: "exp", Summary: "exp(k)", Operands: "a kernel", Description: "exponential of a kernel",
		Source:   sourceSchoenberg,
		Examples: []string{"exp(2*bhattacharyya)"},
		sortKey:  230, singlePart: true, combine: exponential,
	})
	register(family{
		Name: "normalise", Summary: "k(x,y) / √(k(x,x) k(y,y))", Operands: "a kernel",
		Description: "kernel scaled to unit diagonal", Source: sourceProduct,
		Examples: []string{"normalise(polynomial:r=1,degree=2)", "normalise(arccos:n=2)"},
		sortKey:  240, singlePart: true,
		checkParts: func(of []*kernel, _ []float64) (_ int, expected string) {
			if !of[0].properties.PositiveDiagonal {
				expected = needsDiagonal
			}
			return 0, expected
		},
		combine: normalisedFormula,
	})
	register(family{
		Name: "centred", Summary: "k(x,y) - k(x,o) - k(o,y) + k(o,o)", Operands: "a kernel",
		Description: "kernel centred at the empty document o",
		Source:      sourceCentred, Examples: []string{"centred(ngd)"},
		sortKey: 250, singlePart: true, combine: centredFormula,
	})
}

const needsDiagonal = "a kernel with k(x, x) > 0 for all documents x"

// product returns the formula of the product of kernels, an inner product of tensor products of
// feature vectors. If c is a for one factor and b for another, c of the product is 1 - (1-a)(1-b) =
// a + (1-a) b. The product of positive definite kernels is positive definite by Schur's theorem.
// Source: Cho's thesis, ch. 4.
func product(k *kernel) formula {
	known := combinedProperties(k.parts)
	known.NonPositive = known.NonPositive && len(k.parts)%2 == 1
	known.Decreasing = known.Decreasing && known.NonNegative
	return formula{
		value: func(a input) ref {
			v := a.number(1)
			for _, p := range k.parts {
				v = a.mul(v, p.valueAt(a))
			}
			return v
		},
		deficit: func(a input) ref {
			c := k.parts[0].deficitAt(a)
			for _, p := range k.parts[1:] {
				c = a.add(c, a.mul(a.sub(a.number(1), c), p.deficitAt(a)))
			}
			return c
		},
		properties: known,
	}
}

// sum is a weighted sum of kernels. Definiteness isn't proven if a weight is negative. φ is the
// concatenation of the parts' feature maps. With the norms uᵢ and vᵢ of the two documents in the
// feature space of part i, x2² = Σ wᵢ uᵢ² and
//
//	x2 y2 c2 = x2 y2 - Σ wᵢ uᵢ vᵢ + Σ wᵢ uᵢ vᵢ cᵢ
//
// By Lagrange's identity, x2 y2 - Σ wᵢ uᵢ vᵢ = Σ_{i<j} wᵢ wⱼ (uᵢvⱼ - uⱼvᵢ)² / (x2 y2 + Σ wᵢ uᵢ vᵢ).
func sum(k *kernel) formula {
	image := func(n norm) norm {
		var of []norm
		for _, p := range k.parts {
			of = append(of, p.imageNorm(documentNorm))
		}
		return n.compose("norm of "+k.text, func(x float64) (squares float64) {
			for i := range of {
				u := of[i].f(x)
				squares += k.weights[i] * u * u
			}
			return math.Sqrt(max(squares, 0))
		})
	}
	value := func(a input) ref {
		v := a.number(0)
		for i, p := range k.parts {
			v = a.add(v, a.scale(k.weights[i], p.valueAt(a)))
		}
		return v
	}
	deficit := func(a input) ref {
		both := a.normProduct(k.imageNorm(a.norm))
		gap, products, lost := a.number(0), a.number(0), a.number(0)
		for i, p := range k.parts {
			u, v := a.pair(p.imageNorm(a.norm))
			for j, q := range k.parts[:i] {
				s, t := a.pair(q.imageNorm(a.norm))
				cross := a.sub(a.mul(s, v), a.mul(u, t))
				gap = a.add(gap, a.scale(k.weights[i]*k.weights[j], a.square(cross)))
			}
			uv := a.scale(k.weights[i], a.mul(u, v))
			products, lost = a.add(products, uv), a.add(lost, a.mul(uv, p.deficitAt(a)))
		}
		c2 := a.div(a.add(a.div(gap, a.add(both, products)), lost), both)
		return a.ifPositive(both, c2, a.c)
	}
	return formula{value: value, deficit: deficit, norm: image, properties: sumProperties(k)}
}

func sumProperties(k *kernel) Properties {
	p := combinedProperties(k.parts)
	p.NonPositive = true
	for i, w := range k.weights {
		of := k.parts[i].properties
		p.NonPositive = p.NonPositive && (w > 0 && of.NonPositive || w < 0 && of.NonNegative)
	}
	if slices.Min(k.weights) < 0 {
		return Properties{Source: p.Source, Condition: joinConditions(p.Condition, "a negative weight"),
			NonPositive: p.NonPositive}
	}
	p.infinitelyDivisible = p.infinitelyDivisible && len(k.parts) == 1
	if p.Definiteness == UnprovenDefiniteness && !p.Unrefuted && allConditional(k.parts) {
		p.Definiteness = ConditionallyPositiveDefinite
	}
	return p
}

// power is a power of a kernel. The exponent must be an integer unless the kernel is nonnegative.
func power(k *kernel) formula {
	of, p := k.parts[0], k.values[0]
	whole := p == math.Trunc(p)
	known := combinedProperties(k.parts)
	known.Decreasing = known.Decreasing && (known.NonNegative || math.Mod(p, 2) == 1)
	known.NonNegative = known.NonNegative || math.Mod(p, 2) == 0
	known.NonPositive = known.NonPositive && math.Mod(p, 2) == 1
	if known.infinitelyDivisible && known.Definiteness == PositiveDefinite {
		known.Source = sourceDivisible
	} else if !whole {
		known.Definiteness, known.Unrefuted = UnprovenDefiniteness, false
		known.Condition = joinConditions(known.Condition, "a fractional power")
	}
	raise, lost := powerOf(p), deficitOf(p)
	return formula{
		value: func(a input) ref { return raise(a, of.valueAt(a)) },
		deficit: func(a input) ref {
			c := of.deficitAt(a)
			if whole {
				return a.fn(lost, c)
			}
			far := a.sub(a.number(1), raise(a, a.sub(a.number(1), c))) // the slope at c = 1 is too large for a table
			return a.ifPositive(a.sub(c, a.number(0.5)), far, a.fn(lost, c))
		},
		norm:       func(n norm) norm { return of.imageNorm(n).scaledPower(1, p) },
		properties: known,
	}
}

// exponential is exp(k₁). It is positive definite if k₁ is conditionally positive definite. With
// the feature map φ of k₁, the cosine of exp(k₁) is exp(⟨φ, φ′⟩ - ‖φ‖²/2 - ‖φ′‖²/2) =
// exp(-‖φ-φ′‖²/2), and ‖φ-φ′‖² = (x2-y2)² + 2 x2 y2 c2.
func exponential(k *kernel) formula {
	of := k.parts[0]
	known := combinedProperties(k.parts)
	known.Source, known.NonNegative, known.NonPositive, known.PositiveDiagonal = sourceSchoenberg, true, false, true
	if known.infinitelyDivisible = allConditional(k.parts); known.infinitelyDivisible {
		known.Definiteness, known.Unrefuted = PositiveDefinite, false
	}
	half := func(x float64) float64 { return of.Eval(0, x, x) / 2 }
	return formula{
		value: func(a input) ref { return a.fn(exp, of.valueAt(a)) },
		deficit: func(a input) ref {
			if of.properties.PositiveDiagonal {
				return a.fn(oneMinusExp, a.scale(0.5, a.dist(of.imageNorm(a.norm), of.deficitAt(a))))
			}
			return a.fn(oneMinusExp, a.sub(a.normSum(a.norm.compose("half "+of.text, half)), of.valueAt(a)))
		},
		norm: func(n norm) norm {
			return n.compose("norm of "+k.text, func(x float64) float64 { return math.Exp(half(x)) })
		},
		properties: known,
	}
}

// normalisedFormula is the cosine in the feature space of the part k₁. It is exactly 1 for
// identical documents. If k₁(x, x) = 0, the cosine is 1-c.
func normalisedFormula(k *kernel) formula {
	of := k.parts[0]
	return formula{
		value: func(a input) ref {
			if of.separable {
				return a.div(of.valueAt(input{a.e, a.c, constantNorm(1)}), a.number(of.Eval(0, 1, 1)))
			}
			return a.sub(a.number(1), of.deficitAt(a))
		},
		deficit:    of.deficitAt,
		norm:       func(norm) norm { return constantNorm(1) },
		properties: combinedProperties(k.parts),
	}
}

// centredFormula moves the origin of the feature space of k₁ to the empty document o, which has
// norm 0 and no terms. The kernel is positive definite if k₁ is conditionally positive definite.
// Centring doesn't change distances. So, with the diagonals p and q of the centred kernel, and half
// the squared distance g = (k₁(x, x) + k₁(y, y))/2 - k₁(x, y),
//
//	c2 = (g - (√p-√q)²/2) / √(pq)
//
// g follows from the geometry of k₁ without cancellation. If the diagonal of k₁ is 0, as for a
// negative distance, g is -k₁(x, y). Source: Schölkopf, NIPS 2000.
func centredFormula(k *kernel) formula {
	of := k.parts[0]
	atOrigin := func(x float64) float64 { return of.Eval(1, x, 0) }
	diagonal := func(x float64) float64 { return of.Eval(0, x, x) }
	all := combinedProperties(k.parts)
	known := Properties{Source: sourceCentred, Condition: all.Condition, Decreasing: all.Decreasing,
		Definiteness: all.Definiteness, Unrefuted: all.Unrefuted}
	if allConditional(k.parts) {
		known.Definiteness, known.Unrefuted = PositiveDefinite, false
	}
	own := func(x float64) float64 { return diagonal(x) - 2*atOrigin(x) + of.Eval(0, 0, 0) }
	known.PositiveDiagonal = own(1) > 0 && own(100) > 0
	scaled := of.separable && of.p != 0 // the value at the origin is 0
	value := func(a input) ref {
		if scaled {
			return of.valueAt(a)
		}
		origins := a.normSum(a.norm.compose("origin of "+of.text, atOrigin))
		if of.separable {
			origins = a.number(2 * atOrigin(1))
		}
		return a.add(a.sub(of.valueAt(a), origins), a.number(of.Eval(0, 0, 0)))
	}
	deficit := func(a input) ref {
		if scaled {
			return of.deficitAt(a)
		}
		half := a.sub(a.scale(0.5, a.normSum(a.norm.compose("diagonal of "+of.text, diagonal))), of.valueAt(a))
		if of.properties.PositiveDiagonal {
			half = a.scale(0.5, a.dist(of.imageNorm(a.norm), of.deficitAt(a)))
		}
		n := k.imageNorm(a.norm)
		c2 := a.div(a.sub(half, a.scale(0.5, a.normSquaredDifference(n))), a.normProduct(n))
		return a.ifPositive(a.normProduct(n), a.fn(clamp, c2), a.c) // c if the image of a document is the origin
	}
	return formula{value: value, deficit: deficit, properties: known}
}
