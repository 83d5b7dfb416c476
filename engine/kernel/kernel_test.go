package kernel

import (
	"math"
	"testing"
)

// ulp is the greatest relative error of one float64 rounding.
const ulp = 0x1p-53

// distances returns values of c in [0, 2]: the ends and their neighbours, every power of ten
// towards both, and an even sample.
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

// An angle is checked by going back, c = 2 sin²(θ/2), and from the other end 2-c = 2 sin²(φ/2):
// relative errors of θ come back doubled at most. The arc sine of package math is within 4 ulp or
// so of its value (it goes through a root, a quotient and an arc tangent), sine and square add 3.
func TestAngle(t *testing.T) {
	for _, c := range distances() {
		if s := math.Sin(angle(c) / 2); c <= 1 && !(math.Abs(2*s*s-c) <= 16*ulp*c) {
			t.Errorf("angle(%v) = %v is the angle of c = %v", c, angle(c), 2*s*s)
		}
		if s := math.Sin(coangle(c) / 2); c >= 1 && !(math.Abs(2*s*s-(2-c)) <= 16*ulp*(2-c)) {
			t.Errorf("coangle(%v) = %v is the angle of 2 - c = %v", c, coangle(c), 2*s*s)
		}
		if sum := angle(c) + coangle(c); !(math.Abs(sum-math.Pi) <= 4*ulp*math.Pi) {
			t.Errorf("angle and coangle of %v add to %v", c, sum)
		}
	}
	if angle(0) != 0 || angle(2) != math.Pi || angle(1) != math.Pi/2 || angle(-1) != 0 || angle(3) != math.Pi {
		t.Errorf("angles of 0, 1, 2 are %v, %v, %v", angle(0), angle(1), angle(2))
	}
}

// Values that the formulas give at c = 0, ½, 1, 3/2, 2, where arccos(1-c) is 0, π/3, π/2, 2π/3, π.
// Derived: a handful of float64 operations.
func TestEvalKnownValues(t *testing.T) {
	const pi = math.Pi
	at := [5]float64{0, 0.5, 1, 1.5, 2}
	root := math.Sqrt(3)
	for spec, want := range map[string][5]float64{
		"c":             {0, 0.5, 1, 1.5, 2},
		"bhattacharyya": {1, 0.5, 0, -0.5, -1},
		"diffusion:t=0.5": {1, math.Exp(-2 * pi * pi / 9), math.Exp(-pi * pi / 2),
			math.Exp(-8 * pi * pi / 9), math.Exp(-2 * pi * pi)},
		"ngd":          {0, -2 * pi / 3, -pi, -4 * pi / 3, -2 * pi},
		"ngd:shift=pi": {pi, pi / 3, 0, -pi / 3, -pi},
		"ngd:shift=1":  {1, 1 - 2*pi/3, 1 - pi, 1 - 4*pi/3, 1 - 2*pi},
		"ngd-exp:t=2": {1, math.Exp(-pi / 6), math.Exp(-pi / 4), math.Exp(-pi / 3),
			math.Exp(-pi / 2)},
		"linear":                             {6, 3, 0, -3, -6},
		"polynomial:gamma=0.5,r=1,degree=3":  {64, 15.625, 1, -0.125, -8},
		"polynomial:gamma=0.5,r=1,degree=10": {1 << 20, 9536.7431640625, 1, 1.0 / 1024, 1 << 10},
		"polynomial:gamma=2,degree=0":        {1, 1, 1, 1, 1},
		"polynomial:gamma=2,degree=1":        {12, 6, 0, -6, -12},
		"rbf:gamma=0.25": {math.Exp(-0.25), math.Exp(-1.75), math.Exp(-3.25), math.Exp(-4.75),
			math.Exp(-6.25)},
		"sigmoid:gamma=0.1,r=-0.2": {math.Tanh(0.4), math.Tanh(0.1), math.Tanh(-0.2), math.Tanh(-0.5),
			math.Tanh(-0.8)},
		"arccos:n=0": {1, 2. / 3, 0.5, 1. / 3, 0},
		"arccos:n=1": {6, 6 * (root/2 + pi/3) / pi, 6 / pi, 6 * (root/2 - pi/6) / pi, 0},
		"arccos:n=2": {108, 36 * (3*root/4 + pi) / pi, 18, 36 * (-3*root/4 + pi/2) / pi, 0},
	} {
		k := MustParse(spec)
		for i, c := range at {
			got := k.Eval(c, 2, 3)
			// an exponent z is off by z·ulp
			scale := max(math.Abs(want[i]), 1e-3) * (1 + math.Abs(math.Log(max(math.Abs(want[i]), 1e-9))))
			if !(math.Abs(got-want[i]) <= 32*ulp*scale) {
				t.Errorf("%s: the value at c = %v is %v, expected %v", spec, c, got, want[i])
			}
		}
	}
}

// The reference is symmetric to the bit, for numbers whose products are rounded too.
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
