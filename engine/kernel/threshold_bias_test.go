package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/asm"
)

// Smoothed and biased thresholds together, by the definition as an integral over one coordinate, as
// in TestArcCosineSmooth: Φ((w·x-b)/σ) in place of Φ(w·x/σ).
func TestArcCosineBias(t *testing.T) {
	phi := func(v float64) float64 { return math.Erfc(-v/math.Sqrt2) / 2 }
	for _, b := range []float64{-0.7, 0.4, 1.5} {
		for _, sigma := range []float64{0.5, 2} {
			k := MustParse("arccos:n=0,bias=" + formatNumber(b) + ",sigma=" + formatNumber(sigma))
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
							t.Errorf("%v at c = %v, norms %v and %v: found %v, the integral is %v", k, c, x, y, got,
								2*sum)
						}
					}
				}
			}
		}
	}
}

// The feature space: norms are the diagonal, c2 gives the kernel again, and for one norm and steps
// it keeps its digits as θ does.
func TestArcCosineBiasFeature(t *testing.T) {
	for _, spec := range []string{"arccos:n=0,bias=0.3", "arccos:n=0,bias=-0.3", "arccos:n=0,bias=0.3,sigma=1"} {
		k := MustParse(spec).(*kernel)
		for _, c := range []float64{0, 1e-9, 0.1, 1, 2} {
			for _, x := range []float64{0.1, 0.5, 1} {
				c2, x2, y2 := k.feature(c, x, 1)
				if want := k.Eval(c, x, 1); !(math.Abs((1-c2)*x2*y2-want) <= 1e-12*x2*y2) ||
					!(math.Abs(x2*x2-k.Eval(0, x, x)) <= 8*ulp*x2*x2) {
					t.Errorf("%s: the feature at c = %v, norm %v is %v, %v, %v, the value %v", spec, c, x, c2, x2, y2,
						want)
				}
			}
		}
	}
	k := MustParse("arccos:n=0,bias=0.3").(*kernel)
	at, _, _ := k.feature(1e-9, 2, 2)
	if near, _, _ := k.feature(1e-31, 2, 2); !(math.Abs(near/at-1e-11) <= 1e-8*1e-11) || !(at > 0) {
		t.Errorf("the feature at c = 1e-31 is %v, at 1e-9 %v", near, at)
	}
	// Documents that are short beside the bias, of opposite directions.
	for spec, want := range map[string]float64{"normalise(power(arccos:n=0,bias=1):p=0.5)": 0,
		"compose(power(arccos:n=0,bias=1):p=0.5,arccos:n=0)": 0.5} {
		if v := MustParse(spec).Eval(1.5, 0.01, 2); !(math.Abs(v-want) <= 1e-15) {
			t.Errorf("%s is %v, expected %v", spec, v, want)
		}
	}
}

// Biased thresholds below another layer: every value is within its bound, which is small beside
// what a layer is, the diagonal is the value's, and (x, y) has the bits of (y, x).
func TestBiasedBelowALayer(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		r := rand.New(rand.NewPCG(5, 5))
		for _, spec := range []string{"compose(arccos:n=0,bias=0.7,arccos:n=0)",
			"compose(arccos:n=0,bias=-0.7,arccos:n=1)", "compose(0.5*linear + arccos:n=0,bias=20,arccos:n=1)",
			"compose(arccos:n=1,arccos:n=0,bias=0.3)", "product(arccos:n=0,bias=-0.3,linear)"} {
			k := MustParse(spec).(*kernel)
			x, y := []float32{0.01, 0.6, 1, 3}, []float32{0, 0.6, 0.6000001, 1, 7, 100}
			rows, cols := len(x), len(y)
			c := make([]float32, rows*cols)
			for range 4 {
				for i := range c {
					c[i] = [...]float32{0, 1e-20, 1e-4, 0.03, r.Float32(), r.Float32(), 1 + r.Float32(), 2}[r.IntN(8)]
				}
				dst, back := make([]float32, len(c)), make([]float32, len(c))
				k.mapTo(table, dst, c, x, y)
				for i := range x {
					for j := range y {
						back[j*len(x)+i] = c[i*len(y)+j]
					}
				}
				k.mapTo(table, back, back, y, x)
				for n, got := range dst {
					c, x, y := float64(c[n]), float64(x[n/cols]), float64(y[n%cols])
					want, bound := k.Eval(c, x, y), k.Error(c, x, y)
					// The top layer's diagonal is the size of values; an angle at c2 = 0 or 2 is
					// worth the root of an error.
					size := math.Sqrt(k.Eval(0, x, x) * k.Eval(0, y, y))
					if err := math.Abs(float64(got) - want); !(err <= bound) || !(bound <= 2e-4*size+1e-43) {
						t.Errorf("%s at c = %v, norms %v and %v: found %v, expected %v, error %v, bound %v", spec, c, x,
							y, got, want, err, bound)
					}
					if other := back[n%cols*rows+n/cols]; other != got {
						t.Errorf("%s at c = %v, norms %v and %v: %v, exchanged %v", spec, c, x, y, got, other)
					}
				}
			}
		}
	})
}

// Normalised, biased thresholds and what is made of them keep digits where the kernel itself, which
// counts what is below 2⁻¹¹⁶ as nothing, has few or none left.
func TestBiasedNormalised(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"arccos:n=0,bias=1", "power(arccos:n=0,bias=1):p=0.5",
			"product(arccos:n=0,bias=1,1e12*linear)"} {
			k := MustParse("normalise(" + spec + ")")
			for h := 6.0; h < 13; h += 0.05 {
				x := []float32{float32(1 / h), float32(1 / (h + 0.1))}
				for _, c := range []float32{0, 1e-4, 0.01, 0.025, 0.04, 0.1} {
					dst := []float32{c, c, c, c}
					k.mapTo(table, dst, dst, x, x)
					for n, got := range dst {
						want := k.Eval(float64(c), float64(x[n/2]), float64(x[n%2]))
						bound := k.Error(float64(c), float64(x[n/2]), float64(x[n%2]))
						if err := math.Abs(float64(got) - want); !(err <= bound) || !(bound <= 1e-3) {
							t.Errorf("%s, h = %v, c = %v: found %v, expected %v, error %v, bound %v", k, h, c, got,
								want, err, bound)
						}
					}
				}
			}
		}
	})
}
