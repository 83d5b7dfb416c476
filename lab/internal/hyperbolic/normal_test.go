package hyperbolic

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

func random(r *rand.Rand, p int) Normal {
	n := Normal{Mean: make([]float64, p), Sigma: math.Exp(r.NormFloat64())}
	for i := range n.Mean {
		n.Mean[i] = 3 * r.NormFloat64()
	}
	return n
}

// For equal means the distance is |ln σ/σ′|, otherwise the arcosh in the definition. Distance(a, b)
// and Distance(b, a) have the same bits.
func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for range 300 {
		a, b := random(r, 1+r.IntN(6)), Normal{}
		b = random(r, len(a.Mean))
		var square float64
		for i := range a.Mean {
			square += (a.Mean[i] - b.Mean[i]) * (a.Mean[i] - b.Mean[i])
		}
		want := math.Acosh(1 + (square/float64(2*len(a.Mean))+(a.Sigma-b.Sigma)*(a.Sigma-b.Sigma))/(2*a.Sigma*b.Sigma))
		got := Distance(a, b)
		if !(math.Abs(got-want) <= 1e-12*(1+1/got)) || math.Float64bits(got) != math.Float64bits(Distance(b, a)) ||
			Distance(a, a) != 0 {
			t.Errorf("%v and %v: distance %v, %v the other way round, %v to itself, expected %v", a, b, got,
				Distance(b, a), Distance(a, a), want)
		}
		up := Normal{a.Mean, b.Sigma}
		if got, want := Distance(a, up), math.Abs(math.Log(a.Sigma/b.Sigma)); !(math.Abs(got-want) <= 1e-14*(1+want)) {
			t.Errorf("deviations %v and %v: distance %v, expected %v", a.Sigma, b.Sigma, got, want)
		}
		// The distance is invariant under shifts and scaling of the data.
		scaled := func(n Normal) Normal {
			m := Normal{Sigma: 8 * n.Sigma}
			for _, v := range n.Mean {
				m.Mean = append(m.Mean, 8*(v+16))
			}
			return m
		}
		if moved := Distance(scaled(a), scaled(b)); !(math.Abs(moved-got) <= 1e-12*(1+moved)) {
			t.Errorf("shifted and scaled, the distance %v becomes %v", got, moved)
		}
	}
	// Small distances keep their relative accuracy, and large distances don't overflow.
	near := Normal{[]float64{1e-9, 0}, 1}
	if got, want := Distance(Normal{[]float64{0, 0}, 1}, near), 0.5e-9; !(math.Abs(got-want) <= 1e-15*want) {
		t.Errorf("near points have the distance %v, expected %v", got, want)
	}
	if got, want := Distance(Normal{[]float64{0}, 1e-200},
		Normal{[]float64{0}, 1e200}), 400*math.Ln10; !(math.Abs(got-want) <= 1e-12*want) {
		t.Errorf("far points have the distance %v, expected %v", got, want)
	}
}

// The estimate is correct for the four corners of a square far from 0, also if other columns lie
// between the coordinates. It fails for points without spread.
func TestFit(t *testing.T) {
	of := func(columns []uint32, points ...[]float32) (Normal, error) {
		m := &sparse.CSR{Cols: 4, Offsets: []int64{0}}
		var rows []int
		for i, x := range points {
			for k, v := range x {
				if v != 0 {
					m.Terms, m.Values = append(m.Terms, uint32(k)), append(m.Values, v)
				}
			}
			rows, m.Offsets = append(rows, i), append(m.Offsets, int64(len(m.Terms)))
		}
		return FitNormal(m, rows, columns)
	}
	const far = 1 << 20
	square := [][]float32{{0, far, 7, 0}, {5, far + 2, 0, 0}, {0, far, 0, 2}, {0, far + 2, 0, 2}}
	n, err := of([]uint32{1, 3}, square...)
	if err != nil || n.Mean[0] != far+1 || n.Mean[1] != 1 || !(math.Abs(n.Sigma-1) <= 1e-15) {
		t.Errorf("the square is estimated as %v, error %v, expected mean %v, 1 and deviation 1", n, err, far+1)
	}
	for _, points := range [][][]float32{{{0.1}, {0.1}, {0.1}}, {{1, 2}}, {{1, 0, 5}, {1, 0, 6}}} {
		musttest.WantError(of([]uint32{0, 1}, points...))(t, points)
	}
	// For many points the estimate converges to the distribution of the points.
	r := rand.New(rand.NewPCG(8, 8))
	var points [][]float32
	for range 20000 {
		points = append(points, []float32{float32(3 + 0.5*r.NormFloat64()), float32(-1 + 0.5*r.NormFloat64()),
			float32(0.5 * r.NormFloat64())})
	}
	n, err = of([]uint32{0, 1, 2}, points...)
	if err != nil || !(math.Abs(n.Sigma-0.5) <= 5*0.5/math.Sqrt(2*60000)) ||
		!(math.Abs(n.Mean[0]-3) <= 5*0.5/math.Sqrt(20000)) {
		t.Errorf("20000 points of N(3, -1, 0; ½) give %v, error %v", n, err)
	}
}
