package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// It is 2 k₀ - 1 by (2.20) of Cho's thesis, and ngd:shift=pi over π. Maps, bounds, programs and
// definiteness are tested with those of all families.
func TestArcsine(t *testing.T) {
	k := MustParse("arcsine").(*kernel)
	degree0, ngd := MustParse("arccos:n=0"), MustParse("ngd:shift=pi")
	for _, c := range distances() {
		got := k.Eval(c, 1, 1)
		if want := 2*degree0.Eval(c, 1, 1) - 1; !(math.Abs(got-want) <= 4*ulp) {
			t.Errorf("at c = %v: found %v, expected %v", c, got, want)
		}
		if want := ngd.Eval(c, 1, 1) / math.Pi; !(math.Abs(got-want) <= 4*ulp*math.Abs(want)) {
			t.Errorf("at c = %v: found %v, expected %v", c, got, want)
		}
		c2, x2, y2 := k.feature(c, 3, 4)
		if !(math.Abs(1-c2-got) <= 4*ulp) || x2 != 1 || y2 != 1 {
			t.Errorf("at c = %v: the feature is %v, %v, %v, expected 1 less %v", c, c2, x2, y2, got)
		}
	}
}

// (2.18) itself: the mean of sgn(w·x) sgn(w·y) over normal w, for angles of 30°, 90° and 144°.
func TestArcsineIntegral(t *testing.T) {
	if testing.Short() {
		t.Skip("a million draws")
	}
	const n = 1 << 20
	r := rand.New(rand.NewPCG(1, 2))
	k := MustParse("arcsine")
	sums := map[float64]float64{math.Pi / 6: 0, math.Pi / 2: 0, 0.8 * math.Pi: 0}
	for range n {
		u, v := r.NormFloat64(), r.NormFloat64()
		for theta := range sums {
			s := 1.0
			if (u > 0) != (u*math.Cos(theta)+v*math.Sin(theta) > 0) {
				s = -1
			}
			sums[theta] += s / n
		}
	}
	for theta, got := range sums { // the standard deviation is at most 1/√n
		if want := k.Eval(1-math.Cos(theta), 1, 1); !(math.Abs(got-want) <= 5/math.Sqrt(n)) {
			t.Errorf("angle %v: %v, the mean over units is %v", theta, want, got)
		}
	}
}

// Unit vectors with negative values, opposite ones among them, have a matrix without eigenvalues below
// rounding.
func TestArcsineDefinite(t *testing.T) {
	const n = 60
	r := rand.New(rand.NewPCG(5, 6))
	x := mat.NewDense(n, 7, nil)
	for i := range n {
		for j := range 7 {
			x.Set(i, j, r.NormFloat64())
			if i >= n/2 {
				x.Set(i, j, -x.At(i-n/2, j))
			}
		}
	}
	k, gram := MustParse("arcsine"), mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			a, b := x.RowView(i), x.RowView(j)
			cosine := mat.Dot(a, b) / math.Sqrt(mat.Dot(a, a)*mat.Dot(b, b))
			gram.SetSym(i, j, k.Eval(min(max(1-cosine, 0), 2), 1, 1))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(gram, false) {
		t.Fatal("no eigenvalues")
	}
	// arccos near an angle of 0 makes 2⁻²⁶ of a rounding of 2⁻⁵³ of the cosine.
	if least := eigen.Values(nil)[0]; !(least >= -n*0x1p-25) {
		t.Errorf("the least eigenvalue is %v", least)
	}
}
