package join

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// pairsOf runs a search with lists of up to listBytes at a time and returns the candidate pairs.
func pairsOf(t *testing.T, x *sparse.Embedded, most float64, listBytes int64) (pairs [][2]int, j *Join) {
	t.Helper()
	j = musttest.Get(New(t.Context(), x, nil, most, 2))(t)
	musttest.NoError(t, j.Build(t.Context(), listBytes))
	var mu sync.Mutex
	var matches int64
	done := func(n int64) {
		mu.Lock()
		defer mu.Unlock()
		matches += n
	}
	musttest.NoError(t, j.Run(t.Context(), done, func(_, i, k int) error {
		mu.Lock()
		defer mu.Unlock()
		pairs = append(pairs, [2]int{min(i, k), max(i, k)})
		return nil
	}))
	if matches != j.Counts.Matches {
		t.Errorf("%d matches, counted before as %d", matches, j.Counts.Matches)
	}
	slices.SortFunc(pairs, func(a, b [2]int) int { return (a[0]-b[0])*x.Rows() + a[1] - b[1] })
	return pairs, j
}

// Lists in stripes find the same pairs, each pair once, and the omitted pairs exceed the bound.
func TestStripes(t *testing.T) {
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(300, 700, 30, 3))
	want, _ := pairsOf(t, x, 0.2, 1<<40)
	if len(slices.Compact(slices.Clone(want))) != len(want) || len(want) == 0 {
		t.Fatalf("%d pairs, some twice or none", len(want))
	}
	got, j := pairsOf(t, x, 0.2, 4000)
	if len(j.stripes) < 3 || !slices.Equal(got, want) {
		t.Errorf("%d pairs of %d stripes, expected %d", len(got), len(j.stripes), len(want))
	}
	for i := range x.Rows() {
		for k := range i {
			if p := [2]int{k, i}; !slices.Contains(want, p) && j.rows.class[i] != j.rows.class[k] {
				if c := 1 - dotOf(x, i, k); c < 0.2 && int(j.RowCopies(i)[0]) == i && int(j.RowCopies(k)[0]) == k {
					t.Errorf("pair %v with c = %v is missing", p, c)
				}
			}
		}
	}
}

func dotOf(x *sparse.Embedded, i, k int) (sum float64) {
	s, _ := x.Row(i)
	t, _ := x.Row(k)
	a, b := x.UnitVector64(i, nil), x.UnitVector64(k, nil)
	for p, term := range s {
		if q, ok := slices.BinarySearch(t, term); ok {
			sum += a[p] * b[q]
		}
	}
	return sum
}

// The heap returns the ranks of a row in ascending order.
func TestCut(t *testing.T) {
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(100, 400, 30, 3))
	j := musttest.Get(New(t.Context(), x, nil, 0.5, 2))(t)
	var w prefixFinder
	for k := range j.rows.distinct {
		if w.find(j, j.rows, k); !slices.IsSorted(w.ranks) || len(w.ranks) == 0 {
			t.Fatalf("document %d has ranks %v before its cut", k, w.ranks)
		}
	}
	musttest.WantError(New(t.Context(), x, nil, 1, 2))(t, "a bound of 1", ErrBoundTooLarge)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	musttest.WantError(j.Build(ctx, 1<<40))(t, "after its context", context.Canceled)
}
