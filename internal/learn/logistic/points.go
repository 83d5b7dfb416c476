package logistic

import (
	"cmp"
	"context"
	"slices"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// points are documents to train on, by rows and by columns. Columns are the terms that any of them
// has, the most frequent first, so that what a pass reads most lies together.
type points struct {
	rows    *sparse.CSR // its columns are places in terms
	norm2   []float64   // Σ values² of each row
	columns *sparse.CSR // transposed: row j are the documents with term j
	terms   []uint32    // the column of the embedding of each term
	least   float32     // value, at most 0
	weights []float64   // multiples of the losses of rows; nil for 1 each

	rowBlocks, columnBlocks []int // where blocks begin, and the end of the last
}

// blockValues is about how many values a block has: what a worker does at a time.
const blockValues = 1 << 14

// newPoints takes some rows of embedded documents.
func newPoints(x *sparse.Embedded, docs []int) *points {
	df := make([]uint32, x.Cols)
	values := int64(0)
	for _, i := range docs {
		terms, _ := x.Row(i)
		values += int64(len(terms))
		for _, t := range terms {
			df[t]++
		}
	}
	p := &points{}
	for t, n := range df {
		if n > 0 {
			p.terms = append(p.terms, uint32(t))
		}
	}
	slices.SortStableFunc(p.terms, func(a, b uint32) int { return cmp.Compare(df[b], df[a]) })
	place := make([]uint32, x.Cols)
	p.columns = &sparse.CSR{
		Cols: len(docs), Offsets: make([]int64, len(p.terms)+1), Terms: make([]uint32, values),
		Values: make([]float32, values),
	}
	for j, t := range p.terms {
		place[t] = uint32(j)
		p.columns.Offsets[j+1] = p.columns.Offsets[j] + int64(df[t])
	}
	p.rows = &sparse.CSR{
		Cols: len(p.terms), Offsets: make([]int64, 1, len(docs)+1), Terms: make([]uint32, 0, values),
		Values: make([]float32, 0, values),
	}
	next := slices.Clone(p.columns.Offsets)
	var order []uint64
	for row, i := range docs {
		terms, unit := x.Row(i)
		order = order[:0]
		for k, t := range terms {
			order = append(order, uint64(place[t])<<32|uint64(k))
		}
		slices.Sort(order)
		norm2 := 0.0
		for _, o := range order {
			t, v := uint32(o>>32), float32(float64(unit[uint32(o)])*x.Norms[i])
			p.rows.Terms, p.rows.Values = append(p.rows.Terms, t), append(p.rows.Values, v)
			p.columns.Terms[next[t]], p.columns.Values[next[t]] = uint32(row), v
			next[t]++
			norm2 += float64(v) * float64(v)
			p.least = min(p.least, v)
		}
		p.rows.Offsets = append(p.rows.Offsets, int64(len(p.rows.Terms)))
		p.norm2 = append(p.norm2, norm2)
	}
	p.rowBlocks, p.columnBlocks = blocks(p.rows), blocks(p.columns)
	return p
}

// blocks divides a matrix into runs of rows with about blockValues values.
func blocks(m *sparse.CSR) []int {
	at := []int{0}
	for i := range m.Rows() {
		// Rows cost a little beside their values.
		if last := at[len(at)-1]; m.Offsets[i+1]-m.Offsets[last]+8*int64(i-last) >= blockValues {
			at = append(at, i+1)
		}
	}
	if at[len(at)-1] != m.Rows() {
		at = append(at, m.Rows())
	}
	return at
}

// each calls work for each block, on several workers.
func each(ctx context.Context, workers int, blocks []int, work func(worker, block, lo, hi int)) error {
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

// dot returns ⟨x,w⟩ of a row.
func dot(terms []uint32, values []float32, w []float64) float64 {
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
