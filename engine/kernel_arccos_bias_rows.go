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
}

var biasRooms = sync.Pool{New: func() any { return new(biasRoom) }}

// rows hands a row to asm.Kernels.Wedge, with the numbers of its document and of the columns'.
func (f arcBias) rows(k *asm.Kernels, b *block) {
	s := biasRooms.Get().(*biasRoom)
	defer biasRooms.Put(s)
	table, bias, n := arccosine.AllSides(), math.Abs(f.bias), len(b.y)
	for j := range (n + asm.WedgeGroup - 1) / asm.WedgeGroup * asm.WedgeGroup {
		h := 0.0
		if j < n {
			s.norms[j] = f.lengthenedNorm(b.y[j])
			h = bias / s.norms[j]
		}
		table.At(s.cols[j/asm.WedgeGroup*asm.WedgeGroup*asm.WedgeNumbers+j%asm.WedgeGroup:], asm.WedgeGroup, h, f.bias < 0)
	}
	for i, xi := range b.x {
		dst, c := b.row(i)
		if f.sigma > 0 {
			smoothRow(s.c[:n], c, float64(xi), b.y, f.sigma, s.norms[:n])
			c = s.c[:n]
		}
		table.At(s.one[:], 1, bias/f.lengthenedNorm(xi), f.bias < 0)
		k.Wedge(dst, c, s.one[:], s.cols[:])
	}
}

// lengthenedNorm returns the norm with the coordinate that smooths thresholds.
func (f arcBias) lengthenedNorm(x float32) float64 {
	if f.sigma == 0 {
		return float64(x)
	}
	return smoothNorm(float64(x), f.sigma)
}

// error is what asm.Kernels.Wedge states, more for a side's numbers and for h itself, which are rounded, see arccosine.SidesError, and the rounding of what a bias
// below 0 adds. A c that is smoothed is rounded, too. At the end there is the rounding of the result.
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
