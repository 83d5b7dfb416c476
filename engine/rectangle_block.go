package engine

import (
	"context"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// crossBlock is a block of rows that a worker computes. The CPU back end computes one panel after
// the other, so memory for a single panel suffices. A device may return any part of the block.
type crossBlock struct {
	r         *CrossMatrix
	block     int
	base, end int // rows
	by        blas64.General
	transform func(first int, w *mat.Dense) error

	height     int       // number of rows in memory: row i is stored at i modulo height
	values     []float32 // values of the matrix, with row stride r.stride; nil if not needed
	scratch    []float32 // memory for values of rows that aren't stored
	w          []float64 // sums of K V, vector by vector, with stride height
	rowSums    []float64 // sums of a group of rows, row by row
	sum        []float64 // sums of Kᵀ f(K V), vector by vector; empty if not needed
	transposed []float32
}

func (b *crossBlock) begin(
	r *CrossMatrix, block int, by blas64.General, turn func(first int, w *mat.Dense) error, sum []float64,
) {
	rows := r.blockRows()
	b.r, b.block, b.by, b.transform, b.sum = r, block, by, turn, sum
	b.base, b.end = block*rows, min((block+1)*rows, r.Rows())
	b.height = rows
	if _, ok := r.e.c.Backend.(*panel.Backend); ok && block >= r.storedBlocks {
		b.height = r.e.c.Kernels.PanelWidth
	}
	b.values = nil
	switch {
	case block < r.storedBlocks:
		b.values = r.storedRows[block*rows*r.stride:][:rows*r.stride]
	case len(sum) > 0:
		b.scratch = resize(b.scratch, b.height*r.stride)
		b.values = b.scratch
	}
	b.w = resize(b.w, b.height*by.Cols)
}

func (b *crossBlock) run(ctx context.Context, report *run.Reporter) error {
	if b.block < b.r.storedBlocks && b.r.filled[b.block] {
		return b.runStored(ctx, report)
	}
	e := b.r.e
	r, err := b.request(ctx)
	if err != nil {
		return err
	}
	err = e.c.ComputeRows(ctx, b.r.k, r, report, e.passTransposed(0, func(t *Tile) error {
		first := t.FirstColumn
		at := first % b.height
		if b.values != nil {
			e.c.Kernels.Transpose(b.values[at*b.r.stride+t.FirstRow:], b.r.stride, t.Values, t.Stride, t.Rows, t.Cols)
		}
		b.multiply(at, t.FirstRow, t.Values, t.Stride, t.Rows, t.Cols)
		if t.FirstRow+t.Rows < e.Len() {
			return nil
		}
		return b.complete(first, t.Cols)
	}))
	if err == nil && b.block < b.r.storedBlocks {
		b.r.filled[b.block] = true
	}
	return err
}

func (b *crossBlock) request(ctx context.Context) (r *device.Request, err error) {
	e := b.r.e
	r = &device.Request{Hi: e.Len(), Workers: 1}
	from := e.foreignDocuments(b.r.test)
	if from == nil {
		r.RowIndices = run.Range(0, b.end)[b.base:]
		return r, nil
	}
	r.RowIndices = run.Range(0, b.end-b.base)
	at := b.block - b.r.storedBlocks
	if at < 0 || at >= len(b.r.prepared) {
		r.RowDocuments = sliceDocuments(from, b.base, b.end)
		return r, nil
	}
	own := &b.r.prepared[at]
	if own.prepared == nil {
		own.documents = sliceDocuments(from, b.base, b.end)
		if own.prepared, err = e.c.Backend.(device.Preparer).Prepare(ctx, own.documents); err != nil {
			own.prepared = nil
			return nil, err
		}
	}
	r.RowDocuments, r.Prepared = own.documents, own.prepared
	return r, nil
}

// multiply multiplies the tile c by the vectors, and adds the products to K V. The tile's rows are
// columns of K, from index column on. Its products are added to K V from row at on.
func (b *crossBlock) multiply(at, column int, c []float32, width, rows, cols int) {
	if column == 0 {
		for v := range b.by.Cols {
			clear(b.w[v*b.height+at:][:cols])
		}
	}
	b.r.e.c.Kernels.Multiply(b.w[at:], b.height, c, width, rows, cols,
		b.by.Data[column*b.by.Stride:], b.by.Stride, b.by.Cols)
}

// complete is called when rows first to first+count-1 of the block's part of K V are complete. It
// applies b.transform to the rows, and adds Kᵀ f(K V) of the rows to b.sum.
func (b *crossBlock) complete(first, count int) error {
	p, at, n := b.by.Cols, first%b.height, b.r.e.Len()
	b.rowSums = resize(b.rowSums, count*p)
	transposeTo(blas64.General{Rows: count, Cols: p, Stride: p, Data: b.rowSums}, 0, b.w[at:], b.height, count)
	err := run.CatchPanic("engine: transform", func() error {
		return b.transform(b.base+first,
			mat.NewDense(count, p, b.rowSums))
	})
	if err != nil || len(b.sum) == 0 {
		return err
	}
	b.r.e.c.Kernels.Multiply(b.sum, n, b.values[at*b.r.stride:], b.r.stride, count, n, b.rowSums, p, p)
	return nil
}

func (b *crossBlock) runStored(ctx context.Context, report *run.Reporter) error {
	e, stride := b.r.e, b.r.stride
	n, width := e.Len(), e.c.Kernels.PanelWidth
	b.transposed = resize(b.transposed, compute.BlockDocs*width)
	for first := 0; first < b.end-b.base; first += width {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rows := min(width, b.end-b.base-first)
		for lo := 0; lo < n; lo += compute.BlockDocs {
			cols := min(compute.BlockDocs, n-lo)
			e.c.Kernels.Transpose(b.transposed, width, b.values[first*stride+lo:], stride, rows, cols)
			b.multiply(first, lo, b.transposed, width, cols, rows)
		}
		if err := b.complete(first, rows); err != nil {
			return err
		}
		report.Add(int64(rows) * int64(n))
	}
	return nil
}

// sliceDocuments returns the documents lo <= i < hi, which share x's memory.
func sliceDocuments(x *sparse.Embedded, lo, hi int) *sparse.Embedded {
	from, to := x.Offsets[lo], x.Offsets[hi]
	y := &sparse.Embedded{
		CSR: sparse.CSR{
			Cols: x.Cols, Offsets: make([]int64, hi-lo+1), Terms: x.Terms[from:to], Values: x.Values[from:to],
		},
		Embedder: x.Embedder, RawValues: x.RawValues[from:to], Divisors: x.Divisors[lo:hi],
	}
	if x.Norms != nil {
		y.Norms = x.Norms[lo:hi]
	}
	for i := range y.Offsets {
		y.Offsets[i] = x.Offsets[lo+i] - from
	}
	for i := range hi - lo {
		y.SourceRows = append(y.SourceRows, x.SourceRow(lo+i))
	}
	return y
}
