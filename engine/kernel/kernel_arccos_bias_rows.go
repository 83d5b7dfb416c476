package kernel

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/arccosine"
)

// biasRoom is scratch space for a block.
type biasRoom struct {
	kept *biasStore
	cols biasColumns
	one  [asm.BivariateNumbers]float32 // the row's side
	c    [chunk]float32
}

var biasRooms = sync.Pool{New: func() any { return &biasRoom{kept: sharedBiasStore()} }}

// rows hands a row to asm.Kernels.BivariateTail, with the numbers of its document and of the
// columns'.
func (f arcBias) rows(k *asm.Kernels, b *block) {
	table, bias := arccosine.AllSides(), math.Abs(f.bias)
	if len(b.x) == 1 && len(b.y) == 1 && f.sigma == 0 && b.x[0] == b.y[0] {
		if dst, c := b.row(0); c[0] == 0 { // a diagonal is asked for value by value
			dst[0] = table.Diagonal(bias/float64(b.x[0]), f.bias < 0)
			return
		}
	}
	s := biasRooms.Get().(*biasRoom)
	defer biasRooms.Put(s)
	cols := &s.cols
	if len(b.x) < biasFewRows && len(b.y) >= asm.BivariateGroup {
		cols = s.kept.columns(f, b.y, cols)
	} else {
		cols.make(f, b.y)
	}
	for i, xi := range b.x {
		dst, c := b.row(i)
		table.At(s.one[:], 1, bias/f.lengthenedNorm(xi), f.bias < 0)
		if f.bias > 0 && s.one[0] >= asm.BivariateMost {
			clear(dst) // as the kernel would
			continue
		}
		if f.sigma > 0 {
			smoothRow(s.c[:len(c)], c, smoothGap(float64(xi), f.sigma), cols.gaps)
			c = s.c[:len(c)]
		}
		k.BivariateTail(dst, c, s.one[:], cols.sides)
	}
}

// lengthenedNorm returns the norm with the coordinate that smooths thresholds.
func (f arcBias) lengthenedNorm(x float32) float64 {
	if f.sigma == 0 {
		return float64(x)
	}
	return smoothNorm(float64(x), f.sigma)
}

// error is what asm.Kernels.BivariateTail states, more for a side's numbers and for h itself, which
// are rounded, see arccosine.SidesError, and the rounding of what a bias below 0 adds. A c that is
// smoothed is rounded, too. At the end there is the rounding of the result.
func (f arcBias) error(c, x, y float64) float64 {
	v := f.value(c, x, y)
	var moved float64
	if f.sigma > 0 {
		s, a, b := f.lengthened(c, x, y)
		at := arccosine.Biased(s, a, b, f.bias)
		moved = max(math.Abs(arccosine.Biased(s*(1-unit), a, b, f.bias)-at), math.Abs(arccosine.Biased(min(s*(1+unit), 2), a, b, f.bias)-at))
		c, x, y = s, a, b
	}
	err := arccosine.SidesError(c, math.Abs(f.bias)/x, math.Abs(f.bias)/y)
	if f.bias < 0 {
		err += unit * 6
	}
	return moved + err + unit*(v+moved+err) + underflow
}
