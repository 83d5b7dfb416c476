package kernel

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel/internal/syntax"
	"github.com/gramengine/gram/engine/kernel/internal/table"
	"github.com/gramengine/gram/sparse"
)

// The kernels of this file are functions of the inner product ⟨x, y⟩ = ‖x‖‖y‖(1-c), with the
// parameters that LIBSVM gives them.
func init() {
	register(family{
		Info: Info{
			Name: "linear", Summary: "⟨x,y⟩ = ‖x‖‖y‖(1-c)", What: "inner product",
			Source: sourceLIBSVM, Examples: []string{"linear"},
		},
		place: 120, build: func(e in, _ []float64) component { return linear{e} },
	})
	register(family{
		Info: Info{
			Name: "polynomial", Summary: "(gamma ⟨x,y⟩ + r)^degree", What: "polynomial of the inner product",
			Source: sourceLIBSVM, Examples: []string{"polynomial:r=1,degree=2"},
		},
		place: 130, params: []param{gammaParam(), offsetParam(), whole("degree", "the power", 3, 0, 64)},
		build: func(e in, v []float64) component { return polynomial{affine{e, v[0], v[1]}, int(v[2])} },
	})
	register(family{
		Info: Info{
			Name: "rbf", Summary: "exp(-gamma ‖x-y‖²)", What: "Gaussian", Source: sourceLIBSVM,
			Examples: []string{"rbf"},
		},
		place: 140, params: []param{gammaParam()},
		build: func(e in, v []float64) component { return gaussian{e, v[0]} },
	})
	register(family{
		Info: Info{
			Name: "sigmoid", Summary: "tanh(gamma ⟨x,y⟩ + r)", What: "hyperbolic tangent of the inner product",
			Source: sourceLIBSVM, Examples: []string{"sigmoid"},
		},
		place: 170, params: []param{gammaParam(), offsetParam()},
		build: func(e in, v []float64) component { return sigmoid{affine{e, v[0], v[1]}} },
	})

	rho := positive("rho", "the power; each has an embedding of its own, so that no two share dot products",
		sparse.Root)
	rho.min, rho.max = sparse.LeastPower, sparse.MostPower
	rho.Allowed = fmt.Sprintf("a number above 0 (from %v to %v)", rho.min, rho.max)
	register(family{
		Info: Info{
			Name: probabilityProductName, Summary: "Σ θᵢ^rho θ′ᵢ^rho = ‖x‖‖y‖(1-c), x = θ^rho",
			What: "probability product kernel: Bhattacharyya's for rho = ½, expected likelihood for rho = 1; " +
				"on data without values below 0",
			Source:   sourceJebara + ", §2",
			Examples: []string{"probability-product:rho=0.75", "probability-product:rho=0.5"},
		},
		place: 80, embedding: sparse.Embedding{Norm: sparse.NormL1}, params: []param{rho},
		power: func(v []float64) float64 { return v[0] },
		build: func(e in, v []float64) component { return probabilityProduct{linear{e}, v[0]} },
	})
}

// gammaParam and offsetParam are LIBSVM's gamma and coef0. A gamma of 0 stands for one that isn't
// set yet.
func gammaParam() param {
	q := positive("gamma", "factor of the inner product or the squared distance", 0)
	q.Default = "1/terms"
	return q
}

func offsetParam() param {
	q := signed("r", "what is added to the inner product", 0)
	q.Aliases = []string{"coef0"}
	return q
}

// linear is the inner product itself,
//
//	k = ⟨x, y⟩ = x y (1-c)
type linear struct{ in }

func (k linear) String() string                             { return format("linear", k.in) }
func (linear) Eval(c, x, y float64) float64                 { return float64(x*y) * (1 - c) }
func (linear) homogeneous() (float64, bool)                 { return 1, true }
func (linear) feature(c, x, y float64) (c2, x2, y2 float64) { return c, x, y }
func (k linear) layer() rowLayer                            { return sameLayer{newTableLayer(k)} }
func (linear) deficitProgram(b *programBuilder, l layer)    { b.c(l) }
func (linear) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	n := len(y)
	for i, xi := range x {
		asm.Dot(dst[i*n:][:n], c[i*n:][:n], y, xi)
	}
}

// Error: 1-c, the product of the norms and the product of both are rounded once each.
func (k linear) Error(c, x, y float64) float64 {
	if x*y > mostProduct {
		return math.Inf(1)
	}
	return 3*unit*math.Abs(k.Eval(c, x, y)) + underflow*(1+math.Abs(1-c))
}

// mostProduct bounds the products that maps in float32 make of norms: beyond it there is no bound
// of the error, as products by 0 are NaN.
const mostProduct = math.MaxFloat32 * (1 - unit)

func (linear) Properties() Properties {
	return Properties{
		Definite: Positive, Condition: "an inner product", Source: sourceLIBSVM, UsesNorms: true,
		PositiveDiagonal: true, Falling: true,
	}
}

func (linear) program(b *programBuilder, l layer) {
	b.both(l, "1", identity)
	b.cosine(l)
	b.op(device.OpMul)
}

// probabilityProduct is the general probability product kernel of two multinomial distributions θ
// and θ′,
//
//	k = Σ θᵢ^ρ θ′ᵢ^ρ,   sparse.LeastPower <= ρ <= sparse.MostPower
//
// which is the inner product of documents in an embedding with the power ρ. So each ρ has an
// embedding of its own, and matrices of different ρ share no dot product. ρ = ½ is Bhattacharyya's
// coefficient, ρ = 1 the expected likelihood.
//
// Source: Jebara, Kondor and Howard, JMLR 5 (2004), §2.
type probabilityProduct struct {
	linear
	rho float64
}

const probabilityProductName = "probability-product"

// String names the embedding without its power, which is rho.
func (k probabilityProduct) String() string {
	e := k.in
	e.embedding.Power = 0
	return format(probabilityProductName, e, pair{"rho", k.rho})
}

func (k probabilityProduct) Properties() Properties {
	p := k.linear.Properties()
	p.Source = sourceJebara
	return p
}

func (k probabilityProduct) program(b *programBuilder, l layer) { b.separable(k, l) }

// affine is gamma ⟨x, y⟩ + r, of which the polynomial and the sigmoid kernel are functions, with
// gamma > 0. A gamma of 0 isn't set yet, and all values are NaN.
type affine struct {
	in
	gamma, r float64
}

func (affine) homogeneous() (float64, bool) { return 0, false }

// resolved returns it with gamma set; terms is the number of columns of the documents.
func (k affine) resolved(terms int) affine {
	k.gamma = resolveGamma(k.gamma, terms)
	return k
}

// resolveGamma returns gamma, or where it is not set svm-train's default, one divided by the number
// of terms.
func resolveGamma(gamma float64, terms int) float64 {
	if gamma == 0 {
		return 1 / float64(max(terms, 1))
	}
	return gamma
}

// orNaN returns a gamma, NaN for one that isn't set.
func orNaN(gamma float64) float64 {
	if gamma == 0 {
		return math.NaN()
	}
	return gamma
}

// at returns the value. The conversions keep compilers from fusing a multiplication and an
// addition, so that the bits are the same on every platform; x*y comes first, so that they are the
// same for (y, x).
func (k affine) at(c, x, y float64) float64 {
	return float64(orNaN(k.gamma)*float64(float64(x*y)*(1-c))) + k.r
}

// rows computes the values, as at does, for chunks of a tile into the sum of a block, and hands
// each on.
func (k affine) rows(asm *asm.Kernels, dst, c, x, y []float32, row func(dst []float32, of []float64)) {
	b, n := blocks.Get().(*block), len(y)
	for i, xi := range x {
		for lo := 0; lo < n; lo += chunk {
			hi := min(lo+chunk, n)
			sum := b.sum[:hi-lo]
			asm.Affine(sum, c[i*n+lo:i*n+hi], y[lo:hi], float64(xi), orNaN(k.gamma), k.r)
			row(dst[i*n+lo:i*n+hi], sum)
		}
	}
	blocks.Put(b)
}

// program pushes the value.
func (k affine) program(b *programBuilder, l layer) {
	b.ok = b.ok && k.gamma != 0
	b.constant(k.gamma)
	b.both(l, "1", identity)
	b.cosine(l)
	b.ops(device.OpMul, device.OpMul)
	b.constant(k.r)
	b.op(device.OpAdd)
}

// polynomial is the polynomial kernel,
//
//	k = (gamma ⟨x, y⟩ + r)^degree,   gamma > 0, degree a whole number from 0 on
type polynomial struct {
	affine
	degree int
}

func (k polynomial) String() string {
	return format("polynomial", k.in, pair{"gamma", k.gamma}, pair{"r", k.r}, pair{"degree", float64(k.degree)})
}

func (k polynomial) resolve(terms int) Kernel     { return polynomial{k.resolved(terms), k.degree} }
func (k polynomial) Eval(c, x, y float64) float64 { return device.Power(k.at(c, x, y), k.degree) }

// mapTo works in float64, so that only the result is rounded to float32: a power would multiply the
// error of its base by the degree.
func (k polynomial) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	k.rows(asm, dst, c, x, y, func(dst []float32, base []float64) {
		switch k.degree {
		case 2:
			for j, v := range base {
				dst[j] = float32(v * v)
			}
		case 3:
			for j, v := range base {
				dst[j] = float32(v * v * v)
			}
		default:
			for j, v := range base {
				dst[j] = float32(device.Power(v, k.degree))
			}
		}
	})
}

// Error: rounding of the result; the float64 arithmetic before it is the reference's own.
func (k polynomial) Error(c, x, y float64) float64 {
	return bound(unit*math.Abs(k.Eval(c, x, y)) + underflow)
}

func (k polynomial) feature(c, x, y float64) (float64, float64, float64) {
	if k.gamma == 0 {
		return noFeature()
	}
	a, b := math.Sqrt(k.gamma*x*x+k.r), math.Sqrt(k.gamma*y*y+k.r)
	return powerDeficit(k.base(c, x, y, float64(a*b)), k.degree), device.Power(a, k.degree), device.Power(b, k.degree)
}

// base returns c2 for the base of the power, given the product of its norms, root: with A = γx²+r,
// B = γy²+r and P = γxy+r, AB - P² = γr(x-y)², so that
//
//	c2 = 1 - (P-γxyc)/√(AB) = (γr(x-y)²/(√(AB)+P) + γxyc) / √(AB).
func (k polynomial) base(c, x, y, root float64) float64 {
	if !(root > 0) { // one of the documents has no terms
		return c
	}
	d, xy := x-y, k.gamma*float64(x*y)
	return min((k.gamma*k.r*float64(d*d)/(root+(xy+k.r))+float64(xy*c))/root, 2)
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

func (k polynomial) Properties() Properties {
	p := Properties{
		Definite: Positive, Condition: "for r >= 0", Source: sourceLIBSVM,
		UsesNorms: true, NonNegative: k.degree%2 == 0, PositiveDiagonal: k.r >= 0,
		Falling: k.degree%2 == 1,
	}
	if k.r < 0 {
		p.Definite, p.Condition = NotProven, "r < 0: positive definite for r >= 0"
	}
	return p
}

func (k polynomial) program(b *programBuilder, l layer) {
	k.affine.program(b, l)
	b.op(device.OpPower, k.degree)
}

// deficitProgram pushes 1 - (1-base)^degree; documents without terms keep their c.
func (k polynomial) deficitProgram(b *programBuilder, l layer) {
	b.ok = b.ok && k.gamma != 0
	name := "polynomial " + syntax.FormatNumber(k.gamma) + " " + syntax.FormatNumber(k.r)
	norm := func(x float64) float64 { return math.Sqrt(k.gamma*x*x + k.r) }
	root := func() { b.both(l, name, norm) }
	product := func() { // γxy
		b.constant(k.gamma)
		b.both(l, "1", identity)
		b.op(device.OpMul)
	}
	root()
	b.constant(k.gamma * k.r)
	b.difference(l, "1", identity)
	b.op(device.OpMul)
	root()
	product()
	b.constant(k.r)
	b.ops(device.OpAdd, device.OpAdd, device.OpDiv)
	product()
	b.c(l)
	b.ops(device.OpMul, device.OpAdd)
	root()
	b.op(device.OpDiv)
	b.c(l)
	b.ops(device.OpSelect, device.OpClamp)
	b.parameter(device.OpDeficit, float64(k.degree))
}

func (k polynomial) layer() rowLayer { return polynomialLayer{k} }

// polynomialLayer is a layer of the polynomial kernel: a tensor power of what is put together from
// √γ x and √r.
type polynomialLayer struct{ polynomial }

func (l polynomialLayer) norm64(x float32) float64 {
	return device.Power(math.Sqrt(orNaN(l.gamma)*float64(x)*float64(x)+l.r), l.degree)
}

// components returns what the base of the power, γ⟨x, y⟩ + r, is put together from: the norm of √γ
// x, and √r beside it.
func (l polynomialLayer) components(x float32) (float64, float64) {
	return math.Sqrt(orNaN(l.gamma)) * float64(x), math.Sqrt(l.r)
}

func (l polynomialLayer) columns(m *layerScratch, y []float32) {
	m.begin(2, len(y))
	for j, v := range y {
		m.q[0][j], m.q[1][j] = l.components(v)
	}
	m.directions(2)
}

func (l polynomialLayer) row(k *asm.Kernels, m *layerScratch, dst, c []float32, x float32, _ []float32) {
	if l.degree == 0 {
		clear(dst)
		return
	}
	m.p[0], m.p[1] = l.components(x)
	m.given[0] = c
	m.join(k, dst, c, 2, 1, l.degree)
	m.given[0] = nil // the pool must not keep it
}

// error: a change of the base counts up to degree times.
func (l polynomialLayer) error(c, x, y, c2 float64) float64 {
	root := math.Sqrt(l.gamma*x*x+l.r) * math.Sqrt(l.gamma*y*y+l.r)
	return valueError(c2) + float64(l.degree)*joinError(l.base(c, x, y, root), 2*l.base(0, x, y, root))
}

// sigmoid is the sigmoid kernel, which is not positive definite for most of its parameters,
//
//	k = tanh(gamma ⟨x, y⟩ + r),   gamma > 0
type sigmoid struct{ affine }

func (k sigmoid) String() string {
	return format("sigmoid", k.in, pair{"gamma", k.gamma}, pair{"r", k.r})
}

func (k sigmoid) resolve(terms int) Kernel     { return sigmoid{k.resolved(terms)} }
func (k sigmoid) Eval(c, x, y float64) float64 { return math.Tanh(k.at(c, x, y)) }

// mapTo works in float64 as [polynomial] does.
func (k sigmoid) mapTo(asm *asm.Kernels, dst, c, x, y []float32) { k.rows(asm, dst, c, x, y, asm.Tanh) }

// Error: that of the hyperbolic tangent, and the rounding of the result.
func (k sigmoid) Error(c, x, y float64) float64 {
	return bound((unit+table.HalfLineError)*math.Abs(k.Eval(c, x, y)) + underflow)
}

func (k sigmoid) feature(c, x, y float64) (float64, float64, float64) {
	return plainFeature(k, c, x, y)
}

func (sigmoid) Properties() Properties {
	return Properties{
		Condition: "not positive definite for most of its parameters",
		Source:    "Lin and Lin, A study on sigmoid kernels for SVM (2003)", UsesNorms: true,
		Falling: true,
	}
}

func (k sigmoid) program(b *programBuilder, l layer) {
	k.affine.program(b, l)
	b.op(device.OpTanh)
}

// gaussian is the Gaussian kernel, LIBSVM's rbf,
//
//	k = exp(-gamma ‖x-y‖²),   ‖x-y‖² = (x-y)² + 2 x y c in terms of the norms,   gamma > 0
//
// The second form has no negative terms, so it keeps its digits for vectors that are close;
// x²+y²-2⟨x, y⟩ doesn't.
type gaussian struct {
	in
	gamma float64
}

func (k gaussian) String() string               { return format("rbf", k.in, pair{"gamma", k.gamma}) }
func (k gaussian) resolve(terms int) Kernel     { return gaussian{k.in, resolveGamma(k.gamma, terms)} }
func (k gaussian) Eval(c, x, y float64) float64 { return math.Exp(-k.exponent(c, x, y)) }
func (gaussian) homogeneous() (float64, bool)   { return 0, false }

func (k gaussian) exponent(c, x, y float64) float64 {
	d := x - y
	return orNaN(k.gamma) * (float64(d*d) + float64(2*c*float64(x*y)))
}

func (k gaussian) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	n, gamma := len(y), float32(orNaN(k.gamma))
	for i, xi := range x {
		asm.Gaussian(dst[i*n:][:n], c[i*n:][:n], y, xi, gamma)
	}
}

// Error: with z = gamma ‖x-y‖², asm.Gaussian is stated to be within 5 ulp × (1+z) for a gamma that
// is exact, and one ulp is at most 2 units; rounding gamma to float32 moves z by z units more.
// Squares too small for float32 are lost by less than underflow each.
func (k gaussian) Error(c, x, y float64) float64 {
	if 2*x*y > mostProduct {
		return math.Inf(1)
	}
	z := k.exponent(c, x, y)
	return bound(expError(z, 10+11*z+4*k.gamma*underflow/unit))
}

func (k gaussian) feature(c, x, y float64) (float64, float64, float64) {
	return -math.Expm1(-k.exponent(c, x, y)), 1, 1
}

func (gaussian) Properties() Properties {
	p := nonNegative("", sourceSchoenberg)
	p.UsesNorms = true
	return p
}

func (k gaussian) raised(p float64) (component, bool) {
	var ok bool
	k.gamma, ok = raisedRate(k.gamma, p)
	return orNil(k, ok)
}

func (k gaussian) program(b *programBuilder, l layer) { k.exponential(b, l, device.OpExp) }

func (k gaussian) deficitProgram(b *programBuilder, l layer) {
	k.exponential(b, l, device.OpExpm1, device.OpNeg)
}

// exponential pushes what the operations make of the exponent.
func (k gaussian) exponential(b *programBuilder, l layer, ops ...device.Op) {
	b.square(l)
	b.constant(-k.gamma)
	b.op(device.OpMul)
	b.ops(ops...)
	b.ok = b.ok && k.gamma != 0
}

func (k gaussian) layer() rowLayer { return gaussianLayer{k} }

// gaussianLayer is a layer of the Gaussian kernel.
type gaussianLayer struct{ gaussian }

func (gaussianLayer) norm64(float32) float64           { return 1 }
func (gaussianLayer) columns(*layerScratch, []float32) {}

func (l gaussianLayer) row(k *asm.Kernels, _ *layerScratch, dst, c []float32, x float32, y []float32) {
	k.GaussianDeficit(dst, c, y, float64(x), orNaN(l.gamma))
}

func (gaussianLayer) error(_, _, _, c2 float64) float64 { return valueError(c2) }
