package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// twoClasses returns alternating labels of two classes; the first document has both.
func twoClasses(documents int) (l Labels) {
	for i := range documents {
		if i == 0 {
			l.Add(0, 1)
		} else {
			l.Add(int32(i % 2))
		}
	}
	return l
}

// fit fits any embedding.
func fit(e Embedding, m *CSR) *Embedder { return e.FitLabels(m, twoClasses(m.Rows()), 2) }

// divergenceByHand computes the weight of a term directly from the definition.
func divergenceByHand(m *CSR, l Labels, classes int, term uint32) float64 {
	has, of, all, labels := make([]float64, classes), make([]float64, classes), 0.0, 0.0
	for i := range m.Rows() {
		terms, values := m.Row(i)
		k := slices.Index(terms, term)
		for _, id := range l.Classes(i) {
			of[id]++
			labels++
			if k >= 0 && values[k] != 0 {
				has[id]++
				all++
			}
		}
	}
	sum := 0.0
	for id := range classes {
		if q := of[id] / labels; q > 0 {
			p := (has[id] + q) / (all + 1)
			sum += p * math.Log(p/q)
		}
	}
	return sum
}

// Weights are correct for documents with any number of classes, empty classes and stored zeros.
func TestSupervised(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	e := Embedding{Weighting: TFKL, Norm: NormL1, Power: SquareRoot}
	for trial := range 200 {
		const classes = 5 // without documents of class 3
		m, labels := &CSR{Cols: 30, Offsets: []int64{0}}, Labels{}
		for i := range 2 + r.IntN(60) {
			for term := range uint32(29) { // term 29 is in no document, term 0 in all
				if term == 0 || r.IntN(6) == 0 {
					m.Terms = append(m.Terms, term)
					m.Values = append(m.Values, float32(1+r.IntN(3)))
					if term > 0 && r.IntN(9) == 0 {
						m.Values[len(m.Values)-1] = 0
					}
				}
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
			switch own := []int32{0, 1, 2, 4}; {
			case i < 2:
				labels.Add(own[i])
			case r.IntN(5) == 0:
				labels.Add()
			case r.IntN(3) == 0:
				labels.Add(own[r.IntN(2)], own[2+r.IntN(2)])
			default:
				labels.Add(own[r.IntN(4)])
			}
		}
		f := e.FitLabels(m, labels, classes)
		musttest.NoError(t, f.Validate())
		for j, term := range f.Terms {
			// 5 summands are below 100·ln 100; divided by n, their rounding errors are about 2⁻⁵².
			if want := max(divergenceByHand(m, labels, classes, term), 1e-12); !(math.Abs(f.Weights[j]-want) <= 1e-13) {
				t.Fatalf("trial %d: the weight of term %d is %v, expected %v", trial, term, f.Weights[j], want)
			}
		}
		if f.Weights[0] != 1e-12 {
			t.Fatalf("trial %d: a term in all documents has the weight %v", trial, f.Weights[0])
		}
		order := r.Perm(m.Rows())
		var permuted Labels
		for _, i := range order {
			permuted.Add(labels.Classes(i)...)
		}
		if again := e.FitLabels(m.SelectRows(order), permuted, classes); !slices.Equal(again.Weights, f.Weights) {
			t.Fatalf("trial %d: other weights in another order", trial)
		}
	}
}

// Without labels of two classes there is an error, not other weights.
func TestSupervisedRefuses(t *testing.T) {
	m := csrOf([][]float32{{1, 2, 0}, {0, 1, 1}, {3, 0, 1}})
	e := Embedding{Weighting: TFKL, Norm: NormL1, Power: SquareRoot}
	one := Labels{Offsets: []int64{0, 1, 1, 2}, IDs: []int32{1, 1}}
	for what, f := range map[string]*Embedder{
		"Fit": e.Fit(m), "no labels": e.FitLabels(m, Labels{}, 2), "one class": e.FitLabels(m, one, 2),
	} {
		musttest.WantError(f.Transform(m))(t, what, "embedding tfkl-l1-sqrt requires labels")
	}
	wrong := twoClasses(m.Rows())
	wrong.IDs[1] = 7
	musttest.WantError(e.FitLabels(m, wrong, 2).Validate())(t, "a label of no class", "got 7")
	musttest.WantError(e.FitLabels(nil, Labels{}, 0).Validate())(t, "no documents")
	for _, other := range []Embedding{SphereEmbedding, {Weighting: TFIDF}} {
		got, want := fit(other, m), other.Fit(m)
		if fmt.Sprint(got.Weights, got.Terms) != fmt.Sprint(want.Weights, want.Terms) {
			t.Errorf("%s learns from labels", other)
		}
	}
}
