package engine

import (
	"context"
	"math"
	"math/big"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// bigC returns c = 1 - Σ √(θᵢ θ′ᵢ) for rows of counts in 300 bits, by another formula than
// Reference and with negligible rounding errors.
func bigC(a, b []float32) float64 {
	number := func(v float32) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(float64(v)) }
	total := func(row []float32) *big.Float {
		s := number(0)
		for _, v := range row {
			s.Add(s, number(v))
		}
		return s
	}
	s := number(0)
	for t := range min(len(a), len(b)) {
		if p := number(a[t]); a[t] != 0 && b[t] != 0 {
			s.Add(s, p.Sqrt(p.Mul(p, number(b[t]))))
		}
	}
	n := total(a)
	n.Sqrt(n.Mul(n, total(b)))
	if n.Sign() == 0 { // two empty documents are equal, and have nothing in common with other documents
		return map[bool]float64{true: 0, false: 1}[total(a).Cmp(total(b)) == 0]
	}
	c, _ := new(big.Float).Sub(number(1), s.Quo(s, n)).Float64()
	if math.Abs(c) < 1e-80 {
		return 0
	}
	return c
}

// Bound, with u = 2⁻⁵³: a value of a unit row with the square root has a relative error of 1.5u
// (quotient and root). So the difference of two has an error of 1.5u(a+b), and c of 1.5u Σ |d|(a+b)
// <= 3u √(2c) by Cauchy-Schwarz. Difference, square and sum add 5u relative to c.
func TestReferenceAgainstExact(t *testing.T) {
	const u = 0x1p-53
	rows := testRows()
	r := NewReference(embed(t, sparse.SphereEmbedding, rows))
	least := 1.0
	for i := range rows {
		for j := range rows {
			got, want := r.C(i, j), bigC(rows[i], rows[j])
			if err := math.Abs(got - want); !(err <= 3*u*math.Sqrt(2*want)+5*u*want) {
				t.Errorf("c of documents %d and %d is %v, expected %v", i, j, got, want)
			}
			if back := r.C(j, i); back != got {
				t.Errorf("c of documents %d and %d is %v, the other way round %v", i, j, got, back)
			}
			if want > 0 {
				least = min(least, want)
			}
		}
	}
	if !(least < 1e-14) {
		t.Errorf("the closest pair of different documents has c = %v, too far apart to test anything", least)
	}
}

// Both forms add the same squares in different orders. Each compensated sum has an error of about
// u, so they differ by 2u; the test allows 4u. Terms of histograms are also rounded.
func TestReferenceRow(t *testing.T) {
	rows := testRows()
	embeddings := []sparse.Embedding{sparse.SphereEmbedding, {}, {Weighting: sparse.TFIDF, Norm: sparse.NormL2}}
	for _, e := range append(embeddings, histogramEmbeddings()...) {
		tolerance := 0x1p-51
		if e.Pairing != sparse.Cosine {
			tolerance = 0x1p-38
		}
		r := NewReference(embed(t, e, rows))
		dst := make([]float64, r.Len())
		for i := range rows {
			musttest.NoError(t, r.Row(context.Background(), i, dst))
			for j, got := range dst {
				if want := r.C(i, j); !(math.Abs(got-want) <= tolerance*want) || want != r.C(j, i) {
					t.Errorf("%v: Row(%d)[%d] = %v, C = %v", e, i, j, got, want)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r := NewReference(embed(t, sparse.SphereEmbedding, rows))
	musttest.WantError(r.Row(ctx, 0, make([]float64, r.Len())))(t, "after the end of the context", context.Canceled)
}
