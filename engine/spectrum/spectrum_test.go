package spectrum

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/musttest"
)

// with returns a matrix with the given eigenvalues: Q diag(λ) Qᵀ for a random orthogonal Q.
func with(eigenvalues []float64, seed uint64) *mat.SymDense {
	n := len(eigenvalues)
	r := rand.New(rand.NewPCG(seed, 1))
	g := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			g.Set(i, j, r.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(g)
	var q, p mat.Dense
	qr.QTo(&q)
	p.Mul(&q, mat.NewDiagDense(n, eigenvalues))
	p.Mul(&p, q.T())
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			s.SetSym(i, j, p.At(i, j))
		}
	}
	return s
}

// bound returns the error bound of eigenvalues of an n×n matrix of norm 1 that is built and solved
// in float64: n roundings per value in the product, and as many in the solver.
func bound(n int, norm float64) float64 { return 8 * float64(n) * 0x1p-53 * norm }

func decaying(n int) []float64 {
	v := musttest.MakeSlice(n, func(i int) float64 { return math.Pow(0.9, float64(i)) })
	v[n-1] = -0.25
	return v
}

// P A P has the vector of ones in its kernel, and equals the product of P, A and P.
func TestCentre(t *testing.T) {
	const n = 12
	a := with(decaying(n), 7)
	c, want := mat.DenseCopyOf(Centre(a)), mat.DenseCopyOf(a)
	SubtractMeans(want, n)
	want = mat.DenseCopyOf(want.T())
	SubtractMeans(want, n)
	want.Sub(want, c)
	if v := mat.Norm(want, 2); !(v <= bound(n, 1)) {
		t.Errorf("P A P differs by %v", v)
	}
	for i := range n {
		if v := mat.Sum(c.RowView(i)); !(math.Abs(v) <= bound(n, 1)) || !mat.Equal(c, c.T()) {
			t.Errorf("row %d adds to %v", i, v)
		}
	}
}
