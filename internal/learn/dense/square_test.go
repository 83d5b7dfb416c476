package dense

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
	"gonum.org/v1/gonum/mat"
)

// definite returns a random matrix XᵀX + I and a bound on its condition number.
func definite(n int, seed uint64) (a *mat.SymDense, condition float64) {
	r := rand.New(rand.NewPCG(seed, 1))
	x := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			x.Set(i, j, r.NormFloat64()/math.Sqrt(float64(n)))
		}
	}
	a = mat.NewSymDense(n, nil)
	a.SymOuterK(1, x)
	for i := range n {
		a.SetSym(i, i, a.At(i, i)+1)
	}
	return a, 5 // ‖XᵀX‖ < (1+1)²+…, and the smallest eigenvalue is above 1
}

func of(a mat.Symmetric) *Matrix {
	n := a.SymmetricDim()
	s := New(n)
	for i := range n {
		for j := range n {
			if s.Row(i)[j] = math.NaN(); j >= i {
				s.Row(i)[j] = a.At(i, j)
			}
		}
	}
	return s
}

// Factors, ridges and solutions agree with gonum within n·2⁻⁵² times the condition number, and are
// bit-identical for any number of workers.
func TestFactor(t *testing.T) {
	for _, isa := range asm.Available() {
		k := musttest.Get(asm.KernelsFor(isa))(t)
		for _, n := range []int{1, 7, 64, 65, 129, 400} {
			if n > 130 && (isa == asm.Generic || testing.Short()) {
				continue // slow
			}
			a, condition := definite(n, uint64(n))
			var want mat.Cholesky
			if !want.Factorize(a) {
				t.Fatal("not definite")
			}
			var u mat.TriDense
			want.UTo(&u)
			tolerance := 8 * float64(n+10) * 0x1p-52 * condition
			var first []float64
			for _, workers := range []int{1, 3} {
				do := Config{k, workers}
				s := of(a)
				kept, err := s.Cholesky(t.Context(), do, 1e-9)
				if err != nil || len(kept) != n || s.N != n {
					t.Fatalf("%d rows kept of %d: %v", len(kept), n, err)
				}
				same := func(what string, i, j int, got, want float64) {
					t.Helper()
					if !(math.Abs(got-want) <= tolerance) {
						t.Fatalf("%s, n=%d: %s %d, %d: %v, expected %v", isa, n, what, i, j, got, want)
					}
				}
				for i := range n {
					for j := i; j < n; j++ {
						same("T", i, j, s.Row(i)[j], u.At(i, j))
						same("Tᵀ", j, i, s.Row(j)[i], u.At(i, j))
					}
				}
				ridge := musttest.Get(s.Ridge(t.Context(), do, 0.5))(t)
				var product mat.Dense
				product.Mul(&u, u.T())
				for i := range n {
					for j := i; j < n; j++ {
						own := 0.5 * product.At(i, j)
						if i == j {
							own++
						}
						same("ridge", i, j, ridge.Row(i)[j], own)
					}
				}
				r := rand.New(rand.NewPCG(5, 5))
				b := musttest.MakeSlice(5*n, func(i int) float64 { return r.NormFloat64() })
				x := slices.Clone(b)
				musttest.NoError(t, s.ForwardSolve(t.Context(), do, x))
				musttest.NoError(t, s.BackSolve(t.Context(), do, x))
				for v := range 5 {
					var solution mat.VecDense
					musttest.NoError(t, want.SolveVecTo(&solution, mat.NewVecDense(n, b[v*n:(v+1)*n])))
					for i := range n {
						same("solution", v, i, x[v*n+i], solution.AtVec(i))
					}
				}
				if first == nil {
					first = x
				} else if !slices.Equal(first, x) {
					t.Fatalf("%s, n=%d: other bits from %d workers", isa, n, workers)
				}
			}
		}
	}
}

// Duplicate rows are dropped at any position, and the factor is the factor of the remaining rows.
func TestDependent(t *testing.T) {
	const n = 300
	a, _ := definite(n, 9)
	from := make([]int, n) // row from[i] is the original of row i
	var want []int
	for i := range from {
		if from[i] = i; i%7 == 3 || i > 200 && i < 280 {
			from[i] = i / 2
		}
		if from[from[i]] == i {
			want = append(want, i)
		} else {
			from[i] = from[from[i]]
		}
	}
	s := New(n)
	for i := range n {
		for j := range n {
			s.Row(i)[j] = a.At(from[i], from[j])
		}
	}
	kept, err := s.Cholesky(t.Context(), Config{asm.BestKernels(), 2}, 1e-9)
	if err != nil || !slices.Equal(kept, want) {
		t.Fatalf("%v are kept, expected %v; %v", kept, want, err)
	}
	rest := mat.NewSymDense(len(want), nil)
	for i, k := range want {
		for j, l := range want {
			rest.SetSym(i, j, a.At(k, l))
		}
	}
	alone := of(rest)
	musttest.Get(alone.Cholesky(t.Context(), Config{asm.BestKernels(), 2}, 1e-9))(t)
	for i := range want {
		for j := range want {
			if d := s.Row(i)[j] - alone.Row(i)[j]; !(math.Abs(d) <= 1e-12) {
				t.Fatalf("value %d, %d differs by %v", i, j, d)
			}
		}
	}
}
