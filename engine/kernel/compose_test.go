package kernel

import (
	"math"
	"testing"

	"github.com/gramengine/gram/asm"
)

// Opposite documents have c = 2 in the feature space of an odd power and c = 0 for an even power,
// in spite of rounding.
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
