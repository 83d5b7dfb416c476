package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/arccosine"
	"gonum.org/v1/gonum/mat"
)

// Any degree through the parser: norms to the power n, J_n, the factor 1/π; the feature space has
// the diagonal as its norms.
func TestArcCosineDegree(t *testing.T) {
	for _, n := range []float64{-0.4, -0.25, 0.5, 1.5, 3, 3.7, 10, 28} {
		k := MustParse("arccos:n=" + formatNumber(n)).(*kernel)
		j := arccosine.New(n)
		for _, c := range []float64{0, 1e-20, 0.1, 1, 1.9, 2} {
			const x, y = 1.5, 0.25
			want := math.Pow(x, n) * math.Pow(y, n) * j.J(c) / math.Pi
			if got := k.Eval(c, x, y); !(math.Abs(got-want) <= 32*ulp*want) {
				t.Errorf("%v at c = %v is %v, expected %v", k, c, got, want)
			}
			c2, x2, y2 := k.feature(c, x, y)
			if got, dx := x2*y2*(1-c2), k.Eval(0, x, x); !(math.Abs(got-want) <= 256*(n+1)*ulp*x2*y2) ||
				!(math.Abs(x2*x2-dx) <= 32*ulp*dx) {
				t.Errorf("%v: the feature at c = %v is %v, %v, %v: value %v, expected %v", k, c, c2, x2, y2, got, want)
			}
		}
		if v := k.Eval(0.3, 0, 2); v != 0 {
			t.Errorf("%v of an empty document is %v, expected 0", k, v)
		}
	}
	if MustParse("arccos:n=2").(*kernel).direct == nil {
		t.Error("the degree 2 has lost its map")
	}
}

// For documents without negative values and norms whose powers are in range, maps are within 8 ulp:
// 16 units of 2⁻²⁴.
func TestArcCosineUlp(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"arccos:n=3", "arccos:n=4", "arccos:n=9", "arccos:n=0.5", "arccos:n=-0.25",
			"arccos:n=2.5", "arccos:n=0.5,layers=3"} {
			k := MustParse(spec)
			var worst float64
			for _, c := range float32Distances(5000) {
				if c > 1 {
					continue
				}
				dst := []float32{float32(math.NaN())}
				k.mapTo(table, dst, []float32{c}, []float32{1.25}, []float32{0.7})
				want := k.Eval(float64(c), 1.25, float64(float32(0.7)))
				worst = max(worst, math.Abs(float64(dst[0])-want)/(unit*want))
				if dst[0] != dst[0] {
					t.Fatalf("%s at c = %v is %v", spec, c, dst[0])
				}
			}
			if !(worst <= 16 && worst > 0.5) {
				t.Errorf("%s: the greatest error is %.3g units", spec, worst)
			}
		}
	})
}

// Matrices of random points of any direction and length have no eigenvalue below rounding: 60
// points, float64 values of some 10⁻¹⁴ relative to the greatest.
func TestArcCosinePositive(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 14))
	const points, dims = 60, 3
	var x [points][dims]float64
	var norm [points]float64
	for i := range x {
		for d := range x[i] {
			x[i][d] = r.NormFloat64()
		}
		norm[i] = math.Sqrt(x[i][0]*x[i][0] + x[i][1]*x[i][1] + x[i][2]*x[i][2])
	}
	for _, spec := range arcCosineSpecs {
		k := MustParse(spec)
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			g := mat.NewSymDense(points, nil)
			for i := range points {
				for j := range i + 1 {
					var c float64 // half the squared distance of the unit vectors
					for d := range dims {
						u := x[i][d]/norm[i] - x[j][d]/norm[j]
						c += u * u / 2
					}
					g.SetSym(i, j, k.Eval(min(c, 2), norm[i], norm[j]))
				}
			}
			var eig mat.EigenSym
			if !eig.Factorize(g, false) {
				t.Fatal("no eigenvalues")
			}
			v := eig.Values(nil)
			if !(v[0] >= -1e-12*v[points-1]) {
				t.Errorf("eigenvalues from %v to %v", v[0], v[points-1])
			}
		})
	}
}

// arcCosineSpecs are arc-cosine kernels of all sorts.
var arcCosineSpecs = []string{
	"arccos:n=0",
	"arccos:n=3",
	"arccos:n=6",
	"arccos:n=0.5",
	"arccos:n=-0.25",
	"arccos:n=2.5",
	"arccos:n=0.5,layers=2",
	"arccos:n=0,sigma=0.3",
	"arccos:n=0,sigma=2,layers=2",
	"arccos:n=0,bias=0.3",
	"arccos:n=0,bias=-1",
	"arccos:n=0,bias=1,sigma=0.5",
	"compose(arccos:n=0,bias=0.3,arccos:n=1)",
}

// k_n(x, x) = ‖x‖²ⁿ 2ⁿ Γ(n+½)/√π for any degree, which is ‖x‖²ⁿ (2n-1)!! for a whole one: Cho's
// thesis, eq. A.20. Gamma and the powers carry some 10⁻¹⁵ each, the degree 64 (n+1) half ulp, more
// near -½.
func TestArcCosineDiagonal(t *testing.T) {
	for _, n := range []float64{-0.49, -0.3, 0, 0.5, 1, 1.7, 2, 3, 4.25, 7, 12, 20.5} {
		k := MustParse("arccos:n=" + formatNumber(n))
		for _, x := range []float64{0.3, 1, 2.5} {
			want := math.Pow(x, 2*n) * math.Exp2(n) * math.Gamma(n+0.5) / math.Sqrt(math.Pi)
			if got := k.Eval(0, x, x); !(math.Abs(got-want) <= (1e-14*(n+2)+1e-15/(n+0.5))*want) {
				t.Errorf("%v at the norm %v has the diagonal %v, expected %v", k, x, got, want)
			}
		}
	}
}

// From both sides fractional degrees tend to the whole ones, norms and all, in proportion to the
// difference of the degrees.
func TestArcCosineDegreesTend(t *testing.T) {
	for _, n := range []float64{0, 1, 2, 3, 5} {
		k := MustParse("arccos:n=" + formatNumber(n))
		for _, c := range []float64{0, 1e-9, 0.2, 1, 1.6} {
			const x, y = 0.4, 3.0
			want := k.Eval(c, x, y)
			var far float64
			for _, e := range []float64{1e-2, 1e-4, 1e-6} {
				// ∂ ln k/∂n is ln ‖x‖‖y‖ + ∂ ln J/∂n, for these c below 2 ln(n+2) + 3.
				bound := e*(2*math.Log(n+2)+3) + 1e-13
				for _, near := range []float64{n - e, n + e} {
					got := MustParse("arccos:n="+formatNumber(near)).Eval(c, x, y) / want
					if !(math.Abs(got-1) <= bound) {
						t.Errorf("the degree %v at c = %v is off that of %v by the factor %v, bound %v", near, c, n,
							got, bound)
					}
					far = max(far, math.Abs(got-1))
				}
			}
			if !(far > 1e-6) {
				t.Errorf("degrees around %v don't differ at c = %v", n, c)
			}
		}
	}
}

// b → 0 gives the degree 0: a threshold's neighbourhood of width b/‖x‖ has the mass b/(‖x‖√(2π)) on
// either side, and k counts it twice for each document. With b → 0 and smoothed thresholds the
// smoothed ones are left.
func TestArcCosineBiasTends(t *testing.T) {
	const x, y = 0.7, 3.0
	for spec, limit := range map[string]string{"arccos:n=0": "arccos:n=0",
		"arccos:n=0,sigma=0.5": "arccos:n=0,sigma=0.5"} {
		k := MustParse(limit)
		for _, b := range []float64{0.1, 1e-3, 1e-8, -1e-8, -1e-3, -0.1} {
			biased := MustParse(spec + ",bias=" + formatNumber(b))
			moved := 0.0
			for _, c := range distances() {
				got, want := biased.Eval(c, x, y), k.Eval(c, x, y)
				if !(math.Abs(got-want) <= 2*math.Abs(b)*(1/x+1/y)/math.Sqrt(2*math.Pi)+16*ulp) {
					t.Errorf("%v at c = %v is %v, %v is %v", biased, c, got, k, want)
				}
				moved = max(moved, math.Abs(got-want))
			}
			if !(moved > math.Abs(b)/100) {
				t.Errorf("%v is %v everywhere", biased, k)
			}
		}
	}
}
