package spectrum

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
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

// operator applies a matrix.
type operator struct {
	mat.Symmetric
	after int // if above 0: cancel at that product
	stop  func()
}

func (o *operator) Len() int { return o.SymmetricDim() }
func (o *operator) Apply(_ context.Context, dst, src []float64) error {
	if o.after--; o.after == 0 {
		o.stop()
	}
	mat.NewVecDense(len(dst), dst).MulVec(o.Symmetric, mat.NewVecDense(len(src), src))
	return nil
}

// bound is what eigenvalues of an n×n matrix of norm 1 made and solved in float64 may be off: n
// roundings a value in the product, and as many in the solver.
func bound(n int, norm float64) float64 { return 8 * float64(n) * 0x1p-53 * norm }

func decaying(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = math.Pow(0.9, float64(i))
	}
	v[n-1] = -0.25
	return v
}

func TestAllOfKnownSpectrum(t *testing.T) {
	for _, n := range []int{1, 2, 7, 60} {
		want := decaying(n)
		slices.SortFunc(want, func(a, b float64) int { return map[bool]int{true: -1, false: 1}[a > b] })
		got, err := All(t.Context(), with(want, 1), 0)
		if err != nil || len(got) != n {
			t.Fatal(got, err)
		}
		for i := range got {
			if err := math.Abs(got[i] - want[i]); !(err <= bound(n, 1)) {
				t.Errorf("n=%d: eigenvalue %d is %v, expected %v", n, i, got[i], want[i])
			}
		}
	}
}

// The second difference has the eigenvalues 2 - 2 cos(jπ/(n+1)).
func TestLanczosOfSecondDifference(t *testing.T) {
	const n = 200
	a := mat.NewSymDense(n, nil)
	for i := range n {
		a.SetSym(i, i, 2)
		if i > 0 {
			a.SetSym(i, i-1, -1)
		}
	}
	e := musttest.Get(Lanczos(t.Context(), &operator{Symmetric: a}, Options{K: 4, Steps: n}))(t)
	for i := range 4 {
		small, large := 2-2*math.Cos(float64(i+1)*math.Pi/(n+1)), 2-2*math.Cos(float64(n-i)*math.Pi/(n+1))
		for _, v := range []struct {
			Value
			want float64
		}{{e.Smallest[i], small}, {e.Largest[i], large}} {
			// A value with residual ρ is within ρ²/gap of its eigenvalue, and within ρ at any rate.
			if !v.Converged || !(math.Abs(v.Value.Value-v.want) <= v.Residual+bound(n, 4)) {
				t.Errorf("value %d: %+v, expected %v", i, v.Value, v.want)
			}
		}
	}
}

func TestLanczosAgainstAll(t *testing.T) {
	const n, k = 150, 5
	a := with(decaying(n), 3)
	all := musttest.Get(All(t.Context(), a, 0))(t)
	for seed := range uint64(3) {
		e := musttest.Get(Lanczos(t.Context(), &operator{Symmetric: a}, Options{K: k, Seed: seed}))(t)
		again, _ := Lanczos(t.Context(), &operator{Symmetric: a}, Options{K: k, Seed: seed})
		for i := range k {
			v := e.Largest[i]
			near := math.Abs(v.Value-all[i]) <= v.Residual+bound(n, 1)
			if !v.Converged || !near || !(v.Residual <= 0x1p-24) {
				t.Errorf("seed %d: largest %d is %+v, expected %v", seed, i, v, all[i])
			}
			if v := e.Smallest[i]; v != again.Smallest[i] {
				t.Errorf("seed %d: smallest %d is %+v and %+v", seed, i, v, again.Smallest[i])
			}
		}
		if v := e.Smallest[0]; !v.Converged || !(math.Abs(v.Value-all[n-1]) <= v.Residual+bound(n, 1)) {
			t.Errorf("seed %d: smallest is %+v, expected %v", seed, v, all[n-1])
		}
		if e.Steps >= n {
			t.Errorf("seed %d: %d steps for %d rows", seed, e.Steps, n)
		}
	}
}

// An invariant space is left for the rest: the identity but for one value, and the zero matrix.
func TestLanczosLeavesInvariantSpaces(t *testing.T) {
	ones := make([]float64, 40)
	for i := range ones {
		ones[i] = 1
	}
	ones[0] = 3
	e, err := Lanczos(t.Context(), &operator{Symmetric: with(ones, 5)}, Options{K: 3})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{3, 1, 1} {
		if !(math.Abs(e.Largest[i].Value-want) <= bound(40, 3)) || !(math.Abs(e.Smallest[i].Value-1) <= bound(40, 3)) {
			t.Errorf("value %d: %+v and %+v", i, e.Largest[i], e.Smallest[i])
		}
	}
	for _, n := range []int{1, 2, 9} {
		e, err = Lanczos(t.Context(), &operator{Symmetric: mat.NewSymDense(n, nil)}, Options{})
		if err != nil || len(e.Largest) != min(n, 6) || e.Largest[0].Value != 0 {
			t.Errorf("zero matrix of %d rows: %+v, %v", n, e, err)
		}
	}
}

// Couplings so small that the space counts as invariant are part of the residual: eigenvalues that
// differ by some 10⁻¹⁴ of the largest.
func TestLanczosResidualOfDroppedCouplings(t *testing.T) {
	for seed := range uint64(20) {
		values := []float64{3, 1, 1 + 0x1p-45, 1 - 0x1p-45}
		e := musttest.Get(Lanczos(t.Context(), &operator{Symmetric: mat.NewDiagDense(4, values)}, Options{Seed: seed}))(t)
		for _, v := range e.Largest {
			nearest := math.Inf(1)
			for _, x := range values {
				nearest = min(nearest, math.Abs(x-v.Value))
			}
			if !(nearest <= v.Residual) {
				t.Errorf("seed %d: %+v, the nearest eigenvalue is %v away", seed, v, nearest)
			}
		}
	}
}

// What hasn't converged says so, and its residual is honest.
func TestLanczosTooFewSteps(t *testing.T) {
	const n = 150
	a := with(decaying(n), 3)
	all, _ := All(t.Context(), a, 0)
	e := musttest.Get(Lanczos(t.Context(), &operator{Symmetric: a}, Options{K: 4, Steps: 8}))(t)
	for _, v := range e.Smallest {
		nearest := math.Inf(1)
		for _, x := range all {
			nearest = min(nearest, math.Abs(x-v.Value))
		}
		if v.Converged != (v.Residual <= 0x1p-24*math.Abs(e.Largest[0].Value)) || !(nearest <= v.Residual+bound(n, 1)) {
			t.Errorf("%+v, the nearest eigenvalue is %v away", v, nearest)
		}
	}
	if e.Smallest[3].Converged {
		t.Error("four of the smallest in 8 steps")
	}
}

func TestLanczosIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := &operator{Symmetric: with(decaying(100), 3), after: 3, stop: cancel}
	if _, err := Lanczos(ctx, o, Options{K: 2}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected the end of ctx", err)
	}
	if o.after != 0 {
		t.Errorf("%d products after the end", -o.after)
	}
}

// P A P has the vector of ones in its kernel, and the operator is the matrix.
func TestCentre(t *testing.T) {
	const n = 12
	a := with(decaying(n), 7)
	c := Centre(a)
	src, dst := make([]float64, n), make([]float64, n)
	for j := range n {
		sum := 0.0
		for i := range n {
			sum += c.At(i, j)
			if c.At(i, j) != c.At(j, i) {
				t.Errorf("(%d, %d) isn't symmetric", i, j)
			}
		}
		if !(math.Abs(sum) <= bound(n, 1)) {
			t.Errorf("column %d adds to %v", j, sum)
		}
		clear(src)
		src[j] = 1
		musttest.Do(t, CentreOperator(&operator{Symmetric: a}).Apply(t.Context(), dst, src))
		for i := range n {
			if !(math.Abs(dst[i]-c.At(i, j)) <= bound(n, 1)) {
				t.Errorf("(%d, %d): operator %v, matrix %v", i, j, dst[i], c.At(i, j))
			}
		}
	}
}

func TestRademacherSums(t *testing.T) {
	values := []float64{0.5, 0.25, 0.125, 0.0625, -0.03125}
	for r, want := range map[float64]float64{1: 0.9375, 0.25: 0.6875, 0.125: 0.4375, 0.03125: 0.125} {
		if got := RademacherSum(values, r); got != want {
			t.Errorf("r=%v: %v, expected %v", r, got, want)
		}
		// The largest, converged or not, and the smallest known or not: the bound holds, and no
		// eigenvalue left out leaves no slack but the negative one's.
		trace, squares := 0.0, 0.0
		for _, v := range values {
			trace += v
			squares += v * v
		}
		for known := range len(values) + 1 {
			for _, share := range []float64{1, 0.75} {
				for _, smallest := range []float64{values[4], math.Inf(-1)} {
					var largest []float64
					for _, v := range values[:known] {
						largest = append(largest, share*v)
					}
					got := RademacherBound(largest, len(values), trace, squares, smallest, r)
					if !(got >= want) || !(got <= 5*r) {
						t.Errorf("r=%v: %v from %v and %v, expected %v to %v", r, got, largest, smallest, want, 5*r)
					}
					if known >= 4 && share == 1 && !(got <= want-5*values[4]) {
						t.Errorf("r=%v: %v from all, expected %v to %v", r, got, want, want-5*values[4])
					}
				}
			}
		}
	}
}

// Of no documents there is nothing to bound, known or not.
func TestRademacherOfNone(t *testing.T) {
	for _, smallest := range []float64{0, math.Inf(-1)} {
		if got := RademacherBound(nil, 0, 0, 0, smallest, 0.5); got != 0 {
			t.Errorf("smallest %v: %v, expected 0", smallest, got)
		}
	}
}

// A low end of many near values: products enough find it, at any shift of the matrix, and what the
// values say of themselves holds.
func TestLanczosDenseLowEnd(t *testing.T) {
	const n, k = 300, 4
	values := make([]float64, n)
	for i := range values {
		u := float64(i+1) / n
		values[i] = 0.01 + 0.1*u
	}
	values[n-1], values[n-2] = 50, 3
	a := with(values, 2)
	for _, shift := range []float64{0, -7} {
		for i := range n {
			a.SetSym(i, i, a.At(i, i)+shift)
		}
		o := &operator{Symmetric: a}
		e := musttest.Get(Lanczos(t.Context(), o, Options{K: k}))(t)
		for i, v := range e.Smallest {
			if !v.Converged || !(math.Abs(v.Value-shift-values[i]) <= v.Residual) || !(v.Residual > 0) {
				t.Errorf("shift %v: smallest %d is %+v, expected %v", shift, i, v, values[i]+shift)
			}
		}
		if e.Steps >= n {
			t.Errorf("shift %v: %d products for %d rows", shift, e.Steps, n)
		}
	}
}

// An exactly singular shift, a vector that is zero but in one place, and a matrix of one row.
func TestTridiagonalVectors(t *testing.T) {
	for _, c := range []struct{ diagonal, off []float64 }{
		{[]float64{3}, nil},
		{[]float64{1, 2, 4}, []float64{0, 0}},
		{[]float64{2, 2, 2}, []float64{-1, -1}},
		{[]float64{1, 1}, []float64{0}},
		{[]float64{0, 0}, []float64{5}},
		{[]float64{1e-200, 1}, []float64{1e-160}},
	} {
		m := len(c.diagonal)
		s := mat.NewSymDense(m, nil)
		for i, v := range c.diagonal {
			s.SetSym(i, i, v)
			if i > 0 {
				s.SetSym(i, i-1, c.off[i-1])
			}
		}
		values := musttest.Get(All(t.Context(), s, 0))(t)
		norm := max(math.Abs(values[0]), math.Abs(values[m-1]))
		tri := newTridiagonal(c.diagonal, c.off, norm)
		for _, v := range values {
			if residual, last := tri.near(v); !(residual <= 16*0x1p-53*norm) || !(last >= 0 && last <= 1+1e-15) {
				t.Errorf("%v, %v: the vector of %v has the residual %v and the last component %v",
					c.diagonal, c.off, v, residual, last)
			}
		}
	}
}

// The squared residuals of all values after m products add to ‖A V - V (VᵀA V)‖², V the basis.
func TestLanczosResiduals(t *testing.T) {
	const n, m = 60, 8
	o := &recorder{operator: operator{Symmetric: with(decaying(n), 11)}}
	e, err := Lanczos(t.Context(), o, Options{K: m / 2, Steps: m, Tolerance: 1e-300})
	if err != nil || e.Steps != m {
		t.Fatal(e, err)
	}
	got := 0.0
	for i := range e.Largest {
		got += e.Largest[i].Residual*e.Largest[i].Residual + e.Smallest[i].Residual*e.Smallest[i].Residual
	}
	v := mat.NewDense(m, n, nil)
	for i, b := range o.seen {
		v.SetRow(i, b)
	}
	var av, h, rest mat.Dense
	av.Mul(o.Symmetric, v.T())
	h.Mul(v, &av)
	rest.Mul(v.T(), &h)
	rest.Sub(&av, &rest)
	want := math.Pow(mat.Norm(&rest, 2), 2)
	if !(want > 1e-6) || !(math.Abs(got-want) <= 1e-10*want) { // n·2⁻⁵³ for a norm of 10⁻³ is some 10⁻¹¹
		t.Errorf("squared residuals add to %v, expected %v", got, want)
	}
}

// recorder keeps the vectors that it was given.
type recorder struct {
	operator
	seen [][]float64
}

func (r *recorder) Apply(ctx context.Context, dst, src []float64) error {
	r.seen = append(r.seen, slices.Clone(src))
	return r.operator.Apply(ctx, dst, src)
}
