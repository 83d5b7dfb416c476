package kernel

import (
	"math"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/kernel/internal/table"
	"github.com/gramengine/gram/sparse"
)

// form is the mathematics of a kernel that has no map of its own in package asm: a formula in
// float64, of other kernels or of none. [compile] makes a Kernel of it. A form is immutable.
type form interface {
	// spec returns the form as Parse reads it, canonical: forms with the same spec are the same
	// function.
	spec() string

	embedding() sparse.Embedding
	value(c, x, y float64) float64 // see Kernel.Eval
	properties() Properties

	// What a part must tell, see component.
	homogeneous() (p float64, separable bool)
	feature(c, x, y float64) (c2, x2, y2 float64)
}

// combiner is a form that is made of others.
type combiner interface {
	form
	parts() []component
	with(parts []component) form // the same form of other parts
}

// rowForm is a form that isn't separable and has a faster way than value by value.
type rowForm interface {
	form

	// rows maps a block.
	rows(k *asm.Kernels, b *block)

	// error bounds the error of a value that rows computes.
	error(c, x, y float64) float64
}

// logForm is a separable form that spans so many orders of magnitude that it must be known by its
// logarithm.
type logForm interface {
	form

	// logValue returns ln value(c, 1, 1), NaN where that isn't above 0.
	logValue(c float64) float64
}

// openForm is a form by itself with a parameter that depends on the data.
type openForm interface {
	form

	// resolved returns the form with it filled in; terms is the number of columns of the embedded
	// documents.
	resolved(terms int) form
}

// noisyForm is a separable form whose terms cancel.
type noisyForm interface {
	form

	// noise bounds what float64 loses of g(c): differences have the roundings of what they are
	// taken from.
	noise() float64
}

// single is what forms share that aren't made of others. Most of them aren't separable.
type single struct{ e in }

func (f single) embedding() sparse.Embedding { return f.e.embedding }
func (single) homogeneous() (float64, bool)  { return 0, false }

// function is a form of c alone.
type function struct {
	single
	text    string                  // its spec
	g       func(c float64) float64 // its value
	deficit func(c float64) float64 // 1 - g(c) for a g of 1 at c = 0; nil where it has no feature space
	known   Properties
}

func (f function) spec() string                  { return f.text }
func (f function) value(c, x, y float64) float64 { return f.g(c) }
func (f function) homogeneous() (float64, bool)  { return 0, true }
func (f function) properties() Properties        { return f.known }

func (f function) feature(c, x, y float64) (c2, x2, y2 float64) {
	if f.deficit == nil {
		return noFeature()
	}
	return f.deficit(c), 1, 1
}

// chunk is how many columns pass through all of a kernel's stages before the next ones begin:
// buffers of them stay in the first-level cache.
const chunk = 256

// block is a piece of a tile, of at most chunk columns, with room for what comes between c and the
// result.
type block struct {
	x, y           []float32 // norms of rows and columns
	dst, c         []float32 // of the whole tile
	stride, column int       // distance of rows in it, and the first column

	a, b      [chunk]float32
	sum, wide [chunk]float64
	one       [3]float32
	table.Widener
}

// groups hands over the rows of the block, as many at a time as the buffers have room for where
// they lie side by side: a part's map takes as long to begin as for some values.
func (b *block) groups(f func(dst, c, x []float32)) {
	n, per := len(b.y), 1
	if n == b.stride {
		per = max(chunk/max(n, 1), 1)
	}
	for lo := 0; lo < len(b.x); lo += per {
		hi := min(lo+per, len(b.x))
		at, end := lo*b.stride+b.column, (hi-1)*b.stride+b.column+n
		f(b.dst[at:end], b.c[at:end], b.x[lo:hi])
	}
}

// row returns row i of the block, which may be the same memory twice.
func (b *block) row(i int) (dst, c []float32) {
	lo, hi := i*b.stride+b.column, i*b.stride+b.column+len(b.y)
	return b.dst[lo:hi], b.c[lo:hi]
}

var blocks = sync.Pool{New: func() any { return new(block) }}

// compiled is a kernel made of a form. A separable one is a table of g, computed when it is first
// used; others go through their parts chunk by chunk.
type compiled struct {
	in
	form      form
	text      string // the specification
	own       bool   // somebody's own, equal to no other
	p         float64
	separable bool
	known     Properties
	leaves    int // kernels that aren't made of others

	table    func() *table.Piecewise // made at the first call
	noise    func() float64          // as well: what float64 loses of g
	powers   table.Power             // of norms
	resolved atomic.Pointer[resolution]
}

// resolution is what a kernel was last resolved to: engines ask again and again.
type resolution struct {
	terms int
	k     Kernel
}

// compile makes the kernel of a form.
func compile(f form) *compiled {
	k := &compiled{in: in{f.embedding()}, form: f, text: f.spec(), known: f.properties(), leaves: 1}
	k.p, k.separable = f.homogeneous()
	// Unlike a Once these panic for the next one, too, where somebody's function did.
	k.table = sync.OnceValue(func() *table.Piecewise { return tabulate(f) })
	k.noise = sync.OnceValue(func() float64 {
		if n, ok := f.(noisyForm); ok {
			return n.noise()
		}
		return 0
	})
	k.known.UsesNorms = !k.separable || k.p != 0
	switch f.(type) {
	case product, weighted, powered:
		// The table is float32, and documents of another norm than 1 may have values where it has
		// none.
		k.separable = k.separable && (k.p == 0 || !(math.Abs(f.value(0, 1, 1)) > mostDiagonal))
	}
	if k.separable {
		k.powers = table.NewPower(k.p)
	}
	if of, ok := f.(combiner); ok {
		k.leaves = 0
		for _, p := range of.parts() {
			k.leaves += leaves(p)
			k.own = k.own || isOwn(p)
		}
	}
	return k
}

// leaves returns of how many kernels that aren't made of others a kernel is made, repetitions
// included.
func leaves(k component) int {
	if c, ok := k.(*compiled); ok {
		return c.leaves
	}
	return 1
}

func (k *compiled) String() string { return k.text }

// Eval implements [Kernel].
func (k *compiled) Eval(c, x, y float64) float64 { return k.form.value(c, x, y) }

func (k *compiled) homogeneous() (float64, bool) { return k.p, k.separable }
func (k *compiled) feature(c, x, y float64) (float64, float64, float64) {
	return k.form.feature(c, x, y)
}

// Properties returns what is known of the kernel.
func (k *compiled) Properties() Properties { return k.known }

// resolve resolves the parts.
func (k *compiled) resolve(terms int) Kernel {
	if r := k.resolved.Load(); r != nil && r.terms == terms {
		return r.k
	}
	r := &resolution{terms, k}
	switch f := k.form.(type) {
	case openForm:
		if to := compile(f.resolved(terms)); to.text != k.text {
			r.k = to
		}
	case combiner:
		changed, parts := false, make([]component, len(f.parts()))
		for i, p := range f.parts() {
			parts[i] = Resolve(p, terms).(component)
			changed = changed || parts[i] != p
		}
		if changed {
			r.k = compile(f.with(parts))
		}
	}
	k.resolved.Store(r)
	return r.k
}

// tabulate makes the table of a separable form.
func tabulate(f form) *table.Piecewise {
	g := func(c float64) float64 { return f.value(c, 1, 1) }
	if l, ok := f.(logForm); ok {
		if t := table.NewLog(g, l.logValue); t != nil {
			return t
		}
	}
	return table.New(g)
}

// mapTo implements [Kernel].
func (k *compiled) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	switch {
	case !k.separable:
		k.mapRows(asm, dst, c, x, y)
	case k.p == 0:
		t := k.table()
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
func (k *compiled) mapScaled(asm *asm.Kernels, dst, c, x, y []float32) {
	t, n := k.table(), len(y)
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

// mapRows maps a chunk of columns at a time.
func (k *compiled) mapRows(asm *asm.Kernels, dst, c, x, y []float32) {
	n := len(y)
	f, ok := k.form.(rowForm)
	if !ok {
		for i, xi := range x {
			mapValues(k, dst[i*n:][:n], c[i*n:][:n], xi, y)
		}
		return
	}
	b := blocks.Get().(*block)
	b.x, b.dst, b.c, b.stride = x, dst, c, n
	for b.column = 0; b.column < n; b.column += chunk {
		b.y = y[b.column:min(b.column+chunk, n)]
		f.rows(asm, b)
	}
	b.x, b.y, b.dst, b.c = nil, nil, nil, nil // the pool must not keep them
	blocks.Put(b)
}

// mapValues maps a row in float64, value by value.
func mapValues(k Kernel, dst, c []float32, x float32, y []float32) {
	dst, c = dst[:len(y)], c[:len(y)]
	for j, yj := range y {
		dst[j] = float32(k.Eval(float64(c[j]), float64(x), float64(yj)))
	}
}

// leastPower is far enough from the ends of the range of float64 for products of two.
const leastPower = 0x1p-500

// Error implements [Kernel]. Of a separable kernel it is the bound that the table states, times the
// powers of the norms, whose float64 is exact as far as float32 is concerned, and one rounding;
// infinite where any of these is out of range. A kernel that is mapped in float64 has the rounding
// alone.
func (k *compiled) Error(c, x, y float64) float64 { return bound(k.bound(c, x, y)) }

// bound returns a bound as it comes out of a formula, +Inf where that went out of the range of
// float64 on the way, and no number comes out.
func bound(v float64) float64 {
	if v >= 0 {
		return v
	}
	return math.Inf(1)
}

func (k *compiled) bound(c, x, y float64) float64 {
	v := math.Abs(k.form.value(c, x, y))
	if v != v {
		return v
	}
	if f, ok := k.form.(logForm); ok && k.p == 0 && k.table().Log {
		return k.table().LogError(c, v, f.logValue(c))
	}
	switch f, ok := k.form.(rowForm); {
	case k.separable && k.p == 0:
		return k.table().Error(c, v) + k.noise()
	case k.separable:
		xp, yp, g := table.RealPower(x, k.p), table.RealPower(y, k.p), k.form.value(c, 1, 1)
		if math.Abs(g) <= math.MaxFloat32 && (x == 0 || y == 0) {
			return underflow
		}
		if !(math.Abs(g) <= math.MaxFloat32) || !(min(xp, yp) >= leastPower && max(xp, yp) <= 1/leastPower) {
			return math.Inf(1) // the product of the three may be anywhere
		}
		return 1.0001*xp*yp*(k.table().Error(c, g)+k.noise()) + unit*v + underflow
	case ok:
		return f.error(c, x, y)
	}
	return unit*v + underflow
}
