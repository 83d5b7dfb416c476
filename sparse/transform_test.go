package sparse

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// drawn returns documents with small counts of terms; the first terms are the most frequent.
func drawn(documents, terms, length int) *CSR {
	r := rand.New(rand.NewPCG(3, 4))
	m := &CSR{Cols: terms, Offsets: []int64{0}}
	for range documents {
		count := map[uint32]float32{}
		for range length {
			count[uint32(r.Float64()*r.Float64()*float64(terms))]++
		}
		for _, t := range slices.Sorted(maps.Keys(count)) {
			m.Terms, m.Values = append(m.Terms, t), append(m.Values, count[t])
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return m
}

// Rows in any order, from any number of goroutines, equal the rows of the whole matrix.
func TestTransformRows(t *testing.T) {
	m := drawn(1500, 400, 12)
	for _, e := range withPowers() {
		f := fit(e, m)
		whole := musttest.Get(f.Transform(m))(t)
		order := rand.New(rand.NewPCG(1, 2)).Perm(1500)[:1200]
		for _, workers := range []int{1, 2, 7} {
			x, err := f.TransformRows(t.Context(), m, order, workers)
			if err != nil {
				t.Fatalf("%s, %d workers: %v", e, workers, err)
			}
			if err := x.CSR.Validate(); err != nil || x.Rows() != len(order) {
				t.Fatalf("%s, %d workers: %d rows of %d, %v", e, workers, x.Rows(), len(order), err)
			}
			for i, from := range order {
				terms, values := x.Row(i)
				wantTerms, want := whole.Row(from)
				if !slices.Equal(terms, wantTerms) || !slices.Equal(values, want) || x.Norms[i] != whole.Norms[from] ||
					x.Divisors[i] != whole.Divisors[from] {
					t.Fatalf("%s, %d workers: row %d differs from row %d of the whole", e, workers, i, from)
				}
			}
		}
	}
}

func TestTransformRowsErrors(t *testing.T) {
	m := &CSR{Cols: 2, Offsets: []int64{0}}
	for i := range 1000 {
		v := float32(1)
		if i == 700 || i == 300 {
			v = -1
		}
		m.Terms, m.Values, m.Offsets = append(m.Terms, 0), append(m.Values, v), append(m.Offsets, int64(i+1))
	}
	f := SphereEmbedding.Fit(m)
	musttest.WantError(f.TransformRows(t.Context(), m, nil, 3))(t, "row 300", "row 300,")
	musttest.WantError(f.TransformRows(t.Context(), m, []int{5, 700, 300}, 1))(t, "row 700", "row 700,")
}
