package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// These kernels are functions of the inner product ⟨x, y⟩ = ‖x‖‖y‖(1-c) and the norms, with
// LIBSVM's parameters.
func init() {
	register(family{
		Name: "linear", Summary: "⟨x,y⟩ = ‖x‖‖y‖(1-c)",
		Description: "inner product; in an embedding with a power, such as tf-l1-pow0.75, the probability product kernel " +
			"Σ θᵢ^0.75 θ′ᵢ^0.75 of " + sourceJebara,
		Source: sourceLIBSVM, Examples: []string{"linear", "linear:embed=tf-l1-pow0.75"},
		sortKey: 120, build: func([]float64) formula { return linear() },
	})
	register(family{
		Name: "polynomial", Summary: "(gamma ⟨x,y⟩ + r)^degree", Description: "polynomial of the inner product",
		Source: sourceLIBSVM, Examples: []string{"polynomial:r=1,degree=2"},
		sortKey: 130, params: []param{gammaParam(), offsetParam(), integerParam("degree", "the power", 3, 0, 64)},
		resolve: resolveGamma, build: func(v []float64) formula { return polynomial(v[0], v[1], int(v[2])) },
	})
	register(family{
		Name: "rbf", Summary: "exp(-gamma ‖x-y‖²)", Description: "Gaussian", Source: sourceLIBSVM,
		Examples: []string{"rbf"},
		sortKey:  140, params: []param{gammaParam()},
		resolve: resolveGamma, build: func(v []float64) formula { return gaussian(gammaOrNaN(v[0])) },
	})
	register(family{
		Name: "sigmoid", Summary: "tanh(gamma ⟨x,y⟩ + r)", Description: "hyperbolic tangent of the inner product",
		Source: sourceLIBSVM, Examples: []string{"sigmoid"},
		sortKey: 170, params: []param{gammaParam(), offsetParam()}, resolve: resolveGamma,
		build: func(v []float64) formula {
			return affineFunction(v[0], v[1], tanh, Properties{
				Condition: "indefinite for most parameters",
				Source:    "Lin and Lin, A study on sigmoid kernels for SVM (2003)", Decreasing: true,
			})
		},
	})
}

// gammaParam and offsetParam return LIBSVM's parameters gamma and coef0. A gamma of 0 means unset.
func gammaParam() param {
	q := positiveParam("gamma", "factor of the inner product or the squared distance", 0)
	q.Default, q.hidden = "1/terms", true
	return q
}

func offsetParam() param {
	q := signedParam("r", "added to the inner product", 0)
	q.Aliases = []string{"coef0"}
	return q
}

// resolveGamma sets an unset gamma, the first parameter, to 1/terms, as svm-train does.
func resolveGamma(v []float64, terms int) []float64 {
	if v[0] != 0 {
		return nil
	}
	return append([]float64{1 / float64(max(terms, 1))}, v[1:]...)
}

func gammaOrNaN(gamma float64) float64 {
	if gamma == 0 {
		return math.NaN()
	}
	return gamma
}

func linear() formula {
	return formula{
		value:   func(a input) ref { return a.mul(a.normProduct(a.norm), a.cosine()) },
		deficit: func(a input) ref { return a.c },
		properties: Properties{Definiteness: PositiveDefinite, Condition: "an inner product", Source: sourceLIBSVM,
			PositiveDiagonal: true, Decreasing: true},
		variable: VariableProduct,
		direct: &directMap{
			apply: func(asm *asm.Kernels, dst, c, x, y []float32) {
				applyByRow(dst, c, x, y, func(dst, c []float32, x float32) { asm.Dot(dst, c, y, x) })
			},
			// Three values are rounded: 1-c, the product of the norms, and 1-c times this product.
			error: func(c, x, y float64) float64 {
				if x*y > maxProduct {
					return math.Inf(1)
				}
				return 3*unitRoundoff*math.Abs(x*y*(1-c)) + underflowError*(1+math.Abs(1-c))
			},
		},
	}
}

func applyByRow(dst, c, x, y []float32, f func(dst, c []float32, x float32)) {
	n := len(y)
	for i, xi := range x {
		f(dst[i*n:][:n], c[i*n:][:n], xi)
	}
}

// maxProduct bounds products of norms in float32. A larger product may round to infinity, and
// infinity times 0 is NaN.
const maxProduct = math.MaxFloat32 * (1 - unitRoundoff)

// affineFunction returns the formula of f(gamma ⟨x, y⟩ + r). Its map computes the argument of f in
// float64. The norms are multiplied first, so that the result is symmetric bit for bit.
func affineFunction(gamma, r float64, f *function, known Properties) formula {
	gamma = gammaOrNaN(gamma)
	apply := func(k *asm.Kernels, dst, c, x, y []float32) {
		m := machines.Get().(*machine)
		defer machines.Put(m)
		m.k = k
		m.reserve(1)
		for lo := 0; lo < len(y); lo += chunk {
			hi := min(lo+chunk, len(y))
			of := m.registers[0][:hi-lo]
			for i, xi := range x {
				at := i*len(y) + lo
				k.Affine(of, c[at:at+len(of)], y[lo:hi], float64(xi), gamma, r)
				if f.row != nil {
					f.row(m, dst[at:at+len(of)], of)
				} else {
					f.loop(of, of)
					k.Narrow(dst[at:at+len(of)], of)
				}
			}
		}
	}
	return formula{
		value: func(a input) ref {
			return a.fn(f, a.add(a.scale(gamma, a.mul(a.normProduct(a.norm), a.cosine())), a.number(r)))
		},
		properties: known, variable: VariableProduct,
		direct: &directMap{apply, func(c, x, y float64) float64 { // only f is rounded to float32
			v := f.f(float64(gamma*float64(float64(x*y)*(1-c))) + r)
			return max(f.rowError, 1)*unitRoundoff*math.Abs(v) + underflowError
		}},
	}
}

// polynomial is a power of the base P = γ⟨x, y⟩+r, which has the diagonals A² = γx²+r and B² =
// γy²+r. At c = 0, A²B² - P² = γr(x-y)². So the deficit of the base is
//
//	b = (γr(x-y)²/(AB + γxy+r) + γxyc)/(AB)
func polynomial(gamma, r float64, degree int) formula {
	known := Properties{Definiteness: PositiveDefinite, Condition: "for r >= 0", Source: sourceLIBSVM,
		NonNegative: degree%2 == 0, PositiveDiagonal: r >= 0, Decreasing: degree%2 == 1}
	if r < 0 {
		known.Definiteness, known.Condition = UnprovenDefiniteness, "r < 0: positive definite for r >= 0"
	}
	f, lost := affineFunction(gamma, r, integerPower(degree), known), deficitOf(float64(degree))
	gamma = gammaOrNaN(gamma)
	root := func(n norm) norm {
		return n.compose("root "+formatNumber(gamma)+" "+formatNumber(r),
			func(x float64) float64 { return math.Sqrt(gamma*x*x + r) })
	}
	f.norm = func(n norm) norm { return root(n).scaledPower(1, float64(degree)) }
	f.deficit = func(a input) ref {
		if r == 0 {
			return a.fn(lost, a.c)
		}
		both, xy := a.normProduct(root(a.norm)), a.scale(gamma, a.normProduct(a.norm))
		gap := a.div(a.scale(gamma*r, a.normSquaredDifference(a.norm)), a.add(both, a.add(xy, a.number(r))))
		return a.fn(lost, a.div(a.add(gap, a.mul(xy, a.c)), both))
	}
	return f
}

// gaussian is LIBSVM's rbf. ‖x-y‖² = (x-y)² + 2 x y c has no negative terms. So the exponent is
// accurate for close vectors, unlike x²+y²-2⟨x, y⟩.
func gaussian(gamma float64) formula {
	known := nonNegative("", sourceSchoenberg)
	known.infinitelyDivisible = true
	return formula{
		value:      func(a input) ref { return a.fn(exp, a.scale(-gamma, a.dist(a.norm, a.c))) },
		deficit:    func(a input) ref { return a.fn(oneMinusExp, a.scale(gamma, a.dist(a.norm, a.c))) },
		norm:       func(norm) norm { return constantNorm(1) },
		properties: known,
		variable:   VariableDistance,
		direct: &directMap{
			apply: func(asm *asm.Kernels, dst, c, x, y []float32) {
				applyByRow(dst, c, x, y, func(dst, c []float32, x float32) { asm.Gaussian(dst, c, y, x, float32(gamma)) })
			},
			// With z = gamma ‖x-y‖², asm.Gaussian is accurate to 5 ulp × (1+z) for exact gamma, and
			// one ulp is at most 2 unitRoundoff. Rounding gamma to float32 changes z by up to z
			// unitRoundoff. Each square that underflows in float32 loses less than underflowError.
			error: func(c, x, y float64) float64 {
				if 2*x*y > maxProduct {
					return math.Inf(1)
				}
				z := gamma * squaredDistance(c, x, y)
				return expError(z, 10+11*z+4*gamma*underflowError/unitRoundoff)
			},
		},
	}
}
