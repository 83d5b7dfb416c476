package kernel

import (
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
)

// Feature spaces have norms whose product is beyond float32 while values of the layer above it are
// not: these are right, whatever stands beside them in a tile.
func TestComposedLong(t *testing.T) {
	norms := []float32{0, 1e-3, 1, 1e5, 4.95e9, 4.95e9 + 1024, 5e9, 1e16}
	distances := []float32{0, 1e-6, 0.5, 0.999, 1}
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"compose(polynomial:r=0,gamma=1,degree=2,arccos:n=1)",
			"compose(polynomial:r=0,gamma=1,degree=2,linear)",
			"compose(polynomial:r=0,gamma=1,degree=2,rbf:gamma=1e-6)",
			"compose(polynomial:r=0,gamma=1,degree=1,arccos:n=2)", "compose(polynomial:r=1,gamma=1,degree=2,ned)"} {
			k, beyond := MustParse(spec), 0
			for _, c := range distances {
				tile := make([]float32, len(norms)*len(norms))
				for i := range tile {
					tile[i] = c
				}
				k.mapTo(table, tile, tile, norms, norms)
				for i, x := range norms {
					for j, y := range norms {
						got, x, y, c := float64(tile[i*len(norms)+j]), float64(x), float64(y), float64(c)
						want, bound := k.Eval(c, x, y), k.Error(c, x, y)
						if math.Abs(want) > math.MaxFloat32 {
							continue
						}
						if err := math.Abs(got - want); !(err <= bound) || math.IsInf(bound, 1) {
							t.Errorf("%s, c = %v, norms %v and %v: found %v, expected %v, bound %v", spec, c, x, y, got,
								want, bound)
						}
						if x*x*y*y > math.MaxFloat32 {
							beyond++
						}
						if back := tile[j*len(norms)+i]; float64(back) != got {
							t.Errorf("%s, c = %v, norms %v and %v: %v and %v", spec, c, x, y, got, back)
						}
					}
				}
			}
			if beyond == 0 {
				t.Errorf("%s: no product of norms is beyond float32", spec)
			}
		}
	})
}

// Where a layer's c is 1 but for some float64 roundings, 1-c has that error; so have differences of
// kernels.
func TestNoise(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"compose(product(hellinger:gamma=26,bhattacharyya),linear)",
			"compose(diffusion:t=0.083,polynomial:gamma=1,r=0,degree=1)", "compose(diffusion:t=0.08,bhattacharyya)",
			"centred(ngd-exp:t=1e10)", "bhattacharyya + -1*product(bhattacharyya,ngd-exp:t=1e10)"} {
			k := MustParse(spec)
			c := make([]float32, 2000)
			for j := range c {
				c[j] = 0.7 + float32(j)/5000
			}
			dst, y := make([]float32, len(c)), slices.Repeat([]float32{1}, len(c))
			k.mapTo(table, dst, c, y[:1], y)
			for j, got := range dst {
				want, bound := k.Eval(float64(c[j]), 1, 1), k.Error(float64(c[j]), 1, 1)
				if err := math.Abs(float64(got) - want); !(err <= bound) || math.IsInf(bound, 1) {
					t.Fatalf("%s, c = %v: found %v, expected %v, bound %v", spec, c[j], got, want, bound)
				}
			}
		}
	})
}

// Opposite documents have c = 2 in the feature space of an odd power and 0 in that of an even one,
// which rounding takes nowhere else.
func TestComposedOpposite(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for spec, want := range map[string]float64{
			"compose(power(polynomial:gamma=0.009,r=0,degree=18):p=3,ngd-exp:t=1e17)": 1,
			"compose(power(polynomial:gamma=0.009,r=0,degree=17):p=3,arccos:n=0)":     0,
		} {
			k := MustParse(spec)
			for i := range 200 {
				x, y := 0.5+float32(i)/300, []float32{6 - float32(i)/77}
				dst := []float32{2}
				k.mapTo(table, dst, dst, []float32{x}, y)
				if err := math.Abs(float64(dst[0]) - want); !(err <= 1e-6) {
					t.Fatalf("%s, norms %v and %v: found %v, expected %v", spec, x, y[0], dst[0], want)
				}
			}
		}
	})
}
