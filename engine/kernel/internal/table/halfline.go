package table

import (
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/interpolate"
)

// HalfLine approximates a function f of v >= 0 by a piecewise polynomial in float64 (see
// asm.Kernels.HalfLine). Values outside the table's range are computed by f, except f(0), which is
// stored.
//
// Its relative error is below HalfLineError. The remainder of interpolation is f⁽⁶⁾ v⁶ 2⁻³⁰/(6!
// 2⁵), where |f⁽⁶⁾ v⁶| is below 2¹⁰ |f| for v^p with -1 < p <= 6 and for log(1+v), and below 2⁸ |f|
// for the inverse tangent.
type HalfLine struct {
	f           func(v float64) float64
	valueAtZero float64             // f(0)
	rows        func() [][8]float64 // computed at the first use
}

// HalfLineError bounds the relative error. It is less than a hundredth of a float32 rounding error.
const HalfLineError = 0x1p-32

// MaxPower is the largest p for which v^p is tabulated. For p <= MaxPower, |f⁽⁶⁾| v⁶ =
// |p(p-1)…(p-5)| v^p is at most 6! v^p.
const MaxPower = 6

func NewHalfLine(f func(v float64) float64) *HalfLine {
	return &HalfLine{f, f(0), sync.OnceValue(func() [][8]float64 {
		rows := make([][8]float64, asm.HalfLineRows+1)
		const half = 0.5 / asm.HalfLineIntervals
		for i := range asm.HalfLineRows {
			scale := math.Ldexp(1, i/asm.HalfLineIntervals+asm.HalfLineMinExponent)
			mid := 1 + half*float64(2*(i%asm.HalfLineIntervals)+1)
			var x, p [nodeCount]float64
			for k, place := range nodePositions {
				x[k] = half * place
				p[k] = f(scale * (mid + x[k]))
			}
			interpolate.FitPolynomial(x[:], p[:])
			copy(rows[i][:], p[:])
		}
		for k := range rows[0] {
			rows[asm.HalfLineRows][k] = math.NaN()
		}
		return rows
	})}
}

// Apply computes dst[j] = f(v[j]), rounded to float32.
func (h *HalfLine) Apply(k *asm.Kernels, dst []float32, v []float64) {
	v = v[:len(dst)]
	if !k.HalfLine(dst, v, h.rows(), h.valueAtZero) {
		return
	}
	for j, w := range dst {
		if w != w {
			dst[j] = float32(h.f(v[j]))
		}
	}
}

// Eval returns f(v), from the table if v is in its range.
func (h *HalfLine) Eval(v float64) float64 {
	i, t := asm.HalfLineRow(v)
	if i >= asm.HalfLineRows {
		return h.f(v)
	}
	r := &h.rows()[i]
	return ((((r[5]*t+r[4])*t+r[3])*t+r[2])*t+r[1])*t + r[0]
}
