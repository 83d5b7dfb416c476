package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/asm"
)

// Biased thresholds below another layer: every value is within its bound, which is small beside what a layer is, the diagonal is the value's, and (x, y) has the bits of (y, x).
func TestBiasedBelowALayer(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		r := rand.New(rand.NewPCG(5, 5))
		for _, spec := range []string{"compose(arccos:n=0,bias=0.7,arccos:n=0)", "compose(arccos:n=0,bias=-0.7,arccos:n=1)", "compose(0.5*linear + arccos:n=0,bias=20,arccos:n=1)"} {
			k := MustParse(spec).(*compiled)
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
					// The top layer's diagonal is the size of values; an angle at c2 = 0 or 2 is worth the root of an error.
					size := math.Sqrt(k.Eval(0, x, x) * k.Eval(0, y, y))
					if err := math.Abs(float64(got) - want); !(err <= bound) || !(bound <= 2e-4*size+1e-43) {
						t.Errorf("%s at c = %v, norms %v and %v: found %v, expected %v, error %v, bound %v", spec, c, x, y, got, want, err, bound)
					}
					if other := back[n%cols*rows+n/cols]; other != got {
						t.Errorf("%s at c = %v, norms %v and %v: %v, exchanged %v", spec, c, x, y, got, other)
					}
				}
			}
		}
	})
}

// The diagonal in closed form is that by definition.
func TestBiasedRoot(t *testing.T) {
	for _, bias := range []float64{0.3, -0.3, 5} {
		f := biasLayer{arcBias{bias: bias}}
		for _, x := range []float32{0, 0.01, 0.5, 1, 20} {
			if got, want := f.norm64(x), math.Sqrt(f.value(0, float64(x), float64(x))); !(math.Abs(got-want) <= 1e-13*want+1e-200) {
				t.Errorf("bias %v, norm %v: %v, by definition %v", bias, x, got, want)
			}
		}
	}
}

// Normalised, biased thresholds and what is made of them keep digits where the kernel itself, which counts what is below 2⁻¹¹⁶ as nothing, has few or none left.
func TestBiasedNormalised(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"arccos:n=0,bias=1", "power(arccos:n=0,bias=1,0.5)", "product(arccos:n=0,bias=1,1e12*linear)"} {
			k := MustParse("normalise(" + spec + ")")
			for h := 6.0; h < 13; h += 0.05 {
				x := []float32{float32(1 / h), float32(1 / (h + 0.1))}
				for _, c := range []float32{0, 1e-4, 0.01, 0.025, 0.04, 0.1} {
					dst := []float32{c, c, c, c}
					k.mapTo(table, dst, dst, x, x)
					for n, got := range dst {
						want := k.Eval(float64(c), float64(x[n/2]), float64(x[n%2]))
						bound := k.Error(float64(c), float64(x[n/2]), float64(x[n%2]))
						if err := math.Abs(float64(got) - want); !(err <= bound) || !(bound <= 32*diagonalError) {
							t.Errorf("%s, h = %v, c = %v: found %v, expected %v, error %v, bound %v", k, h, c, got, want, err, bound)
						}
					}
				}
			}
		}
	})
}
