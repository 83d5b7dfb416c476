package task

import (
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// dataset has three documents: a document with class a, a document without a class, and a document
// with classes a and b.
func dataset() *corpus.Corpus {
	c := &corpus.Corpus{
		Source: "three", Classes: []string{"a", "b"},
		Documents: &sparse.CSR{Cols: 2, Offsets: []int64{0, 1, 1, 2}, Terms: []uint32{0, 1}, Values: []float32{1, 2}},
	}
	c.Labels.Add(0)
	c.Labels.Add()
	c.Labels.Add(0, 1)
	return c
}

func TestCheck(t *testing.T) {
	for scheme, want := range map[solver.Scheme][]int{solver.OneVsRest: {0, 2}, solver.MultiLabel: {0, 1, 2}} {
		rows, err := TrainingRows(t.Context(), dataset(), sparse.Embedding{}, scheme)
		if err != nil || !slices.Equal(rows, want) {
			t.Errorf("%v: %v, %v, expected %v", scheme, rows, err, want)
		}
	}
	one := dataset()
	one.Classes, one.Labels = one.Classes[:1], sparse.Labels{}
	for range 3 {
		one.Labels.Add(0)
	}
	if _, err := TrainingRows(t.Context(), one, sparse.Embedding{}, solver.MultiLabel); err != nil {
		t.Errorf("one label: %v", err)
	}
	bare, twice, none := dataset(), dataset(), dataset()
	bare.Labels = sparse.Labels{}
	twice.Classes = []string{"a", "a"}
	none.Documents = &sparse.CSR{Cols: 2, Offsets: []int64{0}}
	for want, f := range map[string]func() ([]int, error){
		"has no documents": func() ([]int, error) { return TrainingRows(t.Context(), none, sparse.Embedding{}, 0) },
		"occurs twice":     func() ([]int, error) { return TrainingRows(t.Context(), twice, sparse.Embedding{}, 0) },
		"1 classes": func() ([]int, error) {
			return TrainingRows(t.Context(), one, sparse.Embedding{}, solver.OneVsRest)
		},
		"dot product": func() ([]int, error) {
			return TrainingRows(t.Context(), dataset(), sparse.Embedding{Pairing: sparse.ChiSquare}, solver.OneVsRest)
		},
		"no labelled": func() ([]int, error) {
			return TrainingRows(t.Context(), bare, sparse.Embedding{}, solver.OneVsRest)
		},
	} {
		musttest.WantError(f())(t, "Check", want)
	}
}

func TestNumbers(t *testing.T) {
	for _, good := range [][]float64{nil, {1}, {0.1, 0.2, 5}} {
		musttest.NoError(t, CheckCValues(good))
	}
	for _, bad := range [][]float64{{0}, {-1}, {math.NaN()}, {1, 1}, {2, 1}, {1, math.NaN()}, {1, 3, 2}} {
		if CheckCValues(bad) == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	for want, f := range [][]float64{{2, 1}, {1, 3, 3}, {-3, -2, -1, -1}} {
		if got := ArgMax(f); got != want {
			t.Errorf("%v: the greatest is %d, expected %d", f, got, want)
		}
	}
	if got := PositiveIndices([]float64{-1, 2, 0, 3}); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("above 0: %v", got)
	}
	if got := PositiveIndices(nil); got == nil || len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}

// Balanced weights equal scikit-learn's n / (classes · nₖ), or balance a label's documents with the
// other documents. Weights by name take precedence.
func TestWeights(t *testing.T) {
	c := &corpus.Corpus{Classes: []string{"a", "b", "c"}}
	for _, k := range []int32{0, 0, 0, 0, 1, 1, 2, 0, 0, 0} { // 7, 2 and 1 of 10 documents
		c.Labels.Add(k)
	}
	rows := run.Range(0, 10)
	for _, q := range []struct {
		given    map[string]float64
		balanced bool
		scheme   solver.Scheme
		want     []float64
	}{
		{nil, false, solver.OneVsRest, []float64{1, 1, 1}},
		{nil, true, solver.OneVsRest, []float64{10. / 21, 10. / 6, 10. / 3}},
		{map[string]float64{"b": 5}, true, solver.OneVsRest, []float64{10. / 21, 5, 10. / 3}},
		{nil, true, solver.MultiLabel, []float64{3. / 7, 8. / 2, 9}},
	} {
		if got, err := ClassWeights(c, rows, q.given, q.balanced, q.scheme); err != nil || !slices.Equal(got, q.want) {
			t.Errorf("%+v: %v, %v", q, got, err)
		}
	}
	for _, bad := range []map[string]float64{{"d": 1}, {"a": 0}, {"a": math.NaN()}, {"a": math.Inf(1)}} {
		musttest.WantError(ClassWeights(c, rows, bad, false, solver.OneVsRest))(t, bad)
	}
}
