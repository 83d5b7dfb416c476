package solver

import (
	"slices"
	"testing"
)

// A full store replaces the row with the smallest need that the round doesn't use.
func TestRowsReplaced(t *testing.T) {
	const n, room = 8, 4
	m := sourceOf(t, struct{ Matrix }{matrixOf(t, n, func(i, j int) float64 { return 1 })}) // without Row
	s := newRowStore(m, []int{0, 1, 2, 3, 4, 5, 6, 7}, room, nil)
	s.need = func(doc int32) float64 { return []float64{3, -1, 7, 5, 0, 0, 9, 9}[doc] }
	rows := make([][]float32, room)
	fetch := func(docs ...int32) {
		if err := s.fetch(t.Context(), docs, rows[:len(docs)]); err != nil {
			t.Fatal(err)
		}
	}
	fetch(0, 1, 2, 3)
	for _, step := range []struct{ docs, held []int32 }{
		{[]int32{6}, []int32{0, 2, 3, 6}},    // replaces 1
		{[]int32{7, 0}, []int32{0, 2, 6, 7}}, // replaces 3, because the round uses 0
		{[]int32{4}, []int32{2, 4, 6, 7}},    // replaces 0
	} {
		fetch(step.docs...)
		if held := slices.Sorted(slices.Values(s.docOf)); !slices.Equal(held, step.held) {
			t.Errorf("after %v: rows %v, expected %v", step.docs, held, step.held)
		}
	}
}
