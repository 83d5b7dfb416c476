package geometry

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
)

// TestFormulas compares finite differences with Table 6.1 and equations (6.12) and (6.20). The
// curvature of arc-cosine kernels is corrected.
func TestFormulas(t *testing.T) {
	double := func(n float64) float64 { // (2n-1)!!
		v := 1.0
		for k := 2*n - 1; k > 1; k -= 2 {
			v *= k
		}
		return v
	}
	for _, d := range []float64{1, 2, 3, 784} {
		for _, r := range []float64{0.5, 1, 30} {
			for n := 1.0; n <= 5; n++ {
				a := n * n * double(n) / (2*n - 1) * math.Pow(r, 2*n-2)
				s := (n - 1) * (n - 1) * (2 - d) * (d - 1) / (n * n * double(n) * math.Pow(r, 2*n))
				check(t, fmt.Sprintf("arccos:n=%v", n), r, d, a, (2*n-1)*a, s)
				a = n * math.Pow(r, 2*n-2)
				s = (n - 1) * (2 - d) * (d - 1) / (n * math.Pow(r, 2*n))
				check(t, fmt.Sprintf("polynomial:gamma=1,degree=%v", n), r, d, a, n*a, s)
			}
			check(t, "linear", r, d, 1, 1, 0)
			check(t, "rbf:gamma=0.5", r, d, 1, 1, 0)
			check(t, "diffusion:t=0.5", r, d, 4/r/r, 0, (d-1)*(d-2)/4)
			check(t, "normalise(linear)", r, d, 1/r/r, 0, (d-1)*(d-2))
			const sigma = 0.25
			q := 2*r*r + sigma*sigma
			a := 1 / (math.Pi * sigma * math.Sqrt(q))
			check(t, "arccos:n=0,sigma=0.25", r, d, a, a*sigma*sigma/q, math.NaN())
		}
	}
	// Combinations: values from the exact rules of differentiation, which were checked against
	// differences in 700 bits.
	for spec, want := range map[string][3]float64{
		"compose(rbf:gamma=0.25,arccos:n=2)":           {2, 2, 0},
		"compose(arccos:n=2,rbf:gamma=0.03125)":        {0.24999999999999994, 0.75, -816408.0000000012},
		"arccos:n=1,layers=2":                          {1, 1, 0},
		"compose(arccos:n=0,sigma=0.5,arccos:n=2)":     {1.349917824883725, 0.20763136501472162, -843475.9276457442},
		"exp(0.125*arccos:n=2)":                        {0.7274957073091007, 3.0009197926500404, -702168.3419066748},
		"normalise(polynomial:gamma=0.5,r=1,degree=3)": {1, 0.6666666666666666, 204624.00000000015},
		"product(rbf:gamma=0.25,arccos:n=2)":           {5.5, 13.5, -123037.12029384755},
		"2*arccos:n=2 + 0.5*linear":                    {8.5, 24.5, -22140.625535208077},
	} {
		check(t, spec, 1, 784, want[0], want[1], want[2])
	}
}

func check(t *testing.T, spec string, r, d, across, along, s float64) {
	t.Helper()
	p, err := surfaceAt(kernel.MustParse(spec), r, int(d))
	if err != nil {
		t.Errorf("%s at norm %v: %v", spec, r, err)
		return
	}
	near := func(name string, got float64, want, tol float64) {
		if !(math.Abs(got-want) <= tol) {
			t.Errorf("%s, d=%v, norm %v: %s is %v, expected %v", spec, d, r, name, got, want)
		}
	}
	near("A", p.orthogonal, across, 1e-7*across)
	near("B", p.parallel, along, 1e-7*along)
	if s == s {
		near("S", p.curvature, s, 1e-6*d*d/(across*r*r)*max(1, p.squaredSlope))
	}
	if along > 0 {
		near("ln √det g", p.logVolume, ((d-1)*math.Log(across)+math.Log(along))/2, 1e-7*d)
	}
}

// A kernel without a derivative has no metric. For degree 0, the error contains the factor 2/π in
// equation (6.18).
func TestRough(t *testing.T) {
	for spec, want := range map[string]roughError{
		"arccos:n=0":          {1, 2 / math.Pi},
		"arccos:n=0,layers=2": {0.5, 2 / math.Pi * math.Sqrt(2/math.Pi)},
		"ngd":                 {1, 4},
		"ngd-exp:t=2":         {1, 1},
		"ned:beta=0.5":        {0.5, 2},
	} {
		_, err := surfaceAt(kernel.MustParse(spec), 1, 3)
		var got *roughError
		if !errors.As(err, &got) || !(math.Abs(got.Power-want.Power) <= 1e-4) ||
			!(math.Abs(got.Factor-want.Factor) <= 1e-3) {
			t.Errorf("%s: %v, expected %v", spec, err, &want)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, spec := range []string{"sigmoid:gamma=1", "-1*linear", "rbf", "arccos:n=0.75", "polynomial:gamma=1,degree=0"} {
		if p, err := surfaceAt(kernel.MustParse(spec), 1, 3); err == nil || errors.As(err, new(*roughError)) {
			t.Errorf("%s: %+v, %v, expected an error", spec, p, err)
		}
	}
}
