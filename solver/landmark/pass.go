package landmark

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"
)

// partial are the sums of some rows of a pass.
type partial struct {
	first int
	sums  []float64
}

// pass goes over all documents once, for vectors u: f is handed each row of W = (Kₙₘ+1) T⁻¹u and puts
// R in its place, and T⁻ᵀ(Kₙₘ+1)ᵀR comes back. f also adds to figures of the row's part, as many as
// are asked for, whose sums come back, too; parts are added in the order of rows.
func (t *training) pass(
	ctx context.Context, u [][]float64, figures int, f func(row int, w, figures []float64),
) (g [][]float64, sums []float64, err error) {
	m, p := t.factor.N, len(u)
	alpha := slices.Concat(u...)
	if err := t.factor.Back(ctx, t.do, alpha); err != nil {
		return nil, nil, err
	}
	v, dst, bias := mat.NewDense(m, p, nil), mat.NewDense(m, p, nil), make([]float64, p)
	for c := range p {
		v.SetCol(c, alpha[c*m:(c+1)*m])
		for _, a := range alpha[c*m : (c+1)*m] {
			bias[c] += a
		}
	}
	var mu sync.Mutex
	var parts []partial
	err = t.matrix.Pass(ctx, v, func(first int, w *mat.Dense) error {
		own := partial{first, make([]float64, p+figures)}
		rows, _ := w.Dims()
		for i := range rows {
			row := w.RawRowView(i)
			for c, b := range bias {
				row[c] += b
			}
			f(first+i, row, own.sums[p:])
			for c, r := range row {
				own.sums[c] += r
			}
		}
		mu.Lock()
		defer mu.Unlock()
		parts = append(parts, own)
		return nil
	}, dst)
	if err != nil {
		return nil, nil, err
	}
	t.passes++
	slices.SortFunc(parts, func(a, b partial) int { return a.first - b.first })
	sums = make([]float64, p+figures)
	for _, own := range parts {
		for i, s := range own.sums {
			sums[i] += s
		}
	}
	for c := range p {
		mat.Col(alpha[c*m:(c+1)*m], c, dst)
		for j := range m {
			alpha[c*m+j] += sums[c]
		}
	}
	if err := t.factor.Forward(ctx, t.do, alpha); err != nil {
		return nil, nil, err
	}
	for c := range p {
		g = append(g, alpha[c*m:(c+1)*m:(c+1)*m])
	}
	return g, sums[p:], nil
}
