package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
)

// A layer of biased thresholds below another one is computed from its values, c2 = 1 - k/√(pq) with the diagonals p and q, as long as that keeps digits: a c2 below
// biasClose is taken from the definition, and so is that of documents so much shorter than the bias that k is hardly more than rounding.
const (
	biasClose = 1.0 / 16
	biasShort = 0x1p-60 // of √(pq)
)

// biasedRoom is scratch space of a stage for a block.
type biasedRoom struct {
	norms  [chunk]float64 // √k(y, y) of the columns
	values [chunk]float32
	wide   [chunk]float64
	one    [1]float32
	widener
}

// root returns √k(x, x) of steps.
func (f arcBias) root(x float32) float64 {
	tail := math.Erfc(math.Abs(f.bias) / float64(x) / math.Sqrt2)
	if f.bias < 0 {
		tail = 2 - tail
	}
	return math.Sqrt(tail)
}

// featureRow computes dst[j] = c2(c[j], x, y[j]) for the columns whose norms the room holds; k is the kernel itself. dst may be c.
func (f arcBias) featureRow(table *asm.Kernels, k component, m *biasedRoom, dst, c []float32, x float32, y []float32) {
	values, root := m.values[:len(dst)], f.root(x)
	m.one[0] = x
	k.mapTo(table, values, c, m.one[:], y)
	wide := m.wide[:len(dst)]
	m.widen(table, wide, values)
	for j, v := range wide {
		both := float64(root * m.norms[j])
		c2 := 1 - v/both
		if !(both >= biasShort && c2 >= biasClose) {
			c2, _, _ = f.feature(float64(c[j]), float64(x), float64(y[j]))
		}
		dst[j] = float32(c2)
	}
}

// featureError bounds the error of c2 as featureRow computes it: that of the value, relative to the diagonal, and the rounding of the result. Near the limits either way may
// have been taken.
func (f arcBias) featureError(k component, c, x, y, c2 float64) float64 {
	err := unit*c2 + underflow
	if both := f.root(float32(x)) * f.root(float32(y)); both >= biasShort/2 && c2 >= biasClose*0.75 {
		err += k.Error(c, x, y) / both
	}
	return err
}
