package spectrum

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gramengine/gram/internal/run"
)

// packedMatrix is the lower triangle of a symmetric matrix of n rows, row by row.
type packedMatrix struct {
	n    int
	data []float64
}

func (p *packedMatrix) row(i int) []float64 {
	from := i * (i + 1) / 2
	return p.data[from : from+i+1 : from+i+1]
}

// Block sizes of the reduction. Changing a block size changes rounding errors. Results are
// bit-identical for any number of workers.
const (
	panelRows     = 32   // number of rows that are reduced before the remaining matrix is updated
	productParts  = 16   // number of partial sums of a product of the matrix and a vector
	undividedRows = 256  // maximum number of rows of a product that isn't divided
	columnBlock   = 1024 // number of matrix columns per pass of a product
	rankBlock     = 256  // columns per pass of an update of rank 2·panelRows; the vectors of a pass stay in the cache
	updateRows    = 32   // number of rows per task of an update
)

// valuesPerRow is the number of values per row that a reduction stores in addition to the matrix.
const valuesPerRow = 2*panelRows + productParts + 2

// tridiagonalise reduces a to a tridiagonal matrix with the same eigenvalues, by reflections from
// the last row to the first, and returns the diagonal and the off-diagonal. It overwrites a, whose
// largest value must be near 1.
//
// With the reflection I - τvvᵀ of row j, the rows above row j become
//
//	A - vwᵀ - wvᵀ,   w = τAv - ½τ²(vᵀAv)v
//
// The vectors v and w of a panel of rows are stored. Then one pass updates the rows above the panel
// with all of these vectors. Source: Dongarra, Sorensen and Hammarling, J. Comput. Appl. Math. 27
// (1989); LAPACK's dsytrd with the upper triangle by columns, which is the lower triangle by rows.
func tridiagonalise(ctx context.Context, a *packedMatrix, workers int) (d, e []float64, err error) {
	n := a.n
	d, e = make([]float64, n), make([]float64, max(n-1, 0))
	var v, w [panelRows][]float64
	for i := range v {
		v[i], w[i] = make([]float64, n), make([]float64, n)
	}
	parts := make([][]float64, productParts)
	for i := range parts {
		parts[i] = make([]float64, n)
	}
	for m := n; m > 0; {
		rows := min(m, panelRows)
		for i := range rows {
			if err := ctx.Err(); err != nil {
				return nil, nil, context.Cause(ctx)
			}
			j := m - 1 - i
			row := a.row(j)
			for p := range i {
				floats.AddScaled(row, -v[p][j], w[p][:j+1])
				floats.AddScaled(row, -w[p][j], v[p][:j+1])
			}
			d[j] = row[j]
			if j == 0 {
				break
			}
			x, y := v[i][:j], w[i][:j]
			copy(x, row)
			var tau float64
			if e[j-1], tau = householder(x); tau == 0 {
				clear(x)
				clear(y)
				continue
			}
			if err := a.product(ctx, y, x, parts, workers); err != nil {
				return nil, nil, err
			}
			for p := range i {
				vx, wx := floats.Dot(v[p][:j], x), floats.Dot(w[p][:j], x)
				floats.AddScaled(y, -wx, v[p][:j])
				floats.AddScaled(y, -vx, w[p][:j])
			}
			floats.Scale(tau, y)
			floats.AddScaled(y, -tau*floats.Dot(y, x)/2, x)
		}
		m -= rows
		if err := a.update(ctx, m, v[:rows], w[:rows], workers); err != nil {
			return nil, nil, err
		}
	}
	return d, e, nil
}

// minSquare is the threshold below which a sum of squares may have lost accuracy by underflow. Such
// sums are treated as 0.
const minSquare = 0x1p-900

// householder sets x to the vector v, with last element 1, of the reflection I - τvvᵀ that maps x
// to (0, …, 0, beta). τ is 0 if x already has this form.
func householder(x []float64) (beta, tau float64) {
	last := len(x) - 1
	alpha := x[last]
	rest := floats.Dot(x[:last], x[:last])
	if rest < minSquare { // a rest this small is inaccurate, and is treated as 0
		return alpha, 0
	}
	beta = -math.Copysign(math.Sqrt(alpha*alpha+rest), alpha)
	floats.Scale(1/(alpha-beta), x[:last])
	x[last] = 1
	return beta, (beta - alpha) / beta
}

// product sets y to A·x for the first len(x) rows and columns of a. Each part of the rows has its
// own vector of partial sums. These vectors are added in order.
func (p *packedMatrix) product(ctx context.Context, y, x []float64, parts [][]float64, workers int) error {
	m, count := len(x), productParts
	if m <= undividedRows {
		count, workers = 1, 1
	}
	bound := func(part int) int { // bound returns the first row of a part; all parts have the same area
		return int(math.Round(float64(m) * math.Sqrt(float64(part)/float64(count))))
	}
	one := func(_ context.Context, _, part int) error {
		lo, hi := bound(part), bound(part+1)
		sum := parts[part][:hi]
		clear(sum)
		for c := 0; c < hi; c += columnBlock {
			for r := max(lo, c); r < hi; r++ {
				row, to := p.row(r), min(c+columnBlock, r)
				sum[r] += floats.Dot(row[c:to], x[c:to])
				floats.AddScaled(sum[c:to], x[r], row[c:to])
				if r < c+columnBlock {
					sum[r] += row[r] * x[r]
				}
			}
		}
		return nil
	}
	if count == 1 {
		if err := one(ctx, 0, 0); err != nil {
			return err
		}
		copy(y, parts[0])
		return nil
	}
	if err := run.Tasks(ctx, workers, count, one); err != nil {
		return err
	}
	copy(y, parts[count-1][:m])
	for part := count - 2; part >= 0; part-- {
		hi := bound(part + 1)
		floats.Add(y[:hi], parts[part][:hi])
	}
	return nil
}

// update subtracts Σ vwᵀ + wvᵀ from the first m rows of the matrix.
func (p *packedMatrix) update(ctx context.Context, m int, v, w [][]float64, workers int) error {
	tasks := (m + updateRows - 1) / updateRows
	return run.Tasks(ctx, workers, tasks, func(_ context.Context, _, task int) error {
		lo := (tasks - 1 - task) * updateRows // the longest rows are updated first
		hi := min(lo+updateRows, m)
		for c := 0; c < hi; c += rankBlock {
			for r := max(lo, c); r < hi; r++ {
				to := min(c+rankBlock, r+1)
				row := p.row(r)[c:to]
				for i := range v {
					floats.AddScaled(row, -v[i][r], w[i][c:to])
					floats.AddScaled(row, -w[i][r], v[i][c:to])
				}
			}
		}
		return nil
	})
}

// scale multiplies the matrix by a power of two so that the largest value is near 1, and returns
// the exponent that reverts the scaling.
func (p *packedMatrix) scale() (exponent int) {
	var most float64
	for _, v := range p.data {
		most = max(most, math.Abs(v))
	}
	_, exponent = math.Frexp(most)
	for i, v := range p.data {
		p.data[i] = math.Ldexp(v, -exponent)
	}
	return exponent
}
