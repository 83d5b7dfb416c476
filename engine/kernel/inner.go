package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/kernel/internal/table"
)

// The kernels of this file are functions of the inner product ⟨x, y⟩ = ‖x‖‖y‖(1-c), with the
// parameters that LIBSVM gives them.
func init() {
	register(family{
		Info: Info{
			Name: "linear", Summary: "⟨x,y⟩ = ‖x‖‖y‖(1-c)",
			What: "inner product; in an embedding with a power, such as tf-l1-pow0.75, the probability product kernel " +
				"Σ θᵢ^0.75 θ′ᵢ^0.75 of " + sourceJebara,
			Source: sourceLIBSVM, Examples: []string{"linear", "linear:embed=tf-l1-pow0.75"},
		},
		place: 120, build: func([]float64) formula { return linear() },
	})
	register(family{
		Info: Info{
			Name: "polynomial", Summary: "(gamma ⟨x,y⟩ + r)^degree", What: "polynomial of the inner product",
			Source: sourceLIBSVM, Examples: []string{"polynomial:r=1,degree=2"},
		},
		place: 130, params: []param{gammaParam(), offsetParam(), whole("degree", "the power", 3, 0, 64)},
		resolve: resolveGamma, build: func(v []float64) formula { return polynomial(v[0], v[1], int(v[2])) },
	})
	register(family{
		Info: Info{
			Name: "rbf", Summary: "exp(-gamma ‖x-y‖²)", What: "Gaussian", Source: sourceLIBSVM,
			Examples: []string{"rbf"},
		},
		place: 140, params: []param{gammaParam()},
		resolve: resolveGamma, build: func(v []float64) formula { return gaussian(v[0]) },
	})
	register(family{
		Info: Info{
			Name: "sigmoid", Summary: "tanh(gamma ⟨x,y⟩ + r)", What: "hyperbolic tangent of the inner product",
			Source: sourceLIBSVM, Examples: []string{"sigmoid"},
		},
		place: 170, params: []param{gammaParam(), offsetParam()},
		resolve: resolveGamma, build: func(v []float64) formula { return sigmoid(v[0], v[1]) },
	})
}

// gammaParam and offsetParam are LIBSVM's gamma and coef0. A gamma of 0 isn't set yet.
func gammaParam() param {
	q := positive("gamma", "factor of the inner product or the squared distance", 0)
	q.Default, q.hidden = "1/terms", true
	return q
}

func offsetParam() param {
	q := signed("r", "what is added to the inner product", 0)
	q.Aliases = []string{"coef0"}
	return q
}

// resolveGamma sets a gamma, the first parameter, as svm-train does: one divided by the number of
// terms.
func resolveGamma(v []float64, terms int) []float64 {
	if v[0] != 0 {
		return nil
	}
	return append([]float64{1 / float64(max(terms, 1))}, v[1:]...)
}

// orNaN returns a gamma, NaN if it isn't set.
func orNaN(gamma float64) float64 {
	if gamma == 0 {
		return math.NaN()
	}
	return gamma
}

// dot is how a kernel is an inner product of documents.
type dot int

const (
	noDot    dot = iota
	plainDot     // ⟨x, y⟩
	unitDot      // of documents scaled to norm 1
)

// linear is the inner product itself,
//
//	k = ⟨x, y⟩ = x y (1-c)
func linear() formula {
	value := func(a at) ref { return a.mul(a.both(a.norm), a.cosine()) }
	return formula{
		value:   value,
		deficit: func(a at) ref { return a.c },
		known: Properties{
			Definite: Positive, Condition: "an inner product", Source: sourceLIBSVM, PositiveDiagonal: true, Falling: true,
		},
		variable: OfProduct, product: plainDot,
		direct: &direct{
			apply: func(asm *asm.Kernels, dst, c, x, y []float32) {
				byRow(dst, c, x, y, func(dst, c []float32, x float32) { asm.Dot(dst, c, y, x) })
			},
			// 1-c, the product of the norms and the product of both are rounded once each.
			error: func(c, x, y float64) float64 {
				if x*y > maxProduct {
					return math.Inf(1)
				}
				return 3*unit*math.Abs(x*y*(1-c)) + underflow*(1+math.Abs(1-c))
			},
		},
	}
}

// byRow calls f for each row of a tile.
func byRow(dst, c, x, y []float32, f func(dst, c []float32, x float32)) {
	n := len(y)
	for i, xi := range x {
		f(dst[i*n:][:n], c[i*n:][:n], xi)
	}
}

// maxProduct bounds the products that maps in float32 make of norms: beyond it there is no bound
// of the error, as products by 0 are NaN.
const maxProduct = math.MaxFloat32 * (1 - unit)

// affine writes gamma ⟨x, y⟩ + r, of which the polynomial and the sigmoid kernel are functions. x y
// comes first, so that the bits are the same for (y, x).
func affine(a at, gamma, r float64) ref {
	return a.add(a.scaled(orNaN(gamma), a.mul(a.both(a.norm), a.cosine())), a.number(r))
}

// affineMap maps chunks of gamma ⟨x, y⟩ + r by row, in float64: only the result is rounded.
func affineMap(gamma, r float64, row func(k *asm.Kernels, dst []float32, of []float64)) func(
	k *asm.Kernels, dst, c, x, y []float32) {
	return func(k *asm.Kernels, dst, c, x, y []float32) {
		m := machines.Get().(*machine)
		defer machines.Put(m)
		m.reserve(1)
		for lo := 0; lo < len(y); lo += chunk {
			hi := min(lo+chunk, len(y))
			of := m.registers[0][:hi-lo]
			for i, xi := range x {
				at := i*len(y) + lo
				k.Affine(of, c[at:at+len(of)], y[lo:hi], float64(xi), orNaN(gamma), r)
				row(k, dst[at:at+len(of)], of)
			}
		}
	}
}

// polynomial is the polynomial kernel,
//
//	k = (gamma ⟨x, y⟩ + r)^degree,   gamma > 0, degree a whole number from 0 on
func polynomial(gamma, r float64, degree int) formula {
	known := Properties{
		Definite: Positive, Condition: "for r >= 0", Source: sourceLIBSVM,
		NonNegative: degree%2 == 0, PositiveDiagonal: r >= 0, Falling: degree%2 == 1,
	}
	if r < 0 {
		known.Definite, known.Condition = NotProven, "r < 0: positive definite for r >= 0"
	}
	power := wholePower(degree)
	value := func(x, y, c float64) float64 {
		return power.f(float64(orNaN(gamma)*float64(float64(x*y)*(1-c))) + r)
	}
	root := func(x float64) float64 { return math.Sqrt(orNaN(gamma)*x*x + r) }
	lost := deficitOf(float64(degree))
	return formula{
		value: func(a at) ref { return a.fn(power, affine(a, gamma, r)) },
		norm:  func(n norm) norm { return baseNorm(n, gamma, r, root).raised(1, float64(degree)) },
		// 1 - (1-b)^degree with b that of the base: with A = γx²+r, B = γy²+r and P = γxy+r, AB - P² =
		// γr(x-y)², so that b = 1 - (P-γxyc)/√(AB) = (γr(x-y)²/(√(AB)+P) + γxyc)/√(AB).
		deficit: func(a at) ref {
			if r == 0 {
				return a.fn(lost, a.c)
			}
			both := a.both(baseNorm(a.norm, gamma, r, root))
			xy := a.scaled(orNaN(gamma), a.both(a.norm))
			gap := a.div(a.scaled(gamma*r, a.apart(a.norm)), a.add(both, a.add(xy, a.number(r))))
			base := a.div(a.add(gap, a.mul(xy, a.c)), both)
			return a.fn(lost, a.positive(both, base, a.c))
		},
		known: known, variable: OfProduct,
		direct: &direct{
			apply: affineMap(gamma, r, func(_ *asm.Kernels, dst []float32, of []float64) {
				power.loop(of, of)
				for j, v := range of {
					dst[j] = float32(v)
				}
			}),
			// Rounding of the result; the float64 arithmetic before it is the reference's own.
			error: func(c, x, y float64) float64 { return unit*math.Abs(value(x, y, c)) + underflow },
		},
	}
}

// baseNorm returns √(γx²+r), given that function.
func baseNorm(n norm, gamma, r float64, root func(x float64) float64) norm {
	if r == 0 {
		return n.raised(math.Sqrt(gamma), 1)
	}
	return n.then("root "+formatNumber(gamma)+" "+formatNumber(r), root)
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

// sigmoid is the sigmoid kernel, which is not positive definite for most of its parameters,
//
//	k = tanh(gamma ⟨x, y⟩ + r),   gamma > 0
func sigmoid(gamma, r float64) formula {
	return formula{
		value: func(a at) ref { return a.fn(tanh, affine(a, gamma, r)) },
		known: Properties{
			Condition: "not positive definite for most of its parameters",
			Source:    "Lin and Lin, A study on sigmoid kernels for SVM (2003)", Falling: true,
		},
		variable: OfProduct,
		direct: &direct{
			apply: affineMap(gamma, r, func(k *asm.Kernels, dst []float32, of []float64) { k.Tanh(dst, of) }),
			error: func(c, x, y float64) float64 {
				v := math.Tanh(float64(orNaN(gamma)*float64(float64(x*y)*(1-c))) + r)
				return (unit+table.HalfLineError)*math.Abs(v) + underflow
			},
		},
	}
}

// gaussian is the Gaussian kernel, LIBSVM's rbf,
//
//	k = exp(-gamma ‖x-y‖²),   ‖x-y‖² = (x-y)² + 2 x y c in terms of the norms,   gamma > 0
//
// The second form has no negative terms, so it keeps its digits for vectors that are close;
// x²+y²-2⟨x, y⟩ doesn't.
func gaussian(gamma float64) formula {
	known := nonNegative("", sourceSchoenberg)
	known.divisible = true
	return formula{
		value:    func(a at) ref { return a.fn(exp, a.scaled(-orNaN(gamma), a.dist(a.norm, a.c))) },
		deficit:  func(a at) ref { return a.fn(decayed, a.scaled(orNaN(gamma), a.dist(a.norm, a.c))) },
		norm:     func(norm) norm { return fixed(1) },
		known:    known,
		variable: OfDistance,
		direct: &direct{
			apply: func(asm *asm.Kernels, dst, c, x, y []float32) {
				byRow(dst, c, x, y, func(dst, c []float32, x float32) { asm.Gaussian(dst, c, y, x, float32(orNaN(gamma))) })
			},
			// With z = gamma ‖x-y‖², asm.Gaussian is within 5 ulp × (1+z) for a gamma that is exact, and one
			// ulp is at most 2 units; rounding gamma to float32 moves z by z units more. Squares too small
			// for float32 are lost by less than underflow each.
			error: func(c, x, y float64) float64 {
				if 2*x*y > maxProduct {
					return math.Inf(1)
				}
				z := orNaN(gamma) * squaredDistance(c, x, y)
				return expError(z, 10+11*z+4*gamma*underflow/unit)
			},
		},
	}
}
