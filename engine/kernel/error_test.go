package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// beyondSpecs are kernels whose values or intermediate results leave the range of float32 or
// float64 for some documents.
var beyondSpecs = []string{
	"exp(90*bhattacharyya)", "exp(960*bhattacharyya)", "exp(1e5*bhattacharyya)", "power(exp(960*bhattacharyya)):p=0.5",
	"compose(exp(960*bhattacharyya),linear)",
	"normalise(exp(960*bhattacharyya))", "centred(exp(960*bhattacharyya))",
	"product(exp(960*bhattacharyya),rbf:gamma=1)", "exp(960*bhattacharyya) + linear",
	"compose(polynomial:gamma=1,r=0,degree=20,linear)", "compose(polynomial:gamma=1,r=1,degree=20,arccos:n=1)",
	"compose(polynomial:gamma=1,r=1,degree=64,rbf:gamma=1)",
	"compose(polynomial:gamma=1,r=1,degree=20,ned)",
	"compose(polynomial:gamma=1,r=1,degree=20,polynomial:gamma=1,r=1,degree=20)",
	"compose(linear + polynomial:gamma=1,r=1,degree=30,linear)", "compose(exp(linear),linear)",
	"compose(arccos:n=20,arccos:n=-0.49)",
	"power(linear):p=60", "product(power(linear):p=60,exp(-1e4*linear))", "polynomial:gamma=1,r=1,degree=64",
	"normalise(exp(polynomial:gamma=1,r=1,degree=20))",
	"exp(polynomial:gamma=1,r=1,degree=20)", "centred(polynomial:gamma=1,r=1,degree=64)", "arccos:n=20",
	"linear + -1*linear", "polynomial", "rbf", "sigmoid",
}

// beyondNorms range from subnormal norms to the maximum norm of an engine.
var beyondNorms = []float32{0, 1e-40, 1e-30, 1e-3, 1, 7, 80, 85, 100, 250, 12345, 1e9, 1e15, sparse.MaxNorm}

// Error and Tolerance are nonnegative numbers or +Inf for every kernel, c and norms. A value beyond
// float32 with a finite bound is an infinity of the same sign.
func TestErrorIsABound(t *testing.T) {
	musttest.SkipRace(t)
	var kernels []Kernel
	for _, spec := range append(beyondSpecs, mapSpecs()...) {
		kernels = append(kernels, made(spec))
	}
	r := rand.New(rand.NewPCG(3, 1))
	for _, k := range kernels {
		for _, x := range beyondNorms {
			for _, y := range beyondNorms {
				for _, c := range []float32{0, 1e-12, 0.3, 0.9, 1, 1.99, 2, 2 * r.Float32()} {
					c, x, y := float64(c), float64(x), float64(y)
					if e := k.Error(c, x, y); !(e >= 0) {
						t.Fatalf("%s: the error at c = %v, norms %v and %v is %v", k, c, x, y, e)
					}
					if tol := Tolerance(k, c, x, y); !(tol >= 0) {
						t.Fatalf("%s: the tolerance at c = %v, norms %v and %v is %v", k, c, x, y, tol)
					}
				}
			}
		}
	}
}

// Near and beyond the ends of the range, values are within a finite bound, infinities have the
// correct sign, and no value with a bound is NaN.
func TestMapBeyond(t *testing.T) {
	musttest.SkipRace(t)
	everyISA(t, func(t *testing.T, table *asm.Kernels) {
		for _, spec := range beyondSpecs {
			k := Resolve(made(spec), 10)
			n := len(beyondNorms)
			for _, c := range []float32{0, 1e-12, 0.3, 0.9, 1, 1.99, 2} {
				tile := slices.Repeat([]float32{c}, n*n)
				k.mapTo(table, tile, tile, beyondNorms, beyondNorms)
				for i, x := range beyondNorms {
					for j, y := range beyondNorms {
						got := float64(tile[i*n+j])
						want, bound := k.Eval(float64(c), float64(x), float64(y)), k.Error(float64(c), float64(x),
							float64(y))
						if back := tile[j*n+i]; math.Float32bits(back) != math.Float32bits(tile[i*n+j]) &&
							back == back {
							t.Errorf("%s, c = %v, norms %v and %v: %v, exchanged %v", spec, c, x, y, got, back)
						}
						alone := []float32{c}
						if k.mapTo(table, alone, alone, []float32{x}, []float32{y}); !sameBits(alone,
							tile[i*n+j:][:1]) &&
							got == got {
							t.Errorf("%s, c = %v, norms %v and %v: %v, alone %v", spec, c, x, y, got, alone[0])
						}
						if math.IsInf(bound, 1) {
							continue
						}
						mayBeInfinite := math.Abs(want)+bound > math.MaxFloat32 &&
							(got == math.Copysign(math.Inf(1), want) || bound > math.Abs(want) && math.IsInf(got, 0))
						if !mayBeInfinite && !(math.Abs(got-want) <= bound) {
							t.Fatalf("%s, c = %v, norms %v and %v: found %v, expected %v, bound %v", spec, c, x, y, got,
								want, bound)
						}
					}
				}
			}
		}
	})
}

// An infinity is within the same infinity only, or within a value beyond float32 without a bound.
func TestWithinInfinities(t *testing.T) {
	inf := math.Inf(1)
	noBound, bounded := MustParse("linear"), MustParse("polynomial:gamma=1,r=0,degree=64")
	if b := noBound.Error(0, 1e19, 1e20); !math.IsInf(b, 1) {
		t.Fatalf("the kernel has a bound, %v", b)
	}
	for name, c := range map[string]struct {
		k         Kernel
		got, want float64
		c, x      float64
		within    bool
	}{
		"the same":                       {noBound, inf, inf, 0, 1e20, true},
		"the other":                      {noBound, -inf, inf, 0, 1e20, false},
		"beyond float32":                 {noBound, inf, 1e40, 0, 1e20, true},
		"beyond, of the other sign":      {noBound, -inf, 1e40, 0, 1e20, false},
		"of a value that float32 holds":  {noBound, inf, 1, 1, 1e20, false},
		"a number for an infinity":       {noBound, 1, inf, 0, 1e20, false},
		"no number for an infinity":      {noBound, math.NaN(), inf, 0, 1e20, false},
		"a number where nothing is":      {noBound, 1, math.NaN(), 0, 1e20, false},
		"no number for a number":         {noBound, math.NaN(), 1, 0, 1, false},
		"beyond float32 but for a bound": {bounded, inf, 1e256, 0, 100, false},
	} {
		if got := WithinTolerance(c.k, c.got, c.want, c.c, c.x, c.x); got != c.within {
			t.Errorf("%s: %v is within tolerance of %v: %v, expected %v", name, c.got, c.want, got, c.within)
		}
	}
}
