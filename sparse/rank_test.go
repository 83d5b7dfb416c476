package sparse

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func TestByRankRefuses(t *testing.T) {
	m := handFilled()
	rank := []uint32{4, 0, 3, 1, 2}
	if _, err := ByRank(t.Context(), m, rank, 0); err != nil {
		t.Fatal(err)
	}
	for want, rank := range map[string][]uint32{"0 ranks, expected 5": nil, "4 ranks": rank[:4],
		"6 ranks":                append(slices.Clone(rank), 5),
		"has 5, expected 0 to 4": {0, 1, 2, 3, 5}, "has 0 a second time": {0, 1, 2, 3, 0}} {
		if _, err := ByRank(t.Context(), m, rank, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ranks %v: %v, expected %q", rank, err, want)
		}
	}
	for _, order := range [][]uint32{{0, 0}, {0, 2}, {math.MaxUint32}} {
		if got := panics(func() { Ranks(order) }); !strings.HasPrefix(got, "sparse: place") {
			t.Errorf("the order %v: %q", order, got)
		}
	}
}

// A transpose has the same values in memory of another one, larger or smaller, from any number of
// workers.
func TestByRankInto(t *testing.T) {
	into := &CSR{}
	for _, n := range []int{5, 3000, 1, 0, 3000, 7} {
		m := &CSR{Cols: 1 + n/2, Offsets: []int64{0}}
		for i := range n {
			for j := i % 3; j < m.Cols && j < 200; j += 1 + i%5 {
				m.Terms, m.Values = append(m.Terms, uint32(j)), append(m.Values, float32(i+j))
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
		rank := Ranks(Order(m.DocumentFrequency()))
		for _, workers := range []int{1, 2, 3} {
			musttest.Do(t, ByRankInto(t.Context(), into, m, rank, workers))
			musttest.Do(t, into.Validate())
			if into.Cols != n || into.Rows() != m.Cols || into.NNZ() != m.NNZ() {
				t.Fatalf("%d documents: a transpose of %d × %d with %d values", n, into.Rows(), into.Cols, into.NNZ())
			}
			at := make([]int, n) // in each row of m; columns come in the order of rank
			for j := range m.Cols {
				docs, values := into.Row(int(rank[j]))
				for k, d := range docs {
					terms, want := m.Row(int(d))
					if int(terms[at[d]]) != j || want[at[d]] != values[k] {
						t.Fatalf("%d documents, %d workers: document %d has %v in column %d", n, workers, d, values[k], j)
					}
					at[d]++
				}
			}
		}
	}
	m := handFilled()
	for _, bad := range []*CSR{nil, m} {
		if err := ByRankInto(t.Context(), bad, m, []uint32{4, 0, 3, 1, 2}, 1); err == nil {
			t.Errorf("a transpose into %v is accepted", bad)
		}
	}
}

// panics returns what f panics with, "" where it doesn't.
func panics(f func()) (with string) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case string:
			with = v
		case error:
			with = "error: " + v.Error()
		}
	}()
	f()
	return ""
}

// Where a comment makes the argument the caller's duty, a panic names it.
func TestPanicsAreNamed(t *testing.T) {
	m := handFilled()
	x := mustTransform(t, Sphere.Fit(m), m)
	falling := handFilled()
	falling.Offsets[2] = 1
	unsorted := handFilled()
	unsorted.Terms[3] = 0
	for name, c := range map[string]struct {
		call func()
		want string
	}{
		"SelectRows(4)":              {func() { m.SelectRows([]int{0, 4}) }, "sparse: row 4 of a matrix of 4 rows"},
		"SelectRows(-1)":             {func() { m.SelectRows([]int{-1}) }, "sparse: row -1 of a matrix of 4 rows"},
		"SelectRows, falling":        {func() { falling.SelectRows([]int{1}) }, "sparse: row 1: ends at offset 1"},
		"LongestRow, falling":        {func() { falling.LongestRow() }, "sparse: row 1: ends at offset 1"},
		"EmptyRows, falling":         {func() { falling.EmptyRows() }, "sparse: row 1: ends at offset 1"},
		"DocumentFrequency, falling": {func() { falling.DocumentFrequency() }, "sparse: row 1: ends at offset 1"},
		"DocumentFrequency": {func() { unsorted.DocumentFrequency() },
			"sparse: row 1: index 0 is not above 1"},
		"TermFrequencies": {func() { unsorted.TermFrequencies() }, "sparse: row 1: index 0 is not above 1"},
		"Unit64(4)":       {func() { x.Unit64(4, nil) }, "sparse: row 4 of a matrix of 4 rows"},
		"Vector64(-1)":    {func() { x.Vector64(-1, nil) }, "sparse: row -1 of a matrix of 4 rows"},
		"Digest":          {func() { (&Embedded{}).Digest() }, "sparse: no embedder"},
		"Empty":           {func() { (&Embedded{}).Empty() }, "sparse: no embedder"},
	} {
		if got := panics(c.call); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
	}
	if s := (Embedding{Weighting: 9, Pairing: 200}).String(); s != "embedding(9, 0, 0, 200)" {
		t.Errorf("an embedding that there is none of is called %q", s)
	}
	if _, err := (Embedding{Norm: 9}).WithPower(2); err == nil {
		t.Error("a power of an embedding that there is none of is accepted")
	}
	for _, c := range []struct{ rows, values, want int64 }{{2, 3, 92}, {-1, -7, 8}, {0, math.MaxInt64,
		math.MaxInt64}, {math.MaxInt64, 0, math.MaxInt64}} {
		if got := EmbeddedBytes(int(c.rows), c.values); got != c.want {
			t.Errorf("EmbeddedBytes(%d, %d) = %d, expected %d", c.rows, c.values, got, c.want)
		}
	}
}

func TestNoContext(t *testing.T) {
	m := handFilled()
	var nothing context.Context
	for name, err := range map[string]error{
		"TransformRows": second(Sphere.Fit(m).TransformRows(nothing, m, nil, 1)),
		"ByRank":        second(ByRank(nothing, m, []uint32{0, 1, 2, 3, 4}, 1)),
	} {
		if err == nil || !strings.Contains(err.Error(), "nil context") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
