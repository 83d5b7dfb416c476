package geometry

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
)

func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= tolerance*math.Max(1, math.Abs(want))
}

// The formulas against differences of the kernel in 700 bits. What errs is the curvature of the
// oracle: 2⁻⁵⁰ of its step and float64 sums of some hundred products, 10⁻¹¹ for these sizes.
func TestSurfacesAgainstDifferences(t *testing.T) {
	one := number(1)
	degree := func(n int) oracle {
		return func(xx, xy, yy *big.Float) *big.Float { return arccosine(n, xx, xy, yy) }
	}
	gauss := func(gamma float64) oracle {
		return func(xx, xy, yy *big.Float) *big.Float {
			return exp(mul(number(-gamma), sub(add(xx, yy), shift(xy, 1))))
		}
	}
	over := func(k oracle, upper oracle) oracle {
		return func(xx, xy, yy *big.Float) *big.Float { return upper(k(xx, xx, xx), k(xx, xy, yy), k(yy, yy, yy)) }
	}
	affine := oracle(func(_, xy, _ *big.Float) *big.Float { return power(add(quo(xy, number(2)), number(1)), 3) })
	smooth := func(sigma float64) oracle {
		return func(xx, xy, yy *big.Float) *big.Float {
			v := number(sigma * sigma)
			u := quo(xy, root(mul(add(xx, v), add(yy, v))))
			return sub(one, quo(acos(u), pi))
		}
	}
	for spec, k := range map[string]oracle{
		"linear":                                       func(_, xy, _ *big.Float) *big.Float { return xy },
		"polynomial:gamma=1,degree=2":                  func(_, xy, _ *big.Float) *big.Float { return mul(xy, xy) },
		"polynomial:gamma=0.5,r=1,degree=3":            affine,
		"rbf:gamma=0.25":                               gauss(0.25),
		"arccos:n=1":                                   degree(1),
		"arccos:n=2":                                   degree(2),
		"arccos:n=3":                                   degree(3),
		"arccos:n=0,sigma=0.5":                         smooth(0.5),
		"arccos:n=1,layers=2":                          over(degree(1), degree(1)),
		"compose(rbf:gamma=0.25,arccos:n=2)":           over(gauss(0.25), degree(2)),
		"compose(arccos:n=2,rbf:gamma=0.03125)":        over(degree(2), gauss(0.03125)),
		"compose(arccos:n=0,sigma=0.5,arccos:n=2)":     over(smooth(0.5), degree(2)),
		"compose(polynomial:gamma=0.5,r=1,arccos:n=2)": over(affine, degree(2)),
		"power(polynomial:gamma=0.5,r=1,degree=3,2)": func(xx, xy, yy *big.Float) *big.Float {
			return power(affine(xx, xy, yy), 2)
		},
		"exp(0.125*arccos:n=2)": func(xx, xy, yy *big.Float) *big.Float {
			return exp(shift(degree(2)(xx, xy, yy), -3))
		},
		"normalise(polynomial:gamma=0.5,r=1,degree=3)": func(xx, xy, yy *big.Float) *big.Float {
			return quo(affine(xx, xy, yy), root(mul(affine(xx, xx, xx), affine(yy, yy, yy))))
		},
		"product(rbf:gamma=0.25,arccos:n=2)": func(xx, xy, yy *big.Float) *big.Float {
			return mul(gauss(0.25)(xx, xy, yy), degree(2)(xx, xy, yy))
		},
		"2*arccos:n=2 + 0.5*linear": func(xx, xy, yy *big.Float) *big.Float {
			return add(shift(degree(2)(xx, xy, yy), 1), shift(xy, -1))
		},
	} {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			of := kernel.MustParse(spec)
			points := [][]float64{{1.5, -1, 0.5}, {0.25, 0.5, -0.125}, {2, 1, -1}, {0.75, -0.5}}
			if testing.Short() {
				points = points[:1]
			}
			for _, x := range points {
				norm := 0.0
				for _, v := range x {
					norm = math.Hypot(norm, v)
				}
				g, s := k.curvature(x)
				got := musttest.Get(Metric(of, x))(t)
				for i := range g {
					for j := range g {
						if !near(got[i*len(x)+j], g[i][j], 1e-10) {
							t.Errorf("at %v: g[%d][%d] is %v, differences say %v", x, i, j, got[i*len(x)+j], g[i][j])
						}
					}
				}
				p := musttest.Get(At(of, norm, len(x)))(t)
				if !near(p.Curvature, s, 1e-8) {
					t.Errorf("at %v: curvature %v, differences say %v", x, p.Curvature, s)
				}
				if det := determinant(g); !near(2*p.LogVolume, math.Log(det), 1e-10) {
					t.Errorf("at %v: ln det g is %v, differences say %v", x, 2*p.LogVolume, math.Log(det))
				}
			}
		})
	}
}

func determinant(g [][]float64) float64 {
	if len(g) == 2 {
		return g[0][0]*g[1][1] - g[0][1]*g[1][0]
	}
	return g[0][0]*(g[1][1]*g[2][2]-g[1][2]*g[2][1]) - g[0][1]*(g[1][0]*g[2][2]-g[1][2]*g[2][0]) +
		g[0][2]*(g[1][0]*g[2][1]-g[1][1]*g[2][0])
}

// Table 6.1, with the curvature of arc-cosine kernels mended: what the thesis prints is three times
// that. The two values are fractions.
func TestTable(t *testing.T) {
	norm := math.Sqrt(1.5*1.5 + 1 + 0.25)
	for spec, want := range map[string]float64{"arccos:n=2": -2. / 147, "arccos:n=3": -64. / 46305} {
		p, err := At(kernel.MustParse(spec), norm, 3)
		if err != nil || !near(p.Curvature/want, 1, 1e-12) {
			t.Errorf("%s: curvature %v, %v, expected %v", spec, p.Curvature, err, want)
		}
	}
	double := func(n float64) float64 { // (2n-1)!!
		v := 1.0
		for k := 2*n - 1; k > 1; k -= 2 {
			v *= k
		}
		return v
	}
	for _, d := range []float64{1, 2, 3, 10} {
		for _, r := range []float64{0.01, 0.5, 1, 30} {
			for n := 1.0; n <= 5; n++ {
				p, err := At(kernel.MustParse(fmt.Sprintf("arccos:n=%v", n)), r, int(d))
				a := n * n * double(n) / (2*n - 1) * math.Pow(r, 2*n-2)
				s := (n - 1) * (n - 1) * (2 - d) * (d - 1) / (n * n * double(n) * math.Pow(r, 2*n))
				v := (math.Log(2*n-1) + d*math.Log(a)) / 2 // (6.12)
				if err != nil || !near(p.Tangential/a, 1, 1e-12) || !near(p.Radial/a, 2*n-1, 1e-12) ||
					!near(p.Curvature, s, 1e-12) || !near(p.LogVolume, v, 1e-12) {
					t.Errorf("arccos:n=%v, d=%v, r=%v: %+v, %v, expected A %v and S %v", n, d, r, p, err, a, s)
				}
				p, err = At(kernel.MustParse(fmt.Sprintf("polynomial:gamma=1,degree=%v", n)), r, int(d))
				a = n * math.Pow(r, 2*n-2)
				s = (n - 1) * (2 - d) * (d - 1) / (n * math.Pow(r, 2*n))
				if err != nil || !near(p.Tangential/a, 1, 1e-12) || !near(p.Radial/a, n, 1e-12) ||
					!near(p.Curvature, s, 1e-12) {
					t.Errorf("⟨x,y⟩^%v, d=%v, r=%v: %+v, %v, expected A %v and S %v", n, d, r, p, err, a, s)
				}
			}
			p, err := At(kernel.MustParse("rbf:gamma=0.5"), r, int(d))
			if err != nil || !near(p.Tangential, 1, 1e-14) || p.Radial != 1 || p.Curvature != 0 {
				t.Errorf("rbf, d=%v, r=%v: %+v, %v, expected a flat metric of scale 1", d, r, p, err)
			}
			sigma := 0.25
			q := 2*r*r + sigma*sigma
			v := -d*math.Log(math.Pi) - (d-2)*math.Log(sigma) - (d/2+1)*math.Log(q) // (6.20)
			p, err = At(kernel.MustParse("arccos:n=0,sigma=0.25"), r, int(d))
			if err != nil || !near(2*p.LogVolume, v, 1e-12) {
				t.Errorf("smoothed, d=%v, r=%v: %+v, %v, expected ln det g %v", d, r, p, err, v)
			}
		}
	}
}

// A kernel without a derivative has no metric, and the error says how distances grow: (6.18) has 2/π
// for the degree 0.
func TestRough(t *testing.T) {
	for spec, want := range map[string][2]float64{
		"arccos:n=0":          {1, 2 / math.Pi},
		"arccos:n=0,layers=2": {0.5, 2 / math.Pi * math.Sqrt(2/math.Pi)},
		"arccos:n=0.25":       {1.5, math.NaN()},
		"arccos:n=0.5":        {math.NaN(), math.NaN()},
		"ngd":                 {1, 4},
		"ngd-exp:t=2":         {1, 1},
		"ned:beta=1":          {1, 2},
		"ned:beta=0.5":        {0.5, 2},
	} {
		_, err := At(kernel.MustParse(spec), 1, 3)
		var rough *kernel.RoughError
		if !errors.As(err, &rough) {
			t.Errorf("%s: %v, expected a RoughError", spec, err)
			continue
		}
		for i, got := range []float64{rough.Power, rough.Factor} {
			if w := want[i]; w == w && !near(got/w, 1, 1e-6) {
				t.Errorf("%s: %+v, expected %v", spec, rough, want)
			}
		}
	}
}

// The surface of diffusion is that of the multinomial family, and of every function of c a sphere.
func TestSpheres(t *testing.T) {
	for spec, square := range map[string]float64{ // of the radius
		"diffusion:t=0.5": 4, "bhattacharyya": 1, "hellinger:gamma=3": 3, "cosine-power:p=4": 4,
	} {
		p, err := At(kernel.MustParse(spec), 1, 4)
		if err != nil || p.Radial != 0 || !math.IsInf(p.LogVolume, -1) || !near(p.Tangential, square, 1e-12) ||
			!near(p.Curvature, 6/square, 1e-12) {
			t.Errorf("%s: %+v, %v, expected a sphere of radius √%v", spec, p, err, square)
		}
	}
}

func TestErrors(t *testing.T) {
	for spec, norm := range map[string]float64{
		"linear": 0, "arccos:n=2": math.NaN(), "rbf:gamma=1": math.Inf(1), "rbf": 1, "polynomial": 1,
		"sigmoid:gamma=1": 1, "-1*linear": 1, "arccos:n=0,bias=1": 1, "chi2": 0, "polynomial:gamma=1,degree=0": 1,
	} {
		if p, err := At(kernel.MustParse(spec), norm, 3); err == nil {
			t.Errorf("%s at norm %v: %+v and no error", spec, norm, p)
		}
	}
	if _, err := At(kernel.MustParse("linear"), 1, 0); err == nil {
		t.Error("no dimensions, and no error")
	}
}
