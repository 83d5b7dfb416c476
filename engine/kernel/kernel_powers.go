package kernel

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
)

// powers is v^p for any p other than 0 and v >= 0, with 0^p = 0. A [halfLine] takes p up to mostSmooth, for which it is accurate; others are v^w · v^r: w is the whole part of p, of
// the same sign, and r the rest, which a half line takes. Relative to the value it is within halfLineError and |w| roundings of float64, which for all p that matter to float32 is less than a
// hundredth of what rounding to that adds.
type powers struct {
	p     float64
	whole int       // w; 0 also up to mostSmooth, and where p is out of all proportion, beyond mostWhole
	rest  *halfLine // of r; nil where there is none
}

// mostWhole is where v^p is 0, 1 or beyond float64 for nearly all v, so that it doesn't matter how long math.Pow takes.
const mostWhole = 1 << 20

// wholePower returns v^p for a whole number p >= 0.
func wholePower(v, p float64) float64 {
	if p < mostWhole {
		return device.Power(v, int(p))
	}
	return math.Pow(v, p)
}

// mostSmooth is the greatest power of a half line: |f⁽⁶⁾| v⁶ = |p(p-1)…(p-5)| v^p is at most 6! there.
const mostSmooth = 6

func newPowers(p float64) powers {
	if !(math.Abs(p) < mostWhole) {
		return powers{p: p}
	}
	whole := math.Trunc(p)
	if p != whole && p > 0 && p <= mostSmooth {
		whole = 0
	}
	f := powers{p: p, whole: int(whole)}
	if rest := p - whole; rest != 0 {
		f.rest = newHalfLine(func(v float64) float64 { return realPower(v, rest) })
	}
	return f
}

// table returns the rows that at wants.
func (f powers) table() [][8]float64 {
	if f.rest == nil {
		return nil
	}
	return f.rest.table()
}

// at returns v^p.
func (f powers) at(table [][8]float64, v float64) float64 {
	switch {
	case v == 0: // outside of the table, and most values of a kernel that falls fast
		return 0
	case f.whole == 0 && f.rest == nil:
		return realPower(v, f.p)
	case f.whole == 0:
		return f.rest.at(table, v)
	}
	w := device.Power(v, max(f.whole, -f.whole))
	if f.whole < 0 {
		w = 1 / w
	}
	if f.rest != nil {
		w *= f.rest.at(table, v)
	}
	return w
}

// row computes dst[j] = v[j]^p, rounded to float32, for p that is no whole number; what is below 0 by rounding counts as 0. It takes the block's sum.
func (f powers) row(k *asm.Kernels, b *block, dst, v []float32) {
	table := f.table()
	if f.whole != 0 || f.rest == nil {
		for j, w := range v {
			dst[j] = float32(f.at(table, max(float64(w), 0)))
		}
		return
	}
	for j, w := range v {
		if w < 0 {
			v[j] = 0
		}
	}
	wide := b.sum[:len(v)]
	b.widen(k, wide, v)
	f.rest.row(k, dst, wide)
}
