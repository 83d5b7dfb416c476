package kernel

import (
	"math"

	"github.com/gramengine/gram/engine/device"
)

// feature writes what turns c into that of a kernel's feature space, see component.feature, and returns the layer above.
func (b *programBuilder) feature(k component, l layer) layer {
	b.deficit(k, l)
	b.op(device.OpClamp)
	return layer{b.store(), l.name + "/" + k.String(), func(x float64) float64 { return featureNorm(k, l.of(x)) }}
}

// featureNorm returns the norm in the feature space of a document with norm x.
func featureNorm(k component, x float64) float64 {
	_, x2, _ := k.feature(0, x, x)
	return x2
}

// deficit pushes c2 of a kernel.
func (b *programBuilder) deficit(k component, l layer) {
	switch k := k.(type) {
	case linear, bhattacharyya: // their feature space is the documents'
		b.c(l)
		return
	case gaussian:
		b.square(l)
		b.constant(-k.gamma)
		b.ops(device.OpMul, device.OpExpm1, device.OpNeg)
		b.ok = b.ok && k.gamma != 0
		return
	case polynomial:
		b.polynomialDeficit(k, l)
		return
	}
	if _, separable := k.homogeneous(); separable {
		b.c(l)
		b.table(newPiecewise(func(c float64) float64 {
			c2, _, _ := k.feature(c, 1, 1)
			return c2
		}))
		return
	}
	compound, ok := k.(*compiled)
	if !ok {
		b.ok = false
		return
	}
	switch f := compound.form.(type) {
	case product: // 1 - (1-a)(1-b) = a + (1-a) b
		b.deficit(f.of[0], l)
		for _, p := range f.of[1:] {
			a := b.store()
			b.op(device.OpLocal, a)
			b.constant(1)
			b.op(device.OpLocal, a)
			b.op(device.OpSub)
			b.deficit(p, l)
			b.ops(device.OpMul, device.OpAdd)
		}
	case powered:
		if f.same != nil {
			b.deficit(f.same, l)
			return
		}
		b.deficit(f.of[0], l)
		b.parameter(device.OpDeficit, f.p)
	case normalised:
		b.deficit(f.of[0], l)
	case exponential:
		b.exponentialDeficit(f, l)
	case weighted:
		b.weightedDeficit(f, l)
	case composed:
		for _, t := range f.plan.below {
			l = b.feature(t.of, l)
		}
		b.deficit(f.plan.top, l)
	default:
		b.ok = false
	}
}

// polynomialDeficit pushes 1 - (1-base)^degree with the base of polynomial.base; documents without terms keep their c.
func (b *programBuilder) polynomialDeficit(k polynomial, l layer) {
	b.ok = b.ok && k.gamma != 0
	name := "polynomial " + formatNumber(k.gamma) + " " + formatNumber(k.r)
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
	b.op(device.OpSelect)
	b.op(device.OpClamp)
	b.parameter(device.OpDeficit, float64(k.degree))
}

// exponentialDeficit pushes 1 - exp(-((x2-y2)² + 2 x2 y2 c2)/2) with the feature space of the part.
func (b *programBuilder) exponentialDeficit(f exponential, l layer) {
	of := f.of[0]
	if !of.Properties().PositiveDiagonal {
		b.ok = false
		return
	}
	inner := b.feature(of, l)
	b.square(inner)
	b.constant(-0.5)
	b.ops(device.OpMul, device.OpExpm1, device.OpNeg)
}

// weightedDeficit pushes c2 of a sum, with Lagrange's identity as weighted.feature has it: x2 and y2 are the sum's norms, uᵢ and vᵢ those of the parts,
//
//	c2 = (Σ_{i<j} wᵢ wⱼ (uᵢvⱼ - uⱼvᵢ)² / (x2 y2 + Σ wᵢ uᵢ vᵢ) + Σ wᵢ uᵢ vᵢ cᵢ) / (x2 y2)
func (b *programBuilder) weightedDeficit(f weighted, l layer) {
	name := "feature of " + f.spec()
	whole := func() {
		b.both(l, name, func(x float64) float64 {
			_, x2, _ := f.feature(0, x, x)
			return x2
		})
	}
	part := make([]int, len(f.of))
	for i, p := range f.of {
		part[i] = b.attribute(l, "feature of "+p.String(), func(x float64) float64 { return featureNorm(p, x) })
	}
	cross := func(i, j int) {
		b.op(device.OpX, part[i])
		b.op(device.OpY, part[j])
		b.op(device.OpMul)
	}
	whole()
	b.constant(0)
	for j := range f.of {
		for i := range j {
			cross(i, j)
			cross(j, i)
			b.op(device.OpSub)
			b.op(device.OpPower, 2)
			b.constant(f.weights[i] * f.weights[j])
			b.ops(device.OpMul, device.OpAdd)
		}
	}
	whole()
	for i, w := range f.weights {
		b.constant(w)
		cross(i, i)
		b.ops(device.OpMul, device.OpAdd)
	}
	b.op(device.OpDiv)
	for i, p := range f.of {
		b.constant(f.weights[i])
		cross(i, i)
		b.op(device.OpMul)
		b.deficit(p, l)
		b.ops(device.OpMul, device.OpAdd)
	}
	whole()
	b.op(device.OpDiv)
	b.c(l)
	b.op(device.OpSelect)
}
