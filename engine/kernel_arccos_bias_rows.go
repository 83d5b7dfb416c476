package engine

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/arccosine"
)

// biasRoom is scratch space for a block.
type biasRoom struct {
	cols  [chunk * asm.WedgeNumbers]float32 // the columns' sides, as asm.Kernels.Wedge wants them
	one   [asm.WedgeNumbers]float32         // the row's
	norms [chunk]float64                    // of the columns, lengthened
	c     [chunk]float32
	far   []int // columns without a side

	sides [chunk]arccosine.Side // of far columns, or of all where the row is far
	made  [chunk]bool
	row   arccosine.Side
}

var biasRooms = sync.Pool{New: func() any { return &biasRoom{far: make([]int, 0, chunk)} }}

// rows hands a row to asm.Kernels.Wedge, with the numbers of its document and of the columns'. Documents so much shorter than the bias that they have no such
// numbers go through the table of two variables, with all others.
func (f arcBias) rows(k *asm.Kernels, b *block) {
	s := biasRooms.Get().(*biasRoom)
	defer biasRooms.Put(s)
	table, bias, n := arccosine.AllSides(), math.Abs(f.bias), len(b.y)
	s.far = s.far[:0]
	clear(s.made[:n])
	for j := range (n + asm.WedgeGroup - 1) / asm.WedgeGroup * asm.WedgeGroup {
		h := 0.0
		if j < n {
			s.norms[j] = f.lengthenedNorm(b.y[j])
			if h = bias / s.norms[j]; !(h <= arccosine.WedgeLimit) {
				s.far = append(s.far, j)
				h = 0
			}
		}
		table.At(s.cols[j/asm.WedgeGroup*asm.WedgeGroup*asm.WedgeNumbers+j%asm.WedgeGroup:], asm.WedgeGroup, h, f.bias < 0)
	}
	for i, xi := range b.x {
		dst, c := b.row(i)
		x := f.lengthenedNorm(xi)
		if f.sigma > 0 {
			smoothRow(s.c[:n], c, float64(xi), b.y, f.sigma, s.norms[:n])
			c = s.c[:n]
		}
		h := bias / x
		near := h <= arccosine.WedgeLimit
		if !near || len(s.far) > 0 {
			if &c[0] == &dst[0] { // c is wanted once more
				c = s.c[:copy(s.c[:], c)]
			}
			arccosine.Thresholds().Side(&s.row, h)
		}
		if !near {
			for j := range dst {
				dst[j] = f.farValue(s, j, x, c[j])
			}
			continue
		}
		table.At(s.one[:], 1, h, f.bias < 0)
		k.Wedge(dst, c, s.one[:], s.cols[:])
		for _, j := range s.far {
			dst[j] = f.farValue(s, j, x, c[j])
		}
	}
}

// lengthenedNorm returns the norm with the coordinate that smooths thresholds.
func (f arcBias) lengthenedNorm(x float32) float64 {
	if f.sigma == 0 {
		return float64(x)
	}
	return smoothNorm(float64(x), f.sigma)
}

// farValue maps one value of the row whose side s.row is, in float64.
func (f arcBias) farValue(s *biasRoom, j int, x float64, c float32) float32 {
	table := arccosine.Thresholds()
	if !s.made[j] {
		s.made[j] = true
		table.Side(&s.sides[j], math.Abs(f.bias)/s.norms[j])
	}
	p, q := arccosine.Cotangents(float64(c), x, s.norms[j])
	v := (table.Sector(&s.row, p) + table.Sector(&s.sides[j], q)) / math.Pi
	if f.bias < 0 {
		v += s.row.Inner() + s.sides[j].Inner()
	}
	return float32(v)
}

// error: with a side each, what asm.Kernels.Wedge states, two units of exp(-h²/2) more for a side's numbers and for h itself, which are rounded; otherwise what
// the table of two variables states for both documents, and float64 rounding relative to the largest term, 2 for b < 0. A c that is smoothed is rounded, too.
// At the end there is the rounding of the result.
func (f arcBias) error(c, x, y float64) float64 {
	v := f.value(c, x, y)
	var moved float64
	if f.sigma > 0 {
		s, a, b := f.lengthened(c, x, y)
		at := arccosine.Biased(s, a, b, f.bias)
		moved = max(math.Abs(arccosine.Biased(s*(1-unit), a, b, f.bias)-at), math.Abs(arccosine.Biased(min(s*(1+unit), 2), a, b, f.bias)-at))
		c, x, y = s, a, b
	}
	h, k := math.Abs(f.bias)/x, math.Abs(f.bias)/y
	var err float64
	if max(h, k) <= arccosine.WedgeLimit {
		p, q := arccosine.Cotangents(c, x, y)
		e1, m1 := arccosine.Scale(h, p)
		e2, m2 := arccosine.Scale(k, q)
		err = unit*(8*(e1+e2)+(m1+m2)) + 64*underflow
		if f.bias < 0 {
			err += unit * 6
		}
	} else {
		table := arccosine.Thresholds()
		err = (table.Bound(h)+table.Bound(k))/math.Pi + 0x1p-48*(math.Erfc(h/math.Sqrt2)+math.Erfc(k/math.Sqrt2)+v)
	}
	return moved + err + unit*(v+moved+err) + underflow
}
