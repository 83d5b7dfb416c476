package kernel

import (
	"math"
	"testing"
)

// ulp is the maximum relative error of one float64 rounding.
const ulp = 0x1p-53

// distances returns values of c in [0, 2]: both ends and their neighbours, distances to them by
// powers of ten, and an even sample.
func distances() []float64 {
	cs := []float64{0, 0x1p-149, 1, math.Nextafter(1, 0), math.Nextafter(1, 2), math.Nextafter(2, 0), 2}
	for e := 1.0; e > 1e-30; e /= 10 {
		cs = append(cs, e, 1-e/10, 1+e/10, 2-e)
	}
	for i := range 2000 {
		cs = append(cs, float64(i)/1000)
	}
	return cs
}

// Angles are checked by the inverse functions c = 2 sin²(θ/2) and 2-c = 2 sin²(φ/2), which at most
// double relative errors of θ. The arc sine of package math is accurate to about 4 ulp (root,
// quotient and arc tangent). Sine and square add 3.
func TestAngle(t *testing.T) {
	for _, c := range distances() {
		if s := math.Sin(angle(c) / 2); c <= 1 && !(math.Abs(2*s*s-c) <= 16*ulp*c) {
			t.Errorf("angle(%v) = %v is the angle of c = %v", c, angle(c), 2*s*s)
		}
		if s := math.Sin(supplementaryAngle(c) / 2); c >= 1 && !(math.Abs(2*s*s-(2-c)) <= 16*ulp*(2-c)) {
			t.Errorf("coangle(%v) = %v is the angle of 2 - c = %v", c, supplementaryAngle(c), 2*s*s)
		}
		if sum := angle(c) + supplementaryAngle(c); !(math.Abs(sum-math.Pi) <= 4*ulp*math.Pi) {
			t.Errorf("angle and coangle of %v add to %v", c, sum)
		}
	}
	if angle(0) != 0 || angle(2) != math.Pi || angle(1) != math.Pi/2 || angle(-1) != 0 || angle(3) != math.Pi {
		t.Errorf("angles of 0, 1, 2 are %v, %v, %v", angle(0), angle(1), angle(2))
	}
}

// The reference is symmetric bit for bit, also if products are rounded.
func TestEvalSymmetric(t *testing.T) {
	for _, spec := range mapSpecs() {
		k := MustParse(spec)
		for i, c := range distances() {
			x, y := 0.1+math.Sqrt(float64(i)), 0.7+math.Cbrt(float64(i))
			if a, b := k.Eval(c, x, y), k.Eval(c, y, x); math.Float64bits(a) != math.Float64bits(b) {
				t.Fatalf("%s: c = %v, norms %v and %v: %v, with norms exchanged %v", spec, c, x, y, a, b)
			}
		}
	}
}
