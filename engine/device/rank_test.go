package device

import (
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// A transpose has the values of the matrix, also in the memory of another matrix of any size.
func TestByRankReuses(t *testing.T) {
	into := &sparse.CSR{}
	for _, n := range []int{5, 3000, 1, 4000, 0, 3000, 7} {
		m := &sparse.CSR{Cols: 1 + n/2, Offsets: []int64{0}}
		for i := range n {
			for j := i % 3; j < m.Cols && j < 200; j += 1 + i%5 {
				m.Terms, m.Values = append(m.Terms, uint32(j)), append(m.Values, float32(i+j))
			}
			m.Offsets = append(m.Offsets, int64(len(m.Terms)))
		}
		if n == 4000 && m.NNZ() < 3*minWorkerValues {
			t.Fatalf("%d values are too few for three workers", m.NNZ())
		}
		rank := InversePermutation(ColumnsByFrequency(m.DocumentFrequency()))
		for _, workers := range []int{1, 2, 3} {
			musttest.Get(TransposeByRank(t.Context(), into, m, rank, workers))(t)
			musttest.NoError(t, into.Validate())
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
