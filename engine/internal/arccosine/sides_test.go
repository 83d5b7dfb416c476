package arccosine

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/asm"
)

// asm.Kernels.Wedge with the numbers of Sides against quadrature, for documents of any ratio and any angle: the bound that wedgeGeneric states, two units of
// exp(-h²/2) for a side's numbers, and the rounding of the result; and at some place a good part of it is used.
func TestSides(t *testing.T) {
	const unit = 0x1p-24
	for _, isa := range asm.Available() {
		k, err := asm.For(isa)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(3, 3))
		row, cols := make([]float32, asm.WedgeNumbers), make([]float32, asm.WedgeNumbers*asm.WedgeGroup)
		dst, c := make([]float32, asm.WedgeGroup), make([]float32, asm.WedgeGroup)
		var worst float64
		for try := range 4000 {
			span := []float64{1e-6, 1, 4, 20}[try%4]
			draw := func() float64 { return WedgeLimit * math.Exp(-span*r.Float64()) }
			h := draw()
			AllSides().At(row, 1, h, false)
			var hs [asm.WedgeGroup]float64
			for j := range dst {
				hs[j] = draw()
				if j == 0 {
					hs[j] = h
				}
				AllSides().At(cols[j:], asm.WedgeGroup, hs[j], false)
				c[j] = float32(math.Exp(-20*r.Float64()*r.Float64()) * 2 * r.Float64())
				if j == 3 {
					c[j] = 2 - c[j]/4
				}
			}
			k.Wedge(dst, c, row, cols)
			for j, got := range dst {
				c := float64(c[j])
				want := Biased(c, 1/h, 1/hs[j], 1)
				p, q := Cotangents(c, 1/h, 1/hs[j])
				e1, m1 := Scale(h, p)
				e2, m2 := Scale(hs[j], q)
				bound := unit*(8*(e1+e2)+(m1+m2)+want) + 64*0x1p-149
				err := math.Abs(float64(got) - want)
				if !(err <= bound) {
					t.Fatalf("isa=%s, h = %v, k = %v, c = %v: found %v, expected %v, error %v, bound %v", isa, h, hs[j], c, got, want, err, bound)
				}
				worst = max(worst, err/bound)
			}
		}
		t.Logf("isa=%s: %.0f %% of the bound used", isa, 100*worst)
		if !(worst >= 0.1) {
			t.Errorf("isa=%s: only %v of the bound is ever used", isa, worst)
		}
	}
}
