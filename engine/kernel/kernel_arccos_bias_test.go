package kernel

import (
	"math"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/kernel/internal/syntax"
)

// Smoothed and biased thresholds together, by the definition as an integral over one coordinate, as in TestArcCosineSmooth: Φ((w·x-b)/σ) in place of Φ(w·x/σ).
func TestArcCosineBias(t *testing.T) {
	phi := func(v float64) float64 { return math.Erfc(-v/math.Sqrt2) / 2 }
	for _, b := range []float64{-0.7, 0.4, 1.5} {
		for _, sigma := range []float64{0.5, 2} {
			k := MustParse("arccos:n=0,bias=" + syntax.FormatNumber(b) + ",sigma=" + syntax.FormatNumber(sigma))
			for _, x := range []float64{0, 0.3, 1.2} {
				for _, y := range []float64{0.2, 1} {
					for _, c := range []float64{0, 0.1, 0.5, 1, 1.7, 2} {
						rho := 1 - c
						var sum float64
						const h = 1.0 / 64
						for u := -9.0; u <= 9; u += h {
							sum += h / math.Sqrt(2*math.Pi) * math.Exp(-u*u/2) * phi((u*x-b)/sigma) *
								phi((rho*u-b/y)/math.Sqrt(1-rho*rho+sigma*sigma/(y*y)))
						}
						if got := k.Eval(c, x, y); !(math.Abs(got-2*sum) <= 1e-12) {
							t.Errorf("%v at c = %v, norms %v and %v: found %v, the integral is %v", k, c, x, y, got, 2*sum)
						}
					}
				}
			}
		}
	}
}

// The feature space: norms are the diagonal, c2 gives the kernel again, and for one norm and steps it keeps its digits as θ does.
func TestArcCosineBiasFeature(t *testing.T) {
	for _, spec := range []string{"arccos:n=0,bias=0.3", "arccos:n=0,bias=-0.3", "arccos:n=0,bias=0.3,sigma=1"} {
		k := MustParse(spec).(component)
		for _, c := range []float64{0, 1e-9, 0.1, 1, 2} {
			for _, x := range []float64{0.1, 0.5, 1} {
				c2, x2, y2 := k.feature(c, x, 1)
				if want := k.Eval(c, x, 1); !(math.Abs((1-c2)*x2*y2-want) <= 1e-12*x2*y2) || !(math.Abs(x2*x2-k.Eval(0, x, x)) <= 8*ulp*x2*x2) {
					t.Errorf("%s: the feature at c = %v, norm %v is %v, %v, %v, the value %v", spec, c, x, c2, x2, y2, want)
				}
			}
		}
	}
	k := MustParse("arccos:n=0,bias=0.3").(component)
	at, _, _ := k.feature(1e-9, 2, 2)
	if near, _, _ := k.feature(1e-31, 2, 2); !(math.Abs(near/at-1e-11) <= 1e-8*1e-11) || !(at > 0) {
		t.Errorf("the feature at c = 1e-31 is %v, at 1e-9 %v", near, at)
	}
	// Documents that are short beside the bias, of opposite directions.
	for spec, want := range map[string]float64{"normalise(power(arccos:n=0,bias=1,0.5))": 0, "compose(power(arccos:n=0,bias=1,0.5),arccos:n=0)": 0.5} {
		if v := MustParse(spec).Eval(1.5, 0.01, 2); !(math.Abs(v-want) <= 1e-15) {
			t.Errorf("%s is %v, expected %v", spec, v, want)
		}
	}
}

// Layers on a biased one go through its feature space value by value.
func TestArcCosineBiasLayers(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"compose(arccos:n=0,bias=0.3,arccos:n=1)", "compose(arccos:n=1,arccos:n=0,bias=0.3)", "product(arccos:n=0,bias=-0.3,linear)"} {
			k := MustParse(spec)
			for _, x := range []float32{0.2, 1, 3} {
				for _, c := range []float32{0, 1e-6, 0.3, 1, 1.9} {
					dst := []float32{float32(math.NaN())}
					k.mapTo(table, dst, []float32{c}, []float32{x}, []float32{0.75})
					want := k.Eval(float64(c), float64(x), 0.75)
					if bound := k.Error(float64(c), float64(x), 0.75); !(math.Abs(float64(dst[0])-want) <= bound) || !(bound <= 40*unit*max(math.Abs(want), 1)) {
						t.Errorf("%s at c = %v, norms %v and 0.75: found %v, expected %v, bound %v", spec, c, x, dst[0], want, bound)
					}
				}
			}
		}
	})
}
