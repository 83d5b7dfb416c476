package engine

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
)

// stage is a layer below the top of a composition that isn't separable as a whole, as it is computed: it turns c and the norms into those of its feature space.
// Layers next to each other that are separable are one stage.
type stage struct {
	of   component
	p    float64    // of a separable layer, k = (xy)^p g(c): x2 = a x^p, and c2 is a function of c, the table's
	a    float64    //
	once sync.Once  //
	c2   *piecewise // nil for a layer that isn't separable
	sum  *sumStage  // of a layer that is a sum, the first such of a composition
}

// mostStages bounds the stages that have room to be computed chunk by chunk; a composition of more goes value by value.
const mostStages = 4

// stages are what is below the top, and the top.
type stages struct {
	below []*stage
	top   component
}

// plan takes layers, from the bottom up, apart into stages.
func plan(layers []component) *stages {
	var groups []component
	for len(layers) > 0 {
		n := 0
		for n < len(layers) && isSeparable(layers[n]) {
			n++
		}
		if n > 1 {
			groups = append(groups, compile(compose(layers[:n])))
		} else {
			n = 1
			groups = append(groups, layers[0])
		}
		layers = layers[n:]
	}
	s := &stages{top: groups[len(groups)-1]}
	room := true // for one sum
	for _, g := range groups[:len(groups)-1] {
		t := newStage(g)
		if room {
			t.sum = newSumStage(g)
			room = t.sum == nil
		}
		s.below = append(s.below, t)
	}
	return s
}

func newStage(of component) *stage {
	t := &stage{of: of}
	if isSeparable(of) {
		t.p, _ = of.homogeneous()
		_, t.a, _ = of.feature(0, 1, 1)
	}
	return t
}

// identity reports whether c2 is c itself.
func (t *stage) identity() bool {
	switch t.of.(type) {
	case linear, bhattacharyya:
		return true
	}
	return false
}

// fast reports whether row has something better than value by value.
func (t *stage) fast() bool {
	switch t.of.(type) {
	case gaussian, polynomial:
		return true
	}
	return isSeparable(t.of)
}

func isSeparable(k component) bool {
	_, ok := k.homogeneous()
	return ok
}

// table returns the table of a separable stage.
func (t *stage) table() *piecewise {
	t.once.Do(func() {
		t.c2 = newPiecewise(func(c float64) float64 {
			c2, _, _ := t.of.feature(c, 1, 1)
			return c2
		})
	})
	return t.c2
}

// norm returns the norm in the feature space of a document with norm x.
func (t *stage) norm(x float32) float32 { return float32(t.norm64(x)) }

func (t *stage) norm64(x float32) float64 {
	if t.sum != nil {
		return t.sum.norm64(x)
	}
	switch k := t.of.(type) {
	case gaussian:
		return 1
	case polynomial:
		if a := math.Sqrt(k.gamma*float64(x)*float64(x) + k.r); k.gamma != 0 {
			return power(a, k.degree)
		}
	default:
		if isSeparable(k) && t.p >= 0 && t.p == math.Trunc(t.p) { // power takes no others
			return t.a * power(float64(x), int(t.p))
		}
	}
	_, x2, _ := t.of.feature(0, float64(x), float64(x))
	return x2
}

// oneMinusExp is 1 - exp(-v).
var oneMinusExp = newHalfLine(func(v float64) float64 { return -math.Expm1(-v) })

// root returns what a row needs to know of a document with norm x more than that: √(γx²+r) of a polynomial.
func (t *stage) root(x float32) float64 {
	if k, ok := t.of.(polynomial); ok {
		return math.Sqrt(k.gamma*float64(x)*float64(x) + k.r)
	}
	return 0
}

// row maps c and the norms to c2: dst[j] = c2(c[j], x, y[j]), given the roots of the y; dst may be c. The buffer is as long as they are.
func (t *stage) row(asm *asm.Kernels, dst, c []float32, x float32, y []float32, roots, buffer []float64) {
	if t.identity() {
		copy(dst, c)
		return
	}
	if isSeparable(t.of) {
		t.table().apply(asm, dst, c)
		return
	}
	c = c[:len(y)]
	switch k := t.of.(type) {
	case gaussian:
		k.exponents(buffer, c, float64(x), y)
		oneMinusExp.row(dst, buffer)
	case polynomial:
		k.featureRow(buffer, c, float64(x), y, t.root(x), roots)
		dst = dst[:len(buffer)]
		switch k.degree {
		case 1:
			for j, c := range buffer {
				dst[j] = float32(c)
			}
		case 2:
			for j, c := range buffer {
				dst[j] = float32(c * (2 - c))
			}
		case 3:
			for j, c := range buffer {
				dst[j] = float32(c * (1 + float64((1-c)*(2-c))))
			}
		default:
			for j, c := range buffer {
				dst[j] = float32(powerDeficit(c, k.degree))
			}
		}
	default:
		for j, v := range c {
			c2, _, _ := k.feature(float64(v), float64(x), float64(y[j]))
			dst[j] = float32(c2)
		}
	}
}

// exponents computes gaussian.exponent for a row.
func (k gaussian) exponents(to []float64, c []float32, x float64, y []float32) {
	gamma := k.gamma
	if gamma == 0 {
		gamma = math.NaN()
	}
	to, c = to[:len(y)], c[:len(y)]
	for j, yj := range y {
		y := float64(yj)
		d := x - y
		to[j] = gamma * (float64(d*d) + float64(2*float64(c[j])*float64(x*y)))
	}
}

// featureRow computes polynomial.base for a row, with one division; root and roots are the √(γx²+r).
func (k polynomial) featureRow(to []float64, c []float32, x float64, y []float32, root float64, roots []float64) {
	gamma, r, gr := k.gamma, k.r, k.gamma*k.r
	to, c, roots = to[:len(y)], c[:len(y)], roots[:len(y)]
	for j, yj := range y {
		v, y, both := float64(c[j]), float64(yj), float64(root*roots[j])
		if both > 0 {
			d, xy := x-y, gamma*float64(x*y)
			sum := both + (xy + r)
			v = (float64(gr*float64(d*d)) + float64(float64(xy*v)*sum)) / float64(sum*both)
		}
		to[j] = v
	}
}

// error bounds the error of what row computes, of the value c2.
func (t *stage) error(c, x, y, c2 float64) float64 {
	if t.sum != nil {
		return t.sum.error(c, x, y, c2)
	}
	if t.identity() {
		return 0
	}
	if isSeparable(t.of) {
		return t.table().error(c, c2)
	}
	return (unit+halfLineError)*c2 + underflow
}

// composeRoom is scratch space for a block of a composition.
type composeRoom struct {
	x     [32]float32 // norms of rows that go to the top together, so that it looks at the columns' once
	y     [mostStages][chunk]float32
	roots [mostStages][chunk]float64
	sum   sumRoom
}

var composeRooms = sync.Pool{New: func() any { return new(composeRoom) }}

// rows takes a row through all stages and then through the top's own map; the norms of columns go through them once for all rows.
func (f composed) rows(asm *asm.Kernels, b *block) {
	if len(f.plan.below) > mostStages {
		for i, x := range b.x {
			dst, c := b.row(i)
			for j, y := range b.y {
				dst[j] = float32(f.value(float64(c[j]), float64(x), float64(y)))
			}
		}
		return
	}
	s := composeRooms.Get().(*composeRoom)
	defer composeRooms.Put(s)
	n, top := len(b.y), f.plan.top
	y := b.y
	for l, t := range f.plan.below {
		for j, v := range y {
			s.y[l][j], s.roots[l][j] = t.norm(v), t.root(v)
		}
		if t.sum != nil {
			t.sum.columns(&s.sum, y)
		}
		y = s.y[l][:n]
	}
	for lo := 0; lo < len(b.x); lo += len(s.x) {
		hi := min(lo+len(s.x), len(b.x))
		for i, x := range b.x[lo:hi] {
			dst, c := b.row(lo + i)
			y := b.y
			for l, t := range f.plan.below {
				if t.sum != nil {
					t.sum.row(asm, &s.sum, dst, c, x, y, b.sum[:n])
				} else {
					t.row(asm, dst, c, x, y, s.roots[l][:n], b.sum[:n])
				}
				c, x, y = dst, t.norm(x), s.y[l][:n]
			}
			s.x[i] = x
			if n != b.stride {
				top.Map(asm, dst, dst, s.x[i:i+1], y)
			}
		}
		if n == b.stride {
			tile := b.dst[lo*n : hi*n]
			top.Map(asm, tile, tile, s.x[:hi-lo], y)
		}
	}
}

// error follows a box around c and the norms through the stages: each turns it into the box around what its corners become, widened by its own error and
// one rounding of each norm. At the top it is the greatest change of the value at a corner and the top's own error there. Kernels are monotone or convex in each
// variable over so small a box.
func (f composed) error(c, x, y float64) float64 {
	if len(f.plan.below) > mostStages {
		return unit*math.Abs(f.value(c, x, y)) + underflow
	}
	var box [3]float64 // half widths
	for _, t := range f.plan.below {
		c2, x2, y2 := t.of.feature(c, x, y)
		if !(x2 <= math.MaxFloat32/2 && y2 <= math.MaxFloat32/2) {
			return math.Inf(1)
		}
		next := [3]float64{t.error(c, x, y, c2), unit*x2 + underflow, unit*y2 + underflow}
		own := next
		corners(c, x, y, box, func(c, x, y float64) {
			c3, x3, y3 := t.of.feature(c, x, y)
			next = [3]float64{max(next[0], math.Abs(c3-c2)+t.error(c, x, y, c3)), max(next[1], math.Abs(x3-x2)+own[1]), max(next[2], math.Abs(y3-y2)+own[2])}
		})
		c, x, y, box = c2, x2, y2, next
	}
	top := f.plan.top
	v := top.Eval(c, x, y)
	err := partError(top, c, x, y)
	corners(c, x, y, box, func(c, x, y float64) { err = max(err, math.Abs(top.Eval(c, x, y)-v)+top.Error(c, x, y)) })
	return err
}

// corners visits the corners of a box with the given half widths around a point, as far as they are points.
func corners(c, x, y float64, half [3]float64, visit func(c, x, y float64)) {
	if half == ([3]float64{}) {
		return
	}
	for k := range 8 {
		at := func(v float64, axis int) float64 { return max(v+half[axis]*float64(k>>axis&1*2-1), 0) }
		visit(min(at(c, 0), 2), at(x, 1), at(y, 2))
	}
}
