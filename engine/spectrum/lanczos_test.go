package spectrum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/musttest"
)

// blocks implements Operator for a matrix.
type blocks struct{ mat.Symmetric }

func (b blocks) Dim() int { return b.SymmetricDim() }
func (b blocks) Apply(_ context.Context, dst, src *mat.Dense) error {
	dst.Mul(b, src)
	return nil
}

// recorder keeps the vectors of the products, and calls stop, if not nil, at the third product.
type recorder struct {
	blocks
	seen []*mat.Dense
	stop func()
}

func (r *recorder) Apply(ctx context.Context, dst, src *mat.Dense) error {
	if r.seen = append(r.seen, mat.DenseCopyOf(src)); len(r.seen) == 3 && r.stop != nil {
		r.stop()
	}
	return r.blocks.Apply(ctx, dst, src)
}

// falling returns values that decrease like eigenvalues of Gram matrices. Some are negative.
func falling(n int) (values []float64) {
	for i := range n {
		values = append(values, 100/math.Pow(float64(i+1), 1.5)-0.001)
	}
	return values
}

// Values and vectors agree with gonum's: relative errors of values are 10⁻⁶, the space of the K
// vectors agrees to 10⁻⁵, and they are orthogonal to 10⁻¹³.
func TestLeadingAgainstDense(t *testing.T) {
	musttest.SkipRace(t)
	repeated := musttest.MakeSlice(150, func(i int) float64 { return []float64{9, 4, 4, 4, 1}[min(i, 4)] })
	low := make([]float64, 90)
	for i := range 12 {
		low[i] = float64(20 - i)
	}
	for name, c := range map[string]struct {
		values []float64
		opt    Options
	}{
		"falling":         {falling(500), Options{K: 40, Tolerance: 1e-8, MaxVectors: 500}},
		"most of them":    {falling(300), Options{K: 250, Tolerance: 1e-8}},
		"all":             {falling(60), Options{K: 60}},
		"more than there": {falling(7), Options{K: 60}},
		"one":             {falling(200), Options{K: 1, Tolerance: 1e-8, MaxVectors: 200}},
		"repeated":        {repeated, Options{K: 4, Tolerance: 1e-8}},
		"of low rank":     {low, Options{K: 12, Tolerance: 1e-8}},
		"beyond the rank": {low, Options{K: 30, Tolerance: 1e-8}},
		"zero":            {make([]float64, 30), Options{K: 3}},
		"the identity":    {[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, Options{K: 12, BlockSize: 2}},
		"blocks of one":   {falling(100), Options{K: 5, BlockSize: 1, Tolerance: 1e-8, MaxVectors: 100}},
	} {
		t.Run(name, func(t *testing.T) {
			a := with(c.values, 7)
			n := len(c.values)
			got := musttest.Get(Lanczos(t.Context(), blocks{a}, c.opt))(t)
			var e mat.EigenSym
			if !e.Factorize(a, true) {
				t.Fatal("gonum finds no eigenvalues")
			}
			want := e.Values(nil)
			k := min(c.opt.K, n)
			if len(got.Largest) != k {
				t.Fatalf("%d values, expected %d", len(got.Largest), k)
			}
			for i, v := range got.Largest {
				w := want[n-1-i]
				if !(math.Abs(v.Value-w) <= 1e-6*math.Abs(w)+1e-12*want[n-1]) || !v.Converged {
					t.Errorf("value %d is %+v, expected %v", i, v, w)
				}
			}
			var gram mat.Dense
			gram.Mul(got.Vectors.T(), got.Vectors)
			for i := range k {
				for j := range k {
					unit := 0.0
					if i == j {
						unit = 1
					}
					if !(math.Abs(gram.At(i, j)-unit) <= 1e-13) {
						t.Fatalf("vectors %d and %d have the product %v", i, j, gram.At(i, j))
					}
				}
				if maxByAbs(mat.Col(nil, i, got.Vectors)) < 0 {
					t.Errorf("vector %d has the wrong sign", i)
				}
			}
			if k < n && want[n-k]-want[n-k-1] <= 1e-6*want[n-1] {
				return // the space isn't unique
			}
			// sines of angles between the spaces: the components of these vectors outside gonum's
			var all, products, inside mat.Dense
			e.VectorsTo(&all)
			their := all.Slice(0, n, n-k, n)
			products.Mul(their.T(), got.Vectors)
			inside.Mul(their, &products)
			inside.Sub(got.Vectors, &inside)
			if angle := mat.Norm(&inside, 2); !(angle <= 1e-5) {
				t.Errorf("the spaces are %v apart", angle)
			}
		})
	}
}

// A value never exceeds the eigenvalue of its rank, and Converged is false if it hasn't converged.
func TestLeadingUnconverged(t *testing.T) {
	values := falling(400)
	opt := Options{K: 15, BlockSize: 10, MaxVectors: 40, WithSmallest: true}
	got := musttest.Get(Lanczos(t.Context(), blocks{with(values, 3)}, opt))(t)
	loose := 0
	for i, v := range append(got.Largest, got.Smallest...) {
		if i < len(got.Largest) && !(v.Value <= values[i]+1e-12*values[0]) {
			t.Errorf("value %d is %v, above %v", i, v.Value, values[i])
		}
		if v.Converged != (v.Residual <= 0x1p-24*got.Largest[0].Value) {
			t.Errorf("%+v has the wrong Converged", v)
		}
		if !v.Converged {
			loose++
		}
		near := math.Inf(1)
		for _, w := range values {
			near = min(near, math.Abs(w-v.Value))
		}
		if !(near <= v.Residual) {
			t.Errorf("no eigenvalue is within %v of %v", v.Residual, v.Value)
		}
	}
	if loose == 0 || got.BasisSize != 40 {
		t.Errorf("%d values haven't converged with %d vectors, want some with 40", loose, got.BasisSize)
	}
}

// A search ends as soon as all residuals are within the tolerance. The default BlockSize depends on
// K.
func TestLeadingEnds(t *testing.T) {
	got, err := Lanczos(t.Context(), blocks{with(falling(300), 3)}, Options{K: 8, MaxVectors: 300})
	if err != nil || !(got.BasisSize < 100) || !got.Largest[7].Converged {
		t.Errorf("%+v, %v, expected fewer vectors than 100", got, err)
	}
	for k, block := range map[int]int{0: 8, 6: 8, 90: 30, 300: 100, 900: 128} {
		if o, err := (Options{K: k}).resolve(5000); err != nil || o.BlockSize != block {
			t.Errorf("blocks of %d for %d, %v, expected %d", o.BlockSize, k, err, block)
		}
	}
}

type failing struct {
	blocks
	err   error
	spoil float64
}

func (f failing) Apply(ctx context.Context, dst, src *mat.Dense) error {
	if f.spoil != 0 {
		dst.Set(0, 0, f.spoil)
	}
	return f.err
}

func TestLeadingErrors(t *testing.T) {
	a := blocks{with(falling(50), 1)}
	musttest.WantError(Lanczos(t.Context(), failing{a, errors.New("broken"), 0}, Options{}))(t, "an operator that fails")
	for _, spoil := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		musttest.WantError(Lanczos(t.Context(), failing{a, nil, spoil}, Options{}))(t,
			fmt.Sprintf("%v in a product", spoil), "product 1 has infinite or NaN values")
	}
	if got, err := Lanczos(t.Context(), blocks{&mat.SymDense{}}, Options{}); err != nil || len(got.Largest) > 0 {
		t.Errorf("no rows: %v, %v", got, err)
	}
}

func TestLanczosAgainstAll(t *testing.T) {
	const n, k = 150, 5
	a := with(decaying(n), 3)
	all := musttest.Get(Eigenvalues(t.Context(), a, 0))(t)
	for seed := range uint64(3) {
		e := musttest.Get(Lanczos(t.Context(), blocks{a}, Options{K: k, WithSmallest: true, Seed: seed}))(t)
		again, _ := Lanczos(t.Context(), blocks{a}, Options{K: k, WithSmallest: true, Seed: seed})
		same := slices.Equal(e.Largest, again.Largest) && slices.Equal(e.Smallest, again.Smallest)
		if !same || !mat.Equal(e.Vectors, again.Vectors) {
			t.Errorf("seed %d: other bits the second time", seed)
		}
		for i := range k {
			v := e.Largest[i]
			near := math.Abs(v.Value-all[i]) <= v.Residual+bound(n, 1)
			if !v.Converged || !near || !(v.Residual <= 0x1p-24) {
				t.Errorf("seed %d: largest %d is %+v, expected %v", seed, i, v, all[i])
			}
		}
		if v := e.Smallest[0]; !v.Converged || !(math.Abs(v.Value-all[n-1]) <= v.Residual+bound(n, 1)) {
			t.Errorf("seed %d: smallest is %+v, expected %v", seed, v, all[n-1])
		}
		if e.BasisSize >= n {
			t.Errorf("seed %d: %d steps for %d rows", seed, e.BasisSize, n)
		}
	}
}

// Lanczos leaves invariant spaces: the identity with one value changed, and the zero matrix.
func TestLanczosLeavesInvariantSpaces(t *testing.T) {
	ones := musttest.MakeSlice(40, func(i int) float64 { return 1 })
	ones[0] = 3
	e := musttest.Get(Lanczos(t.Context(), blocks{with(ones, 5)}, Options{K: 3, WithSmallest: true}))(t)
	for i, want := range []float64{3, 1, 1} {
		if !(math.Abs(e.Largest[i].Value-want) <= bound(40, 3)) || !(math.Abs(e.Smallest[i].Value-1) <= bound(40, 3)) {
			t.Errorf("value %d: %+v and %+v", i, e.Largest[i], e.Smallest[i])
		}
	}
	for _, n := range []int{1, 2, 9} {
		e, err := Lanczos(t.Context(), blocks{mat.NewSymDense(n, nil)}, Options{WithSmallest: true})
		if err != nil || len(e.Largest) != min(n, 6) || e.Largest[0].Value != 0 {
			t.Errorf("zero matrix of %d rows: %+v, %v", n, e, err)
		}
	}
}

// Residuals include couplings that are so small that the space counts as invariant: eigenvalues
// that differ by about 10⁻¹⁴ of the largest.
func TestLanczosResidualOfDroppedCouplings(t *testing.T) {
	for seed := range uint64(20) {
		values := []float64{3, 1, 1 + 0x1p-45, 1 - 0x1p-45}
		e := musttest.Get(Lanczos(t.Context(), blocks{mat.NewDiagDense(4, values)},
			Options{WithSmallest: true, Seed: seed}))(t)
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

func TestLanczosIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := &recorder{blocks: blocks{with(decaying(100), 3)}, stop: cancel}
	musttest.WantError(Lanczos(ctx, o, Options{K: 2, WithSmallest: true}))(t, "after the end of the context",
		context.Canceled)
	if len(o.seen) != 3 {
		t.Errorf("%d products, expected 3", len(o.seen))
	}
}

// Many close values at the low end: enough products find the end, for any shift of the matrix, and
// residuals are correct.
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
		e := musttest.Get(Lanczos(t.Context(), blocks{a}, Options{K: k, WithSmallest: true}))(t)
		for i, v := range e.Smallest {
			if !v.Converged || !(math.Abs(v.Value-shift-values[i]) <= v.Residual) || !(v.Residual > 0) {
				t.Errorf("shift %v: smallest %d is %+v, expected %v", shift, i, v, values[i]+shift)
			}
		}
		if e.BasisSize >= n {
			t.Errorf("shift %v: %d products for %d rows", shift, e.BasisSize, n)
		}
	}
}

// The squared residuals of all values after m products add up to ‖A V - V (VᵀA V)‖², V the basis.
func TestLanczosResiduals(t *testing.T) {
	const n, m = 60, 8
	o := &recorder{blocks: blocks{with(decaying(n), 11)}}
	e, err := Lanczos(t.Context(), o, Options{K: m / 2, WithSmallest: true, MaxVectors: m, Tolerance: 1e-300})
	if err != nil || e.BasisSize != m {
		t.Fatal(e, err)
	}
	got := 0.0
	for i := range e.Largest {
		got += e.Largest[i].Residual*e.Largest[i].Residual + e.Smallest[i].Residual*e.Smallest[i].Residual
	}
	v := mat.NewDense(m, n, nil)
	for i, b := range o.seen {
		v.SetRow(i, mat.Col(nil, 0, b))
	}
	var av, h, rest mat.Dense
	av.Mul(o.Symmetric, v.T())
	h.Mul(v, &av)
	rest.Mul(v.T(), &h)
	rest.Sub(&av, &rest)
	want := math.Pow(mat.Norm(&rest, 2), 2)
	if !(want > 1e-6) || !(math.Abs(got-want) <= 1e-10*want) { // n·2⁻⁵³ for a norm of 10⁻³ is about 10⁻¹¹
		t.Errorf("squared residuals add to %v, expected %v", got, want)
	}
}
