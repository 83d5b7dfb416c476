package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/arccosine"
	"github.com/gramengine/gram/engine/kernel/internal/syntax"
)

// Any degree through the parser: norms to the power n, J_n, the factor 1/π; the feature space has the diagonal as its norms.
func TestArcCosineDegree(t *testing.T) {
	for _, n := range []float64{-0.4, -0.25, 0.5, 1.5, 3, 3.7, 10, 28} {
		k := MustParse("arccos:n=" + syntax.FormatNumber(n)).(component)
		j := arccosine.New(n)
		for _, c := range []float64{0, 1e-20, 0.1, 1, 1.9, 2} {
			const x, y = 1.5, 0.25
			want := math.Pow(x, n) * math.Pow(y, n) * j.J(c) / math.Pi
			if got := k.Eval(c, x, y); !(math.Abs(got-want) <= 32*ulp*want) {
				t.Errorf("%v at c = %v is %v, expected %v", k, c, got, want)
			}
			c2, x2, y2 := k.feature(c, x, y)
			if got, dx := x2*y2*(1-c2), k.Eval(0, x, x); !(math.Abs(got-want) <= 256*(n+1)*ulp*x2*y2) || !(math.Abs(x2*x2-dx) <= 32*ulp*dx) {
				t.Errorf("%v: the feature at c = %v is %v, %v, %v: value %v, expected %v", k, c, c2, x2, y2, got, want)
			}
		}
		if v := k.Eval(0.3, 0, 2); v != 0 {
			t.Errorf("%v of an empty document is %v, expected 0", k, v)
		}
	}
	if _, ok := MustParse("arccos:n=2").(arccos); !ok {
		t.Error("the degree 2 has lost its map")
	}
}

// For documents without negative values and norms whose powers are in range, maps are within 8 ulp: 16 units of 2⁻²⁴.
func TestArcCosineUlp(t *testing.T) {
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range []string{"arccos:n=3", "arccos:n=4", "arccos:n=9", "arccos:n=0.5", "arccos:n=-0.25", "arccos:n=2.5", "arccos:n=0.5,layers=3"} {
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

// Matrices of random points of any direction and length have no eigenvalue below rounding: 60 points, float64 values of some 10⁻¹⁴ relative to the greatest.
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
var arcCosineSpecs = []string{"arccos:n=0", "arccos:n=3", "arccos:n=6", "arccos:n=0.5", "arccos:n=-0.25", "arccos:n=2.5", "arccos:n=0.5,layers=2",
	"arccos:n=0,sigma=0.3", "arccos:n=0,sigma=2,layers=2",
	"arccos:n=0,bias=0.3", "arccos:n=0,bias=-1", "arccos:n=0,bias=1,sigma=0.5", "compose(arccos:n=0,bias=0.3,arccos:n=1)"}
