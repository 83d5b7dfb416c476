package sparse

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func TestByRankRefuses(t *testing.T) {
	m := handFilled()
	rank := []uint32{4, 0, 3, 1, 2}
	musttest.Get(ByRank(t.Context(), nil, m, rank, 0))(t)
	for want, rank := range map[string][]uint32{"0 ranks for 5 columns": nil, "4 ranks": rank[:4],
		"6 ranks": append(slices.Clone(rank), 5),
		"rank of column 4 must be unique and below 5, got 5": {0, 1, 2, 3, 5},
		"rank of column 4 must be unique and below 5, got 0": {0, 1, 2, 3, 0}} {
		if _, err := ByRank(t.Context(), nil, m, rank, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ranks %v: %v, expected %q", rank, err, want)
		}
	}
}

// A transpose has the values of the matrix, also in the memory of another matrix of any size.
func TestByRankReuses(t *testing.T) {
	into, many := &CSR{}, drawn(4000, 500, 100)
	if many.NNZ() < 3*minWorkerValues {
		t.Fatalf("%d values are too few for three workers", many.NNZ())
	}
	for _, n := range []int{5, 3000, 1, 4000, 0, 3000, 7} {
		m := &CSR{Cols: 1 + n/2, Offsets: []int64{0}}
		for i := range n {
			for j := i % 3; j < m.Cols && j < 200; j += 1 + i%5 {
				m.Terms, m.Values = append(m.Terms, uint32(j)), append(m.Values, float32(i+j))
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
		if n == 4000 {
			m = many
		}
		rank := Ranks(Order(m.DocumentFrequency()))
		for _, workers := range []int{1, 2, 3} {
			musttest.Get(ByRank(t.Context(), into, m, rank, workers))(t)
			musttest.Do(t, into.Validate())
			if into.Cols != n || into.Rows() != m.Cols || into.NNZ() != m.NNZ() {
				t.Fatalf("%d documents: a transpose of %d × %d with %d values", n, into.Rows(), into.Cols, into.NNZ())
			}
			at := make([]int, n) // position in each row of m; columns come in the order of rank
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
}

func TestUnknownEmbeddings(t *testing.T) {
	if s := (Embedding{Weighting: 9, Pairing: 200}).String(); s != "embedding(9, 0, 0, 200)" {
		t.Errorf("an undefined embedding is called %q", s)
	}
	for _, c := range []struct{ rows, values, want int64 }{{2, 3, 92}, {0, math.MaxInt64,
		math.MaxInt64}, {math.MaxInt64, 0, math.MaxInt64}} {
		if got := EmbeddedBytes(int(c.rows), c.values); got != c.want {
			t.Errorf("EmbeddedBytes(%d, %d) = %d, expected %d", c.rows, c.values, got, c.want)
		}
	}
}
