package kernel

import (
	"math"
	"strings"

	"github.com/gramengine/gram/asm"
)

// powered is a power of a kernel,
//
//	k = k₁(x, y)^p,   p > 0
//
// p a whole number, unless k₁ is nowhere below 0.
type powered struct {
	combination
	p      float64
	powers powers
	same   component // the same function, where it is simpler to compute than as a power; see raised
}

func newPowered(of component, p float64) component { return compile(power1(of, p)) }

func power1(of component, p float64) powered {
	return powered{combination{[]component{of}}, p, newPowers(p), raised(of, p)}
}

func (f powered) spec() string             { return f.call("power", formatNumber(f.p)) }
func (f powered) with(of []component) form { return power1(of[0], f.p) }
func (f powered) whole() bool              { return f.p == math.Trunc(f.p) }

// raised returns the kernel that is the power p of another, for p > 0, or nil where there is nothing simpler than to compute that power: exp(v)^p is exp(pv), which is also
// known where exp(v) is out of the range of float32; (k^q)^p is k^(pq), unless a root undoes a power that lost a sign; and powers go into products and past weights.
func raised(of component, p float64) component {
	rate := func(v float64) (float64, bool) { return v * p, v != 0 && v*p >= leastRate && v*p <= mostRate }
	width := func(v float64) (float64, bool) { return v / p, v/p >= leastRate && v/p <= mostRate }
	ok := false
	switch k := of.(type) {
	case gaussian:
		if k.gamma, ok = rate(k.gamma); ok {
			return k
		}
	case diffusion:
		if k.t, ok = width(k.t); ok {
			return k
		}
	case ngdExp:
		if k.t, ok = width(k.t); ok {
			return k
		}
	case *compiled:
		return raisedForm(k.form, p, rate, width)
	}
	return nil
}

// raisedForm is raised for a kernel made of a form; rate and width raise an exponential by its rate or its width.
func raisedForm(of form, p float64, rate, width func(v float64) (float64, bool)) component {
	ok := false
	switch f := of.(type) {
	case hellingerExp:
		if f.gamma, ok = rate(f.gamma); ok {
			return compile(f)
		}
	case chiSquareExp:
		if f.gamma, ok = rate(f.gamma); ok {
			return compile(f)
		}
	case jensenShannonExp:
		if f.t, ok = width(f.t); ok {
			return compile(f)
		}
	case exponential:
		exponent := weighted{combination{f.of}, []float64{p}}
		if k, ok := f.of[0].(*compiled); ok {
			if sum, ok := k.form.(weighted); ok {
				exponent = weighted{combination{sum.of}, make([]float64, len(sum.of))}
				for i, w := range sum.weights {
					exponent.weights[i] = w * p
				}
			}
		}
		return compile(exponential{combination{[]component{compile(exponent)}}})
	case powered:
		q := f.p * p
		switch {
		case f.whole() && p != math.Trunc(p) && !f.of[0].Properties().NonNegative:
		case q == 1:
			return f.of[0]
		case q >= leastRate && q <= mostRate:
			return newPowered(f.of[0], q)
		}
	case product:
		var parts []component
		for _, part := range f.of {
			k := raised(part, p)
			if k == nil || !falls(k) {
				return nil
			}
			parts = append(parts, k)
		}
		return compile(product{combination{parts}})
	case weighted:
		if len(f.of) == 1 && f.weights[0] > 0 {
			w := math.Pow(f.weights[0], p)
			if k := raised(f.of[0], p); k != nil && falls(k) && w >= leastRate && w <= mostWeight {
				return compile(weighted{combination{[]component{k}}, []float64{w}})
			}
		}
	}
	return nil
}

// Parameters of what is raised stay between these, where float32 has room for them and for products with them. A weight beyond mostWeight would show what the part loses at the end of
// the range.
const leastRate, mostRate, mostWeight = 1e-30, 1e30, 1e6

// falls reports whether a kernel is an exponential that is nowhere above 1. A power of another may leave the range of float32 where the power of its product with a weight or a kernel doesn't.
func falls(k component) bool {
	switch k := k.(type) {
	case gaussian, diffusion, ngdExp:
		return true
	case *compiled:
		switch k.form.(type) {
		case hellingerExp, chiSquareExp, jensenShannonExp:
			return true
		}
	}
	return false
}

func (f powered) properties() Properties {
	same := f.same
	if same == nil {
		same = raised(Resolve(f.of[0], 1).(component), f.p) // of a gamma that the data will decide: any has the same properties
	}
	if same != nil {
		p := same.Properties()
		if p.Source == sourceSchoenberg && p.Definite == Positive { // which is true of all its powers; other kernels have it from elsewhere, or not at all
			p.Source = sourceDivisible
		}
		if f.same != nil {
			p.Condition = strings.TrimPrefix(p.Condition+"; computed as "+same.String(), "; ")
		}
		return p
	}
	of := f.of[0].Properties()
	p := Properties{Source: sourceProduct, Condition: f.conditions(), NonNegative: of.NonNegative || math.Mod(f.p, 2) == 0, PositiveDiagonal: of.PositiveDiagonal}
	if !f.whole() {
		p.Condition = strings.TrimPrefix(p.Condition+"; a power that is no whole number", "; ")
		return p
	}
	return p.like(f.of)
}

func (f powered) raise(v float64) float64 {
	if f.whole() {
		return wholePower(v, f.p)
	}
	return math.Pow(max(v, 0), f.p) // max: what rounding may have taken below 0
}

func (f powered) value(c, x, y float64) float64 {
	if f.same != nil {
		return f.same.Eval(c, x, y)
	}
	return f.raise(f.of[0].Eval(c, x, y))
}

func (f powered) homogeneous() (float64, bool) {
	p, ok := f.of[0].homogeneous()
	return p * f.p, ok
}

func (f powered) feature(c, x, y float64) (c2, x2, y2 float64) {
	if f.same != nil {
		return f.same.feature(c, x, y)
	}
	c2, x2, y2 = f.of[0].feature(c, x, y)
	return deficitPower(c2, f.p), math.Pow(x2, f.p), math.Pow(y2, f.p)
}

func (f powered) rows(k *asm.Kernels, b *block) {
	b.groups(func(dst, c, x []float32) {
		if f.same != nil {
			f.same.mapTo(k, dst, c, x, b.y)
			return
		}
		from := b.a[:len(dst)]
		f.of[0].mapTo(k, from, c, x, b.y)
		if f.whole() {
			raiseWhole(k, b, dst, from, f.p)
		} else {
			f.powers.row(k, b, dst, from)
		}
	})
}

// raiseWhole computes dst[j] = from[j]^p for a whole number p.
func raiseWhole(k *asm.Kernels, b *block, dst, from []float32, p float64) {
	dst = dst[:len(from)]
	if p == 2 { // exact before it is rounded
		for j, w := range from {
			dst[j] = w * w
		}
		return
	}
	wide := b.sum[:len(from)]
	b.widen(k, wide, from)
	if p == 3 {
		for j, v := range wide {
			dst[j] = float32(v * v * v)
		}
		return
	}
	for j, v := range wide {
		dst[j] = float32(wholePower(v, p))
	}
}

// error: what the part's error makes of the power, at either end, and the rounding of the result.
func (f powered) error(c, x, y float64) float64 {
	if f.same != nil {
		return f.same.Error(c, x, y)
	}
	v, e := f.of[0].Eval(c, x, y), partError(f.of[0], c, x, y)
	err := max(math.Abs(f.raise(v+e)-f.raise(v)), math.Abs(f.raise(v-e)-f.raise(v)))
	return err + (unit+halfLineError)*(math.Abs(f.raise(v))+err) + underflow
}
