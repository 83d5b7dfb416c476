package linear

import (
	"cmp"
	"context"
	"slices"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

type entry struct {
	column uint32
	value  float32
}

// problem holds the training documents. Columns are sorted by decreasing document frequency, so
// that the most used weights are adjacent.
type problem struct {
	entries      []entry
	starts       []int64   // index of each document's first entry
	counts       []uint32  // number of entries of each document
	squaredNorms []float64 // Σ value² of each document, without the intercept
	columns      []uint32  // column of the problem for each column of the embedding
}

const chunkRows = 512

func problemBytes(rows int, values int64, cols int) int64 {
	return 8*(values+int64(rows)) + 20*int64(rows) + 8*int64(cols)
}

// newProblem embeds the documents with the given row indices. In addition to the result, it needs
// memory for a chunk of embedded documents per worker.
func newProblem(ctx context.Context, docs *sparse.CSR, rows []int, f *sparse.Embedder, workers int) (*problem, error) {
	n := len(rows)
	p := &problem{
		columns: make([]uint32, f.Cols()), starts: make([]int64, n), counts: make([]uint32, n),
		squaredNorms: make([]float64, n),
	}
	order := make([]uint32, f.Cols())
	for j := range order {
		order[j] = uint32(j)
	}
	slices.SortStableFunc(order[:len(f.DF)], func(a, b uint32) int { return cmp.Compare(f.DF[b], f.DF[a]) })
	for at, j := range order {
		p.columns[j] = uint32(at)
	}
	values := int64(0)
	for at, i := range rows {
		p.starts[at] = values
		values += max(docs.Offsets[i+1]-docs.Offsets[i], 1) + int64(f.FilledCount()) // at least 1 entry per document
	}
	p.entries = make([]entry, values)
	return p, run.Tasks(ctx, workers, (n+chunkRows-1)/chunkRows, func(ctx context.Context, _, part int) error {
		first := part * chunkRows
		x, err := f.TransformRows(ctx, docs, rows[first:min(first+chunkRows, n)], 1)
		if err != nil {
			return err
		}
		for i := range x.Rows() {
			at := first + i
			terms, unit := x.Row(i)
			own := p.entries[p.starts[at]:][:len(terms)]
			for k, t := range terms {
				v := float32(float64(unit[k]) * x.Norms[i])
				own[k] = entry{p.columns[t], v}
				p.squaredNorms[at] += float64(v) * float64(v)
			}
			p.counts[at] = uint32(len(terms))
		}
		return nil
	})
}

func (p *problem) rows() int { return len(p.squaredNorms) }

func (p *problem) row(i int) []entry { return p.entries[p.starts[i]:][:p.counts[i]] }

// contextChecker counts processed values, so that ctx is checked rarely.
type contextChecker struct {
	ctx   context.Context
	count int
}

func (p *contextChecker) add(values int) error {
	if p.count += values + 8; p.count < 1<<20 {
		return nil
	}
	p.count = 0
	return p.ctx.Err()
}

func dot(x []entry, w []float64) float64 {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a += float64(float64(x[0].value) * w[x[0].column])
		b += float64(float64(x[1].value) * w[x[1].column])
		c += float64(float64(x[2].value) * w[x[2].column])
		d += float64(float64(x[3].value) * w[x[3].column])
	}
	for _, e := range x {
		a += float64(float64(e.value) * w[e.column])
	}
	return (a + b) + (c + d)
}

func addScaled(w []float64, by float64, x []entry) {
	for _, e := range x {
		w[e.column] += float64(by * float64(e.value))
	}
}
