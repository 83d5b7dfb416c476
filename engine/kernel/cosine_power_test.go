package kernel

import (
	"fmt"
	"math"
	"math/big"
	"testing"
)

// Up to c = 1 the kernel is (1-c)ᵖ, multiplied here with 200 bits, and beyond it is 0. Other tests
// cover maps, bounds, programs and definiteness of all families.
func TestCosinePower(t *testing.T) {
	for _, p := range []int{1, 2, 5, 64} {
		k := MustParse(fmt.Sprintf("cosine-power:p=%d", p)).(*kernel)
		for _, c := range distances() {
			cosine := new(big.Float).SetPrec(200).Sub(big.NewFloat(1), big.NewFloat(max(min(c, 1), 0)))
			power := big.NewFloat(1).SetPrec(200)
			for range p {
				power.Mul(power, cosine)
			}
			got := k.Eval(c, 1, 1)
			want, _ := power.Float64()
			if !(math.Abs(got-want) <= 8*float64(p)*ulp*want) {
				t.Errorf("%s at c = %v: found %v, expected %v", k, c, got, want)
			}
			c2, x2, y2 := k.feature(c, 1, 1)
			if !(math.Abs(1-c2-want) <= 4*float64(p)*ulp) || x2 != 1 || y2 != 1 {
				t.Errorf("%s at c = %v: the feature is %v, %v, %v, expected 1 less %v", k, c, c2, x2, y2, want)
			}
			if near := float64(p) * c; c < 1e-12 && !(math.Abs(c2-near) <= 1e-9*near) {
				t.Errorf("%s at c = %v: the feature is %v, expected %v", k, c, c2, near)
			}
		}
	}
}
