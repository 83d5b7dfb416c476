package spectral

import (
	"context"
	"errors"
	"fmt"
	"image/color"
	"math"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// newTestMatrices makes the matrix of a kernel on random documents as an operator that keeps it and
// one that doesn't.
func newTestMatrices(t *testing.T, spec string, documents int) (whole, stripes *matrix) {
	t.Helper()
	c := musttest.Get(corpus.Read(t.Context(), fmt.Sprintf("synthetic:docs=%d,terms=300,length=40", documents),
		corpus.Options{}))(t)
	k := kernel.MustParse(spec)
	x := musttest.Get(source.Embed(t.Context(), c, k.Embedding(), 1))(t)
	eng := musttest.Get(engine.New(x, engine.Options{Workers: 2}))(t)
	m := musttest.Get(eng.Gram(t.Context(), k))(t)
	visit := func(ctx context.Context, visit func(int, *engine.Dense) error) error {
		return eng.Stripes(ctx, k, visit)
	}
	return &matrix{n: documents, workers: 3, whole: m}, &matrix{n: documents, workers: 1, stripes: visit}
}

// Lanczos gives the same bits whether the matrix is kept or not, and what the full decomposition
// gives; so do the traces.
func TestMatrices(t *testing.T) {
	const n = 333
	whole, stripes := newTestMatrices(t, "diffusion:t=0.5", n)
	for _, centre := range []bool{false, true} {
		values := musttest.Get(allOf(t.Context(), whole.whole, centre, 2))(t)
		var trace, squares float64
		for _, v := range values {
			trace += v
			squares += v * v
		}
		var found [2]*spectrum.Extremes
		for i, op := range []*matrix{whole, stripes} {
			gotTrace, gotSquares, err := op.traces(t.Context(), centre)
			if err != nil {
				t.Fatal(err)
			}
			// Sums of n eigenvalues or n² values in float64, each with n roundings of the largest
			// sum in it.
			if tol := 64 * n * 0x1p-53 * (squares + n*n); !(math.Abs(gotTrace-trace) <= tol) ||
				!(math.Abs(gotSquares-squares) <= tol) {
				t.Errorf("centre %v: trace %v and squares %v, eigenvalues say %v and %v", centre, gotTrace, gotSquares,
					trace, squares)
			}
			if found[i], err = spectrum.Lanczos(t.Context(), op.operator(centre),
				spectrum.Options{K: 3, Steps: n}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 3 {
			l, s := found[0].Largest[i], found[0].Smallest[i]
			if l != found[1].Largest[i] || s != found[1].Smallest[i] {
				t.Errorf("centre %v: value %d is %v and %v, without the matrix %v and %v", centre, i, l, s,
					found[1].Largest[i], found[1].Smallest[i])
			}
			tol := 64 * n * 0x1p-53 * values[0] // rounding in float64, beside the residual
			if !(math.Abs(l.Value-values[i]) <= l.Residual+tol) ||
				!(math.Abs(s.Value-values[n-1-i]) <= s.Residual+tol) {
				t.Errorf("centre %v: value %d is %v and %v, expected %v and %v", centre, i, l, s, values[i],
					values[n-1-i])
			}
		}
	}
}

func TestMatrixIsCancelled(t *testing.T) {
	whole, stripes := newTestMatrices(t, "ngd", 50)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	v := make([]float64, 50)
	for _, op := range []*matrix{whole, stripes} {
		if err := op.Apply(ctx, v, v); err == nil {
			t.Error("no error at the end of ctx")
		}
	}
}

// The bounds of the spectral sums from Lanczos hold the sum of all eigenvalues.
func TestSpectrumBoundsHoldSums(t *testing.T) {
	whole, _ := newTestMatrices(t, "diffusion:t=8", 120)
	values := musttest.Get(allOf(t.Context(), whole.whole, false, 2))(t)
	radii := []float64{1e-5, 1e-3, 0.1, 1}
	all, part := &row{Documents: 120}, &row{Documents: 120}
	all.take(values, 4, radii)
	found := musttest.Get(spectrum.Lanczos(t.Context(), whole, spectrum.Options{K: 4, Steps: 120}))(t)
	trace, squares, err := whole.traces(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	part.takeExtremes(found, trace, squares, radii)
	for i, s := range part.Sums {
		// residuals of 2⁻²⁴ count squared here, over a gap of 10⁻² at least
		want, slack := all.Sums[i].Least, report.Number(1e-9)
		if !(s.Least <= want+slack) || !(s.Most >= want-slack) {
			t.Errorf("r=%v: from %v to %v, all say %v", s.R, s.Least, s.Most, want)
		}
	}
}

// A smallest value that has not converged says nothing of definiteness, unless it is below 0
// already.
func TestSpectrumNotConverged(t *testing.T) {
	for value, want := range map[float64]string{0.5: verdictUnknown, -0.5: verdictNot} {
		row := &row{Documents: 100}
		row.takeExtremes(
			&spectrum.Extremes{
				Largest:  []spectrum.Value{{Value: 10, Converged: true}},
				Smallest: []spectrum.Value{{Value: value, Residual: 0.1}},
			},
			100,
			150,
			[]float64{1},
		)
		if row.Verdict != want {
			t.Errorf("smallest %v: %q, expected %q", value, row.Verdict, want)
		}
	}
}

// The t of a kernel is told from its other parameters.
func TestParameterT(t *testing.T) {
	for spec, want := range map[string]struct {
		t      float64
		family string
	}{
		"diffusion:t=0.25":            {0.25, "diffusion"},
		"ngd-exp:t=2,embed=tf-l2":     {2, "ngd-exp embed=tf-l2"},
		"linear":                      {0, "linear"},
		"diffusion:t=3,n=5":           {3, "diffusion n=5"},
		"product(ngd-exp:t=1,linear)": {0, "product(ngd-exp:t=1,linear)"},
	} {
		if got, family := parameterT(spec); got != want.t || family != want.family {
			t.Errorf("%s: t=%v of %q, expected %v of %q", spec, got, family, want.t, want.family)
		}
	}
}

// Up to eight curves have names and colours of their own; of more, those of one kernel fade with t,
// and its first and last have names.
func TestSpectrumCurves(t *testing.T) {
	r := &spectra{}
	add := func(spec string) {
		row := &row{Kernel: spec}
		row.T, row.family = parameterT(spec)
		r.Rows = append(r.Rows, row)
	}
	for i := range 4 {
		add(fmt.Sprintf("diffusion:t=%d", i+1))
		add(fmt.Sprintf("ngd-exp:t=%d", i+1))
	}
	for i := range r.Rows {
		if name, of := r.curve(i); name != r.Rows[i].Kernel || of != chart.Colors[i] {
			t.Errorf("curve %d is %q, %v", i, name, of)
		}
	}
	add("linear")
	seen := map[color.Color]bool{}
	for i, want := range []string{"diffusion:t=1", "ngd-exp:t=1", "", "", "", "", "diffusion:t=4", "ngd-exp:t=4",
		"linear"} {
		name, of := r.curve(i)
		if name != want || seen[of] {
			t.Errorf("curve %d is %q, expected %q, colour %v", i, name, want, of)
		}
		seen[of] = true
	}
}

// Two orthogonal pairs of equal documents: λ of K/4 are ½, ½, 0, 0 with eigenfunctions √2 on one
// pair and 0 on the other, or any of their rotations, whose greatest value is at most 2. For n = 1 j*
// is 2 (λ_2 = ½ isn't below λ_1), and ε is 6 C √(2·½ + ½). For r >= ½ the supremum is the norm of
// ½(s₁, s₂)/√2, where s is the sum of the signs of a pair: 0 or ±2.
func TestBounds(t *testing.T) {
	m := &engine.Symmetric{N: 4, Data: []float32{1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 0, 0, 1, 1}}
	b := musttest.Get(newBounds(context.Background(), m, 1e-6, []float64{0, 5}, []float64{1e-3, 1}, 1))(t)
	c := float64(b.Greatest)
	if !(c >= 1 && c <= 2+1e-9) {
		t.Errorf("C_K = %v, expected one from 1 to 2", c)
	}
	for i, want := range []float64{math.Log(6 * c * math.Sqrt(1.5)), math.Log(6 * c * math.Sqrt(math.Exp(-5)+0.5))} {
		if got := b.Covering[i]; got.Index != 2 || !(math.Abs(float64(got.Radius)-want) <= 1e-12) {
			t.Errorf("%+v, expected j = 2 and ln ε = %v", got, want)
		}
	}
	// √(s₁² + s₂²)/4 is 0, ½ or 1/√2 for r = 1, with probabilities ¼, ½, ¼: mean 0.427, deviation of a
	// hundred draws 0.026.
	if got := float64(b.Averages[1].Mean); !(math.Abs(got-0.25-math.Sqrt(0.5)/4) <= 0.1) {
		t.Errorf("Rademacher average %v, expected about 0.427", got)
	}
	for _, a := range b.Averages {
		want := math.Sqrt(math.Min(float64(a.R), 0.5))
		if !(math.Abs(float64(a.Bound)-want) <= 1e-12) || !(a.Mean <= a.Bound) {
			t.Errorf("%+v, expected the bound %v", a, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := newBounds(ctx, m, 1e-6, nil, nil, 1); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
