//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"math"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/cuda/internal/timemodel"
)

// quads is how many groups of four terms the dense end has for the kernel, which takes timemodel.DenseStep
// at a time; those that are missing are zeros.
func (l *layout) quads() int {
	return (l.dense + timemodel.DenseStep - 1) / timemodel.DenseStep * (timemodel.DenseStep / 4)
}

// quad is the digits of four terms: of each term in turn those of 2^24, then those of 2^16, 2^8 and
// 1, see kernels/tensor.h.
type quad [4][4]int8

// digitScale is what values, in units of their document's scale, are multiplied with before they
// are rounded to whole numbers: the greatest for which the first digit fits.
const digitScale = 127 << 24

// digits returns the digits of a value from -1 to 1 in base 256, from -128 to 127, the greatest
// first.
func digits(v float64) [4]int8 {
	// added to all but the first digit, so that they are above 0; their highest bit back is their
	// sign
	const half = 0x808080
	q := int32(math.RoundToEven(min(max(v, -1), 1) * digitScale))
	u := uint32(q+half) ^ half
	return [4]int8{int8(u >> 24), int8(u >> 16), int8(u >> 8), int8(u)}
}

// leastScale is the exponent of the least scale that a document may have: with a lesser one the
// sums of the first digits' products might not fit, see kernels/tensor.h.
const leastScale = -4

// fillDense writes the dense end of a document, of the values unit of some terms, to its quads, and
// returns its scale.
func (l *layout) fillDense(quads []quad, terms []uint32, unit []float64) (scale float32) {
	var most float64
	for k, t := range terms {
		if int(l.rank[t]) < l.dense {
			most = max(most, math.Abs(unit[k]))
		}
	}
	_, exponent := math.Frexp(most)
	exponent = max(min(exponent, 0), leastScale)
	inverse := math.Ldexp(1, -exponent)
	clear(quads)
	for k, t := range terms {
		r := int(l.rank[t])
		if r >= l.dense {
			continue
		}
		for n, d := range digits(unit[k] * inverse) {
			quads[r/4][n][r%4] = d
		}
	}
	return float32(math.Ldexp(1, exponent))
}

// densePiece is how many bytes of the dense end are made at a time.
const densePiece = 4 << 20

// uploadDense copies the dense end of documents, [documents][quads], and their scales, and returns
// the addresses of both, 0 where there is none.
func (l *layout) uploadDense(ctx context.Context, p *pool, s *split) (at, scaleAt uint64, err error) {
	quads, n := l.quads(), len(s.exact)-1
	if quads == 0 {
		return 0, 0, nil
	}
	const size = 16
	m, err := p.alloc(int64(n) * int64(quads) * size)
	if err != nil {
		return 0, 0, err
	}
	scale := make([]float32, n+tensorColumns) // a block reads as many, beyond the last document, too
	piece := make([]quad, min(n, max(densePiece/size/quads, 1))*quads)
	for first := 0; first < n; {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		end := min(first+len(piece)/quads, n)
		for i := first; i < end; i++ {
			lo, hi := s.exact[i], s.exact[i+1]
			scale[i] = l.fillDense(piece[(i-first)*quads:][:quads], s.exactTerm[lo:hi], s.exactValue[lo:hi])
		}
		place := m.at + cu.DevicePtr(int64(first)*int64(quads)*size)
		if err := write(memory{at: place}, piece[:(end-first)*quads]); err != nil {
			return 0, 0, err
		}
		first = end
	}
	scaleAt, err = upload(p, scale)
	return uint64(m.at), scaleAt, err
}
