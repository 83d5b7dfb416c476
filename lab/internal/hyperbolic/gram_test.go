package hyperbolic

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// unit is the rounding to float32.
const unit = 0x1p-24

// clouds draws sets of points in R^p about means, each set with its own deviation. Column 0 stays empty.
func clouds(sets, p int, seed uint64) (*sparse.CSR, *Sets) {
	r := rand.New(rand.NewPCG(seed, 7))
	m, s := &sparse.CSR{Cols: p + 1, Offsets: []int64{0}}, &Sets{Names: make([]string, sets)}
	for set := range sets {
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
			s.Of = append(s.Of, set)
		}
	}
	// The points of a set need not be neighbours.
	order := r.Perm(len(s.Of))
	mixed := make([]int, len(order))
	for i, j := range order {
		mixed[i] = s.Of[j]
	}
	s.Of = mixed
	return m.SelectRows(order), s
}

func normals(t *testing.T, sets, p int, seed uint64) []Normal {
	t.Helper()
	m, s := clouds(sets, p, seed)
	columns, _ := m.TermFrequencies()
	return musttest.Get(Fit(m, s, columns))(t)
}

func gramOf(t *testing.T, h *Heat, workers int, x []Normal) *engine.Dense {
	t.Helper()
	k := engine.NewDense(len(x), len(x))
	musttest.Do(t, h.Rows(t.Context(), workers, x, x, k))
	return k
}

// The kernel of H³ has the closed form K = (4πt)^(-3/2) r/sinh r exp(-t-r²/4t). Here the distance of two
// sets is computed from sums over their points.
func TestThreeDimensions(t *testing.T) {
	m, s := clouds(40, 2, 1)
	mean, square, count := make([][2]float64, 40), make([]float64, 40), make([]float64, 40)
	for i, set := range s.Of {
		_, v := m.Row(i)
		a, b := float64(v[0]), float64(v[1])
		mean[set][0] += a
		mean[set][1] += b
		square[set] += a*a + b*b
		count[set]++
	}
	distance := func(i, j int) float64 {
		var sigma [2]float64
		var mu [2][2]float64
		for k, set := range []int{i, j} {
			mu[k] = [2]float64{mean[set][0] / count[set], mean[set][1] / count[set]}
			sigma[k] = math.Sqrt((square[set]/count[set] - mu[k][0]*mu[k][0] - mu[k][1]*mu[k][1]) / 2)
		}
		dx, dy, ds := mu[0][0]-mu[1][0], mu[0][1]-mu[1][1], sigma[0]-sigma[1]
		return math.Acosh(1 + ((dx*dx+dy*dy)/4+ds*ds)/(2*sigma[0]*sigma[1]))
	}
	x := musttest.Get(Fit(m, s, []uint32{1, 2}))(t)
	for full, factor := range map[bool]float64{false: 1, true: math.Pow(4*math.Pi*0.7, -1.5) * math.Exp(-0.7)} {
		h := musttest.Get(NewHeat(t.Context(), 0.7, 3, full, x))(t)
		k := gramOf(t, h, 2, x)
		for i := range x {
			for j := range x {
				want := factor
				if i != j {
					r := distance(i, j)
					want *= r / math.Sinh(r) * math.Exp(-r*r/2.8)
				}
				got, eval := k.At(i, j), h.Eval(Distance(x[i], x[j]))
				if !(math.Abs(got-want) <= 2*unit*want) || !(math.Abs(eval-want) <= 1e-9*want) {
					t.Fatalf("full %v: (%d, %d) is %v, in float64 %v, expected %v", full, i, j, got, eval, want)
				}
			}
		}
	}
}

// Values are the definition's, rounded, in any dimension, with the same bits from any number of workers and
// in both orders. For n > P no eigenvalue is negative but by rounding.
func TestGram(t *testing.T) {
	for _, c := range []struct {
		time float64
		n, p int
		full bool
	}{{0.3, 2, 1, false}, {2, 4, 3, false}, {1e-3, 5, 4, false}, {0.05, 9, 5, true}, {0.01, 201, 200, false},
		{10, 3, 2, false}, {1, 5, 1, false}, {3, 8, 3, false}} {
		x := normals(t, 60, c.p, 3)
		h := musttest.Get(NewHeat(t.Context(), c.time, c.n, c.full, x))(t)
		k := gramOf(t, h, 1, x)
		symmetric := mat.NewSymDense(len(x), nil)
		for i := range x {
			for j := range x {
				r := Distance(x[i], x[j])
				got, want, bound := k.At(i, j), h.Eval(r), h.Error(r)
				if !(math.Abs(got-want) <= bound) || !(bound <= 1.01*unit*want+0x1p-149) {
					t.Fatalf("%+v: (%d, %d) is %v, expected %v", c, i, j, got, want)
				}
				if math.Float64bits(got) != math.Float64bits(k.At(j, i)) {
					t.Fatalf("%+v: (%d, %d) and its mirror image differ", c, i, j)
				}
				symmetric.SetSym(i, j, got)
			}
		}
		if again := gramOf(t, h, 7, x); !slices.Equal(again.Data, k.Data) {
			t.Errorf("%+v: 7 workers compute other bits", c)
		}
		var e mat.EigenSym
		if !e.Factorize(symmetric, false) {
			t.Fatal("no eigenvalues")
		}
		values := e.Values(nil)
		if least, most := values[0], values[len(values)-1]; !(least >= -float64(len(x))*unit*most) {
			t.Errorf("%+v: eigenvalues from %v to %v", c, least, most)
		}
	}
}

func TestFit(t *testing.T) {
	// Columns 0 and 3 are 0 for all points; a stored zero counts as none.
	m := &sparse.CSR{Cols: 4, Offsets: []int64{0, 2, 3, 4, 5}, Terms: []uint32{1, 3, 2, 1, 2},
		Values: []float32{4, 0, 6, 2, 2}}
	s := &Sets{Names: []string{"a", "b"}, Of: []int{1, 0, 1, 0}}
	columns, _ := m.TermFrequencies()
	x := musttest.Get(Fit(m, s, columns))(t)
	if !slices.Equal(x[0].Mean, []float64{0, 4}) || !slices.Equal(x[1].Mean, []float64{3, 0}) ||
		!(math.Abs(x[0].Sigma-math.Sqrt2) <= 1e-15) || !(math.Abs(x[1].Sigma-math.Sqrt(0.5)) <= 1e-15) {
		t.Errorf("distributions %+v", x)
	}
	// Values in other columns are ignored, and columns without values are 0.
	x = musttest.Get(Fit(m, &Sets{Names: []string{"a"}, Of: make([]int, 4)}, []uint32{1, 9}))(t)
	if !slices.Equal(x[0].Mean, []float64{1.5, 0}) {
		t.Errorf("in columns 1 and 9 the mean is %v", x[0].Mean)
	}
	for want, of := range map[string][]int{
		"set b: hyperbolic: 1 points": {1, 0, 0, 0}, "set b: hyperbolic: no points": {0, 0, 0, 0},
	} {
		_, err := Fit(m, &Sets{Names: s.Names, Of: of}, columns)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("sets %v: error %v, expected one with %q", of, err, want)
		}
	}
}
