package sparse

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// The similarity of documents is the weighted mean over their views. If a document lacks a view,
// its other views make up the whole document.
func TestViews(t *testing.T) {
	const split = 3 // columns of the first view
	rows := [][]float32{{1, 2, 0, 4, 0, 0, 9}, {0, 3, 5, 1, 70, 2, 0}, {7, 0, 1, 0, 0, 3, 3}, {1, 1, 0, 0, 0, 0, 0},
		{0, 0, 0, 5, 1, 0, 0}}
	part := func(lo, hi int) *CSR {
		var out [][]float32
		for _, r := range rows {
			out = append(out, append(slices.Clone(r[lo:hi]), 0))
		}
		return csrOf(out)
	}
	weights := []float64{1, 0.25}
	m := csrOf(rows)
	m.Views = []View{{0, weights[0], false}, {split, weights[1], false}}
	parts := []*CSR{part(0, split), part(split, len(rows[0]))}
	for _, e := range withPowers() {
		if e.checkViews(m.Views) != nil {
			musttest.WantError(e.Fit(m).Validate())(t, e)
			continue
		}
		x := mustTransform(t, fit(e, m), m)
		var of []*Embedded
		for _, p := range parts {
			of = append(of, mustTransform(t, fit(e, p), p))
		}
		for i := range rows {
			for j := range rows {
				want, all := 0.0, 0.0
				share := [2]float64{}
				for v, p := range of {
					if !p.IsEmptyRow(i) {
						share[0] += weights[v]
					}
					if !p.IsEmptyRow(j) {
						share[1] += weights[v]
					}
				}
				for v, p := range of {
					if !p.IsEmptyRow(i) && !p.IsEmptyRow(j) {
						s := weights[v] * similarity(p, i, j)
						all += s
					}
				}
				if share[0] == 0 || share[1] == 0 {
					continue // no terms of nonzero weight
				}
				if want = all / math.Sqrt(share[0]*share[1]); e.Pairing != Cosine && share[0] != share[1] {
					continue // for histograms of different shares the mean doesn't hold
				}
				// Raw values are scaled in float32.
				if got := similarity(x, i, j); !(math.Abs(got-want) <= 1e-6) {
					t.Errorf("%s: the similarity of %d and %d is %v, expected %v", e, i, j, got, want)
				}
			}
		}
		if err := x.Validate(); err != nil {
			t.Errorf("%s: %v", e, err)
		}
	}
}

// A view of vectors has the cosine of its signed values, whatever the embedding of the counts.
func TestVectorViews(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const words, size, share = 5, 6, 3.0 / 4
	rows := make([][]float32, 20)
	for i := range rows {
		rows[i] = make([]float32, words+size)
		for j := range words {
			rows[i][j] = float32(r.IntN(4))
		}
		rows[i][i%words] = 7
		for j := range size {
			rows[i][words+j] = float32(r.NormFloat64())
		}
	}
	counts := make([][]float32, len(rows))
	for i, row := range rows {
		counts[i] = append(slices.Clone(row[:words]), 0)
	}
	m, alone := csrOf(rows), csrOf(counts)
	m.Views = []View{{0, 1, false}, {words, 3, true}}
	for _, e := range withPowers() {
		if err := e.checkViews(m.Views); err != nil {
			if e.Fit(m).Validate() == nil && e.FitLabels(m, Labels{}, 0).Validate() == nil {
				t.Errorf("%s takes vectors", e)
			}
			continue
		}
		x, text := mustTransform(t, fit(e, m), m), mustTransform(t, fit(e, alone), alone)
		for i, a := range rows {
			for j, b := range rows {
				var dot, aa, bb float64
				for k := words; k < words+size; k++ {
					dot, aa, bb = dot+float64(a[k])*float64(b[k]), aa+float64(a[k])*float64(a[k]), bb+float64(b[k])*float64(b[k])
				}
				want := share*dot/math.Sqrt(aa*bb) + (1-share)*similarity(text, i, j)
				if got := similarity(x, i, j); !(math.Abs(got-want) <= 1e-6) { // raw values are scaled in float32
					t.Fatalf("%s: the similarity of %d and %d is %v, expected %v", e, i, j, got, want)
				}
			}
		}
		if err := x.Validate(); err != nil {
			t.Errorf("%s: %v", e, err)
		}
	}
}

// The documents that a model stores have the same bits when they are embedded again.
func TestViewsKept(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	rows := make([][]float32, 300)
	for i := range rows {
		rows[i] = make([]float32, 40)
		for range 1 + r.IntN(30) {
			rows[i][r.IntN(40)] = float32(1 + r.IntN(9))
		}
	}
	m, signed := csrOf(rows), csrOf(rows)
	m.Views = []View{{0, 1, false}, {7, 0.3, false}, {19, 2, false}}
	signed.Views = []View{{0, 1, false}, {7, 0.3, false}, {19, 2, true}}
	for k, term := range signed.Terms {
		if term >= 19 {
			signed.Values[k] *= float32(r.NormFloat64())
		}
	}
	for _, m := range []*CSR{m, signed} {
		keepsBits(t, m)
	}
}

// keepsBits tests documents with views for TestViewsKept.
func keepsBits(t *testing.T, m *CSR) {
	for _, e := range withPowers() {
		if e.checkViews(m.Views) != nil {
			continue
		}
		x := mustTransform(t, fit(e, m), m)
		f := musttest.Get(RestoreEmbedder(fields(x.Embedder)))(t)
		again := mustTransform(t, f, keptBy(x))
		if !slices.Equal(again.Values, x.Values) || !slices.Equal(again.RawValues, x.RawValues) ||
			!slices.Equal(again.Norms, x.Norms) {
			t.Errorf("%s: documents that were kept have other bits", e)
		}
	}
}

// A value that a view's share would round to 0 stays nonzero, so rows keep their number of values.
func TestViewsLeast(t *testing.T) {
	m := csrOf([][]float32{{math.SmallestNonzeroFloat32, 1, 1e-3}, {1, 1, 1}})
	m.Views = []View{{0, 0.01, false}, {2, 1, false}}
	for _, e := range withPowers() {
		if e.checkViews(m.Views) != nil || e.Weighting.DampsCounts() || e.HasColumnWeights() {
			continue
		}
		if x := mustTransform(t, e.Fit(m), m); x.NNZ() != 6 || !(x.RawValues[0] > 0 && x.RawValues[1] < 1) {
			t.Errorf("%s: %d values, the first row's %v, expected 6, the first above 0", e, x.NNZ(), x.RawValues[:3])
		}
	}
}

// With damped counts, a word among thousands of characters also has its share and keeps its bits.
// Values below 1 are rejected.
func TestViewsDamped(t *testing.T) {
	const chars = 5000
	row := slices.Repeat([]float32{3}, 1+chars)
	other := slices.Repeat([]float32{1}, 1+chars)
	row[1], other[chars] = 900, 0
	m := csrOf([][]float32{row, other, {0, 2}})
	m.Views = []View{{0, 1, false}, {1, 3, false}}
	for _, name := range []string{"logtf-l1-sqrt", "logtfidf-l2", "logtf-l2", "logtf-l1-chi2"} {
		e := musttest.Get(ParseEmbedding(name))(t)
		x := mustTransform(t, e.Fit(m), m)
		if again := mustTransform(t, x.Embedder, keptBy(x)); !slices.Equal(again.RawValues, x.RawValues) {
			t.Errorf("%s: documents that were kept have other bits", name)
		}
		unit := x.UnitVector64(0, nil)
		if terms, _ := x.Row(0); terms[0] != 0 {
			t.Fatalf("%s: the word is left out of document 0", name)
		}
		share := unit[0] * unit[0]
		if e.Pairing != Cosine {
			share = unit[0]
		}
		// Damped counts are at least 80/20,000, with a relative float32 error of 2⁻²⁴·250 = 1.5e-5.
		if !(math.Abs(share-0.25) <= 3e-5) {
			t.Errorf("%s: the word has a share of %v, expected 0.25", name, share)
		}
	}
	_, err := Embedding{Weighting: LogTF, Norm: NormL2}.Fit(m).Transform(csrOf([][]float32{{1, 0.2}}))
	var value *ValueError
	if !errors.As(err, &value) || value.Term != 1 || value.Value != 0.2 {
		t.Errorf("a count of 0.2 is %v", err)
	}
}

// keptBy returns the documents as a model stores them.
func keptBy(x *Embedded) *CSR {
	m := &CSR{Cols: x.Embedder.TrainingCols(), Offsets: []int64{0}}
	for i := range x.Rows() {
		columns, _ := x.Row(i)
		for j, term := range x.Embedder.Terms {
			v := float32(0)
			if k := slices.Index(columns, uint32(j)); k >= 0 {
				v = x.RawValues[int(x.Offsets[i])+k]
			} else if x.Embedder.Shifts != nil {
				v = float32(x.Embedder.Shifts[j]) // becomes 0
			}
			if v != 0 {
				m.Terms, m.Values = append(m.Terms, term), append(m.Values, v)
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return m
}

// similarity computes the similarity of the embedding's pairing in float64.
func similarity(x *Embedded, i, j int) (s float64) {
	a, b := x.UnitVector64(i, nil), x.UnitVector64(j, nil)
	at := map[uint32]float64{}
	terms, _ := x.Row(i)
	for k, t := range terms {
		at[t] = a[k]
	}
	terms, _ = x.Row(j)
	for k, t := range terms {
		switch u, v := at[t], b[k]; {
		case u == 0:
		case x.Embedder.Pairing == Cosine:
			s += u * v
		case x.Embedder.Pairing == ChiSquare:
			s += 2 * u * v / (u + v)
		default:
			s -= (u*math.Log(u/(u+v)) + v*math.Log(v/(u+v))) / (2 * math.Ln2)
		}
	}
	return s
}
