package hyperbolic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// unit is the float32 rounding unit.
const unit = 0x1p-24

// eval returns the value at distance r in float64 without the table.
func (h *NormalisedKernel) eval(r float64) float64 {
	return math.Exp(h.kernel.LogValue(r) - h.logAtZero)
}

// bound bounds |At - eval|: half a float32 ulp, the table's error, and several float64 ulp of the
// terms, which are up to n²t/4 and r²/4t.
func (h *NormalisedKernel) bound(r float64) float64 {
	const ulp = 0x1p-52
	const underflow = 0x1p-149 // smallest positive float32
	n, t := float64(h.kernel.n), h.kernel.t
	off := 1e-12*(1+n) + 8*ulp*(r*r/(4*t)+n*n*t/4+math.Abs(h.logAtZero)+n*math.Abs(math.Log(4*math.Pi*t)))
	return h.eval(r)*(math.Expm1(off)+unit*math.Exp(off)) + underflow
}

// clouds draws sets of points in R^p, each with its own mean and standard deviation. Column 0 stays
// empty.
func clouds(sets, p int, seed uint64) (*sparse.CSR, [][]int) {
	r := rand.New(rand.NewPCG(seed, 7))
	m, members := &sparse.CSR{Cols: p + 1, Offsets: []int64{0}}, make([][]int, sets)
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
			members[set] = append(members[set], len(m.Offsets)-1)
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
	}
	return m, members
}

func normals(t *testing.T, sets, p int, seed uint64) (x []Normal) {
	t.Helper()
	m, members := clouds(sets, p, seed)
	columns, _ := m.TermFrequencies()
	for _, rows := range members {
		x = append(x, musttest.Get(FitNormal(m, rows, columns))(t))
	}
	return x
}

func gramOf(t *testing.T, h *NormalisedKernel, workers int, x []Normal) *engine.Dense {
	t.Helper()
	k := engine.NewDense(len(x), len(x))
	musttest.NoError(t, h.ComputeRows(t.Context(), workers, x, x, k))
	return k
}

// Values equal the rounded definition in any dimension. They are the same bit for bit for any
// number of workers, and if rows and columns are exchanged. For n > p the eigenvalues are
// nonnegative, up to rounding.
func TestGram(t *testing.T) {
	for _, c := range []struct {
		time float64
		n, p int
	}{{0.3, 2, 1}, {2, 4, 3}, {1e-3, 5, 4}, {0.05, 9, 5}, {0.01, 201, 200}, {10, 3, 2}, {1, 5, 1}, {3, 8, 3}} {
		x := normals(t, 60, c.p, 3)
		h := musttest.Get(NewNormalisedKernel(c.time, c.n, x))(t)
		k := gramOf(t, h, 1, x)
		symmetric := mat.NewSymDense(len(x), nil)
		for i := range x {
			for j := range x {
				r := Distance(x[i], x[j])
				got, want, bound := k.At(i, j), h.eval(r), h.bound(r)
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
