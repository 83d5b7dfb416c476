package task

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// Effects agree with ⟨w, x⟩ minus its value without the term, in every embedding, for documents
// with one term, one term in a view, a dominant term, unknown terms, a term of all documents, or a
// zero count. Views round to float32, which changes values by 2⁻²⁴, with damped counts by 2⁻²².
func TestEffects(t *testing.T) {
	const columns, split = 24, 10
	r := rand.New(rand.NewPCG(3, 4))
	document := func(from, to, n int, most float64) (terms []uint32, counts []float32) {
		for c := from; c < to && len(terms) < n; c++ {
			if r.IntN(3) > 0 {
				terms, counts = append(terms, uint32(c)), append(counts, float32(1+r.IntN(3)))
			}
		}
		if len(terms) > 0 {
			counts[0] = float32(most)
		}
		return terms, counts
	}
	matrix := func(views []sparse.View, rows ...[]uint32) *sparse.CSR {
		m := &sparse.CSR{Cols: columns + 4, Offsets: []int64{0}, Views: views}
		for _, terms := range rows {
			m.Terms = append(m.Terms, terms...)
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
		m.Values = make([]float32, len(m.Terms))
		for i := range m.Values {
			m.Values[i] = 1
		}
		return m
	}
	var training [][]uint32
	for range 30 {
		terms, _ := document(1, columns, columns, 1)
		training = append(training, append([]uint32{0}, terms...)) // all documents have term 0
	}
	compared := 0
	for _, e := range []string{"tf", "tfidf", "tf-l1", "tfidf-l2", "logtfidf-l2", "tf-l1-sqrt", "tfidf-l1-sqrt",
		"logtf-l1-sqrt", "tf-l2-sqrt", "tf-l1-pow0.75", "tf-sqrt"} {
		for _, views := range [][]sparse.View{nil, {{First: 0, Weight: 1}, {First: split, Weight: 0.4}}} {
			embedding := musttest.Get(sparse.ParseEmbedding(e))(t)
			f := embedding.Fit(matrix(views, training...))
			if f.Validate() != nil {
				continue
			}
			weights := make([]float64, f.Cols())
			for i := range weights {
				weights[i] = r.NormFloat64()
			}
			for _, unit := range []bool{false, true} {
				l := &Line{f, func(column uint32) float64 { return weights[column] }, unit}
				value := func(m *sparse.CSR) (sum, size float64) {
					x := musttest.Get(f.Transform(m))(t)
					terms, _ := x.Row(0)
					for at, v := range l.vector(x, 0) {
						sum += weights[terms[at]] * v
						size += math.Abs(weights[terms[at]] * v)
					}
					return sum, size
				}
				for kind := range 6 {
					var terms []uint32
					var counts []float32
					switch kind {
					case 0:
						terms, counts = document(0, columns+4, columns, 1)
					case 1:
						terms, counts = document(3, 8, 1, 2)
					case 2: // a dominant term
						terms, counts = document(0, columns, columns, 3e4)
					case 3: // one term in a view
						terms, counts = document(1, 4, 1, 1)
						more, times := document(split, columns, columns, 2)
						terms, counts = append(terms, more...), append(counts, times...)
					case 4: // only unknown terms
						terms, counts = []uint32{columns + 1, columns + 2}, []float32{1, 2}
					case 5:
						terms, counts = document(0, columns, columns, 1)
						counts[1] = 0
					}
					m := matrix(views, terms)
					copy(m.Values, counts)
					effects := musttest.Get(l.Effects(t.Context(), m))(t)
					if effects == nil {
						if views == nil || unit {
							t.Fatalf("%s, unit %v: no effects", e, unit)
						}
						continue
					}
					whole, size := value(m)
					for j := range terms {
						less := matrix(views, append(append([]uint32{}, terms[:j]...), terms[j+1:]...))
						copy(less.Values, append(append([]float32{}, counts[:j]...), counts[j+1:]...))
						rest, other := value(less)
						tol := 1e-13 * (size + other)
						if views != nil {
							tol = 2 * 0x1p-22 * (size + other)
						}
						if want := whole - rest; !(math.Abs(effects[j]-want) <= tol) {
							t.Errorf("%s, views %v, unit %v, kind %d: without %d of %v, %v: %v, expected %v ± %.2g", e, views, unit,
								kind, j, terms, counts, effects[j], want, tol)
						}
						compared++
					}
				}
			}
		}
	}
	if compared < 1000 {
		t.Errorf("%d effects were compared, expected thousands", compared)
	}
}
