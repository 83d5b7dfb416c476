package kernel

import (
	"math"
	"strings"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// combination is what kernels made of others share: the parts. Its embedding is that of the first.
type combination struct{ of []component }

func (f combination) parts() []component          { return f.of }
func (f combination) embedding() sparse.Embedding { return f.of[0].Embedding() }

// call writes a combination as name(part,part,…).
func (f combination) call(name string, more ...string) string {
	var args []string
	for _, p := range f.of {
		args = append(args, p.String())
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
func hasPositiveDiag(p Properties) bool { return p.PositiveDiagonal }

// product is the product of kernels,
//
//	k = ∏ kᵢ(x, y)
//
// the inner product of tensor products. Source: Cho's thesis, ch. 4; Schur for its being positive definite.
type product struct{ combination }

func (f product) spec() string             { return f.call("product") }
func (f product) with(of []component) form { return product{combination{of}} }
func (f product) properties() Properties {
	p := Properties{Source: sourceProduct, Condition: f.conditions(), NonNegative: f.all(isNonNegative), PositiveDiagonal: f.all(hasPositiveDiag)}
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

// rows multiplies in float64 what the parts give; two need none of that, as their product is exact there.
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

// partError is the error of a part in the middle of a computation: one that is out of range there has no bound, whatever becomes of it.
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
			term = formatNumber(f.weights[i]) + "*" + term
		}
		terms = append(terms, term)
	}
	return strings.Join(terms, " + ")
}

// enclose writes a part, in parentheses where it is a sum.
func enclose(p component) string {
	if k, ok := p.(*compiled); ok {
		if _, ok := k.form.(weighted); ok {
			return "(" + k.text + ")"
		}
	}
	return p.String()
}

func (f weighted) with(of []component) form { return weighted{combination{of}, f.weights} }

func (f weighted) properties() Properties {
	p := Properties{Source: sourceProduct, Condition: f.conditions()}
	for _, w := range f.weights {
		if w < 0 {
			p.Condition = strings.TrimPrefix(p.Condition+"; a weight below 0", "; ")
			return p
		}
	}
	p.NonNegative, p.PositiveDiagonal = f.all(isNonNegative), f.all(hasPositiveDiag)
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
// where the first difference is, by Lagrange's identity, Σ_{i<j} wᵢ wⱼ (xᵢyⱼ - xⱼyᵢ)² / (x2 y2 + Σ wᵢ xᵢ yᵢ).
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
			b.add(k, sum, f.weights[p], from)
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
