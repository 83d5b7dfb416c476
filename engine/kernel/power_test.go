package kernel

import (
	"math"
	"testing"

	"github.com/gramengine/gram/asm"
)

// All positive powers of exponentials are positive definite.
func TestDivisible(t *testing.T) {
	// A root of a square is never negative.
	if v := MustParse("power(power(linear):p=2):p=0.5").Eval(1.5, 1, 1); v != 0.5 {
		t.Errorf("the root of the square of -0.5 is %v", v)
	}
	for _, spec := range []string{"power(rbf:gamma=1):p=0.3", "power(rbf):p=0.3", "power(ngd-exp):p=0.7",
		"power(exp(ned)):p=0.1", "power(power(rbf:gamma=1):p=0.5):p=0.3"} {
		if p := PropertiesOf(MustParse(spec)); p.Definiteness != PositiveDefinite || p.Source != sourceDivisible {
			t.Errorf("%s: %+v", spec, p)
		}
	}
}

// A power of a polynomial kernel is a polynomial kernel of a multiple of the degree, and powers of
// arc-cosine kernels scale with the norms.
func TestLargePowers(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, pair := range [][2]string{{"power(polynomial:gamma=0.001,r=1,degree=2):p=23.5",
			"polynomial:gamma=0.001,r=1,degree=47"},
			{"power(polynomial:gamma=0.01,r=1,degree=2):p=5.5", "polynomial:gamma=0.01,r=1,degree=11"}} {
			k, same := MustParse(pair[0]), MustParse(pair[1])
			y := []float32{3, 3.5, 4}
			for _, v := range []float32{0, 0.01, 0.4} {
				dst, c := make([]float32, len(y)), []float32{v, v, v}
				k.mapTo(table, dst, c, []float32{3}, y)
				for j, got := range dst {
					want, x, y := same.Eval(float64(v), 3, float64(y[j])), 3.0, float64(y[j])
					// The parameters agree up to float64 rounding.
					if err := math.Abs(float64(got) - want); !(err <= k.Error(float64(v), x, y)+1e-12) {
						t.Errorf("%s for c = %v, norms %v and %v: found %v, expected %v", k, v, x, y, got, want)
					}
				}
			}
		}
		k := MustParse("power(arccos:n=-0.45):p=20") // homogeneous of degree -9
		dst, c := make([]float32, 1), []float32{0.3}
		for _, x := range []float32{1, 1.5, 2.2} {
			k.mapTo(table, dst, c, []float32{x}, []float32{1.25})
			want := math.Pow(float64(x)*1.25, -9) * k.Eval(float64(c[0]), 1, 1)
			if err := math.Abs(float64(dst[0]) - want); !(err <= k.Error(float64(c[0]), float64(x), 1.25)+1e-12*want) {
				t.Errorf("%s for the norms %v and 1.25: found %v, expected %v", k, x, dst[0], want)
			}
		}
	})
}

// Kernels that are beyond float32 only for documents of norm 1 are correct for other norms, because
// they don't use a table for norm 1.
func TestBeyondTables(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"power(113*linear):p=50", "power(linear + 166*linear):p=50",
			"power(1.2*arccos:n=7.3):p=7"} {
			k := MustParse(spec).(*kernel)
			p, seen := ProgramOf(k), 0
			for _, c := range []float32{0, 1e-3, 0.5, 0.9, 0.92234, 0.994, 1} {
				for _, x := range []float32{0, 0.05, 0.1, 1} {
					dst := []float32{c}
					k.mapTo(table, dst, dst, []float32{x}, []float32{x})
					want := k.Eval(float64(c), float64(x), float64(x))
					if math.Abs(want) > math.MaxFloat32 {
						continue
					}
					if want > 1e-30 {
						seen++
					}
					if !WithinTolerance(k, float64(dst[0]), want, float64(c), float64(x), float64(x)) ||
						!(math.Abs(float64(dst[0])-want) <= 1e-3*want+1e-37) {
						t.Errorf("%s, c = %v, norm %v: found %v, expected %v", spec, c, x, dst[0], want)
					}
					if got := p.Eval(c, float64(x), float64(x)); !(math.Abs(got-want) <= 1e-3*want+1e-37) {
						t.Errorf("%s, c = %v, norm %v: the program gives %v, expected %v", spec, c, x, got, want)
					}
				}
			}
			if !k.properties.UsesNorms || seen < 3 {
				t.Errorf("%s: uses norms is %v, %d values", spec, k.properties.UsesNorms, seen)
			}
		}
	})
}
