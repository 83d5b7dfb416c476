package kernel

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/kernel/internal/table"
	"github.com/gramengine/gram/sparse"
)

// formula is what a family says of a kernel with its parameters. With k(x, y) = ⟨φ(x), φ(y)⟩,
//
//	c2 = 1 - k(x, y) / √(k(x, x) k(y, y)),   x2 = √k(x, x),   y2 = √k(y, y)
//
// are 1 - cosine and the norms of φ(x) and φ(y), which is what a kernel wants to be given. So a
// kernel on another's feature space is an expression of c and the norms again.
type formula struct {
	value func(a at) ref // writes k

	// deficit writes c2, never below 0, without cancellation where it is small: 1 minus a value near 1
	// would keep no digits. Default: by definition, value by value. It is asked of kernels with
	// Properties.PositiveDiagonal only.
	deficit func(a at) ref

	norm     func(n norm) norm       // x2 as a function of x; default: by definition
	log      func(c float64) float64 // ln k of a function of c that spans many orders of magnitude
	direct   *direct                 // a map of its own
	known    Properties              // but for UsesNorms
	variable Variable
	product  dot
}

// direct is a map of a tile that is written for one kernel, with its error, see [Kernel].
type direct struct {
	apply func(k *asm.Kernels, dst, c, x, y []float32)
	error func(c, x, y float64) float64
}

// kernel is a family with its parameters, or a combination with its parts. It is immutable.
type kernel struct {
	in
	formula
	family  *family
	values  []float64 // parameters
	parts   []*kernel
	weights []float64 // of the parts of a sum

	text      string // the specification
	own       bool   // made of a kernel of one's own, equal to no other
	open      bool   // a parameter depends on the data
	leaves    int    // kernels that aren't made of others
	p         float64
	separable bool // k = (xy)^p g(c)

	exact    *expr
	length   func(x float64) float64 // x2
	off      func() *expr            // c2, made at the first call
	g, gap   *function               // g(c) and c2 of a separable kernel
	plain    *call                   // c2 by definition
	powers   table.Power             // of norms
	tape     func() *plan            // made at the first call
	resolved atomic.Pointer[resolution]
}

// in is the part that all kernels share: the embedding of their documents.
type in struct{ embedding sparse.Embedding }

// Embedding implements [Kernel].
func (e in) Embedding() sparse.Embedding { return e.embedding }

// resolution is what a kernel was last resolved to: engines ask again and again.
type resolution struct {
	terms int
	k     *kernel
}

// newKernel makes a kernel of a family that isn't a combination.
func newKernel(f *family, e in, values []float64) *kernel {
	k := &kernel{in: e, family: f, values: values, formula: f.build(values), leaves: 1}
	k.text = k.spec()
	k.open = f.resolve != nil && f.resolve(values, 1) != nil
	return k.ready()
}

// combined makes a combination.
func combined(f *family, parts []*kernel, weights, values []float64) *kernel {
	if f.simpler != nil {
		if k := f.simpler(parts, weights, values); k != nil {
			return k
		}
	}
	k := &kernel{in: parts[0].in, family: f, values: values, parts: parts, weights: weights}
	k.formula = f.combine(k)
	for _, p := range parts {
		k.leaves, k.own, k.open = k.leaves+p.leaves, k.own || p.own, k.open || p.open
	}
	k.text = k.spec()
	return k.ready()
}

// ready fills in what follows from the formula.
func (k *kernel) ready() *kernel {
	e, a := newExpr(true)
	k.exact = e.ends(k.value(a))
	k.p, k.separable = k.exact.power()
	// A table is float32, and documents of another norm than 1 may have values where it has none.
	k.separable = k.separable && (k.p == 0 || !(math.Abs(k.exact.eval(0, 1, 1)) > mostDiagonal))
	k.known.UsesNorms = !k.separable || k.p != 0
	k.plain = &call{k.plainDeficit}
	if k.separable {
		k.powers = table.NewPower(k.p)
		k.g = onUnit(func(c float64) float64 { return k.exact.eval(c, 1, 1) })
		// Unlike a Once these panic for the next one, too, where somebody's function did.
		k.g.table = sync.OnceValue(func() *table.Piecewise {
			if k.log != nil {
				if t := table.NewLog(k.g.f, k.log); t != nil {
					return t
				}
			}
			return table.New(k.g.f)
		})
		k.g.noise = func(c float64) float64 { return k.exact.error(c, 1, 1, false) }
		k.gap = onUnit(func(c float64) float64 { return k.off().eval(c, 1, 1) })
		k.gap.noise = func(c float64) float64 { return k.off().error(c, 1, 1, false) }
	}
	k.length = k.image(documentNorm).f
	k.off = sync.OnceValue(func() *expr {
		e, a := newExpr(true)
		return e.ends(k.deficitAt(a))
	})
	k.tape = sync.OnceValue(func() *plan { return newPlan(k.mapped()) })
	return k
}

// mapped returns the expression that maps and programs follow.
func (k *kernel) mapped() *expr {
	e, a := newExpr(false)
	return e.ends(k.at(a))
}

// at writes the value: that of a separable kernel as a table, unless it is simple by itself.
func (k *kernel) at(a at) ref {
	if a.e.exact || !k.separable || len(k.parts) == 0 && k.exact.simple() {
		return k.value(a)
	}
	g := a.fn(k.g, a.c)
	if k.p == 0 {
		return g
	}
	return a.mul(a.both(a.norm.raised(1, k.p)), g)
}

// deficitAt writes c2.
func (k *kernel) deficitAt(a at) ref {
	switch {
	case !a.e.exact && k.separable:
		if k.deficit == nil || !k.off().simple() {
			return a.fn(k.gap, a.c)
		}
	case k.deficit == nil:
		return a.by(k.plain)
	}
	return k.deficit(a)
}

// above returns what a kernel on the feature space is given.
func (k *kernel) above(a at) at { return at{a.e, k.deficitAt(a), k.image(a.norm)} }

// image returns the norm in the feature space of a document with norm n.
func (k *kernel) image(n norm) norm {
	switch {
	case k.separable && k.family != nil:
		return n.raised(math.Sqrt(k.exact.eval(0, 1, 1)), k.p)
	case k.norm != nil:
		return k.norm(n)
	}
	return n.then("norm of "+k.text, func(x float64) float64 { return math.Sqrt(k.exact.eval(0, x, x)) })
}

// plainDeficit is c2 by its definition: it carries the rounding of a number near 1.
func (k *kernel) plainDeficit(c, x, y float64) float64 {
	return min(max(1-k.Eval(c, x, y)/(math.Sqrt(k.Eval(0, x, x))*math.Sqrt(k.Eval(0, y, y))), 0), 2)
}

func (k *kernel) String() string { return k.text }

// Eval implements [Kernel].
func (k *kernel) Eval(c, x, y float64) float64 { return k.exact.eval(c, x, y) }

// Properties returns what is known of the kernel.
func (k *kernel) Properties() Properties { return k.known }

// resolve returns the kernel with what depends on the data.
func (k *kernel) resolve(terms int) *kernel {
	if !k.open {
		return k
	}
	if r := k.resolved.Load(); r != nil && r.terms == terms {
		return r.k
	}
	r := &resolution{terms: terms}
	if len(k.parts) == 0 {
		r.k = newKernel(k.family, k.in, k.family.resolve(k.values, terms))
	} else {
		parts := slices.Clone(k.parts)
		for i, p := range parts {
			parts[i] = p.resolve(terms)
		}
		r.k = combined(k.family, parts, k.weights, k.values)
	}
	k.resolved.Store(r)
	return r.k
}

// mapTo implements [Kernel].
func (k *kernel) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	switch {
	case k.direct != nil:
		k.direct.apply(asm, dst, c, x, y)
	case !k.separable:
		k.tape().run(asm, dst, c, x, y)
	case k.p == 0:
		t := k.g.table()
		for lo := 0; lo < len(dst); lo += 4 * chunk {
			hi := min(lo+4*chunk, len(dst))
			t.Apply(asm, dst[lo:hi], c[lo:hi])
		}
	default:
		k.mapScaled(asm, dst, c, x, y)
	}
}

// mapScaled maps g by the table and multiplies by the powers of the norms, in float64, so that only
// the result is rounded and no product of norms goes out of range on the way.
func (k *kernel) mapScaled(asm *asm.Kernels, dst, c, x, y []float32) {
	t, n := k.g.table(), len(y)
	var scale [chunk]float64
	for lo := 0; lo < n; lo += chunk {
		hi := min(lo+chunk, n)
		for j, v := range y[lo:hi] {
			scale[j] = min(k.powers.At(float64(v)), math.MaxFloat64) // so that times 0 it is 0
		}
		for i, v := range x {
			row := dst[i*n+lo : i*n+hi]
			t.Apply(asm, row, c[i*n+lo:i*n+hi])
			xp := min(k.powers.At(float64(v)), math.MaxFloat64)
			for j, s := range scale[:len(row)] {
				row[j] = float32(float64(xp*s) * float64(row[j]))
			}
		}
	}
}

// mostDiagonal is a value beyond which float32 has little room for products.
const mostDiagonal = 1e36

// Error implements [Kernel]: it is followed through the expression that the map computes.
func (k *kernel) Error(c, x, y float64) float64 {
	if k.direct != nil {
		return bound(k.direct.error(c, x, y))
	}
	err := k.tape().e.error(c, x, y, true)
	return bound(err + unit*(math.Abs(k.Eval(c, x, y))+err) + underflow)
}

// bound returns a bound as it comes out of a formula, +Inf where that went out of the range of
// float64 on the way, and no number comes out.
func bound(v float64) float64 {
	if v >= 0 {
		return v
	}
	return math.Inf(1)
}
