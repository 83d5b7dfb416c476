package kernel

import (
	"math"
	"strings"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel/internal/syntax"
	"github.com/gramengine/gram/sparse"
)

func init() {
	register(family{
		Info: Info{
			Name: "product", Summary: "∏ kᵢ", Parts: "kernels", What: "product of kernels", Source: sourceProduct,
			Examples: []string{"product(arccos:n=1,arccos:n=0,arccos:n=0)", "product(rbf,linear)"},
		},
		place: 200,
		combine: func(parts []component, _, _ []float64) component {
			if len(parts) == 1 {
				return parts[0]
			}
			return compile(product{combination{parts}})
		},
	})
	register(family{
		Info: Info{
			Name: "sum", Summary: "Σ wᵢ kᵢ", Parts: "kernels; or written 2*k₁ + 0.5*k₂",
			What:     "weighted sum of kernels",
			Source:   sourceProduct,
			Examples: []string{"0.5*diffusion:t=0.5 + 0.5*linear", "0.5*diffusion:t=0.1 + 0.5*bhattacharyya"},
		},
		place: 210,
		combine: func(parts []component, weights, _ []float64) component {
			if len(parts) == 1 && weights[0] == 1 {
				return parts[0]
			}
			return compile(weighted{combination{parts}, weights})
		},
	})
}

// combination is what kernels made of others share: the parts. Its embedding is that of the first.
type combination struct{ of []component }

func (f combination) parts() []component          { return f.of }
func (f combination) embedding() sparse.Embedding { return f.of[0].Embedding() }

// call writes a combination as name(part,part,…), with the last part in parentheses where the grammar
// takes the keys at its end for those of the whole.
func (f combination) call(name string, more ...string) string {
	var args []string
	for _, p := range f.of {
		args = append(args, p.String())
	}
	last := &args[len(args)-1]
	if c, err := syntax.Parse(name+"("+*last+")", vocabulary()); err == nil && len(c.Values) > 0 ||
		err != nil && strings.Contains(*last, ":") {
		*last = "(" + *last + ")"
	}
	return name + "(" + strings.Join(append(args, more...), ",") + ")"
}

// all reports whether all parts have a property.
func (f combination) all(has func(p Properties) bool) bool {
	for _, p := range f.of {
		if !has(p.Properties()) {
			return false
		}
	}
	return true
}

// conditions joins what the parts' properties depend on.
func (f combination) conditions() string {
	var list []string
	for _, p := range f.of {
		if c := p.Properties().Condition; c != "" {
			if c = p.String() + ": " + c; !strings.Contains(strings.Join(list, "; "), c) {
				list = append(list, c)
			}
		}
	}
	return strings.Join(list, "; ")
}

func isConditional(p Properties) bool   { return p.Definite >= ConditionallyPositive }
func isNonNegative(p Properties) bool   { return p.NonNegative }
func isNonPositive(p Properties) bool   { return p.NonPositive }
func isFalling(p Properties) bool       { return p.Falling }
func hasPositiveDiag(p Properties) bool { return p.PositiveDiagonal }

// product is the product of kernels,
//
//	k = ∏ kᵢ(x, y)
//
// the inner product of tensor products. Source: Cho's thesis, ch. 4; Schur for its being positive
// definite.
type product struct{ combination }

func (f product) spec() string             { return f.call("product") }
func (f product) with(of []component) form { return product{combination{of}} }
func (f product) properties() Properties {
	p := Properties{
		Source:           sourceProduct,
		Condition:        f.conditions(),
		NonNegative:      f.all(isNonNegative),
		NonPositive:      len(f.of)%2 == 1 && f.all(isNonPositive),
		PositiveDiagonal: f.all(hasPositiveDiag),
		Falling:          f.all(isFalling) && f.all(isNonNegative),
	}
	return p.like(f.of)
}

func (f product) value(c, x, y float64) float64 {
	v := 1.0
	for _, p := range f.of {
		v *= p.Eval(c, x, y)
	}
	return v
}

func (f product) homogeneous() (sum float64, separable bool) {
	for _, part := range f.of {
		p, ok := part.homogeneous()
		if !ok {
			return 0, false
		}
		sum += p
	}
	return sum, true
}

// feature: cosines are multiplied, so that 1 - (1-a)(1-b) = a + (1-a) b.
func (f product) feature(c, x, y float64) (c2, x2, y2 float64) {
	c2, x2, y2 = f.of[0].feature(c, x, y)
	for _, p := range f.of[1:] {
		d, u, v := p.feature(c, x, y)
		c2 += (1 - c2) * d
		x2 *= u
		y2 *= v
	}
	return c2, x2, y2
}

// rows multiplies in float64 what the parts give; two need none of that, as their product is exact
// there.
func (f product) rows(k *asm.Kernels, b *block) {
	b.groups(func(dst, c, x []float32) {
		n := len(dst)
		sum, first, from := b.sum[:n], b.a[:n], b.b[:n]
		f.of[0].mapTo(k, first, c, x, b.y)
		f.of[1].mapTo(k, from, c, x, b.y)
		if len(f.of) == 2 {
			for j, v := range from {
				dst[j] = first[j] * v
			}
			return
		}
		for j, v := range from {
			sum[j] = float64(first[j]) * float64(v)
		}
		for _, p := range f.of[2:] {
			p.mapTo(k, from, c, x, b.y)
			for j, v := range from {
				sum[j] *= float64(v)
			}
		}
		for j, v := range sum {
			dst[j] = float32(v)
		}
	})
}

// error: ∏ (|kᵢ| + eᵢ) - ∏ |kᵢ|, and the rounding of the result.
func (f product) error(c, x, y float64) float64 {
	size, err := 1.0, 0.0
	for _, p := range f.of {
		v, e := math.Abs(p.Eval(c, x, y)), partError(p, c, x, y)
		if math.IsInf(e, 1) { // whatever the others are, 0 among them
			return e
		}
		err = err*v + (size+err)*e
		size *= v
	}
	return err + unit*(size+err) + underflow
}

func (f product) program(b *programBuilder, l layer) {
	for i, p := range f.of {
		b.value(p, l)
		if i > 0 {
			b.op(device.OpMul)
		}
	}
}

// deficitProgram: 1 - (1-a)(1-b) = a + (1-a) b.
func (f product) deficitProgram(b *programBuilder, l layer) {
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
}

// raised: the product of powers, where all of them are exponentials. A power of another may leave
// the range of float32 where the power of the product doesn't.
func (f product) raised(p float64) (component, bool) {
	var parts []component
	for _, part := range f.of {
		k, falls := raised(part, p)
		if k == nil || !falls {
			return nil, false
		}
		parts = append(parts, k)
	}
	return compile(product{combination{parts}}), false
}

// partError is the error of a part in the middle of a computation: one that is out of range there
// has no bound, whatever becomes of it.
func partError(p component, c, x, y float64) float64 {
	if !(math.Abs(p.Eval(c, x, y)) <= math.MaxFloat32) {
		return math.Inf(1)
	}
	return p.Error(c, x, y)
}

// weighted is a weighted sum of kernels,
//
//	k = Σ wᵢ kᵢ(x, y)
//
// with weights other than 0; those below 0 leave nothing proven. With one part it is scaling.
type weighted struct {
	combination
	weights []float64
}

func (f weighted) spec() string {
	var terms []string
	for i, p := range f.of {
		term := enclose(p)
		if f.weights[i] != 1 {
			term = syntax.FormatNumber(f.weights[i]) + "*" + term
		}
		terms = append(terms, term)
	}
	return strings.Join(terms, " + ")
}

// enclose writes a part, in parentheses where it is a sum.
func enclose(p component) string {
	if _, ok := as[weighted](p); ok {
		return "(" + p.String() + ")"
	}
	return p.String()
}

func (f weighted) with(of []component) form { return weighted{combination{of}, f.weights} }

func (f weighted) properties() Properties {
	p := Properties{Source: sourceProduct, Condition: f.conditions(), NonPositive: true}
	for i, w := range f.weights {
		of := f.of[i].Properties()
		p.NonPositive = p.NonPositive && (w > 0 && of.NonPositive || w < 0 && of.NonNegative)
	}
	for _, w := range f.weights {
		if w < 0 {
			p.Condition = strings.TrimPrefix(p.Condition+"; a weight below 0", "; ")
			return p
		}
	}
	p.NonNegative, p.PositiveDiagonal, p.Falling = f.all(isNonNegative), f.all(hasPositiveDiag), f.all(isFalling)
	if p = p.like(f.of); p.Definite == NotProven && f.all(isConditional) {
		p.Definite = ConditionallyPositive
	}
	return p
}

func (f weighted) value(c, x, y float64) float64 {
	var v float64
	for i, p := range f.of {
		v += float64(f.weights[i] * p.Eval(c, x, y))
	}
	return v
}

func (f weighted) homogeneous() (float64, bool) {
	first, ok := f.of[0].homogeneous()
	for _, part := range f.of[1:] {
		p, also := part.homogeneous()
		ok = ok && also && p == first
	}
	return first, ok
}

// feature: φ is that of the parts side by side, x2² = Σ wᵢ xᵢ², and
//
//	x2 y2 c2 = x2 y2 - Σ wᵢ xᵢ yᵢ + Σ wᵢ xᵢ yᵢ cᵢ
//
// where the first difference is, by Lagrange's identity, Σ_{i<j} wᵢ wⱼ (xᵢyⱼ - xⱼyᵢ)² / (x2 y2 + Σ
// wᵢ xᵢ yᵢ).
func (f weighted) feature(c, x, y float64) (c2, x2, y2 float64) {
	var xx, yy, xy, xyc, gap float64
	var us, vs [16]float64
	u, v := us[:0], vs[:0]
	for i, p := range f.of {
		d, a, b := p.feature(c, x, y)
		w := f.weights[i]
		xx += w * a * a
		yy += w * b * b
		xy += w * float64(a*b)
		xyc += w * float64(a*b) * d
		for j := range u {
			cross := float64(u[j]*b) - float64(v[j]*a)
			gap += f.weights[j] * w * cross * cross
		}
		u, v = append(u, a), append(v, b)
	}
	x2, y2 = math.Sqrt(xx), math.Sqrt(yy)
	if xx == 0 || yy == 0 {
		return c, x2, y2
	}
	return min((gap/(math.Sqrt(float64(xx*yy))+xy)+xyc)/math.Sqrt(float64(xx*yy)), 2), x2, y2
}

// rows adds up in float64 what the parts give.
func (f weighted) rows(k *asm.Kernels, b *block) {
	b.groups(func(dst, c, x []float32) {
		sum, from := b.sum[:len(dst)], b.a[:len(dst)]
		clear(sum)
		for p, part := range f.of {
			part.mapTo(k, from, c, x, b.y)
			b.Add(k, sum, f.weights[p], from)
		}
		for j, v := range sum {
			dst[j] = float32(v)
		}
	})
}

// error: Σ |wᵢ| eᵢ, and the rounding of the result.
func (f weighted) error(c, x, y float64) float64 {
	var v, err float64
	for i, p := range f.of {
		v += f.weights[i] * p.Eval(c, x, y)
		err += math.Abs(f.weights[i]) * partError(p, c, x, y)
	}
	return err + unit*(math.Abs(v)+err) + underflow
}

func (f weighted) noise() (sum float64) {
	for i, p := range f.of {
		sum += math.Abs(f.weights[i] * p.Eval(0, 1, 1))
	}
	return 0x1p-51 * sum
}

func (f weighted) raised(p float64) (component, bool) {
	if len(f.of) > 1 || f.weights[0] < 0 {
		return nil, false
	}
	w := math.Pow(f.weights[0], p)
	if k, falls := raised(f.of[0], p); falls && w >= leastRate && w <= mostWeight {
		return compile(weighted{combination{[]component{k}}, []float64{w}}), false
	}
	return nil, false
}

func (f weighted) program(b *programBuilder, l layer) {
	for i, p := range f.of {
		b.constant(f.weights[i])
		b.value(p, l)
		b.op(device.OpMul)
		if i > 0 {
			b.op(device.OpAdd)
		}
	}
}

// deficitProgram pushes c2 of a sum, with Lagrange's identity as weighted.feature has it: x2 and y2
// are the sum's norms, uᵢ and vᵢ those of the parts,
//
//	c2 = (Σ_{i<j} wᵢ wⱼ (uᵢvⱼ - uⱼvᵢ)² / (x2 y2 + Σ wᵢ uᵢ vᵢ) + Σ wᵢ uᵢ vᵢ cᵢ) / (x2 y2)
func (f weighted) deficitProgram(b *programBuilder, l layer) {
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
