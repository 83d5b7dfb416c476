package kernel

import (
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/gramengine/gram/asm"
)

func init() {
	register(family{
		Info: Info{
			Name: "compose", Summary: "k_ℓ on the feature space of k_ℓ₋₁ … on that of k₁",
			Parts:    "kernels, from the bottom up",
			What:     "layers: each kernel is given the cosine and the norms in the feature space of the one before it",
			Source:   sourceCho + ", ch. 4",
			Examples: []string{"compose(arccos:n=1,arccos:n=0,layers=3)", "compose(arccos:n=0,rbf:gamma=1)"},
		},
		place: 190,
		params: []param{
			whole("layers", "number of layers, no fewer than kernels: the last is repeated; 0 for one of each", 0, 0,
				mostLayers),
		},
		check:  checkCompose,
		layers: func(v []float64) int { return int(v[0]) },
		combine: func(parts []component, _, _ []float64) component {
			if len(parts) == 1 {
				return parts[0]
			}
			return compile(compose(parts))
		},
	})
}

// checkCompose finds the first layer that won't do.
func checkCompose(parts []component, v []float64) (int, string) {
	if n := int(v[0]); n > 0 && n < len(parts) {
		return n, fmt.Sprintf("no more kernels than layers=%d", n)
	}
	layers, total := 0, 0
	for i, p := range parts {
		repeated := 1
		if i == len(parts)-1 {
			repeated = max(int(v[0])-i, 1)
		}
		if (i < len(parts)-1 || repeated > 1) && !p.Properties().PositiveDiagonal {
			return i, needsDiagonal + ", below another layer"
		}
		each := 1
		if inner, ok := as[composed](p); ok {
			each = len(inner.of)
		}
		if layers += each * repeated; layers > mostLayers {
			return i, fmt.Sprintf("at most %d layers", mostLayers)
		}
		if total += leaves(p) * repeated; total > mostLeaves {
			return i, fmt.Sprintf("at most %d kernels in all", mostLeaves)
		}
	}
	return 0, ""
}

// composed is a kernel on the feature space of another, that on the feature space of a third, and
// so on, from the bottom up: with (c₀, x₀, y₀) what two documents have, and (cᵢ, xᵢ, yᵢ) what layer
// i makes of (cᵢ₋₁, xᵢ₋₁, yᵢ₋₁), see component.feature,
//
//	k = k_ℓ(c_ℓ₋₁, x_ℓ₋₁, y_ℓ₋₁)
//
// The diagonal goes along as the norms x and y. With arc-cosine layers of degree n it is
//
//	k⁽ˡ⁺¹⁾(x, y) = (1/π) [k⁽ˡ⁾(x, x) k⁽ˡ⁾(y, y)]^(n/2) J_n(θ⁽ˡ⁾)
//	θ⁽ˡ⁾ = arccos( k⁽ˡ⁾(x, y) / √(k⁽ˡ⁾(x, x) k⁽ˡ⁾(y, y)) )
//
// Source: Cho's thesis, ch. 4; Cho and Saul, NIPS 2009, eq. 12.
type composed struct {
	combination
	plan *stages // where it isn't separable
}

// compose makes the form of layers, from the bottom up. Composition is associative, so layers that
// are compositions are taken apart.
func compose(layers []component) form {
	var flat []component
	for _, l := range layers {
		if inner, ok := as[composed](l); ok {
			flat = append(flat, inner.of...)
		} else {
			flat = append(flat, l)
		}
	}
	f := composed{combination: combination{flat}}
	if _, separable := f.homogeneous(); !separable {
		f.plan = plan(flat)
	}
	return f
}

func (f composed) with(of []component) form { return compose(of) }

// spec writes layers of one and the same arc-cosine kernel in the short form.
func (f composed) spec() string {
	n, e, ok := shortLayer(f.of[0])
	for _, l := range f.of[1:] {
		other, _, also := shortLayer(l)
		ok = ok && also && other == n
	}
	if ok {
		return format("arccos", e, pair{"n", n}, pair{"layers", float64(len(f.of))})
	}
	var args []string
	for _, l := range f.of {
		args = append(args, enclose(l)) // so that the keys at its end are not taken for those of the composition
	}
	return "compose(" + strings.Join(args, ",") + ")"
}

func (f composed) properties() Properties {
	top := f.of[len(f.of)-1].Properties()
	p := Properties{
		Source:           sourceCho + ", ch. 4",
		Condition:        f.conditions(),
		NonNegative:      top.NonNegative,
		NonPositive:      top.NonPositive,
		PositiveDiagonal: top.PositiveDiagonal,
		Falling:          f.all(isFalling), // so that c of the feature space rises with c
	}
	if p = p.like(f.of); p.Definite == NotProven && top.Definite == ConditionallyPositive &&
		p.like(f.of[:len(f.of)-1]).Definite == Positive {
		p.Definite = ConditionallyPositive
	}
	return p
}

// below returns what the top layer is given.
func (f composed) below(c, x, y float64) (float64, float64, float64) {
	for _, l := range f.of[:len(f.of)-1] {
		c, x, y = l.feature(c, x, y)
		c = min(max(c, 0), 2) // what rounding may have taken beyond
	}
	return c, x, y
}

func (f composed) value(c, x, y float64) float64 {
	c, x, y = f.below(c, x, y)
	return f.of[len(f.of)-1].Eval(c, x, y)
}

func (f composed) feature(c, x, y float64) (float64, float64, float64) {
	c, x, y = f.below(c, x, y)
	return f.of[len(f.of)-1].feature(c, x, y)
}

// degree: powers of powers; and once the norms are gone, whatever comes above is a function of c
// alone.
func (f composed) homogeneous() (float64, bool) {
	d := 1.0
	for _, l := range f.of {
		p, ok := l.homogeneous()
		switch {
		case ok:
			d *= p
		case d != 0:
			return 0, false
		}
	}
	return d, true
}

// noise: of a c near 1 a layer that wants 1-c has no digits below 2⁻⁵³; a power of it changes up to
// 64 times as much.
func (f composed) noise() float64 { return 0x1p-46 * math.Abs(f.value(0, 1, 1)) }

func (f composed) program(b *programBuilder, l layer) {
	for _, t := range f.plan.below {
		l = b.feature(t.of, l)
	}
	b.value(f.plan.top, l)
}

func (f composed) deficitProgram(b *programBuilder, l layer) {
	for _, t := range f.plan.below {
		l = b.feature(t.of, l)
	}
	b.deficit(f.plan.top, l)
}

// composeScratch is scratch space for a block of a composition.
type composeScratch struct {
	x      [32]float32 // norms of rows that go to the top together, so that it looks at the columns' once
	y      [mostStages][chunk]float32
	stages [mostStages]layerScratch
	sum    sumScratch
	wild   []int       // columns
	kept   []keptValue // of some rows
}

var composeScratches = sync.Pool{New: func() any { return new(composeScratch) }}

// rows takes a row through all stages and then through the top's own map; the norms of columns go
// through them once for all rows.
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
	s := composeScratches.Get().(*composeScratch)
	defer composeScratches.Put(s)
	n, y := len(b.y), b.y
	for l, t := range f.plan.below {
		if t.sum != nil {
			t.sum.columns(&s.sum, s.y[l][:n], y)
		} else {
			t.columns(&s.stages[l], y)
			for j, v := range y {
				s.y[l][j] = float32(t.norm64(v))
			}
		}
		y = s.y[l][:n]
	}
	s.wild = s.wild[:0]
	for j, v := range b.y {
		if f.plan.isWild(v) {
			s.wild = append(s.wild, j)
		}
	}
	var longest float32
	for _, v := range y {
		longest = max(longest, v)
	}
	tops := y
	for lo := 0; lo < len(b.x); lo += len(s.x) {
		hi := min(lo+len(s.x), len(b.x))
		together := n == b.stride
		s.kept = s.kept[:0]
		for i, x := range b.x[lo:hi] {
			dst, c := b.row(lo + i)
			y := b.y
			if f.plan.isWild(x) {
				for j := range y {
					s.keep(f, lo+i, j, c, x, y)
				}
			} else {
				for _, j := range s.wild {
					s.keep(f, lo+i, j, c, x, y)
				}
			}
			for l, t := range f.plan.below {
				if t.sum != nil {
					x = t.sum.row(asm, &s.sum, dst, c, x, y)
				} else {
					t.row(asm, &s.stages[l], dst, c, x, y)
					x = float32(t.norm64(x))
				}
				c, y = dst, s.y[l][:n]
			}
			s.x[i] = x
			together = together && !f.plan.long(x, longest)
		}
		if together {
			tile := b.dst[lo*n : hi*n]
			f.plan.top.mapTo(asm, tile, tile, s.x[:hi-lo], tops)
		} else {
			for i := range hi - lo {
				dst, _ := b.row(lo + i)
				f.plan.mapTop(asm, dst, s.x[i:i+1], tops, longest)
			}
		}
		for _, v := range s.kept {
			dst, _ := b.row(v.row)
			dst[v.column] = v.value
		}
	}
}

// keptValue is a value of a pair whose norms are beyond float32 in a feature space: it goes through
// float64 alone.
type keptValue struct {
	row, column int
	value       float32
}

// keep computes such a value before its c is overwritten.
func (s *composeScratch) keep(f composed, row, j int, c []float32, x float32, y []float32) {
	s.kept = append(s.kept, keptValue{row, j, float32(f.value(float64(c[j]), float64(x), float64(y[j])))})
}

// mostLength bounds the norms in feature spaces that go through float32.
const mostLength = math.MaxFloat32 / 2

// isWild reports whether a document with norm x has a norm beyond mostLength in the feature space
// of any stage.
func (s *stages) isWild(x float32) bool {
	for _, t := range s.below {
		v := t.norm(x)
		if !(v <= mostLength) {
			return true
		}
		x = float32(v)
	}
	return false
}

// mapTop maps a row of c of the top in place. Feature spaces have norms whose product float32
// doesn't hold, though it may hold the value of the top: such pairs go through float64.
func (s *stages) mapTop(k *asm.Kernels, row, x, y []float32, longest float32) {
	if !s.long(x[0], longest) {
		s.top.mapTo(k, row, row, x, y)
		return
	}
	for j := range row {
		if at := row[j : j+1]; s.long(x[0], y[j]) {
			mapValues(s.top, at, at, x[0], y[j:j+1])
		} else {
			s.top.mapTo(k, at, at, x, y[j:j+1])
		}
	}
}

// long reports whether the product of norms is too great for the top's own map.
func (s *stages) long(x, y float32) bool { return float64(x)*float64(y) > s.most }

// error follows a box around c and the norms through the stages: each turns it into the box around
// what its corners become, widened by its own error and one rounding of each norm. At the top it is
// the greatest change of the value at a corner and the top's own error there. Kernels are monotone
// or convex in each variable over so small a box.
func (f composed) error(c, x, y float64) float64 {
	if len(f.plan.below) > mostStages {
		return unit*math.Abs(f.value(c, x, y)) + underflow
	}
	given := [3]float64{c, x, y}
	var box [3]float64 // half widths
	for _, t := range f.plan.below {
		c2, x2, y2 := t.of.feature(c, x, y)
		if longest := max(x2, y2); !(longest <= mostLength/1.001) {
			if longest > mostLength*1.001 { // the value goes through float64 alone
				return unit*math.Abs(f.value(given[0], given[1], given[2])) + underflow
			}
			return math.Inf(1) // either way may be taken
		}
		next := [3]float64{t.error(c, x, y, c2), unit*x2 + underflow, unit*y2 + underflow}
		own := next
		corners(c, x, y, box, func(c, x, y float64) {
			c3, x3, y3 := t.of.feature(c, x, y)
			next = [3]float64{
				max(next[0], math.Abs(c3-c2)+t.error(c, x, y, c3)),
				max(next[1], math.Abs(x3-x2)+own[1]),
				max(next[2], math.Abs(y3-y2)+own[2]),
			}
		})
		c, x, y, box = c2, x2, y2, next
	}
	top := f.plan.top
	v := top.Eval(c, x, y)
	err := f.plan.topError(c, x, y)
	corners(c, x, y, box,
		func(c, x, y float64) { err = max(err, math.Abs(top.Eval(c, x, y)-v)+f.plan.topError(c, x, y)) })
	return err
}

// topError bounds the error of mapTop. Norms that are off by some roundings may fall on either side
// of the limit.
func (s *stages) topError(c, x, y float64) float64 {
	rounding := unit*math.Abs(s.top.Eval(c, x, y)) + underflow
	if x*y > 2*s.most {
		return rounding
	}
	return max(rounding, partError(s.top, c, x, y))
}

// corners visits the corners of a box with the given half widths around a point, as far as they are
// points.
func corners(c, x, y float64, half [3]float64, visit func(c, x, y float64)) {
	if half == ([3]float64{}) {
		return
	}
	for k := range 8 {
		at := func(v float64, axis int) float64 { return max(v+half[axis]*float64(k>>axis&1*2-1), 0) }
		visit(min(at(c, 0), 2), at(x, 1), at(y, 2))
	}
}
