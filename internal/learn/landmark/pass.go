package landmark

import (
	"context"
	"slices"
	"sync"

	"github.com/gramengine/gram/engine"
	"gonum.org/v1/gonum/mat"
)

// runPass computes T⁻ᵀKₙₘᵀR in one pass over the documents. f replaces each row of W = KₙₘT⁻¹u by a
// row of R, and adds values such as losses to numTotals totals. runPass returns the product and the
// totals, which are added in row order. If Options.RunPass is set, Options.RunPass computes the
// same sums from q, and f isn't called.
func (t *training) runPass(
	ctx context.Context, u [][]float64, q *Request, numTotals int, f func(row int, w, totals []float64),
) (g [][]float64, sums []float64, err error) {
	m, p := t.factor.N, len(u)
	alpha := slices.Concat(u...)
	if err := t.factor.BackSolve(ctx, t.config, alpha); err != nil {
		return nil, nil, err
	}
	var all *Sums
	if t.opt.RunPass != nil {
		all, err = t.remotePass(ctx, t.fillRequest(q, alpha))
	} else {
		all, err = t.localPass(ctx, t.matrix, columnsOf(alpha, m), numTotals, f)
	}
	if err != nil {
		return nil, nil, err
	}
	t.passes++
	sums = make([]float64, p+numTotals)
	for _, own := range all.Ranges {
		for i, s := range own.Sums {
			sums[i] += s
		}
	}
	alpha = all.Products
	for c := range p {
		for j := range m {
			alpha[c*m+j] += sums[c]
		}
	}
	if err := t.factor.ForwardSolve(ctx, t.config, alpha); err != nil {
		return nil, nil, err
	}
	for c := range p {
		g = append(g, alpha[c*m:(c+1)*m:(c+1)*m])
	}
	return g, sums[p:], nil
}

// localPass computes the [Sums] for the columns of v in one pass over matrix. It calls f like
// [training.runPass].
func (t *training) localPass(
	ctx context.Context, matrix *engine.CrossMatrix, v *mat.Dense, numTotals int, f func(row int, w, totals []float64),
) (*Sums, error) {
	m, p := v.Dims()
	bias, dst := make([]float64, p), mat.NewDense(m, p, nil)
	for c := range p {
		for j := range m {
			bias[c] += v.At(j, c)
		}
	}
	all := &Sums{Products: make([]float64, m*p)}
	var mu sync.Mutex
	err := matrix.MultiplyTwice(ctx, v, func(first int, w *mat.Dense) error {
		own := RangeSums{first, make([]float64, p+numTotals)}
		rows, _ := w.Dims()
		for i := range rows {
			row := w.RawRowView(i)
			for c, b := range bias {
				row[c] += b
			}
			f(first+i, row, own.Sums[p:])
			for c, r := range row {
				own.Sums[c] += r
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all.Ranges = append(all.Ranges, own)
		return nil
	}, dst)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all.Ranges, func(a, b RangeSums) int { return a.FirstRow - b.FirstRow })
	for c := range p {
		mat.Col(all.Products[c*m:(c+1)*m], c, dst)
	}
	return all, nil
}
