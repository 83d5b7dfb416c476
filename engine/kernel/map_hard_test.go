package kernel

import (
	"math"
	"testing"

	"github.com/gramengine/gram/asm"
)

// hardMaps are kernels whose maps lose digits, or leave the range of float32 on the way, at some c
// and norms. The error of each value must be within its bound, which is at most the listed bound.
var hardMaps = []struct {
	name      string
	specs     []string
	cs, norms []float32
	most      func(want, size float64) float64
}{
	{"norms of a feature space whose product is beyond float32", []string{
		"compose(polynomial:r=0,gamma=1,degree=2,arccos:n=1)", "compose(polynomial:r=0,gamma=1,degree=2,linear)",
		"compose(polynomial:r=0,gamma=1,degree=2,rbf:gamma=1e-6)", "compose(polynomial:r=0,gamma=1,degree=1,arccos:n=2)",
		"compose(polynomial:r=1,gamma=1,degree=2,ned)",
	}, []float32{0, 1e-6, 0.5, 0.999, 1}, []float32{0, 1e-3, 1, 1e5, 4.95e9, 4.95e9 + 1024, 5e9, 1e16},
		func(float64, float64) float64 { return math.MaxFloat64 }},
	{"a layer's c that is 1 up to rounding, and differences of kernels", []string{
		"compose(product(hellinger:gamma=26,bhattacharyya),linear)",
		"compose(diffusion:t=0.083,polynomial:gamma=1,r=0,degree=1)", "compose(diffusion:t=0.08,bhattacharyya)",
		"centred(ngd-exp:t=1e10)", "bhattacharyya + -1*product(bhattacharyya,ngd-exp:t=1e10)",
	}, evenly(0.7, 1.1, 2000), []float32{1}, func(float64, float64) float64 { return math.MaxFloat64 }},
	{"a layer with a negative power of the norms below another", []string{
		"compose(power(arccos:n=-0.25):p=4,rbf:gamma=1)", "compose(power(arccos:n=-0.25):p=8,0.5*linear + rbf:gamma=0.1)",
		"compose(0.5*power(arccos:n=-0.25):p=4 + rbf:gamma=0.1,arccos:n=1)",
	}, []float32{0.25}, []float32{0.5, 1.25, 2}, func(want, _ float64) float64 { return 1e-4 * math.Abs(want) }},
	// Values are as large as the diagonal of the top layer. An angle at c2 = 0 or 2 has the square
	// root of the error of c2.
	{"biased thresholds below a layer", []string{
		"compose(arccos:n=0,bias=0.7,arccos:n=0)", "compose(arccos:n=0,bias=-0.7,arccos:n=1)",
		"compose(0.5*linear + arccos:n=0,bias=20,arccos:n=1)", "compose(arccos:n=1,arccos:n=0,bias=0.3)",
		"product(arccos:n=0,bias=-0.3,linear)",
	}, []float32{0, 1e-20, 1e-4, 0.03, 0.3, 0.8, 1.4, 2}, []float32{0, 0.01, 0.6, 0.6000001, 1, 3, 7, 100},
		func(_, size float64) float64 { return 2e-4*size + 1e-43 }},
	{"normalised biased thresholds whose values are nearly 0", []string{
		"normalise(arccos:n=0,bias=1)", "normalise(power(arccos:n=0,bias=1):p=0.5)",
		"normalise(product(arccos:n=0,bias=1,1e12*linear))",
	}, []float32{0, 1e-4, 0.01, 0.025, 0.04, 0.1}, evenly(1/13., 1/6., 12),
		func(float64, float64) float64 { return 1e-3 }},
}

// evenly returns n equidistant numbers from lo to below hi.
func evenly(lo, hi float64, n int) (v []float32) {
	for i := range n {
		v = append(v, float32(lo+(hi-lo)*float64(i)/float64(n)))
	}
	return v
}

// mapped maps all pairs of norms at each c, and passes each value in the range of float32 with its
// reference.
func mapped(k Kernel, table *asm.Kernels, cs, norms []float32, check func(c, x, y, got, want float64)) {
	n := len(norms)
	tile := make([]float32, n*n)
	for _, c := range cs {
		for i := range tile {
			tile[i] = c
		}
		k.mapTo(table, tile, tile, norms, norms)
		for at, got := range tile {
			c, x, y := float64(c), float64(norms[at/n]), float64(norms[at%n])
			if want := k.Eval(c, x, y); math.Abs(want) <= math.MaxFloat32 {
				check(c, x, y, float64(got), want)
			}
		}
	}
}

func TestHardMaps(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, hard := range hardMaps {
			for _, spec := range hard.specs {
				k := MustParse(spec)
				mapped(k, table, hard.cs, hard.norms, func(c, x, y, got, want float64) {
					bound, size := k.Error(c, x, y), math.Sqrt(k.Eval(0, x, x)*k.Eval(0, y, y))
					if err := math.Abs(got - want); !(err <= bound) || !(bound <= hard.most(want, size)) {
						t.Errorf("%s: %s at c = %v, norms %v and %v: found %v, expected %v, error %v, bound %v", hard.name, spec, c,
							x, y, got, want, err, bound)
					}
				})
			}
		}
	})
}

// Powers have float32 values, with an infinite bound, even if operands are out of range.
func TestPowersOfProducts(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"power(product(rbf:gamma=1,exp(linear))):p=2", "power(1e-3*exp(0.1*linear)):p=10",
			"power(10*rbf:gamma=1):p=60"} {
			norms := []float32{0.5, 0.6, 1, 1.5, 2, 9}
			mapped(MustParse(spec), table, []float32{0, 0.1, 0.5, 1}, norms, func(c, x, y, got, want float64) {
				if !(math.Abs(got-want) <= 1e-3*want+underflowError) {
					t.Errorf("%s at c = %v, norms %v and %v: found %v, expected %v", spec, c, x, y, got, want)
				}
			})
		}
	})
}
