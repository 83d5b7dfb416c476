package spectrum

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/musttest"
)

// blocks is a matrix by its products.
type blocks struct{ mat.Symmetric }

func (b blocks) Len() int { return b.SymmetricDim() }
func (b blocks) ApplyBlock(_ context.Context, dst, src *mat.Dense) error {
	dst.Mul(b, src)
	return nil
}

// withValues returns a matrix of given eigenvalues, of random vectors.
func withValues(values []float64, seed uint64) *mat.SymDense {
	n := len(values)
	r := rand.New(rand.NewPCG(seed, 2))
	a := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			a.Set(i, j, r.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var q mat.Dense
	qr.QTo(&q)
	out := mat.NewSymDense(n, nil)
	for k, v := range values {
		out.SymRankOne(out, v, q.ColView(k))
	}
	return out
}

// falling are values that fall as those of Gram matrices do, some of them negative.
func falling(n int) (values []float64) {
	for i := range n {
		values = append(values, 100/math.Pow(float64(i+1), 1.5)-0.001)
	}
	return values
}

// Values and vectors against gonum's: values to 10⁻⁶ of themselves, the K vectors to 10⁻⁵ as a space,
// and at right angles to 10⁻¹³.
func TestLeadingAgainstDense(t *testing.T) {
	repeated := make([]float64, 150)
	for i := range repeated {
		repeated[i] = []float64{9, 4, 4, 4, 1}[min(i, 4)]
	}
	low := make([]float64, 90)
	for i := range 12 {
		low[i] = float64(20 - i)
	}
	for name, c := range map[string]struct {
		values []float64
		opt    LeadingOptions
	}{
		"falling":         {falling(500), LeadingOptions{K: 40, Tolerance: 1e-8, Vectors: 500}},
		"most of them":    {falling(300), LeadingOptions{K: 250, Tolerance: 1e-8}},
		"all":             {falling(60), LeadingOptions{K: 60}},
		"more than there": {falling(7), LeadingOptions{K: 60}},
		"one":             {falling(200), LeadingOptions{K: 1, Tolerance: 1e-8, Vectors: 200}},
		"repeated":        {repeated, LeadingOptions{K: 4, Tolerance: 1e-8}},
		"of low rank":     {low, LeadingOptions{K: 12, Tolerance: 1e-8}},
		"beyond the rank": {low, LeadingOptions{K: 30, Tolerance: 1e-8}},
		"zero":            {make([]float64, 30), LeadingOptions{K: 3}},
		"the identity":    {[]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, LeadingOptions{K: 12, Block: 2}},
		"blocks of one":   {falling(100), LeadingOptions{K: 5, Block: 1, Tolerance: 1e-8, Vectors: 100}},
	} {
		t.Run(name, func(t *testing.T) {
			a := withValues(c.values, 7)
			n := len(c.values)
			got := musttest.Get(Leading(t.Context(), blocks{a}, c.opt))(t)
			var e mat.EigenSym
			if !e.Factorize(a, true) {
				t.Fatal("gonum finds no eigenvalues")
			}
			want := e.Values(nil)
			k := min(c.opt.K, n)
			if len(got.Values) != k {
				t.Fatalf("%d values, expected %d", len(got.Values), k)
			}
			for i, v := range got.Values {
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
				if greatest(mat.Col(nil, i, got.Vectors)) < 0 {
					t.Errorf("vector %d has the wrong sign", i)
				}
			}
			if k < n && want[n-k]-want[n-k-1] <= 1e-6*want[n-1] {
				return // the space isn't determined
			}
			// sines of angles between spaces: what is left of these vectors beside gonum's
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

// A value is never above the eigenvalue of its rank, and what hasn't converged says so.
func TestLeadingUnconverged(t *testing.T) {
	values := falling(400)
	got, err := Leading(t.Context(), blocks{withValues(values, 3)}, LeadingOptions{K: 30, Block: 10, Vectors: 40})
	if err != nil {
		t.Fatal(err)
	}
	loose := 0
	for i, v := range got.Values {
		if !(v.Value <= values[i]+1e-12*values[0]) {
			t.Errorf("value %d is %v, above %v", i, v.Value, values[i])
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
	if loose == 0 || got.Basis != 40 {
		t.Errorf("%d values haven't converged with %d vectors, expected some with 40", loose, got.Basis)
	}
}

// A search ends as soon as all residuals are within the tolerance, and takes blocks in proportion.
func TestLeadingEnds(t *testing.T) {
	got, err := Leading(t.Context(), blocks{withValues(falling(300), 3)}, LeadingOptions{K: 8, Vectors: 300})
	if err != nil || !(got.Basis < 100) || !got.Values[7].Converged {
		t.Errorf("%+v, %v, expected fewer vectors than 100", got, err)
	}
	for k, block := range map[int]int{0: 8, 6: 8, 90: 30, 300: 100, 900: 128} {
		if o, err := (LeadingOptions{K: k}).resolve(5000); err != nil || o.Block != block {
			t.Errorf("blocks of %d for %d, %v, expected %d", o.Block, k, err, block)
		}
	}
}

// The same seed gives the same bits.
func TestLeadingRepeats(t *testing.T) {
	a := blocks{withValues(falling(200), 5)}
	var before *Leaders
	for range 3 {
		got := musttest.Get(Leading(t.Context(), a, LeadingOptions{K: 20}))(t)
		if before != nil && (!mat.Equal(got.Vectors, before.Vectors) || fmt.Sprint(got.Values) != fmt.Sprint(before.Values)) {
			t.Fatal("other bits")
		}
		before = got
	}
}

type failing struct {
	blocks
	err   error
	spoil float64
}

func (f failing) ApplyBlock(ctx context.Context, dst, src *mat.Dense) error {
	if f.spoil != 0 {
		dst.Set(0, 0, f.spoil)
	}
	return f.err
}

func TestLeadingErrors(t *testing.T) {
	a := blocks{withValues(falling(50), 1)}
	if _, err := Leading(t.Context(), failing{a, errors.New("broken"), 0}, LeadingOptions{}); err == nil {
		t.Error("an operator that fails: no error")
	}
	for _, spoil := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := Leading(t.Context(), failing{a, nil, spoil}, LeadingOptions{})
		if err == nil || !strings.Contains(err.Error(), "product 1 isn't finite") {
			t.Errorf("%v in a product: %v", spoil, err)
		}
	}
	if got, err := Leading(t.Context(), blocks{&mat.SymDense{}}, LeadingOptions{}); err != nil || len(got.Values) > 0 {
		t.Errorf("no rows: %v, %v", got, err)
	}
}
