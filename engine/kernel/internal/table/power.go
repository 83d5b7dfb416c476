package table

import (
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
)

// Power computes v^p for p ≠ 0 and v >= 0, with 0^p = 0. For p up to maxSmooth it is a [HalfLine].
// Otherwise it is v^w · v^r, where w is p without its fraction and v^r a half line. The relative error is at
// most HalfLineError plus |w| roundings of float64. If the result is within float32, that is less than a
// hundredth of the rounding to float32.
type Power struct {
	p     float64
	Whole int       // w; 0 if the half line computes v^p itself, or if |p| is at least device.MaxPower
	rest  *HalfLine // of r; nil where there is none
}

// maxSmooth is the greatest power of a half line: |f⁽⁶⁾| v⁶ = |p(p-1)…(p-5)| v^p is at most 6!
// there.
const maxSmooth = 6

// NewPower returns v^p.
func NewPower(p float64) Power {
	if !(math.Abs(p) < device.MaxPower) {
		return Power{p: p}
	}
	whole := math.Trunc(p)
	if p != whole && p > 0 && p <= maxSmooth {
		whole = 0
	}
	f := Power{p: p, Whole: int(whole)}
	if rest := p - whole; rest != 0 {
		f.rest = NewHalfLine(func(v float64) float64 { return RealPower(max(v, 0), rest) })
	}
	return f
}

// At returns v^p.
func (f Power) At(v float64) float64 {
	switch {
	case v == 0: // outside of the table, and most values of a kernel that falls fast
		return 0
	case f.Whole == 0 && f.rest == nil:
		return RealPower(v, f.p)
	case f.Whole == 0:
		return f.rest.At(v)
	}
	w := device.Power(v, max(f.Whole, -f.Whole))
	if f.Whole < 0 {
		w = 1 / w
	}
	if f.rest != nil {
		w *= f.rest.At(v)
	}
	return w
}

// Row computes dst[j] = v[j]^p, rounded to float32, for p that is no whole number. What is below 0
// by rounding counts as 0.
func (f Power) Row(k *asm.Kernels, dst []float32, v []float64) {
	if f.Whole != 0 || f.rest == nil {
		for j, w := range v {
			dst[j] = float32(f.At(max(w, 0)))
		}
		return
	}
	f.rest.Row(k, dst, v)
}

// WholePower returns v^p for a whole number p >= 0.
func WholePower(v, p float64) float64 {
	if p < device.MaxPower {
		return device.Power(v, int(p))
	}
	return math.Pow(v, p)
}

// RealPower returns v^p for v >= 0, but 0 for v = 0 whatever p is.
func RealPower(v, p float64) float64 {
	if v == 0 {
		return 0
	}
	if n := int(p); p == float64(n) && n >= 0 {
		return device.Power(v, n)
	}
	return math.Pow(v, p)
}
