//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"math"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/cuda/internal/timemodel"
)

// steps returns the number of steps, each of timemodel.DenseStep dense terms. The last step is
// padded with zeros.
func (l *layout) steps() int { return (l.dense + timemodel.DenseStep - 1) / timemodel.DenseStep }

// step holds the digits of DenseStep values of a document: step[n][k] is digit n of value k. Digits
// 0 to 3 have the weights 2^24, 2^16, 2^8 and 1. See kernels/tensor.h.
type step [4][timemodel.DenseStep]int8

// digitScale multiplies values before they are rounded to integers. With this scale, the first
// digit of the value 1 is 127, the maximum int8.
const digitScale = 127 << 24

// digits rounds v·digitScale to an integer and returns its base-256 digits, the most significant
// digit first. Each digit is in [-128, 127]. v is clamped to [-1, 1].
func digits(v float64) [4]int8 {
	// Adding half makes the last three digits nonnegative. Flipping their highest bits then
	// subtracts 128 from each of these digits.
	const half = 0x808080
	q := int32(math.RoundToEven(min(max(v, -1), 1) * digitScale))
	u := uint32(q+half) ^ half
	return [4]int8{int8(u >> 24), int8(u >> 16), int8(u >> 8), int8(u)}
}

const minScale = -4

// fillDense divides a document's dense values by scale, a power of two, and writes the digits of
// the quotients to steps.
func (l *layout) fillDense(steps []step, terms []uint32, unit []float64) (scale float32) {
	var most float64
	for k, t := range terms {
		if int(l.rank[t]) < l.dense {
			most = max(most, math.Abs(unit[k]))
		}
	}
	_, exponent := math.Frexp(most)
	exponent = max(min(exponent, 0), minScale)
	inverse := math.Ldexp(1, -exponent)
	clear(steps)
	for k, t := range terms {
		r := int(l.rank[t])
		if r >= l.dense {
			continue
		}
		for n, d := range digits(unit[k] * inverse) {
			steps[r/timemodel.DenseStep][n][r%timemodel.DenseStep] = d
		}
	}
	return float32(math.Ldexp(1, exponent))
}

// denseBatchBytes is the approximate size in bytes of the digits in one copy to the device.
const denseBatchBytes = 4 << 20

// uploadDense copies digits, in the order [document][step], and the documents' scales to the
// device. It returns the addresses of digits and scales, or 0 if there are no dense terms.
func (l *layout) uploadDense(ctx context.Context, p *pool, s *deviceFormat) (at, scaleAt uint64, err error) {
	steps, n := l.steps(), len(s.exact)-1
	if steps == 0 {
		return 0, 0, nil
	}
	const size = 4 * timemodel.DenseStep
	m, err := p.alloc(int64(n) * int64(steps) * size)
	if err != nil {
		return 0, 0, err
	}
	scale := make([]float32, n+tensorColumns) // thread blocks read past the last document
	piece := make([]step, min(n, max(denseBatchBytes/size/steps, 1))*steps)
	for first := 0; first < n; {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		end := min(first+len(piece)/steps, n)
		for i := first; i < end; i++ {
			lo, hi := s.exact[i], s.exact[i+1]
			scale[i] = l.fillDense(piece[(i-first)*steps:][:steps], s.exactTerm[lo:hi], s.exactValue[lo:hi])
		}
		place := m.addr + cu.DevicePtr(int64(first)*int64(steps)*size)
		if err := write(memory{addr: place}, piece[:(end-first)*steps]); err != nil {
			return 0, 0, err
		}
		first = end
	}
	scaleAt, err = upload(p, scale)
	return uint64(m.addr), scaleAt, err
}
