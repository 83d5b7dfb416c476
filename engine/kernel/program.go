package kernel

import (
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel/internal/syntax"
	"github.com/gramengine/gram/engine/kernel/internal/table"
)

// ProgramOf translates a kernel, with nothing left open, into a program for a back end. It returns
// nil where it can't be: for kernels of one's own with a map or a use of norms, biased thresholds,
// and what is made of those; for compositions on a feature space that only its definition gives;
// and for what is longer than programs may be.
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

// layer is what a part is given: its c, in a local or, below 0, the documents' own, and what makes
// its norms of theirs.
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

// attribute returns the number of an attribute of the layer's norm; name says which function of it
// f is.
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
func (b *programBuilder) table(t *table.Piecewise) {
	if t.Wild != nil {
		b.ok = false
		return
	}
	if t.Hole != nil {
		b.program.PlainOnly = true
	}
	b.program.Tables = append(b.program.Tables, device.Table{Rows: t.Rows, Bits: t.Bits, Log: t.Log})
	b.op(device.OpTable, len(b.program.Tables)-1)
}

// value pushes a kernel's value: by the kernel's own program, as that of a separable kernel, or
// not.
func (b *programBuilder) value(k component, l layer) {
	p, has := as[programmer](k)
	_, combined := k.(*compiled)
	switch {
	case isSeparable(k) && (combined || !has):
		b.separable(k, l)
	case has:
		p.program(b, l)
	default:
		b.ok = false
	}
}

// cosine pushes 1 - c.
func (b *programBuilder) cosine(l layer) {
	b.constant(1)
	b.c(l)
	b.op(device.OpSub)
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
func (b *programBuilder) separable(k component, l layer) {
	p, _ := k.homogeneous()
	if p != 0 {
		b.both(l, "power "+syntax.FormatNumber(p), func(x float64) float64 { return table.RealPower(x, p) })
	}
	b.c(l)
	if compound, ok := k.(*compiled); ok {
		b.table(compound.table())
	} else {
		b.table(table.New(func(c float64) float64 { return k.Eval(c, 1, 1) }))
	}
	if p != 0 {
		b.op(device.OpMul)
	}
}

// feature writes what turns c into that of a kernel's feature space, see component.feature, and
// returns the layer above.
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

// deficit pushes c2 of a kernel: by the kernel's own program, as a table, or not.
func (b *programBuilder) deficit(k component, l layer) {
	p, has := as[deficitProgrammer](k)
	_, combined := k.(*compiled)
	switch {
	case isSeparable(k) && (combined || !has):
		b.c(l)
		b.table(deficitTable(k))
	case has:
		p.deficitProgram(b, l)
	default:
		b.ok = false
	}
}

// deficitTable returns c2 of a separable kernel as a function of c.
func deficitTable(k component) *table.Piecewise {
	return table.New(func(c float64) float64 {
		c2, _, _ := k.feature(c, 1, 1)
		return c2
	})
}
