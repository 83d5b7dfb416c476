package arccosine

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
)

// asm.Kernels.BivariateTail with the numbers of Sides against quadrature, for documents of any
// ratio and any angle, many of them beyond the range of sides: SidesError and the rounding of the
// result; and at some place a good part of it is used.
func TestSides(t *testing.T) {
	const unit = 0x1p-24
	for _, isa := range enginetest.ISAs() {
		k := musttest.Get(asm.For(isa))(t)
		r := rand.New(rand.NewPCG(3, 3))
		row, cols := make([]float32, asm.BivariateNumbers), make([]float32, asm.BivariateNumbers*asm.BivariateGroup)
		dst, c := make([]float32, asm.BivariateGroup), make([]float32, asm.BivariateGroup)
		var worst float64
		for try := range 4000 {
			span := []float64{1e-6, 1, 4, 25}[try%4]
			draw := func() float64 { return 1.1 * asm.BivariateMost * math.Exp(-span*r.Float64()) * r.Float64() }
			h := draw()
			AllSides().At(row, 1, h, false)
			var hs [asm.BivariateGroup]float64
			for j := range dst {
				hs[j] = draw()
				switch j {
				case 0:
					hs[j] = h
				case 1:
					hs[j] = h * (1 + 1e-6*r.NormFloat64())
				case 2:
					hs[j] = h * (1 + 0.1*r.Float64())
				}
				AllSides().At(cols[j:], asm.BivariateGroup, hs[j], false)
				c[j] = float32(math.Exp(-20*r.Float64()*r.Float64()) * 2 * r.Float64())
				if j == 3 {
					c[j] = 2 - c[j]/4
				}
			}
			k.BivariateTail(dst, c, row, cols)
			for j, got := range dst {
				c := float64(c[j])
				want := Biased(c, 1/h, 1/hs[j], 1)
				bound := SidesError(c, h, hs[j]) + unit*want
				err := math.Abs(float64(got) - want)
				if !(err <= bound) {
					t.Fatalf("isa=%s, h = %v, k = %v, c = %v: found %v, expected %v, error %v, bound %v", isa, h, hs[j],
						c, got, want, err, bound)
				}
				worst = max(worst, err/bound)
			}
		}
		if !(worst >= 0.3) {
			t.Errorf("isa=%s: only %v of the bound is ever used", isa, worst)
		}
	}
}
