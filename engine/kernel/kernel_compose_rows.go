package kernel

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
)

// composeRoom is scratch space for a block of a composition.
type composeRoom struct {
	x      [32]float32 // norms of rows that go to the top together, so that it looks at the columns' once
	y      [mostStages][chunk]float32
	stages [mostStages]stageRoom
	sum    sumRoom
	wild   []int       // columns
	kept   []keptValue // of some rows
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
func (s *composeRoom) keep(f composed, row, j int, c []float32, x float32, y []float32) {
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

// mapTop maps a row of c of the top in place. Feature spaces have norms whose product float32 doesn't hold, though it may hold the value of the top: such pairs go through float64.
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

// error follows a box around c and the norms through the stages: each turns it into the box around what its corners become, widened by its own error and
// one rounding of each norm. At the top it is the greatest change of the value at a corner and the top's own error there. Kernels are monotone or convex in each
// variable over so small a box.
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
			next = [3]float64{max(next[0], math.Abs(c3-c2)+t.error(c, x, y, c3)), max(next[1], math.Abs(x3-x2)+own[1]), max(next[2], math.Abs(y3-y2)+own[2])}
		})
		c, x, y, box = c2, x2, y2, next
	}
	top := f.plan.top
	v := top.Eval(c, x, y)
	err := f.plan.topError(c, x, y)
	corners(c, x, y, box, func(c, x, y float64) { err = max(err, math.Abs(top.Eval(c, x, y)-v)+f.plan.topError(c, x, y)) })
	return err
}

// topError bounds the error of mapTop. Norms that are off by some roundings may fall on either side of the limit.
func (s *stages) topError(c, x, y float64) float64 {
	rounding := unit*math.Abs(s.top.Eval(c, x, y)) + underflow
	if x*y > 2*s.most {
		return rounding
	}
	return max(rounding, partError(s.top, c, x, y))
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
