package kernel

import (
	"math"

	"github.com/gramengine/gram/engine/device"
)

// ProgramOf translates a kernel, with nothing left open, into a program for a back end. It returns nil where it can't be: for kernels of one's own with a map or a use
// of norms, biased thresholds, and what is made of those; for compositions on a feature space that only its definition gives; and for what is longer than programs may be.
func ProgramOf(k Kernel) *device.Program {
	of, ok := k.(component)
	if !ok {
		return nil
	}
	b := &programBuilder{ok: true, norms: map[string]int{}}
	b.value(of, layer{local: -1})
	if !b.ok || b.program.Validate() != nil {
		return nil
	}
	return &b.program
}

// programBuilder writes a program, instruction by instruction.
type programBuilder struct {
	program device.Program
	norms   map[string]int // attributes that there are, by what they are of
	ok      bool
}

// layer is what a part is given: its c, in a local or, below 0, the documents' own, and what makes its norms of theirs.
type layer struct {
	local int
	name  string                  // says which norms these are
	norm  func(x float64) float64 // nil for x itself
}

func (l layer) of(x float64) float64 {
	if l.norm == nil {
		return x
	}
	return l.norm(x)
}

func (b *programBuilder) op(op device.Op, n ...int) {
	c := device.Code{Op: op}
	if len(n) > 0 {
		c.N = n[0]
	}
	b.program.Code = append(b.program.Code, c)
}

func (b *programBuilder) ops(ops ...device.Op) {
	for _, op := range ops {
		b.op(op)
	}
}

func (b *programBuilder) constant(v float64) {
	b.program.Consts = append(b.program.Consts, v)
	b.op(device.OpConst, len(b.program.Consts)-1)
}

// parameter is an instruction whose argument is a constant.
func (b *programBuilder) parameter(op device.Op, v float64) {
	b.program.Consts = append(b.program.Consts, v)
	b.op(op, len(b.program.Consts)-1)
}

// c pushes the layer's c.
func (b *programBuilder) c(l layer) {
	if l.local < 0 {
		b.op(device.OpC)
	} else {
		b.op(device.OpLocal, l.local)
	}
}

// store takes the top of the stack into a new local.
func (b *programBuilder) store() int {
	b.program.Locals++
	b.op(device.OpStore, b.program.Locals-1)
	return b.program.Locals - 1
}

// attribute returns the number of an attribute of the layer's norm; name says which function of it f is.
func (b *programBuilder) attribute(l layer, name string, f func(x float64) float64) int {
	key := l.name + "|" + name
	at, ok := b.norms[key]
	if !ok {
		at = len(b.program.Norms)
		b.norms[key] = at
		norm := l.norm
		b.program.Norms = append(b.program.Norms, func(x float64) float64 {
			if norm != nil {
				x = norm(x)
			}
			return f(x)
		})
	}
	return at
}

// both pushes the product of an attribute of both documents.
func (b *programBuilder) both(l layer, name string, f func(x float64) float64) {
	at := b.attribute(l, name, f)
	b.op(device.OpX, at)
	b.op(device.OpY, at)
	b.op(device.OpMul)
}

func identity(x float64) float64 { return x }

// table replaces the top of the stack by its value in a table.
func (b *programBuilder) table(t *piecewise) {
	if t.wild != nil {
		b.ok = false
		return
	}
	if t.hole != nil {
		b.program.PlainOnly = true
	}
	b.program.Tables = append(b.program.Tables, device.Table{Rows: t.rows, Bits: t.bits, Log: t.log})
	b.op(device.OpTable, len(b.program.Tables)-1)
}

// value pushes a kernel's value.
func (b *programBuilder) value(k component, l layer) {
	switch k := k.(type) {
	case C:
		b.c(l)
		return
	case bhattacharyya:
		b.cosine(l)
		return
	case linear:
		b.both(l, "1", identity)
		b.cosine(l)
		b.op(device.OpMul)
		return
	case polynomial:
		b.affine(k.gamma, k.r, l)
		b.op(device.OpPower, k.degree)
		return
	case sigmoid:
		b.affine(k.gamma, k.r, l)
		b.op(device.OpTanh)
		return
	case gaussian:
		b.square(l)
		b.constant(-k.gamma)
		b.ops(device.OpMul, device.OpExp)
		b.ok = b.ok && k.gamma != 0
		return
	}
	if p, separable := k.homogeneous(); separable {
		b.separable(k, p, l)
		return
	}
	if k, ok := k.(*compiled); ok {
		b.formValue(k.form, l)
		return
	}
	b.ok = false
}

// cosine pushes 1 - c.
func (b *programBuilder) cosine(l layer) {
	b.constant(1)
	b.c(l)
	b.op(device.OpSub)
}

// affine pushes gamma ⟨x, y⟩ + r.
func (b *programBuilder) affine(gamma, r float64, l layer) {
	b.ok = b.ok && gamma != 0
	b.constant(gamma)
	b.both(l, "1", identity)
	b.cosine(l)
	b.ops(device.OpMul, device.OpMul)
	b.constant(r)
	b.op(device.OpAdd)
}

// square pushes ‖x-y‖² = (x-y)² + 2xyc.
func (b *programBuilder) square(l layer) {
	b.difference(l, "1", identity)
	b.both(l, "1", identity)
	b.constant(2)
	b.c(l)
	b.ops(device.OpMul, device.OpMul, device.OpAdd)
}

// difference pushes the square of the difference of an attribute of both documents.
func (b *programBuilder) difference(l layer, name string, f func(x float64) float64) {
	at := b.attribute(l, name, f)
	b.op(device.OpX, at)
	b.op(device.OpY, at)
	b.op(device.OpSub)
	b.op(device.OpPower, 2)
}

// separable pushes (xy)^p g(c), with g as a table.
func (b *programBuilder) separable(k component, p float64, l layer) {
	if p != 0 {
		b.both(l, "power "+formatNumber(p), func(x float64) float64 { return realPower(x, p) })
	}
	b.c(l)
	if compound, ok := k.(*compiled); ok {
		b.table(compound.tabulated())
	} else {
		b.table(newPiecewise(func(c float64) float64 { return k.Eval(c, 1, 1) }))
	}
	if p != 0 {
		b.op(device.OpMul)
	}
}

// formValue pushes the value of a form that isn't separable.
func (b *programBuilder) formValue(f form, l layer) {
	switch f := f.(type) {
	case euclidean:
		b.square(l)
		switch f.beta {
		case 0:
			b.ops(device.OpSqrt, device.OpLog1p)
		case 1:
			b.op(device.OpSqrt)
		case 2:
		default:
			b.parameter(device.OpPow, f.beta/2)
		}
		b.op(device.OpNeg)
	case product:
		for i, p := range f.of {
			b.value(p, l)
			if i > 0 {
				b.op(device.OpMul)
			}
		}
	case weighted:
		for i, p := range f.of {
			b.constant(f.weights[i])
			b.value(p, l)
			b.op(device.OpMul)
			if i > 0 {
				b.op(device.OpAdd)
			}
		}
	case powered:
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
	case exponential:
		b.value(f.of[0], l)
		b.op(device.OpExp)
	case normalised:
		// The diagonal goes in as one attribute, NaN where it is near the end of the range of float64, or of float32 for what goes through tables: beyond that
		// normalised.rows has no error but rounding, and tables have more.
		tables, least, most := len(b.program.Tables), 1e-150, 1e150
		if b.value(f.of[0], l); len(b.program.Tables) > tables {
			least, most = math.Sqrt(leastDiagonal), math.Sqrt(mostDiagonal)
		}
		b.both(l, "root of the diagonal of "+f.of[0].String(), func(x float64) float64 {
			d := math.Sqrt(f.of[0].Eval(0, x, x))
			if !(d > least && d < most) {
				return math.NaN()
			}
			return d
		})
		b.op(device.OpDiv)
	case centred:
		of := f.of[0]
		b.value(of, l)
		at := b.attribute(l, "origin of "+of.String(), func(x float64) float64 { return of.Eval(1, x, 0) })
		b.op(device.OpX, at)
		b.op(device.OpY, at)
		b.ops(device.OpAdd, device.OpSub)
		b.constant(of.Eval(0, 0, 0))
		b.op(device.OpAdd)
	case arcSmooth:
		b.smooth(f, l)
		b.table(newPiecewise(func(c float64) float64 { return coangle(c) / math.Pi }))
	case composed:
		for _, t := range f.plan.below {
			l = b.feature(t.of, l)
		}
		b.value(f.plan.top, l)
	default:
		b.ok = false
	}
}

// smooth pushes c_σ, see [arcSmooth].
func (b *programBuilder) smooth(f arcSmooth, l layer) {
	norm := func(x float64) float64 { return smoothNorm(x, f.sigma) }
	name := "smooth " + formatNumber(f.sigma)
	at := b.attribute(l, "square", func(x float64) float64 { return x * x })
	// gap = σ²(x²+y²+σ²)/(AB+xy)
	b.op(device.OpX, at)
	b.op(device.OpY, at)
	b.op(device.OpAdd)
	b.constant(f.sigma * f.sigma)
	b.op(device.OpAdd)
	b.constant(f.sigma * f.sigma)
	b.op(device.OpMul)
	b.both(l, name, norm)
	b.both(l, "1", identity)
	b.ops(device.OpAdd, device.OpDiv)
	b.both(l, "1", identity)
	b.c(l)
	b.ops(device.OpMul, device.OpAdd)
	b.both(l, name, norm)
	b.ops(device.OpDiv, device.OpClamp)
}
