package sparse

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// withPowers returns the result of Embeddings, and each weighting and normalisation with powers
// other than the square root.
func withPowers() []Embedding {
	all := Embeddings()
	for _, e := range Embeddings() {
		if e.Power == 0 && e.Pairing == Cosine && !e.Scales() {
			for _, p := range []float64{MinPower, 0.75, 3} {
				e.Power = p
				all = append(all, e)
			}
		}
	}
	return all
}

// Powers that are multiples of 1/16 agree with exact products and correctly rounded 200-bit roots.
func TestPower(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		sixteenths := 1 + r.IntN(16*MaxPower)
		p := float64(sixteenths) / 16
		x := math.Exp(40 * r.NormFloat64())
		switch r.IntN(4) {
		case 0:
			x = r.Float64()
		case 1:
			x = 1 + 1e-6*r.NormFloat64()
		}
		want := new(big.Float).SetPrec(200).SetInt64(1)
		for range sixteenths {
			want.Mul(want, big.NewFloat(x))
		}
		for range 4 {
			want.Sqrt(want)
		}
		got := power(x, p)
		if v, _ := want.Float64(); v < 1e-300 || v > 1e300 {
			continue
		}
		off := new(big.Float).SetPrec(200).Sub(big.NewFloat(got), want)
		err, _ := off.Quo(off, want).Float64()
		if !(math.Abs(err) <= (4+2*p)*0x1p-52) {
			t.Errorf("%v to the power %v is %v, off by %.3g, tolerance %.3g", x, p, got, err, (4+2*p)*0x1p-52)
		}
	}
	if v := power(1, 0.3); v != 1 {
		t.Errorf("1 to the power 0.3 is %v", v)
	}
	if v := power(1e-300, MaxPower); v != 0 {
		t.Errorf("1e-300 to the power %v is %v, expected 0", MaxPower, v)
	}
}

// Documents with proportional counts have the same unit rows bit for bit, so their distance is
// exactly 0. Values of any size stay in range.
func TestPowersOfProportionalAndOfExtremeDocuments(t *testing.T) {
	m := csrOf([][]float32{{1, 2, 3}, {7, 14, 21}, {3, 6, 9}, {1e-38, 1e38, 1}})
	for _, p := range []float64{MinPower, 0.3, SquareRoot, 0.75, 2, MaxPower} {
		x := mustTransform(t, Embedding{Weighting: TF, Norm: NormL1, Power: p}.Fit(m), m)
		for i := 1; i < 3; i++ {
			if !slices.Equal(x.UnitVector64(0, nil), x.UnitVector64(i, nil)) {
				t.Errorf("power %v: rows 0 and %d differ", p, i)
			}
		}
		for i := range m.Rows() {
			var sum float64
			for _, u := range x.UnitVector64(i, nil) {
				sum += u * u
			}
			if !(math.Abs(sum-1) <= 1e-14) || !(x.Norms[i] > 0) || math.IsInf(x.Norms[i], 1) {
				t.Errorf("power %v: row %d has the squared length %v and the norm %v", p, i, sum, x.Norms[i])
			}
		}
	}
}

// Names are parsed, and String returns their canonical form.
func TestEmbeddingNames(t *testing.T) {
	names := map[string]string{"tf-l1-pow0.5": "tf-l1-sqrt", "tf-l1-pow1": "tf-l1", "tf-l1-pow7.5e-1": "tf-l1-pow0.75"}
	for _, e := range withPowers() {
		names[e.String()] = e.String()
	}
	for name, want := range names {
		got, err := ParseEmbedding(name)
		if err != nil || got.String() != want {
			t.Errorf("%s is %v, error %v, expected %v", name, got, err, want)
		}
		if again, err := ParseEmbedding(want); err != nil || again != got {
			t.Errorf("%s is %v, and %s %v, error %v", name, got, want, again, err)
		}
	}
	for want, names := range map[string]string{
		"power must be a number from 0.01 to 8": "tf-l1-pow tf-l1-pow0 tf-l1-pow-1 tf-l1-powNaN tf-l1-pow9 tf-l1-pow0.009 " +
			"tf-l1-powInf tf-l1-pow2x",
		"valid embeddings are tf,": "tf-l3 tf-l1-sqrt-pow2 pow2 -pow2 tf-l3-pow2 tf-chi2 tf-l2-js tf-l1-sqrt-chi2 " +
			"tf-l1-chi2-pow2 tf-l1-js-sqrt standard-l2 standard-pow2",
		"is not a range such as":  "scale scale1 scale1..",
		"range must be ascending": "scale1..0 scale0..0 scaleNaN..1 scale0..1e9",
	} {
		for name := range strings.FieldsSeq(names) {
			musttest.WantError(ParseEmbedding(name))(t, name, want)
		}
	}
}

// The error for a value that an embedding rejects contains its row and column.
func TestValuesAreRefused(t *testing.T) {
	const negative, counts = "nonnegative for embedding", "at least 1 for embedding"
	for _, c := range []struct {
		embedding, want string
		bad             []float32
	}{
		{"tf", "finite", []float32{nan, float32(math.Inf(1))}},
		{"tf-l1-sqrt", negative + " tf-l1-sqrt", []float32{-2}},
		{"tf-l1-pow0.75", negative + " tf-l1-pow0.75 (it takes powers of 0.75)", []float32{-2}},
		{"tf-l1-chi2", negative + " tf-l1-chi2 (it compares histograms)", []float32{-1}},
		{"tfidf-l1-js", negative + " tfidf-l1-js (it compares histograms)", []float32{-1}},
		{"logtf", counts, []float32{0.5, -1, 1e-30, -math.MaxFloat32}},
		{"logtfidf-l2", counts, []float32{0.5, -1, 1e-30, -math.MaxFloat32}},
	} {
		e := musttest.Get(ParseEmbedding(c.embedding))(t)
		f := e.Fit(csrOf([][]float32{{2, 0}, {3, 5}, {}}))
		for _, bad := range c.bad {
			_, err := f.Transform(csrOf([][]float32{{1}, {0, bad}}))
			var value *ValueError
			same := errors.As(err, &value) && (value.Value == bad || bad != bad)
			if !same || value.Row != 1 || value.Term != 1 || !strings.Contains(value.Expected, c.want) {
				t.Errorf("%s takes %v: %v", e, bad, err)
			}
		}
		if _, err := f.Transform(csrOf([][]float32{{1, math.MaxFloat32}})); err != nil {
			t.Errorf("%s: %v", e, err)
		}
	}
	if _, err := (Embedding{}).Fit(handFilled()).Transform(csrOf([][]float32{{1}, {0, -2}})); err != nil {
		t.Errorf("a negative value without a power: %v", err)
	}
	if v := math.Log2(MinHistogramValue); v > -50 {
		t.Errorf("the least share is 2^%v: what is rounded up to it shows", v)
	}
}

// Any text gives an error, or an embedding that works and whose String parses to the same
// embedding.
func FuzzParseEmbedding(f *testing.F) {
	for _, e := range withPowers() {
		f.Add(e.String())
	}
	f.Add("tf-l1-pow0x1p-1")
	f.Add("tfidf-l2-pow1e-2")
	m := csrOf([][]float32{{1, 2}, {3, 0}})
	f.Fuzz(func(t *testing.T, s string) {
		e, err := ParseEmbedding(s)
		if err != nil {
			return
		}
		if again, err := ParseEmbedding(e.String()); err != nil || again != e {
			t.Fatalf("%q is %v, which parses to %v, %v", s, e, again, err)
		}
		if _, err := fit(e, m).Transform(m); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
	})
}
