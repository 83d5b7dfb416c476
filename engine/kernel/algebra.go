package kernel

import (
	"fmt"
	"math"
	"slices"
)

// Sums, products, powers and exponentials of kernels, and kernels scaled and centred.
func init() {
	register(family{
		Name: "product", Summary: "∏ kᵢ", Parts: "kernels", What: "product of kernels", Source: sourceProduct,
		Examples: []string{"product(arccos:n=1,arccos:n=0,arccos:n=0)", "product(rbf,linear)"},
		place:    200, combine: product,
	})
	register(family{
		Name: "sum", Summary: "Σ wᵢ kᵢ", Parts: "kernels; or written 2*k₁ + 0.5*k₂",
		What: "weighted sum of kernels", Source: sourceProduct,
		Examples: []string{"0.5*diffusion:t=0.5 + 0.5*linear", "0.5*diffusion:t=0.1 + 0.5*bhattacharyya"},
		place:    210, combine: sum,
	})
	register(family{
		Name: "power", Summary: "k^p", Parts: "a kernel", What: "power of a kernel", Source: sourceProduct,
		Examples: []string{"power(arccos:n=1):p=2.5"},
		place:    220, single: true,
		params: []param{
			between("p", "the power; one that is no whole number wants a kernel that is nowhere below 0", 2, 64)},
		check: func(parts []*kernel, v []float64) (_ int, expected string) {
			if v[0] != math.Trunc(v[0]) && !parts[0].known.NonNegative {
				expected = fmt.Sprintf("a kernel that is nowhere below 0, for the power %s", formatNumber(v[0]))
			}
			return 0, expected
		},
		combine: power,
	})
	register(family{
		Name: "exp", Summary: "exp(k)", Parts: "a kernel", What: "exponential of a kernel", Source: sourceSchoenberg,
		Examples: []string{"exp(2*bhattacharyya)"},
		place:    230, single: true, combine: exponential,
	})
	register(family{
		Name: "normalise", Summary: "k(x,y) / √(k(x,x) k(y,y))", Parts: "a kernel",
		What: "kernel scaled to unit diagonal", Source: sourceProduct,
		Examples: []string{"normalise(polynomial:r=1,degree=2)", "normalise(arccos:n=2)"},
		place:    240, single: true,
		check: func(of []*kernel, _ []float64) (_ int, expected string) {
			if !of[0].known.PositiveDiagonal {
				expected = needsDiagonal
			}
			return 0, expected
		},
		combine: normalised,
	})
	register(family{
		Name: "centred", Summary: "k(x,y) - k(x,o) - k(o,y) + k(o,o)", Parts: "a kernel",
		What:   "kernel with the empty document o as origin, which shares no term with any other and has norm 0",
		Source: sourceCentred, Examples: []string{"centred(ngd)"},
		place: 250, single: true, combine: centred,
	})
}

const needsDiagonal = "a kernel with k(x, x) > 0 for all documents x"

// product is the inner product of tensor products: cosines are multiplied, 1 - (1-a)(1-b) = a + (1-a) b.
// Source: Cho's thesis, ch. 4; Schur for its being positive definite.
func product(k *kernel) formula {
	known := ofParts(k.parts)
	known.NonPositive = known.NonPositive && len(k.parts)%2 == 1
	known.Falling = known.Falling && known.NonNegative
	return formula{
		value: func(a at) ref {
			v := a.number(1)
			for _, p := range k.parts {
				v = a.mul(v, p.at(a))
			}
			return v
		},
		deficit: func(a at) ref {
			c := k.parts[0].deficitAt(a)
			for _, p := range k.parts[1:] {
				c = a.add(c, a.mul(a.sub(a.number(1), c), p.deficitAt(a)))
			}
			return c
		},
		known: known,
	}
}

// sum is a weighted sum of kernels; a weight below 0 leaves nothing proven. φ is that of the parts side
// by side, x2² = Σ wᵢ uᵢ² with their norms u and v, and
//
//	x2 y2 c2 = x2 y2 - Σ wᵢ uᵢ vᵢ + Σ wᵢ uᵢ vᵢ cᵢ
//
// where the first difference is, by Lagrange's identity, Σ_{i<j} wᵢ wⱼ (uᵢvⱼ - uⱼvᵢ)² / (x2 y2 + Σ
// wᵢ uᵢ vᵢ).
func sum(k *kernel) formula {
	image := func(n norm) norm {
		var of []norm
		for _, p := range k.parts {
			of = append(of, p.image(documentNorm))
		}
		return n.then("norm of "+k.text, func(x float64) (squares float64) {
			for i := range of {
				u := of[i].f(x)
				squares += k.weights[i] * u * u
			}
			return math.Sqrt(max(squares, 0))
		})
	}
	value := func(a at) ref {
		v := a.number(0)
		for i, p := range k.parts {
			v = a.add(v, a.scaled(k.weights[i], p.at(a)))
		}
		return v
	}
	deficit := func(a at) ref {
		both := a.both(k.image(a.norm))
		gap, products, lost := a.number(0), a.number(0), a.number(0)
		for i, p := range k.parts {
			u, v := a.pair(p.image(a.norm))
			for j, q := range k.parts[:i] {
				s, t := a.pair(q.image(a.norm))
				cross := a.sub(a.mul(s, v), a.mul(u, t))
				gap = a.add(gap, a.scaled(k.weights[i]*k.weights[j], a.square(cross)))
			}
			uv := a.scaled(k.weights[i], a.mul(u, v))
			products, lost = a.add(products, uv), a.add(lost, a.mul(uv, p.deficitAt(a)))
		}
		c2 := a.div(a.add(a.div(gap, a.add(both, products)), lost), both)
		return a.positive(both, c2, a.c)
	}
	return formula{value: value, deficit: deficit, norm: image, known: sumProperties(k)}
}

func sumProperties(k *kernel) Properties {
	p := ofParts(k.parts)
	p.NonPositive = true
	for i, w := range k.weights {
		of := k.parts[i].known
		p.NonPositive = p.NonPositive && (w > 0 && of.NonPositive || w < 0 && of.NonNegative)
	}
	if slices.Min(k.weights) < 0 {
		return Properties{Source: p.Source, Condition: also(p.Condition, "a weight below 0"), NonPositive: p.NonPositive}
	}
	p.divisible = p.divisible && len(k.parts) == 1
	if p.Definite == NotProven && !p.Unrefuted && conditional(k.parts) {
		p.Definite = ConditionallyPositive
	}
	return p
}

// power is a power of a kernel: a whole one, unless the kernel is nowhere below 0.
func power(k *kernel) formula {
	of, p := k.parts[0], k.values[0]
	whole := p == math.Trunc(p)
	known := ofParts(k.parts)
	known.Falling = known.Falling && (known.NonNegative || math.Mod(p, 2) == 1)
	known.NonNegative = known.NonNegative || math.Mod(p, 2) == 0
	known.NonPositive = known.NonPositive && math.Mod(p, 2) == 1
	if known.divisible && known.Definite == Positive {
		known.Source = sourceDivisible
	} else if !whole {
		known.Definite, known.Unrefuted = NotProven, false
		known.Condition = also(known.Condition, "a power that is no whole number")
	}
	raise, lost := powerOf(p), deficitOf(p)
	return formula{
		value: func(a at) ref { return raise(a, of.at(a)) },
		deficit: func(a at) ref {
			c := of.deficitAt(a)
			if whole {
				return a.fn(lost, c)
			}
			far := a.sub(a.number(1), raise(a, a.sub(a.number(1), c))) // too steep at c = 1 for a table
			return a.positive(a.sub(c, a.number(0.5)), far, a.fn(lost, c))
		},
		norm:  func(n norm) norm { return of.image(n).raised(1, p) },
		known: known,
	}
}

// exponential is positive definite if its part k₁ is conditionally so. With φ of k₁ its cosine is
// exp(⟨φ, φ′⟩ - ‖φ‖²/2 - ‖φ′‖²/2) = exp(-‖φ-φ′‖²/2), and ‖φ-φ′‖² = (x2-y2)² + 2 x2 y2 c2.
func exponential(k *kernel) formula {
	of := k.parts[0]
	known := ofParts(k.parts)
	known.Source, known.NonNegative, known.NonPositive, known.PositiveDiagonal = sourceSchoenberg, true, false, true
	if known.divisible = conditional(k.parts); known.divisible {
		known.Definite, known.Unrefuted = Positive, false
	}
	half := func(x float64) float64 { return of.Eval(0, x, x) / 2 }
	return formula{
		value: func(a at) ref { return a.fn(exp, of.at(a)) },
		deficit: func(a at) ref {
			if of.known.PositiveDiagonal {
				return a.fn(decayed, a.scaled(0.5, a.dist(of.image(a.norm), of.deficitAt(a))))
			}
			return a.fn(decayed, a.sub(a.total(a.norm.then("half "+of.text, half)), of.at(a)))
		},
		norm: func(n norm) norm {
			return n.then("norm of "+k.text, func(x float64) float64 { return math.Exp(half(x)) })
		},
		known: known,
	}
}

// normalised is the cosine in the feature space of its part k₁, exactly 1 for identical documents. A
// document for which k₁(x, x) is 0 has the cosine that c stands for.
func normalised(k *kernel) formula {
	of := k.parts[0]
	return formula{
		value: func(a at) ref {
			if of.separable {
				return a.div(of.at(at{a.e, a.c, fixed(1)}), a.number(of.Eval(0, 1, 1)))
			}
			return a.sub(a.number(1), of.deficitAt(a))
		},
		deficit: of.deficitAt,
		norm:    func(norm) norm { return fixed(1) },
		known:   ofParts(k.parts),
	}
}

// centred has the empty document o as origin, which shares no term with any document and has the norm 0. It
// is positive definite if its part k₁ is conditionally so. The origin moves no distance, so with p and q
// the diagonal of k and g = (k₁(x, x) + k₁(y, y))/2 - k₁(x, y), half the squared distance,
//
//	c2 = (g - (√p-√q)²/2) / √(pq)
//
// where g is known without cancellation from the part's own geometry, or as the value itself if the
// part's diagonal is 0, as that of a negative distance. Source: Schölkopf, NIPS 2000.
func centred(k *kernel) formula {
	of := k.parts[0]
	atOrigin := func(x float64) float64 { return of.Eval(1, x, 0) }
	diagonal := func(x float64) float64 { return of.Eval(0, x, x) }
	all := ofParts(k.parts)
	known := Properties{Source: sourceCentred, Condition: all.Condition, Falling: all.Falling,
		Definite: all.Definite, Unrefuted: all.Unrefuted}
	if conditional(k.parts) {
		known.Definite, known.Unrefuted = Positive, false
	}
	own := func(x float64) float64 { return diagonal(x) - 2*atOrigin(x) + of.Eval(0, 0, 0) }
	known.PositiveDiagonal = own(1) > 0 && own(100) > 0
	scaled := of.separable && of.p != 0 // then the value at the origin is 0
	value := func(a at) ref {
		if scaled {
			return of.at(a)
		}
		origins := a.total(a.norm.then("origin of "+of.text, atOrigin))
		if of.separable {
			origins = a.number(2 * atOrigin(1))
		}
		return a.add(a.sub(of.at(a), origins), a.number(of.Eval(0, 0, 0)))
	}
	deficit := func(a at) ref {
		if scaled {
			return of.deficitAt(a)
		}
		half := a.sub(a.scaled(0.5, a.total(a.norm.then("diagonal of "+of.text, diagonal))), of.at(a))
		if of.known.PositiveDiagonal {
			half = a.scaled(0.5, a.dist(of.image(a.norm), of.deficitAt(a)))
		}
		n := k.image(a.norm)
		c2 := a.div(a.sub(half, a.scaled(0.5, a.apart(n))), a.both(n))
		return a.positive(a.both(n), a.fn(clamped, c2), a.c) // otherwise the origin itself
	}
	return formula{value: value, deficit: deficit, known: known}
}
