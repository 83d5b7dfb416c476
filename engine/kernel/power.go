package kernel

import (
	"fmt"
	"math"
	"strings"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel/internal/syntax"
	"github.com/gramengine/gram/engine/kernel/internal/table"
)

func init() {
	q := positive("p", "the power; one that is no whole number wants a kernel that is nowhere below 0", 2)
	q.max = 64
	q.Allowed = fmt.Sprintf("a number above 0 (from %g to %g)", q.min, q.max)
	register(family{
		Info: Info{
			Name: "power", Summary: "k^p", Parts: "a kernel, and p", What: "power of a kernel", Source: sourceProduct,
			Examples: []string{"power(arccos:n=1,2.5)"},
		},
		place: 220, single: true, positional: 1, params: []param{q},
		check: func(parts []component, v []float64) (int, string) {
			if v[0] != math.Trunc(v[0]) && !parts[0].Properties().NonNegative {
				return 0, fmt.Sprintf("a kernel that is nowhere below 0, for the power %s", syntax.FormatNumber(v[0]))
			}
			return 0, ""
		},
		combine: func(parts []component, _, v []float64) component {
			if v[0] == 1 {
				return parts[0]
			}
			return newPowered(parts[0], v[0])
		},
	})
}

// powered is a power of a kernel,
//
//	k = k₁(x, y)^p,   p > 0
//
// p a whole number, unless k₁ is nowhere below 0.
type powered struct {
	combination
	p      float64
	powers table.Power
	same   component // the same function, where it is simpler to compute than as a power; see raised
}

func newPowered(of component, p float64) component { return compile(power1(of, p)) }

func power1(of component, p float64) powered {
	same, _ := raised(of, p)
	return powered{combination{[]component{of}}, p, table.NewPower(p), same}
}

func (f powered) spec() string             { return f.call("power", syntax.FormatNumber(f.p)) }
func (f powered) with(of []component) form { return power1(of[0], f.p) }
func (f powered) whole() bool              { return f.p == math.Trunc(f.p) }

// raised returns the kernel that is the power p of another, for p > 0, or nil where there is
// nothing simpler than to compute that power: exp(v)^p is exp(pv), which is also known where exp(v)
// is out of the range of float32; (k^q)^p is k^(pq), unless a root undoes a power that lost a sign;
// and powers go into products and past weights. falls is as in [raiser].
func raised(of component, p float64) (k component, falls bool) {
	if r, ok := as[raiser](of); ok {
		return r.raised(p)
	}
	return nil, false
}

// raisedRate and raisedWidth return the parameter of the power p of an exponential, as far as there
// is one.
func raisedRate(v, p float64) (float64, bool) {
	return v * p, v != 0 && v*p >= leastRate && v*p <= mostRate
}

func raisedWidth(v, p float64) (float64, bool) {
	return v / p, v/p >= leastRate && v/p <= mostRate
}

// orNil returns a power that is an exponential nowhere above 1, if there is one.
func orNil(k component, ok bool) (component, bool) {
	if !ok {
		return nil, false
	}
	return k, true
}

// Parameters of what is raised stay between these, where float32 has room for them and for products
// with them. A weight beyond mostWeight would show what the part loses at the end of the range.
const leastRate, mostRate, mostWeight = 1e-30, 1e30, 1e6

func (f powered) raised(p float64) (component, bool) {
	q := f.p * p
	switch {
	case f.whole() && p != math.Trunc(p) && !f.of[0].Properties().NonNegative:
	case q == 1:
		_, falls := raised(f.of[0], 1)
		return f.of[0], falls
	case q >= leastRate && q <= mostRate:
		return newPowered(f.of[0], q), false
	}
	return nil, false
}

func (f powered) properties() Properties {
	same := f.same
	if same == nil {
		// of a gamma that the data will decide: any has the same properties
		same, _ = raised(Resolve(f.of[0], 1).(component), f.p)
	}
	if same != nil {
		p := same.Properties()
		// which is true of all its powers; other kernels have it from elsewhere, or not at all
		if p.Source == sourceSchoenberg && p.Definite == Positive {
			p.Source = sourceDivisible
		}
		if f.same != nil {
			p.Condition = strings.TrimPrefix(p.Condition+"; computed as "+same.String(), "; ")
		}
		return p
	}
	of := f.of[0].Properties()
	p := Properties{
		Source:           sourceProduct,
		Condition:        f.conditions(),
		NonNegative:      of.NonNegative || math.Mod(f.p, 2) == 0,
		NonPositive:      of.NonPositive && math.Mod(f.p, 2) == 1,
		PositiveDiagonal: of.PositiveDiagonal,
		Falling:          of.Falling && (of.NonNegative || math.Mod(f.p, 2) == 1),
	}
	if !f.whole() {
		p.Condition = strings.TrimPrefix(p.Condition+"; a power that is no whole number", "; ")
		return p
	}
	return p.like(f.of)
}

func (f powered) raise(v float64) float64 {
	if f.whole() {
		return table.WholePower(v, f.p)
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
			f.powers.Row(k, &b.Widener, b.sum[:len(from)], dst, from)
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
	b.Widen(k, wide, from)
	if p == 3 {
		for j, v := range wide {
			dst[j] = float32(v * v * v)
		}
		return
	}
	for j, v := range wide {
		dst[j] = float32(table.WholePower(v, p))
	}
}

// error: what the part's error makes of the power, at either end, and the rounding of the result.
func (f powered) error(c, x, y float64) float64 {
	if f.same != nil {
		return f.same.Error(c, x, y)
	}
	v, e := f.of[0].Eval(c, x, y), partError(f.of[0], c, x, y)
	err := max(math.Abs(f.raise(v+e)-f.raise(v)), math.Abs(f.raise(v-e)-f.raise(v)))
	return err + (unit+table.HalfLineError)*(math.Abs(f.raise(v))+err) + underflow
}

func (f powered) program(b *programBuilder, l layer) {
	if f.same != nil {
		b.value(f.same, l)
		return
	}
	b.value(f.of[0], l)
	if f.whole() {
		b.op(device.OpPower, int(f.p))
	} else {
		b.parameter(device.OpPow, f.p)
	}
}

func (f powered) deficitProgram(b *programBuilder, l layer) {
	if f.same != nil {
		b.deficit(f.same, l)
		return
	}
	b.deficit(f.of[0], l)
	b.parameter(device.OpDeficit, f.p)
}
