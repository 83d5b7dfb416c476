package sparse

import (
	"encoding/hex"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// csrOf builds a matrix from dense rows.
func csrOf(rows [][]float32) *CSR {
	m := &CSR{Offsets: []int64{0}}
	for _, r := range rows {
		m.Cols = max(m.Cols, len(r))
		for t, v := range r {
			if v != 0 {
				m.Terms = append(m.Terms, uint32(t))
				m.Values = append(m.Values, v)
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Values)))
	}
	return m
}

func mustTransform(t *testing.T, f *Embedder, m *CSR) *Embedded {
	t.Helper()
	x := musttest.Get(f.Transform(m))(t)
	musttest.NoError(t, x.Validate())
	return x
}

// Each embedding agrees with the definition, computed from dense rows in float64.
func TestTransformDefinition(t *testing.T) {
	rows := [][]float32{{1, 0, 3, 2.1}, {2, 5, 0, 0}, {0, 0, 7, 1}, {4, 0, 1, 0}}
	df := []float64{3, 1, 3, 2}
	m := csrOf(rows)
	for _, e := range withPowers() {
		x := mustTransform(t, fit(e, m), m)
		for i, r := range rows {
			v := make([]float64, len(r))
			for j, c := range r {
				v[j] = float64(c)
				if e.Weighting.DampsCounts() && c > 0 {
					v[j] = 1 + math.Log(float64(c))
				}
				if e.Weighting.UsesIDF() {
					v[j] *= math.Log(4 / df[j])
				}
				if e.Supervised() {
					v[j] *= x.Embedder.Weights[j] // see TestSupervised
				}
				if e.Scales() {
					v[j] = scaledByHand(e, rows, i, j)
				}
			}
			length := func(v []float64, p float64) float64 {
				var s float64
				for _, a := range v {
					s += math.Pow(math.Abs(a), p)
				}
				return math.Pow(s, 1/p)
			}
			if e.Norm != NormNone {
				n := length(v, float64(e.Norm))
				for j := range v {
					v[j] /= n
				}
			}
			for j := range v {
				if e.Power != 0 {
					v[j] = math.Pow(v[j], e.Power)
				}
			}
			terms, values := x.Row(i)
			for k, got := range x.Vector64(i, nil) {
				want, tol := v[terms[k]], 1e-14
				if e.Norm == NormNone && !e.Weighting.DampsCounts() && !e.HasColumnWeights() && !e.hasGeneralPower() {
					tol = 0
				}
				if !(math.Abs(got-want) <= tol*math.Abs(want)) {
					t.Errorf("%v: row %d, column %d is %v before it is scaled, expected %v", e, i, terms[k], got, want)
				}
			}
			// 10⁻¹⁴ bounds the error of about 20 roundings and two powers.
			norm := length(v, 2)
			if e.Pairing != Cosine { // the row is the histogram itself
				norm = 1
			}
			if err := math.Abs(x.Norms[i]-norm) / norm; !(err <= 1e-14) {
				t.Errorf("%v: norm of row %d is %v, expected %v", e, i, x.Norms[i], norm)
			}
			for k, u := range x.UnitVector64(i, nil) {
				want := v[terms[k]] / norm
				if err := math.Abs((u - want) / want); !(err <= 1e-14) {
					t.Errorf("%v: row %d, column %d is %v, expected %v", e, i, terms[k], u, want)
				}
				if values[k] != float32(u) {
					t.Errorf("%v: row %d, column %d: %v isn't %v rounded", e, i, terms[k], values[k], u)
				}
			}
		}
	}
}

func TestTransformDocumentsWithoutTerms(t *testing.T) {
	train := csrOf([][]float32{{1, 0, 2, 0, 0}, {0, 0, 3, 0, 1}})
	test := csrOf([][]float32{{0, 4, 0, 0, 0}, {}, {1, 9, 0, 9, 0}, {0, 0, 2, 0, 0}})
	test.Cols = 9
	for _, e := range []Embedding{SphereEmbedding, {Weighting: TFIDF, Norm: NormL1, Power: SquareRoot}, {}} {
		f := e.Fit(train)
		x := mustTransform(t, f, test)
		last := uint32(f.Cols() - 1)
		for _, i := range []int{0, 1} { // documents with only unknown terms, and without terms
			if terms, values := x.Row(i); !slices.Equal(terms, []uint32{last}) || values[0] != 1 {
				t.Errorf("%v: row %d is %v %v, expected the last column alone", e, i, terms, values)
			}
			if want := map[bool]float64{true: 1, false: 0}[e.Norm != NormNone]; x.Norms[i] != want {
				t.Errorf("%v: norm of row %d is %v, expected %v", e, i, x.Norms[i], want)
			}
		}
		if terms, values := x.Row(2); len(terms) != 1 || terms[0] != 0 || values[0] != 1 {
			t.Errorf("%v: the unknown terms of row 2 aren't left out: %v %v", e, terms, values)
		}
		// Term 2 is in both training documents, so its idf is 0, and a document with only this term
		// is empty.
		if terms, _ := x.Row(3); (terms[0] == last) != (e.Weighting == TFIDF) {
			t.Errorf("%v: row 3 has columns %v", e, terms)
		}
		if got, want := x.EmptyCount(), 2+map[bool]int{true: 1}[e.Weighting == TFIDF]; got != want {
			t.Errorf("%v: %d documents without terms, expected %d", e, got, want)
		}
		if got, want := EmbeddedBytes(x.Rows(), x.NNZ()), x.Bytes(); got != want {
			t.Errorf("%v: EmbeddedBytes says %d, the matrix holds %d", e, got, want)
		}
	}
}

// Memory isn't proportional to indices that are far above the number of values.
func TestFitHashedIndices(t *testing.T) {
	m := &CSR{
		Cols:    math.MaxUint32,
		Offsets: []int64{0, 2, 4},
		Terms:   []uint32{5, 4_000_000_000, 5, 9},
		Values:  []float32{1, 2, 3, 4},
	}
	f := SphereEmbedding.Fit(m)
	if !slices.Equal(f.Terms, []uint32{5, 9, 4_000_000_000}) || !slices.Equal(f.DF, []int32{2, 1, 1}) ||
		f.termIndex.positions != nil {
		t.Fatalf("terms %v, df %v", f.Terms, f.DF)
	}
	for j, term := range f.Terms {
		if c, ok := f.Column(term); !ok || int(c) != j {
			t.Errorf("Column(%d) = %d, %v", term, c, ok)
		}
	}
	if _, ok := f.Column(6); ok {
		t.Error("an unknown term has a column")
	}
	mustTransform(t, f, m)
}

// The tolerance of 4 ulp: f has 2 roundings, the leading term of the series about 1 more, and e·ln
// 2 has 2. Cancellation of e·ln 2 and log m, with |log m| <= 0.35, at most doubles the error.
func TestLogRatio(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		a := float64(1 + r.IntN(1<<r.IntN(31)))
		b := float64(1 + r.IntN(int(a)))
		want := math.Log(a / b)
		if err := math.Abs(logRatio(a, b) - want); !(err <= 4*(math.Nextafter(want, 99)-want)) {
			t.Fatalf("logRatio(%v, %v) = %v, expected %v", a, b, logRatio(a, b), want)
		}
	}
	// log 2 = Σ 1/(k 2ᵏ) to 60 bits is an independent value.
	sum, p := new(big.Rat), big.NewRat(1, 1)
	for k := int64(1); k < 80; k++ {
		p.Mul(p, big.NewRat(1, 2))
		sum.Add(sum, new(big.Rat).Mul(p, big.NewRat(1, k)))
	}
	if want, _ := sum.Float64(); !(math.Abs(logRatio(2, 1)-want) <= 2e-16) {
		t.Errorf("logRatio(2, 1) = %v, expected %v", logRatio(2, 1), want)
	}
}

// The digest is part of file names and of results that are compared between computers, so a change
// must be noticed.
func TestEmbeddedDigest(t *testing.T) {
	m := csrOf([][]float32{{1, 0, 3, 2}, {2, 5, 0, 0}, {}, {0, 0, 7, 1}})
	want := map[string]string{
		"tf-l1-sqrt":    "10e72a322811e7ccb933271412db0f7d03d8e06afbd08278e22961106024c55d",
		"tfidf-l1-sqrt": "837f7ca570f31c271a778d886cce519657b36a518649bf270e0b6d134ce6e299",
		// Powers are the same bit for bit on every platform.
		"tfidf-l1-pow0.7": "13bf4c749dbbf916bc9c2c8666a6e671615e7c5da6f3a23bca37b667ea93ccd5",
	}
	for name, digest := range want {
		e := musttest.Get(ParseEmbedding(name))(t)
		got := mustTransform(t, e.Fit(m), m).Digest()
		if hex.EncodeToString(got[:]) != digest {
			t.Errorf("digest of %s is %x, expected %s", name, got, digest)
		}
	}
}

func TestUnknownEmbeddings(t *testing.T) {
	if s := (Embedding{Weighting: 9, Pairing: 200}).String(); s != "embedding(9, 0, 0, 200)" {
		t.Errorf("an undefined embedding is called %q", s)
	}
	for _, c := range []struct{ rows, values, want int64 }{{2, 3, 92}, {0, math.MaxInt64,
		math.MaxInt64}, {math.MaxInt64, 0, math.MaxInt64}} {
		if got := EmbeddedBytes(int(c.rows), c.values); got != c.want {
			t.Errorf("EmbeddedBytes(%d, %d) = %d, expected %d", c.rows, c.values, got, c.want)
		}
	}
}
