package kernel

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/heat"
	"github.com/gramengine/gram/sparse"
)

func init() {
	order := integerParam("order", "order of the parametrix; by default only the leading exponential", 0, 0,
		heat.MaxOrder)
	n := integerParam("n", "dimension of the sphere, used by the functions ψ and the constant", 1, 1, heat.MaxDimension)
	cutoff := rangeParam("cutoff", "geodesic distance on the sphere of radius 2 beyond which the kernel is 0; "+
		"the transition starts at half this distance", 0, 2*math.Pi)
	register(family{
		Name: "diffusion",
		Summary: "exp(-arccos²(1-c)/t), or with order: " +
			"(4πt)^(-n/2) η(d) exp(-d²/4t) Σ ψ_k(d) t^k, d = 2 arccos(1-c)",
		Description: "multinomial diffusion: the heat kernel's leading term, or its parametrix with ψ₀ … ψ_order, " +
			"cut-off and constant",
		Source: sourceLafferty + ", §2.1.1 and §3.2",
		Examples: []string{"diffusion:t=0.5", "diffusion:t=1e-4,order=2",
			"diffusion:t=0.5,order=0,n=20,form=printed,cutoff=3,constant=full"},
		sortKey: 10, embedding: sparse.SphereEmbedding,
		params: []param{
			positiveParam("t", "diffusion time, in squared radians", 0.5),
			order.withDefaultWord("none", -1), n.withDefaultWord("terms-1", 0),
			// The words are in the order of the constants of type heat.Form.
			wordParam("form",
				"ψ₀ with sin(d/2)/(d/2), as derived from the heat equation, or with sin d/d, as printed in the paper",
				"derived", "printed").hiddenAtDefault(),
			cutoff.withDefaultWord("none", 0),
			wordParam("constant", "full includes the factor (4πt)^(-n/2), which is the same for all pairs",
				"none", "full").hiddenAtDefault(),
		},
		checkParams: checkDiffusion,
		// The simplex of n+1 terms has dimension n. For a single term n is 1.
		resolve: func(v []float64, terms int) []float64 {
			if !dependsOnN(v) || v[heatN] > 0 {
				return nil
			}
			v = slices.Clone(v)
			v[heatN] = float64(min(max(terms-1, 1), heat.MaxDimension))
			return v
		},
		build: func(v []float64) formula {
			if v[heatOrder] < 0 && v[heatCutoff] == 0 && v[heatConstant] == 0 {
				return angleExp(v[heatT], true)
			}
			return parametrix(v)
		},
	})
}

const (
	heatT = iota
	heatOrder
	heatN
	heatForm
	heatCutoff
	heatConstant
)

func checkDiffusion(v []float64) (int, string) {
	psi := v[heatOrder] >= 0
	printed := heat.Form(v[heatForm]) == heat.FormPrinted
	switch {
	case v[heatN] > 0 && !dependsOnN(v):
		return heatN, "order or constant=full with n (the leading exponential does not depend on n)"
	case printed && !psi:
		return heatForm, "order=0 with form=printed (the leading exponential has no ψ₀)"
	case printed && v[heatOrder] > 0:
		return heatOrder, "order=0 with form=printed (with this ψ₀, no further function makes the residual of the " +
			"heat equation vanish)"
	case printed && !(v[heatCutoff] > 0 && v[heatCutoff] <= math.Pi):
		return heatForm, "a cutoff of at most pi with form=printed (its ψ₀ is infinite at d = π, the distance of " +
			"documents without common terms)"
	}
	return 0, ""
}

func dependsOnN(v []float64) bool { return v[heatOrder] >= 0 || v[heatConstant] > 0 }

// angleExp returns the leading term exp(-arccos²(1-c)/t) of the heat kernel if squared is true.
// Otherwise it returns exp(-arccos(1-c)/t), the exponential of the geodesic distance.
func angleExp(t float64, squared bool) formula {
	exponent := func(c float64) float64 { // z in k = e^-z
		a := angle(c)
		if squared {
			a *= a
		}
		return a / t
	}
	known := nonNegative("the exponential of a conditionally positive definite kernel", sourceSchoenberg)
	known.infinitelyDivisible = true
	if squared {
		known = nonNegative("the leading term alone is not positive definite for every t: smallest eigenvalue -0.03 at "+
			"t = 8 on a grid of 3 outcomes, but no negative eigenvalue was found for t <= 1", sourceLafferty+", §3.2")
		known.Definiteness, known.Unrefuted = UnprovenDefiniteness, t <= 1
	}
	f := cosineFunction(func(c float64) float64 { return math.Exp(-exponent(c)) },
		func(c float64) float64 { return -math.Expm1(-exponent(c)) }, known)
	f.direct = &directMap{
		apply: func(asm *asm.Kernels, dst, c, x, y []float32) {
			if squared {
				asm.Diffusion(dst, c, float32(1/t))
			} else {
				asm.NGDExp(dst, c, float32(1/t))
			}
		},
		// asm.Diffusion and asm.NGDExp are accurate to 4 ulp × (1+z), and one ulp is at most 2
		// unitRoundoff. Rounding 1/t to float32 changes z by up to z unitRoundoff, and so e^-z by z
		// unitRoundoff relative to its value.
		error: func(c, _, _ float64) float64 {
			z := exponent(c)
			return expError(z, 8+9*z)
		},
	}
	return f
}

// expError returns a bound on the absolute error of e^-z, given the relative error of e^-z in
// multiples of unitRoundoff.
func expError(z, units float64) float64 {
	if z > 120 {
		return underflowError
	}
	return math.Exp(-z)*math.Expm1(units*unitRoundoff) + underflowError
}

// parametrix returns the multinomial diffusion kernel with the terms up to the given order (see
// package heat). The table holds logarithms, or values if there is a cut-off or a negative value.
// Values are NaN until n is resolved. Source: Lafferty and Lebanon, JMLR 6 (2005), §2.1.1.
func parametrix(v []float64) formula {
	order, n := int(v[heatOrder]), int(v[heatN])
	known := Properties{Source: sourceLafferty + ", §2.1.1", NonNegative: order <= 0, PositiveDiagonal: order <= 5,
		Condition: "the heat kernel is positive definite, and the parametrix converges to it as t tends to 0"}
	if dependsOnN(v) && n == 0 {
		nan := func(float64) float64 { return math.NaN() }
		return cosineFunction(nan, nan, known)
	}
	k := &heat.Kernel{Time: v[heatT], Form: heat.Form(v[heatForm]), Cutoff: v[heatCutoff]}
	if order >= 0 {
		var err error
		if k.Sphere, err = heat.NewSphere(n, order); err != nil {
			panic(err) // impossible, because the parser has checked n and order
		}
	}
	if v[heatConstant] > 0 {
		k.LogFactor = heat.LogConstant(n, v[heatT])
	}
	diagonal, sign := k.Log(0)
	known.PositiveDiagonal = sign > 0 && diagonal > math.Log(math.SmallestNonzeroFloat64)
	const most = 88.7 // ln of the largest float32
	if far, _ := k.Log(1); max(far, diagonal) > most {
		known.Condition += fmt.Sprintf("; values up to e^%.4g overflow float32: decrease t or n, or set "+
			"constant=none", max(far, diagonal))
	} else if diagonal < -most {
		known.Condition += fmt.Sprintf("; values of e^%.4g on the diagonal underflow to 0 in float32: set "+
			"constant=none", diagonal)
	}
	// c2 = 1 - k(c)/k(0) is computed from a logarithm that is accurate for small c. If t is large
	// relative to n, ψ₀ increases faster than the exponential decreases, and there is no feature
	// space. Pairs of documents with values above the diagonal are treated as identical.
	f := cosineFunction(k.Eval, func(c float64) float64 {
		if ratio := k.LogRatio(c); ratio == ratio {
			return max(-math.Expm1(ratio), 0)
		}
		return min(max(1-k.Eval(c)/k.Eval(0), 0), 2)
	}, known)
	f.log = func(c float64) float64 {
		logarithm, sign := k.Log(min(max(c, 0), 2))
		if sign < 0 {
			return math.NaN()
		}
		return logarithm
	}
	return f
}
