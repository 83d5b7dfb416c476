package task

import (
	"cmp"
	"context"
	"slices"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// TrainingMatrix holds training documents by rows and by columns, so that passes over rows and
// passes over columns are gathers. Columns are the terms that occur in the documents, sorted by
// decreasing document frequency, so that the most used weights are adjacent.
type TrainingMatrix struct {
	Rows    *sparse.CSR // columns are indices into Terms
	Columns *sparse.CSR // transposed: row j lists the documents with Terms[j]
	Terms   []uint32    // column of the embedding for each column of Rows
	Weights []float64   // weights of the rows' losses; nil if all weights are 1

	RowBlocks, ColumnBlocks []int // first row or column of each block, followed by the number of rows or columns
}

// blockValues is the approximate number of values per block, the unit of work.
const blockValues = 1 << 14

// NewTrainingMatrix copies the given rows of embedded documents.
func NewTrainingMatrix(x *sparse.Embedded, docs []int) *TrainingMatrix {
	df := make([]uint32, x.Cols)
	values := int64(0)
	for _, i := range docs {
		terms, _ := x.Row(i)
		values += int64(len(terms))
		for _, t := range terms {
			df[t]++
		}
	}
	p := &TrainingMatrix{}
	for t, n := range df {
		if n > 0 {
			p.Terms = append(p.Terms, uint32(t))
		}
	}
	slices.SortStableFunc(p.Terms, func(a, b uint32) int { return cmp.Compare(df[b], df[a]) })
	place := make([]uint32, x.Cols)
	p.Columns = &sparse.CSR{
		Cols: len(docs), Offsets: make([]int64, len(p.Terms)+1), Terms: make([]uint32, values),
		Values: make([]float32, values),
	}
	for j, t := range p.Terms {
		place[t] = uint32(j)
		p.Columns.Offsets[j+1] = p.Columns.Offsets[j] + int64(df[t])
	}
	p.Rows = &sparse.CSR{
		Cols: len(p.Terms), Offsets: make([]int64, 1, len(docs)+1), Terms: make([]uint32, 0, values),
		Values: make([]float32, 0, values),
	}
	next := slices.Clone(p.Columns.Offsets)
	var order []uint64
	for row, i := range docs {
		terms, unit := x.Row(i)
		order = order[:0]
		for k, t := range terms {
			order = append(order, uint64(place[t])<<32|uint64(k))
		}
		slices.Sort(order)
		for _, o := range order {
			t, v := uint32(o>>32), float32(float64(unit[uint32(o)])*x.Norms[i])
			p.Rows.Terms, p.Rows.Values = append(p.Rows.Terms, t), append(p.Rows.Values, v)
			p.Columns.Terms[next[t]], p.Columns.Values[next[t]] = uint32(row), v
			next[t]++
		}
		p.Rows.Offsets = append(p.Rows.Offsets, int64(len(p.Rows.Terms)))
	}
	p.RowBlocks, p.ColumnBlocks = splitBlocks(p.Rows), splitBlocks(p.Columns)
	return p
}

func splitBlocks(m *sparse.CSR) []int {
	at := []int{0}
	for i := range m.Rows() {
		// The overhead of a row is about the time of 8 values.
		if last := at[len(at)-1]; m.Offsets[i+1]-m.Offsets[last]+8*int64(i-last) >= blockValues {
			at = append(at, i+1)
		}
	}
	if at[len(at)-1] != m.Rows() {
		at = append(at, m.Rows())
	}
	return at
}

// Weight returns the weight of row i's loss.
func (p *TrainingMatrix) Weight(i int) float64 {
	if p.Weights == nil {
		return 1
	}
	return p.Weights[i]
}

// MultiplyTransposed sets g[j] = Σᵢ coef[i] x[i][j] for each column j of the matrix x.
func (p *TrainingMatrix) MultiplyTransposed(ctx context.Context, workers int, coef, g []float64) error {
	return ForEachBlock(ctx, workers, p.ColumnBlocks, func(_, _, lo, hi int) {
		for j := lo; j < hi; j++ {
			docs, values := p.Columns.Row(j)
			g[j] = Dot(docs, values, coef)
		}
	})
}

// ForEachBlock calls work once per block, concurrently on several workers.
func ForEachBlock(
	ctx context.Context, workers int, blocks []int, work func(worker, block, lo, hi int),
) error {
	n := len(blocks) - 1
	if workers = min(workers, n); workers > 1 {
		return run.Tasks(ctx, workers, n, func(_ context.Context, worker, b int) error {
			work(worker, b, blocks[b], blocks[b+1])
			return nil
		})
	}
	for b := range n {
		if b%64 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		work(0, b, blocks[b], blocks[b+1])
	}
	return ctx.Err()
}

// Dot returns the inner product of w and a sparse row with the given terms and values.
func Dot(terms []uint32, values []float32, w []float64) float64 {
	values = values[:len(terms)]
	var a, b, c, d float64
	k := 0
	for ; k+4 <= len(terms); k += 4 {
		a += float64(float64(values[k]) * w[terms[k]])
		b += float64(float64(values[k+1]) * w[terms[k+1]])
		c += float64(float64(values[k+2]) * w[terms[k+2]])
		d += float64(float64(values[k+3]) * w[terms[k+3]])
	}
	for ; k < len(terms); k++ {
		a += float64(float64(values[k]) * w[terms[k]])
	}
	return (a + b) + (c + d)
}
