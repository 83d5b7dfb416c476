package kernel

import (
	"math"
	"runtime"
	"sync"
	"weak"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/sparse"
)

// form is the mathematics of a kernel that has no map of its own in package asm: a formula in float64, of other kernels or of none. [compile] makes a Kernel of
// it. A form is immutable.
type form interface {
	spec() string                  // as Parse reads it, canonical: forms with the same spec are the same function
	embedding() sparse.Embedding   // that of the first part
	parts() []component            // what it is made of; may be none
	with(parts []component) form   // the same form of other parts
	value(c, x, y float64) float64 // see Kernel.Eval

	// What a part must tell.
	homogeneous() (p float64, separable bool)
	feature(c, x, y float64) (c2, x2, y2 float64)
	properties() Properties
}

// rowForm is a form that isn't separable and has a faster way than value by value.
type rowForm interface {
	form

	// rows maps a block.
	rows(k *asm.Kernels, b *block)

	// error bounds the error of a value that rows computes.
	error(c, x, y float64) float64
}

// logForm is a separable form that spans so many orders of magnitude that it must be known by its logarithm.
type logForm interface {
	form

	// logValue returns ln value(c, 1, 1), NaN where that isn't above 0.
	logValue(c float64) float64
}

// openForm is a form by itself with a parameter that depends on the data.
type openForm interface {
	form

	// resolved returns the form with it filled in; terms is the number of columns of the embedded documents.
	resolved(terms int) form
}

// chunk is how many columns pass through all of a kernel's stages before the next ones begin: buffers of them stay in the first-level cache.
const chunk = 256

// block is a piece of a tile, of at most chunk columns, with room for what comes between c and the result.
type block struct {
	x, y           []float32 // norms of rows and columns
	dst, c         []float32 // of the whole tile
	stride, column int       // distance of rows in it, and the first column

	a, b      [chunk]float32
	sum, wide [chunk]float64
	one       [3]float32
	widener
}

// groups hands over the rows of the block, as many at a time as the buffers have room for where they lie side by side: a part's map takes as long to begin as for some values.
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

// widener turns float32 into float64 four at a time: in Go the conversion waits for the one before it, 2 ns.
type widener struct {
	list [1][]float32
	by   [1]float64
}

// add computes dst[j] += w v[j], rounded once.
func (b *widener) add(k *asm.Kernels, dst []float64, w float64, v []float32) {
	b.list[0], b.by[0] = v, w
	k.AddRows(dst, b.list[:], 0, b.by[:])
	b.list[0] = nil // a pool must not keep it
}

// widen computes dst[j] = v[j].
func (b *widener) widen(k *asm.Kernels, dst []float64, v []float32) {
	clear(dst)
	b.add(k, dst, 1, v)
}

// row returns row i of the block, which may be the same memory twice.
func (b *block) row(i int) (dst, c []float32) {
	lo, hi := i*b.stride+b.column, i*b.stride+b.column+len(b.y)
	return b.dst[lo:hi], b.c[lo:hi]
}

var blocks = sync.Pool{New: func() any { return new(block) }}

// compiled is a kernel made of a form. A separable one is a table of g, computed when it is first used; others go through their parts chunk by chunk.
//
// There is one for each specification, as long as anyone holds it, so that == compares what kernels mean.
type compiled struct {
	in
	form      form
	text      string // the specification
	p         float64
	separable bool
	known     Properties
	leaves    int // kernels that aren't made of others

	table  func() *piecewise // made at the first call
	noise  func() float64    // as well: what float64 loses of g
	powers powers            // of norms
}

// interned holds the compiled kernels that are in use, by their specification.
var interned sync.Map // of string to weak.Pointer[compiled]

// newCompiled makes a kernel of a form that is equal to no other.
func newCompiled(f form) *compiled {
	k := &compiled{in: in{f.embedding()}, form: f, text: f.spec(), known: f.properties()}
	k.p, k.separable = f.homogeneous()
	k.table = sync.OnceValue(func() *piecewise { return tabulate(f) }) // unlike a Once it panics for the next one, too, where somebody's function did
	k.noise = sync.OnceValue(func() float64 { return noise(f) })
	k.known.UsesNorms = !k.separable || k.p != 0
	switch f.(type) {
	case product, weighted, powered: // the table is float32, and documents of another norm than 1 may have values where it has none
		k.separable = k.separable && (k.p == 0 || !(math.Abs(f.value(0, 1, 1)) > mostDiagonal))
	}
	if k.separable {
		k.powers = newPowers(k.p)
	}
	for _, p := range f.parts() {
		k.leaves += leaves(p)
	}
	return k
}

// leaves returns of how many kernels that aren't made of others a kernel is made, repetitions included.
func leaves(k component) int {
	if c, ok := k.(*compiled); ok {
		return max(c.leaves, 1)
	}
	return 1
}

// compile makes the kernel of a form, or finds it where there is one.
func compile(f form) *compiled {
	k := newCompiled(f)
	mine := weak.Make(k)
	for {
		there, ok := interned.LoadOrStore(k.text, mine)
		if !ok {
			runtime.AddCleanup(k, func(text string) { interned.CompareAndDelete(text, mine) }, k.text)
			return k
		}
		if other := there.(weak.Pointer[compiled]).Value(); other != nil {
			return other
		}
		interned.CompareAndDelete(k.text, there)
	}
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
	if f, ok := k.form.(openForm); ok {
		return compile(f.resolved(terms))
	}
	changed := false
	var parts []component
	for _, p := range k.form.parts() {
		r := Resolve(p, terms).(component)
		changed = changed || r != p
		parts = append(parts, r)
	}
	if !changed {
		return k
	}
	return compile(k.form.with(parts))
}

// tabulated returns the table of a separable kernel.
func (k *compiled) tabulated() *piecewise { return k.table() }

// tabulate makes the table of a separable form.
func tabulate(f form) *piecewise {
	g := func(c float64) float64 { return f.value(c, 1, 1) }
	if l, ok := f.(logForm); ok {
		if t := newLogPiecewise(g, l.logValue); t != nil {
			return t
		}
	}
	return newPiecewise(g)
}

// mapTo implements [Kernel].
func (k *compiled) mapTo(asm *asm.Kernels, dst, c, x, y []float32) {
	switch {
	case !k.separable:
		k.mapRows(asm, dst, c, x, y)
	case k.p == 0:
		t := k.tabulated()
		for lo := 0; lo < len(dst); lo += 4 * chunk {
			hi := min(lo+4*chunk, len(dst))
			t.apply(asm, dst[lo:hi], c[lo:hi])
		}
	default:
		k.mapScaled(asm, dst, c, x, y)
	}
}

// mapScaled maps g by the table and multiplies by the powers of the norms, in float64, so that only the result is rounded and no product of norms goes out of
// range on the way.
func (k *compiled) mapScaled(asm *asm.Kernels, dst, c, x, y []float32) {
	t, n, table := k.tabulated(), len(y), k.powers.table()
	var scale [chunk]float64
	for lo := 0; lo < n; lo += chunk {
		hi := min(lo+chunk, n)
		for j, v := range y[lo:hi] {
			scale[j] = min(k.powers.at(table, float64(v)), math.MaxFloat64) // so that times 0 it is 0
		}
		for i, v := range x {
			row := dst[i*n+lo : i*n+hi]
			t.apply(asm, row, c[i*n+lo:i*n+hi])
			xp := min(k.powers.at(table, float64(v)), math.MaxFloat64)
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
