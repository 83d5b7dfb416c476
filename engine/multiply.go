package engine

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Each pair of documents is computed once and used for two products. The division into partial sums
// depends only on the number of documents. Partial sums are added in a fixed order, so the result
// is the same for any number of workers.

// maxPartialSums is the maximum number of partial sums, and so the maximum number of useful
// workers.
const maxPartialSums = 64

// Multiply computes dst = K V without storing K,
//
//	dst[i][c] = Σ_j k(xᵢ, xⱼ) v[j][c],
//
// where K is the Gram matrix of k or, if test isn't nil, the cross matrix of the test documents and
// the engine's documents. v and dst have p columns and must not overlap. For repeated products use
// [CrossMatrix.Multiply].
//
// K has the values of [Engine.Gram]. Sums are float64, within Len·2⁻⁵²·Σ_j |k(xᵢ, xⱼ) v[j][c]| of
// the exact sums, and bit-identical for any number of workers. A device may add in another order.
// If test is nil, Multiply allocates MultiplyBytes. After an error dst is undefined.
func (e *Engine) Multiply(ctx context.Context, k kernel.Kernel, test *sparse.Embedded, v, dst *mat.Dense) (err error) {
	if test != nil {
		r, err := e.CrossMatrix(k, test, 0)
		if err != nil {
			return err
		}
		return r.Multiply(ctx, v, dst)
	}
	if k, err = e.bind(k); err != nil {
		return err
	}
	n := e.Len()
	p, err := checkVectors(v, dst, n, n)
	if err != nil {
		return err
	}
	if err := e.checkFits(ctx, fmt.Sprintf("products with %d vectors", p), e.MultiplyBytes(p)); err != nil {
		return err
	}
	by, to := v.RawMatrix(), dst.RawMatrix()
	if done, err := e.reduce(ctx, k, nil, v, to); done || err != nil {
		return err
	}
	ctx, report := e.c.StartProgress(ctx, compute.TrianglePairCount(n))
	defer report.Finish(&err)
	starts := e.partStarts()
	total, order := make([]float64, n*p), newOrderedSums(len(starts)-1, e.c.Workers)
	workers := make([]halfProduct, e.c.Workers)
	err = run.Tasks(ctx, e.c.Workers, len(starts)-1, func(ctx context.Context, w, part int) error {
		first, h := starts[part], &workers[w]
		sum, err := order.begin(ctx, part, (n-first)*p)
		if err != nil {
			return err
		}
		*h = halfProduct{e: e, first: first, by: by, sum: sum, transposed: h.transposed}
		r := &device.Request{RowIndices: run.Range(0, starts[part+1])[first:], Hi: n, UpperOnly: true, Workers: 1}
		if err := e.c.ComputeRows(ctx, k, r, report, e.passTiles(first, h.visit)); err != nil {
			return err
		}
		order.end(part, func() {
			for c := range p {
				add(total[c*n+first:(c+1)*n], sum[c*(n-first):])
			}
		})
		return nil
	})
	if err == nil {
		transposeTo(to, 0, total, n, n)
	}
	return err
}

// MultiplyBytes returns the bytes that Multiply allocates for the given number of vectors.
func (e *Engine) MultiplyBytes(vectors int) int64 {
	workers := min(e.c.Workers, maxPartialSums)
	return run.AddBytes(floatBytes(e.Len(), vectors, workers+1),
		4*int64(workers)*compute.BlockDocs*int64(e.c.Kernels.PanelWidth))
}

func floatBytes(rows, cols, count int) int64 {
	return 8 * int64(rows) * int64(cols) * int64(count)
}

// partStarts divides the rows of the upper triangle into parts of whole panels with about the same
// number of pairs. About (n-i)²/2 of all n²/2 pairs are in row i and later rows. It returns the
// first row of each part.
func (e *Engine) partStarts() (starts []int) {
	n, width := e.Len(), e.c.Kernels.PanelWidth
	parts := min((n+width-1)/width, maxPartialSums)
	starts = append(starts, 0)
	for part := 1; part < parts; part++ {
		at := int(float64(n)*(1-math.Sqrt(1-float64(part)/float64(parts)))) / width * width
		if at > starts[len(starts)-1] {
			starts = append(starts, at)
		}
	}
	if n == 0 {
		return starts
	}
	return append(starts, n)
}

// halfProduct is the contribution of a range of rows of the upper triangle to K V.
type halfProduct struct {
	e          *Engine
	first      int // first row and column
	by         blas64.General
	sum        []float64 // sums for documents first, first+1, …, vector by vector
	transposed []float32
}

// visit multiplies a tile and its transpose by the vectors, and adds the products to h.sum. Rows of
// the tile are columns of the matrix. In a tile that crosses the diagonal, each pair is used once.
func (h *halfProduct) visit(t *Tile) error {
	k, p, apart := h.e.c.Kernels, h.by.Cols, h.e.Len()-h.first
	k.Multiply(h.sum[t.FirstColumn-h.first:], apart, t.Values, t.Stride, t.Rows, t.Cols,
		h.by.Data[t.FirstRow*h.by.Stride:], h.by.Stride, p)
	row, column := max(t.FirstColumn+t.Cols-t.FirstRow, 0), 0
	if t.FirstRow+t.Rows < t.FirstColumn+t.Cols {
		row, column = 0, max(t.FirstRow+t.Rows-t.FirstColumn, 0)
	}
	rows, cols := t.Rows-row, t.Cols-column
	if rows <= 0 {
		return nil
	}
	h.transposed = resize(h.transposed, cols*rows)
	k.Transpose(h.transposed, rows, t.Values[row*t.Stride+column:], t.Stride, rows, cols)
	k.Multiply(h.sum[t.FirstRow+row-h.first:], apart, h.transposed, rows, cols, rows,
		h.by.Data[(t.FirstColumn+column)*h.by.Stride:], h.by.Stride, p)
	return nil
}

func checkVectors(v, dst *mat.Dense, columns, rows int) (p int, err error) {
	a, b := v.RawMatrix(), dst.RawMatrix()
	if a.Rows != columns || a.Cols < 1 {
		return 0, fmt.Errorf("engine: v must have %d rows and at least one column, got %d×%d", columns, a.Rows, a.Cols)
	}
	if b.Rows != rows || rows > 0 && b.Cols != a.Cols {
		return 0, fmt.Errorf("engine: dst must be %d×%d, got %d×%d", rows, a.Cols, b.Rows, b.Cols)
	}
	for i := range a.Rows {
		for c, value := range a.Data[i*a.Stride:][:a.Cols] {
			if value-value != 0 {
				return 0, fmt.Errorf("engine: v must be finite, got %v in row %d, column %d", value, i, c)
			}
		}
	}
	return a.Cols, nil
}

// reduce computes a product on the device, in batches of whole rows. from holds the test documents,
// or is nil. done is false if the device doesn't implement products or can't compute the kernel.
func (e *Engine) reduce(
	ctx context.Context, k kernel.Kernel, from *sparse.Embedded, v *mat.Dense, dst blas64.General,
) (done bool, err error) {
	d, ok := e.c.Backend.(device.Reducer)
	if !ok {
		return false, nil
	}
	r := &device.Request{RowDocuments: from, Hi: e.Len()}
	if !kernel.IsC(k) {
		if r.Program, err = e.c.Program(k, from); r.Program == nil || err != nil {
			return false, err
		}
	}
	ctx, report := e.c.StartProgress(ctx, int64(dst.Rows)*int64(r.Hi))
	defer report.Finish(&err)
	_, p := v.Dims()
	by := mat.DenseCopyOf(v).RawMatrix().Data // row-major
	docs, sum := run.Range(0, dst.Rows), make([]float64, min(reducedRows, dst.Rows)*p)
	for first := 0; first < dst.Rows; first += reducedRows {
		r.RowIndices = docs[first:min(first+reducedRows, dst.Rows)]
		sums := sum[:len(r.RowIndices)*p]
		if err := run.CatchPanic("engine: Options.Device", func() error {
			return d.Multiply(ctx, r, by, p,
				sums)
		}); err != nil {
			return true, err
		}
		if at := slices.IndexFunc(sums, func(v float64) bool { return v-v != 0 }); at >= 0 {
			return true, fmt.Errorf("engine: kernel %s: the product with row %d is %v, %w", k, first+at/p, sums[at],
				ErrNotFinite)
		}
		for i := range r.RowIndices {
			copy(dst.Data[(first+i)*dst.Stride:][:p], sums[i*p:])
		}
		pairs := int64(len(r.RowIndices)) * int64(r.Hi)
		e.c.AddPairs(pairs)
		report.Add(pairs)
	}
	return true, nil
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

func resizeZero(s []float64, n int) []float64 {
	s = resize(s, n)
	clear(s)
	return s
}

func add(sum, by []float64) {
	for i, v := range by[:len(sum)] {
		sum[i] += v
	}
}

// transposeTo writes vectors of length n to the columns of dst, from row first on. apart is the
// stride between vectors.
func transposeTo(dst blas64.General, first int, vectors []float64, apart, n int) {
	for i := range n {
		row := dst.Data[(first+i)*dst.Stride:][:dst.Cols]
		for c := range row {
			row[c] = vectors[c*apart+i]
		}
	}
}
