package engine

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// clouds draws sets of points in R^p about means and with deviations of their own; column 0 of the
// matrix stays empty.
func clouds(t *testing.T, sets, p int, seed uint64) (*sparse.CSR, []int32) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 7))
	m := &sparse.CSR{Cols: p + 1, Offsets: []int64{0}}
	var of []int32
	for s := range sets {
		mean, sigma := make([]float64, p), math.Exp(0.5*r.NormFloat64())
		for k := range mean {
			mean[k] = 2 * r.NormFloat64()
		}
		for range 3 + r.IntN(5) {
			for k := range mean {
				m.Terms = append(m.Terms, uint32(k+1))
				m.Values = append(m.Values, float32(mean[k]+sigma*r.NormFloat64()))
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
			of = append(of, int32(s))
		}
	}
	// Points of a set need not be neighbours.
	order := r.Perm(len(of))
	mixed := make([]int32, len(of))
	for i, j := range order {
		mixed[i] = of[j]
	}
	return m.SelectRows(order), mixed
}

func normals(t *testing.T, sets, p int, seed uint64) *normal.Distributions {
	t.Helper()
	m, of := clouds(t, sets, p, seed)
	x := musttest.Get(normal.Fit(t.Context(), m, of, sets))(t)
	return x
}

func hyperbolicGram(t *testing.T, spec string, x *normal.Distributions, workers int) *HyperbolicGram {
	t.Helper()
	h := musttest.Get(kernel.ParseHyperbolic(spec))(t)
	g := musttest.Get(NewHyperbolic(t.Context(), h, x, Options{Workers: workers}))(t)
	return g
}

// The kernel of H³ is known: K = (4πt)^(-3/2) r/sinh r exp(-t-r²/4t). The distance of two sets is
// that of means and variances as computed here.
func TestHyperbolicThree(t *testing.T) {
	m, of := clouds(t, 40, 2, 1)
	x := musttest.Get(normal.Fit(t.Context(), m, of, 40))(t)
	if x.Len() != 40 || x.P() != 2 {
		t.Fatalf("%d distributions on R^%d", x.Len(), x.P())
	}
	mean, square, count := make([][2]float64, 40), make([]float64, 40), make([]float64, 40)
	for i, s := range of {
		_, v := m.Row(i)
		a, b := float64(v[0]), float64(v[1])
		mean[s][0] += a
		mean[s][1] += b
		square[s] += a*a + b*b
		count[s]++
	}
	distance := func(i, j int) float64 {
		var sigma [2]float64
		var mu [2][2]float64
		for k, s := range []int{i, j} {
			mu[k] = [2]float64{mean[s][0] / count[s], mean[s][1] / count[s]}
			sigma[k] = math.Sqrt((square[s]/count[s] - mu[k][0]*mu[k][0] - mu[k][1]*mu[k][1]) / 2)
		}
		dx, dy, ds := mu[0][0]-mu[1][0], mu[0][1]-mu[1][1], sigma[0]-sigma[1]
		return math.Acosh(1 + ((dx*dx+dy*dy)/4+ds*ds)/(2*sigma[0]*sigma[1]))
	}
	for spec, factor := range map[string]float64{"hyperbolic:t=0.7": 1,
		"hyperbolic:t=0.7,n=3,constant=full": math.Pow(4*math.Pi*0.7, -1.5) * math.Exp(-0.7)} {
		g := hyperbolicGram(t, spec, x, 2)
		k := musttest.Get(g.Gram(t.Context()))(t)
		for i := range k.N {
			for j := range k.N {
				want := factor
				if i != j {
					r := distance(i, j)
					want *= r / math.Sinh(r) * math.Exp(-r*r/2.8)
				}
				if got := k.At(i, j); !(math.Abs(got-want) <= 2*unit*want) ||
					!(math.Abs(g.Eval(i, j)-want) <= 1e-9*want) {
					t.Fatalf("%s: (%d, %d) is %v, in float64 %v, expected %v", spec, i, j, got, g.Eval(i, j), want)
				}
			}
		}
	}
}

// Values are those of the definition, rounded, in any dimension; the same bits from any number of
// workers, in both orders, and by rows.
func TestHyperbolicGram(t *testing.T) {
	for _, c := range []struct {
		spec string
		p    int
	}{{"hyperbolic:t=0.3", 1}, {"hyperbolic:t=2", 3}, {"hyperbolic:t=1e-3", 4},
		{"hyperbolic:t=0.05,n=9,constant=full", 5}, {"hyperbolic:t=0.01", 200}} {
		x := normals(t, 75, c.p, 3)
		g := hyperbolicGram(t, c.spec, x, 1)
		k := musttest.Get(g.Gram(t.Context()))(t)
		for i := range k.N {
			for j := range k.N {
				got, want := k.At(i, j), g.Eval(i, j)
				if bound := g.Error(i, j); !(math.Abs(got-want) <= bound) || !(bound <= 1.01*unit*want+0x1p-149) {
					t.Fatalf("%s: (%d, %d) is %v, expected %v", c.spec, i, j, got, want)
				}
				if math.Float32bits(k.Row(i)[j]) != math.Float32bits(k.Row(j)[i]) {
					t.Fatalf("%s: (%d, %d) and its mirror image differ", c.spec, i, j)
				}
			}
		}
		for _, workers := range []int{2, 7} {
			other := hyperbolicGram(t, c.spec, x, workers)
			again, err := other.Gram(t.Context())
			if err != nil || !sameBits(again.Data, k.Data) {
				t.Errorf("%s: %d workers compute other bits, or %v", c.spec, workers, err)
			}
			rows := NewDense(40, 75)
			if err := other.Rows(t.Context(), 20, rows); err != nil || !sameBits(rows.Data, k.Data[20*75:60*75]) {
				t.Errorf("%s: by rows there are other bits, or %v", c.spec, err)
			}
		}
	}
}

// No eigenvalue is below 0 but by rounding where the kernel is said to be positive definite, n =
// P+1 and above, even and odd.
func TestHyperbolicDefinite(t *testing.T) {
	for _, spec := range []string{"hyperbolic:t=0.1", "hyperbolic:t=1", "hyperbolic:t=10", "hyperbolic:t=1,n=5",
		"hyperbolic:t=3,n=8"} {
		for _, p := range []int{1, 2, 3} {
			x := normals(t, 60, p, 5)
			g := hyperbolicGram(t, spec, x, 0)
			if g.Kernel().PropertiesFor(p).Definite != kernel.Positive {
				t.Errorf("%s isn't said to be positive definite on R^%d", g.Kernel(), p)
			}
			k := musttest.Get(g.Gram(t.Context()))(t)
			var e mat.EigenSym
			if !e.Factorize(k, false) {
				t.Fatal("no eigenvalues")
			}
			values := e.Values(nil)
			if least, most := values[0], values[len(values)-1]; !(least >= -float64(k.N)*unit*most) {
				t.Errorf("%s on R^%d: eigenvalues from %v to %v", g.Kernel(), p, least, most)
			}
		}
	}
	if (kernel.Hyperbolic{T: 1, N: 2}).PropertiesFor(2).Definite != kernel.NotProven {
		t.Error("n = P is said to be positive definite")
	}
}

func TestHyperbolicMemory(t *testing.T) {
	x := normals(t, 40, 2, 1)
	h := kernel.Hyperbolic{T: 1}
	var memory *MemoryError
	if _, err := NewHyperbolic(t.Context(), h, x, Options{MemoryBytes: 100}); !errors.As(err, &memory) {
		t.Errorf("100 bytes for the distributions: %v", err)
	}
	g := musttest.Get(NewHyperbolic(t.Context(), h, x, Options{MemoryBytes: x.Bytes() + 100}))(t)
	if _, err := g.Gram(t.Context()); !errors.As(err, &memory) {
		t.Errorf("100 bytes for the matrix: %v", err)
	}

}

// The values of a distribution with all of a matrix are those of its row, whatever the order of the
// others; kernels of sets have no other values.
func TestHyperbolicAgainst(t *testing.T) {
	x := normals(t, 30, 3, 1)
	g := hyperbolicGram(t, "hyperbolic:t=0.7", x, 2)
	m := musttest.Get(g.Gram(t.Context()))(t)
	order := []int{7, 3, 29, 0}
	dst := make([]float32, x.Len())
	for at, j := range order {
		musttest.Do(t, g.Against(x.In(order), at, dst))
		for i, got := range dst {
			if i != j && got != m.Row(j)[i] || i == j && !(math.Abs(float64(got)-1) <= unit) {
				t.Errorf("distributions %d and %d: %v, expected %v", i, j, got, m.Row(j)[i])
			}
		}
	}
	if err := g.Against(normals(t, 3, 2, 1), 0, dst); err == nil {
		t.Error("distributions of other dimensions are compared")
	}
	k := kernel.Hyperbolic{T: 2}.Kernel()
	if h, ok := kernel.HyperbolicOf(kernel.Resolve(k, 4)); !ok || h.N != 4 || k.String() != "hyperbolic:t=2" {
		t.Errorf("%v resolves to %+v", k, h)
	}
	if _, ok := kernel.HyperbolicOf(kernel.MustParse("linear")); ok {
		t.Error("a linear kernel compares sets")
	}
	for _, e := range []sparse.Embedding{{}, sparse.Sphere} { // an embedding wouldn't help
		_, err := newEngine(t, embedded(t, e, zipf(5, 20, 4, 1)), Options{}).Gram(t.Context(), k)
		if err == nil ||
			!strings.Contains(err.Error(), "compares sets of points, found documents: normal.Fit estimates") {
			t.Errorf("an engine's matrix of %v on documents embedded as %s: %v", k, e, err)
		}
	}
	wide := &sparse.CSR{Cols: 2000, Offsets: []int64{0, 2000, 4000}, Values: make([]float32, 4000)}
	for i := range wide.Values {
		wide.Terms, wide.Values[i] = append(wide.Terms, uint32(i%2000)), float32(1+i/2000)
	}
	many := musttest.Get(normal.Fit(t.Context(), wide, []int32{0, 0}, 1))(t)
	for _, n := range []int{0, 2001} {
		_, err := NewHyperbolic(t.Context(), kernel.Hyperbolic{T: 2, N: n}, many, Options{})
		if err == nil ||
			!strings.Contains(err.Error(),
				"on points of 2000 coordinates, expected at most 1999 of them, one less than n: beyond, terms of") {
			t.Errorf("2000 coordinates, n = %d: %v", n, err)
		}
	}
}
