package solver

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

// A full cache replaces the row with the lowest priority among rows that the round doesn't use.
func TestRowsReplaced(t *testing.T) {
	const n, room = 8, 4
	m := sourceOf(t, struct{ Matrix }{matrixOf(t, n, func(i, j int) float64 { return 1 })}) // without Row
	s := newRowCache(m, []int{0, 1, 2, 3, 4, 5, 6, 7}, room, nil)
	s.priority = func(doc int32) float64 { return []float64{3, -1, 7, 5, 0, 0, 9, 9}[doc] }
	rows := make([][]float32, room)
	fetch := func(docs ...int32) {
		musttest.NoError(t, s.fetch(t.Context(), docs, rows[:len(docs)]))
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

// partly is a matrix whose method Whole returns false.
type partly struct{ Matrix }

func (partly) Whole() bool { return false }

// Over-relaxation reaches the same optimum in fewer steps.
func TestOverRelaxation(t *testing.T) {
	m, x := gaussian(t, 5, 900, 6, 0.2)
	docs, positive := run.Range(0, 900), noisySigns(5, x)
	par := Parameters{Regularization: Regularization{C: 10}}
	opt := Options{Tolerance: 1e-5, workingSet: 64}
	whole := musttest.Get(trainBinary(t.Context(), m, docs, positive, par, opt))(t)
	partial := musttest.Get(trainBinary(t.Context(), partly{m}, docs, positive, par, opt))(t)
	if d := math.Abs(partial.Objective - whole.Objective); !(d <= 1e-7*math.Abs(whole.Objective)) {
		t.Errorf("objective %v, expected %v", partial.Objective, whole.Objective)
	}
	if !partial.Converged || float64(partial.Iterations) > 0.9*float64(whole.Iterations) {
		t.Errorf("converged %v in %d steps, and in %d without over-relaxation", partial.Converged, partial.Iterations,
			whole.Iterations)
	}
	t.Logf("%d and %d steps", partial.Iterations, whole.Iterations)
}

// countedRows counts the calls of Rows, and the rows.
type countedRows struct {
	partly
	calls, rows *int
}

func (c countedRows) Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	*c.calls++
	*c.rows += len(rows)
	return c.partly.Rows(ctx, rows, columns, dst)
}

// With memory for an eighth of the rows, the solver reaches the same optimum. It reads many missing
// rows per call. In total it reads less than half of the 5,801 rows that working sets of only the
// largest violators would need for C = 10.
func TestCachedRowsFirst(t *testing.T) {
	const n = 900
	m, x := gaussian(t, 5, n, 6, 0.2)
	docs, positive := run.Range(0, n), noisySigns(5, x)
	for _, par := range []Parameters{
		{Regularization: Regularization{C: 10}}, {Regularization: Regularization{Nu: 0.5}},
	} {
		opt := Options{Tolerance: 1e-5, workingSet: 64}
		whole := musttest.Get(trainBinary(t.Context(), m, docs, positive, par, opt))(t)
		var calls, rows int
		opt.RowBytes = 4 * n * n / 8
		counted := countedRows{partly{m}, &calls, &rows}
		partial := musttest.Get(trainBinary(t.Context(), counted, docs, positive, par, opt))(t)
		t.Logf("%+v: %d rows in %d calls, %d steps, objective %v", par, rows, calls, partial.Iterations, partial.Objective)
		if d := math.Abs(partial.Objective - whole.Objective); !(d <= 1e-6*math.Abs(whole.Objective)) {
			t.Errorf("objective %v, expected %v", partial.Objective, whole.Objective)
		}
		if !partial.Converged || rows < 20*calls || rows > 3*n {
			t.Errorf("converged %v, %d rows in %d calls, %d steps", partial.Converged, rows, calls, partial.Iterations)
		}
	}
}

// A restricted cache contains the cached rows of its documents, and holds more of the shorter rows.
func TestRowsRestricted(t *testing.T) {
	const n, room = 20, 5
	whole := matrixOf(t, n, func(i, j int) float64 { return float64(100*i + j) })
	m := sourceOf(t, struct{ Matrix }{whole})
	s := newRowCache(m, run.Range(0, n), room, nil)
	rows := make([][]float32, n)
	fetch := func(s *rowCache, hits int64, docs ...int32) {
		t.Helper()
		before := s.hits
		musttest.NoError(t, s.fetch(t.Context(), docs, rows[:len(docs)]))
		if s.hits-before != hits {
			t.Errorf("documents %v: %d rows were cached, expected %d", docs, s.hits-before, hits)
		}
		for r, d := range docs {
			for c, v := range rows[r] {
				if want := whole.Row(s.docs[d])[s.docs[c]]; v != want {
					t.Errorf("document %d of %v, column %d: %v, expected %v", d, s.docs, c, v, want)
				}
			}
		}
	}
	fetch(s, 0, 19, 3, 4, 8, 0)
	keep := []int32{1, 3, 5, 7, 8, 10, 11, 15, 18, 19}
	r := s.restrict(keep, []int{1, 3, 5, 7, 8, 10, 11, 15, 18, 19}, 4, 1<<20)
	fetch(r, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9) // documents 3, 8 and 19 of s
	fetch(r, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
	fetch(s, 0, 3, 8) // s is empty
}
