package kernel

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
)

// halfLine is a function f of a number that is at least 0 as a piecewise polynomial in float64, see asm.Kernels.HalfLine, for what would otherwise call package math value by value:
// it takes some 1 to 2 ns instead of 15 to 50. What lies outside of the rows, and isn't 0, goes to f itself.
//
// Of functions that are like small powers of their argument over a factor 2, and all that come here are (see [powers] for others), it is within halfLineError relative to the value: the remainder of
// interpolation is f⁽⁶⁾ v⁶ 2⁻³⁰/(6! 2⁵), and |f⁽⁶⁾ v⁶| is below 2¹⁰ |f| for v^p with -1 < p <= 6 and for log(1+v), below 2⁸ |f| for the inverse tangent.
type halfLine struct {
	f    func(v float64) float64
	once sync.Once
	zero float64 // f(0)
	rows [][8]float64
}

// halfLineError bounds the error relative to the value: less than a hundredth of what rounding to float32 adds.
const halfLineError = 0x1p-32

func newHalfLine(f func(v float64) float64) *halfLine { return &halfLine{f: f} }

// table returns the rows, computed at the first use.
func (h *halfLine) table() [][8]float64 {
	h.once.Do(func() {
		rows := make([][8]float64, asm.HalfLineRows+1)
		const half = 0.5 / asm.HalfLineIntervals
		for i := range asm.HalfLineRows {
			scale := math.Ldexp(1, i/asm.HalfLineIntervals+asm.HalfLineLow)
			mid := 1 + half*float64(2*(i%asm.HalfLineIntervals)+1)
			var x, p [nodes]float64
			for k := range x {
				x[k] = half * math.Cos((float64(k)+0.5)*math.Pi/nodes)
				p[k] = h.f(scale * (mid + x[k]))
			}
			newton(&x, &p)
			copy(rows[i][:], p[:])
		}
		for k := range rows[0] {
			rows[asm.HalfLineRows][k] = math.NaN()
		}
		h.zero = h.f(0)
		h.rows = rows
	})
	return h.rows
}

// row computes dst[j] = f(v[j]), rounded to float32.
func (h *halfLine) row(k *asm.Kernels, dst []float32, v []float64) {
	rows := h.table()
	v = v[:len(dst)]
	if !k.HalfLine(dst, v, rows, h.zero) {
		return
	}
	for j, w := range dst {
		if w != w {
			dst[j] = float32(h.f(v[j]))
		}
	}
}

// at returns f(v) from the table, for v > 0 within its range, and otherwise from f itself.
func (h *halfLine) at(rows [][8]float64, v float64) float64 {
	i, t := asm.HalfLineRow(v)
	if i >= asm.HalfLineRows {
		return h.f(v)
	}
	r := &rows[i]
	return ((((r[5]*t+r[4])*t+r[3])*t+r[2])*t+r[1])*t + r[0]
}
