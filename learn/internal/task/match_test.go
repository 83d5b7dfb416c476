package task

import (
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// A document is found by the terms that both know, in any order and under other numbers, once for each copy; none is
// where a corpus shares no term.
func TestMatch(t *testing.T) {
	read := func(texts ...string) *sparse.Corpus {
		return musttest.Get(sparse.FromTexts(t.Context(), texts, nil, sparse.Options{MinDF: 1}))(t)
	}
	old := read("red blue", "red red green", "blue", "red blue")
	kept := sparse.Sphere.Fit(old.Documents)
	for _, q := range []struct {
		c    *sparse.Corpus
		want []int
	}{
		{old, []int{0, 1, 2, 3}},
		{read("blue", "apple blue red", "green red red"), []int{1, 2, 0, -1}},
		{read("apple", "pear fig", "apple", "fig"), []int{-1, -1, -1, -1}},
		{read("red green", "blue blue"), []int{-1, -1, -1, -1}},
	} {
		at, err := Match(t.Context(), old.Documents, kept, old.Vocabulary, nil, q.c)
		if err != nil || !slices.Equal(at, q.want) {
			t.Errorf("%q: %v, %v, expected %v", q.c.Vocabulary, at, err, q.want)
		}
	}
	// Columns without names are those of their numbers.
	vectors := func(first uint32) *sparse.CSR {
		return &sparse.CSR{Cols: 4, Offsets: []int64{0, 1, 2}, Terms: []uint32{first, first + 1}, Values: []float32{1, 2}}
	}
	classes := []string{"a", "b"}
	c := &sparse.Corpus{Source: "vectors", Classes: []string{"b", "a"}, Documents: vectors(2)}
	c.Labels.Add(0)
	c.Labels.Add(1)
	for _, first := range []uint32{0, 2} { // under 2 the classes are others
		at, err := Match(t.Context(), vectors(first), sparse.Sphere.Fit(vectors(first)), nil, classes, c)
		if want := []int{-1, -1}; err != nil || !slices.Equal(at, want) {
			t.Errorf("columns from %d: %v, %v, expected %v", first, at, err, want)
		}
	}
}
