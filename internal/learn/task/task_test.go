package task

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// dataset has three documents: with class a, without a class, and with both a and b.
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
	for scheme, want := range map[solver.Scheme][]int{solver.OneVsRest: {0, 2}, solver.Labels: {0, 1, 2}} {
		rows, err := Check(t.Context(), dataset(), sparse.Embedding{}, scheme)
		if err != nil || !slices.Equal(rows, want) {
			t.Errorf("%v: %v, %v, expected %v", scheme, rows, err, want)
		}
	}
	one := dataset()
	one.Classes, one.Labels = one.Classes[:1], sparse.Labels{}
	for range 3 {
		one.Labels.Add(0)
	}
	if _, err := Check(t.Context(), one, sparse.Embedding{}, solver.Labels); err != nil {
		t.Errorf("one label: %v", err)
	}
	bare, twice, none := dataset(), dataset(), dataset()
	bare.Labels = sparse.Labels{}
	twice.Classes = []string{"a", "a"}
	none.Documents = &sparse.CSR{Cols: 2, Offsets: []int64{0}}
	for want, f := range map[string]func() ([]int, error){
		"has no documents": func() ([]int, error) { return Check(t.Context(), none, sparse.Embedding{}, 0) },
		"are called":       func() ([]int, error) { return Check(t.Context(), twice, sparse.Embedding{}, 0) },
		"1 classes": func() ([]int, error) {
			return Check(t.Context(), one, sparse.Embedding{}, solver.OneVsRest)
		},
		"dot product": func() ([]int, error) {
			return Check(t.Context(), dataset(), sparse.Embedding{Pairing: sparse.ChiSquare}, solver.OneVsRest)
		},
		"no labelled": func() ([]int, error) {
			return Check(t.Context(), bare, sparse.Embedding{}, solver.OneVsRest)
		},
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for _, good := range [][]float64{nil, {1}, {0.1, 0.2, 5}} {
		if err := CheckCs(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range [][]float64{{0}, {-1}, {math.NaN()}, {1, 1}, {2, 1}, {1, math.NaN()}, {1, 3, 2}} {
		if CheckCs(bad) == nil {
			t.Errorf("%v: no error", bad)
		}
	}
	for want, f := range [][]float64{{2, 1}, {1, 3, 3}, {-3, -2, -1, -1}} {
		if got := ArgMax(f); got != want {
			t.Errorf("%v: the greatest is %d, expected %d", f, got, want)
		}
	}
	if got := Positive([]float64{-1, 2, 0, 3}); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("above 0: %v", got)
	}
	if got := Positive(nil); got == nil || len(got) != 0 {
		t.Errorf("of none: %v", got)
	}
}
