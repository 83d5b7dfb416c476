package kernel

import (
	"fmt"
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/heat"
	"github.com/gramengine/gram/engine/kernel/internal/syntax"
	"github.com/gramengine/gram/sparse"
)

func init() {
	order := whole("order", "the last of the functions ψ of the parametrix, or the leading exponential alone", 0, 0,
		heat.MaxOrder).or("none", -1)
	n := whole("n", "dimension of the sphere, for the functions ψ and the constant", 1, 1,
		heat.MaxDimension).or("terms-1", 0)
	cutoff := positive("cutoff",
		"geodesic distance, on the sphere of radius 2, from which on the kernel is 0: a smooth bump from half of it", 0)
	cutoff.max = 2 * math.Pi
	cutoff.Allowed = fmt.Sprintf("a number above 0, at most 2π (from %g to %.17g)", cutoff.min, cutoff.max)
	cutoff = cutoff.or("none", 0)
	register(family{
		Info: Info{
			Name: "diffusion",
			Summary: "exp(-arccos²(1-c)/t), or with order: " +
				"(4πt)^(-n/2) η(d) exp(-d²/4t) Σ ψ_k(d) t^k, d = 2 arccos(1-c)",
			What: "multinomial diffusion: the heat kernel's leading term, or its parametrix with ψ₀ … ψ_order, " +
				"cut-off and constant",
			Source: sourceLafferty + ", §2.1.1 and §3.2",
			Examples: []string{
				"diffusion:t=0.5",
				"diffusion:t=1e-4,order=2",
				"diffusion:t=0.5,order=0,n=20,form=printed,cutoff=3,constant=full",
			},
		},
		place:     10,
		embedding: sparse.Sphere,
		params: []param{positive("t", "diffusion time, in squared radians", 0.5), order, n,
			word(
				"form",
				"ψ₀ with sin(d/2)/(d/2), which the heat equation wants, or with sin d/d, as the paper prints it",
				formNames...), cutoff,
			word(
				"constant",
				"the factor (4πt)^(-n/2), the same for all pairs, in logarithms: left out or not",
				constantNames...)},
		refuse: refuseDiffusion,
		build: func(e in, v []float64) component {
			f := parametrix{
				single: single{e}, t: v[heatT], order: int(v[heatOrder]), n: int(v[heatN]),
				form: heat.Form(v[heatForm]), cutoff: v[heatCutoff], full: v[heatConstant] > 0,
			}
			if f.order < 0 && f.cutoff == 0 && !f.full {
				return angleExp{cosine{e}, f.t, true}
			}
			return compile(f.ready())
		},
	})
}

// The parameters of the diffusion kernel, in the order of its family.
const (
	heatT = iota
	heatOrder
	heatN
	heatForm
	heatCutoff
	heatConstant
)

// formNames are the words for heat.Form, in its order; constantNames those for the factor.
var (
	formNames     = []string{"derived", "printed"}
	constantNames = []string{"none", "full"}
)

// refuseDiffusion finds parameters of the diffusion kernel without effect or without sense.
func refuseDiffusion(v []float64) (int, string) {
	psi := v[heatOrder] >= 0
	printed := heat.Form(v[heatForm]) == heat.Printed
	switch {
	case v[heatN] > 0 && !psi && v[heatConstant] == 0:
		return heatN, "order or constant=full as well: the leading exponential doesn't depend on n"
	case printed && !psi:
		return heatForm, "order=0 as well: the leading exponential has no ψ₀"
	case printed && v[heatOrder] > 0:
		return heatOrder, "order=0 with form=printed: after that ψ₀ no further function makes the residual of the " +
			"heat equation vanish"
	case printed && !(v[heatCutoff] > 0 && v[heatCutoff] <= math.Pi):
		return heatForm, "a cutoff of at most pi with form=printed: its ψ₀ is infinite at d = π, where documents " +
			"share no term"
	}
	return 0, ""
}

// angleExp is an exponential of the angle of two documents. Squared, it is the multinomial diffusion
// kernel, the leading term of the heat kernel on the simplex with the Fisher metric,
//
//	k = exp(-arccos²(1-c) / t),   t > 0 in squared radians
//
// without the factor (4πt)^(-n/2), which is the same for all pairs; otherwise the exponential of the
// negative geodesic distance,
//
//	k = exp(-arccos(1-c) / t),   t > 0 in radians
//
// Sources: Lafferty and Lebanon, JMLR 6 (2005), §3.2; Zhang, Chen and Lee, SIGIR 2005, §3.
type angleExp struct {
	cosine
	t       float64
	squared bool
}

func (k angleExp) String() string {
	name := "ngd-exp"
	if k.squared {
		name = "diffusion"
	}
	return format(name, k.in, pair{"t", k.t})
}

// exponent returns z of k = e^-z.
func (k angleExp) exponent(c float64) float64 {
	a := angle(c)
	if k.squared {
		a *= a
	}
	return a / k.t
}

func (k angleExp) Eval(c, x, y float64) float64 { return math.Exp(-k.exponent(c)) }

func (k angleExp) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	to := asm.NGDExp
	if k.squared {
		to = asm.Diffusion
	}
	to(dst, c, float32(1/k.t))
}

// Error: asm.Diffusion and asm.NGDExp are stated to be within 4 ulp × (1+z), and one ulp is at most 2
// units; 1/t rounded to float32 moves z by z units more, and e^-z by as much relative to itself.
func (k angleExp) Error(c, x, y float64) float64 {
	z := k.exponent(c)
	return expError(z, 8+9*z)
}

// expError returns the bound on the error of e^-z where it is the given number of float32 units
// relative to the value, and no more than underflow where the value is far below the range of
// float32.
func expError(z, units float64) float64 {
	if z > 120 {
		return underflow
	}
	return math.Exp(-z)*math.Expm1(units*unit) + underflow
}

func (k angleExp) feature(c, x, y float64) (float64, float64, float64) {
	return -math.Expm1(-k.exponent(c)), 1, 1
}

func (k angleExp) Properties() Properties {
	if !k.squared {
		return nonNegative("the exponential of a conditionally positive definite kernel", sourceSchoenberg)
	}
	p := nonNegative("the leading term alone is not positive definite for every t: least eigenvalue -0.03 at t = 8 "+
		"on a grid of 3 outcomes, none below rounding seen for t <= 1", sourceLafferty+", §3.2")
	p.Definite, p.Unrefuted = NotProven, k.t <= 1
	return p
}

func (k angleExp) raised(p float64) (component, bool) {
	var ok bool
	k.t, ok = raisedWidth(k.t, p)
	return orNil(k, ok)
}

// parametrix is the multinomial diffusion kernel with all that the source defines it by,
//
//	k = factor · η(d) exp(-d²/4t) (ψ₀(d) + ψ₁(d) t + … + ψ_m(d) t^m),   d = 2 arccos(1-c)
//
// for t > 0 in squared radians, on the n-sphere of radius 2; see package heat. Its leading
// exponential alone, without cut-off and factor, is [angleExp]. Being a function of c alone that
// spans any number of orders of magnitude, it is mapped by a table of its logarithm, or of itself
// where there is a cut-off or a value below 0: the table's bound takes in that the exponent is
// rounded to float32, which is what counts for large n.
//
// Source: Lafferty and Lebanon, JMLR 6 (2005), §2.1.1.
type parametrix struct {
	single
	t      float64
	order  int // -1 for the leading exponential without any ψ
	n      int // dimension, 0 while it isn't resolved and counts
	form   heat.Form
	cutoff float64
	full   bool // with the factor (4πt)^(-n/2)

	kernel func() *heat.Kernel // computed when it is first asked for; of a form that is resolved
}

// dimensional reports whether the form depends on n.
func (f parametrix) dimensional() bool { return f.order >= 0 || f.full }

// ready returns the form with its kernel in place.
func (f parametrix) ready() parametrix {
	if f.dimensional() && f.n == 0 {
		return f
	}
	f.kernel = sync.OnceValue(func() *heat.Kernel {
		k := &heat.Kernel{T: f.t, Form: f.form, Cutoff: f.cutoff}
		if f.order >= 0 {
			var err error
			if k.Sphere, err = heat.NewSphere(f.n, f.order); err != nil {
				panic(err) // the parser has seen to both
			}
		}
		if f.full {
			k.LogFactor = heat.LogConstant(f.n, f.t)
		}
		return k
	})
	return f
}

func (f parametrix) spec() string {
	values := []pair{{"t", f.t}}
	if f.order >= 0 {
		values = append(values, pair{"order", float64(f.order)})
	}
	if f.dimensional() && f.n > 0 {
		values = append(values, pair{"n", float64(f.n)})
	}
	text := format("diffusion", in{sparse.Sphere}, values...)
	if f.form != heat.Derived {
		text += ",form=" + formNames[f.form]
	}
	if f.cutoff > 0 {
		text += ",cutoff=" + syntax.FormatNumber(f.cutoff)
	}
	if f.full {
		text += ",constant=" + constantNames[1]
	}
	if f.embedding() != sparse.Sphere {
		text += ",embed=" + f.embedding().String()
	}
	return text
}

func (f parametrix) homogeneous() (float64, bool)  { return 0, true }
func (f parametrix) value(c, _, _ float64) float64 { return f.eval(c) }

// resolved implements openForm: the simplex of n+1 terms has the dimension n. Of a single term
// there is but one point, which any dimension suits.
func (f parametrix) resolved(terms int) form {
	if f.kernel == nil {
		f.n = min(max(terms-1, 1), heat.MaxDimension)
	}
	return f.ready()
}

func (f parametrix) eval(c float64) float64 {
	if f.kernel == nil {
		return math.NaN()
	}
	return f.kernel().Eval(min(max(c, 0), 2))
}

// logValue implements logForm.
func (f parametrix) logValue(c float64) float64 {
	if f.kernel == nil {
		return math.NaN()
	}
	logarithm, sign := f.kernel().Log(min(max(c, 0), 2))
	if sign < 0 {
		return math.NaN()
	}
	return logarithm
}

// feature: c2 = 1 - k(c)/k(0), from a logarithm that keeps the digits of a small c. Where t is
// large for n, ψ₀ grows faster than the exponential falls, and there is no feature space: values
// above that of the diagonal count as identical documents.
func (f parametrix) feature(c, _, _ float64) (c2, x2, y2 float64) {
	if f.kernel == nil {
		return noFeature()
	}
	norm := math.Sqrt(f.eval(0))
	if ratio := f.kernel().LogRatio(min(max(c, 0), 2)); ratio == ratio {
		return max(-math.Expm1(ratio), 0), norm, norm
	}
	return min(max(1-f.eval(c)/f.eval(0), 0), 2), norm, norm
}

// properties: the heat kernel is positive definite, its parametrix need not be. The sums Σ ψ_k(0)
// t^k of order 5 and below have no negative term for any n.
func (f parametrix) properties() Properties {
	p := Properties{Source: sourceLafferty + ", §2.1.1", NonNegative: f.order <= 0, PositiveDiagonal: f.order <= 5,
		Condition: "the heat kernel is positive definite, its parametrix tends to that as t goes to 0"}
	if f.kernel == nil {
		return p
	}
	diagonal, sign := f.kernel().Log(0)
	p.PositiveDiagonal = sign > 0 && diagonal > math.Log(math.SmallestNonzeroFloat64)
	const most = 88.7 // ln of the greatest float32
	if far, _ := f.kernel().Log(1); max(far, diagonal) > most {
		p.Condition += fmt.Sprintf(
			"; beyond float32, with values up to e^%.4g: a smaller t, a smaller n or constant=none lowers them",
			max(far, diagonal))
	} else if diagonal < -most {
		p.Condition += fmt.Sprintf("; 0 in float32, with values of e^%.4g on the diagonal: constant=none raises them",
			diagonal)
	}
	return p
}
