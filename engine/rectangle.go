package engine

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
	"gonum.org/v1/gonum/mat"
)

// CrossMatrix is the kernel matrix K of test documents (rows) and an engine's documents (columns),
// for repeated products with vectors. It stores as many leading rows as fit, and recomputes the
// other rows for each product. Products are bit-identical for any number of stored rows and of
// workers. A CrossMatrix must not be used concurrently. The test documents must not change.
type CrossMatrix struct {
	e            *Engine
	k            kernel.Kernel
	test         *sparse.Embedded
	stride       int       // distance between stored rows
	storedBlocks int       // number of stored blocks of rows
	storedRows   []float32 // stored rows; nil before the first product
	filled       []bool    // per stored block: true if its rows are computed
	multiplied   bool      // true after the first product

	prepared      []preparedRows // blocks after the stored rows, whose prepared documents are stored
	preparedBytes int64          // memory of one prepared block
}

type preparedRows struct {
	documents *sparse.Embedded
	prepared  device.Prepared // nil before the first product
}

// crossBlockRows is the minimum number of rows per block. Sums over the rows of a block are added
// in the order of blocks.
const crossBlockRows = 512

// sumsPerWorker is the number of block sums in memory per worker. If it is above 1, workers rarely
// wait for earlier blocks.
const sumsPerWorker = 4

// CrossMatrix returns the kernel matrix of test documents and the engine's documents. The first
// product stores up to keep bytes. A stored row takes a little more than 4·Len bytes. Remaining
// memory is used for documents of other rows, as prepared by a [device.Preparer]. A prepared
// document takes about 100 bytes plus 8 bytes per value. The test documents must have the engine's
// embedder.
func (e *Engine) CrossMatrix(k kernel.Kernel, test *sparse.Embedded, keep int64) (*CrossMatrix, error) {
	k, err := e.bind(k)
	if err == nil {
		err = e.checkTest(k, test)
	}
	if err != nil {
		return nil, err
	}
	if keep < 0 {
		return nil, fmt.Errorf("engine: keep must be nonnegative, got %d bytes", keep)
	}
	r := &CrossMatrix{e: e, k: k, test: test, stride: rowStride(e.Len())}
	r.divide(keep)
	if err := e.checkFits(context.Background(), "the stored rows of a cross matrix", r.StoredBytes()); err != nil {
		return nil, err
	}
	return r, nil
}

// divide divides keep bytes of memory between stored rows and prepared documents.
// Storing prepared documents saves less time than storing rows, but more time per byte.
func (r *CrossMatrix) divide(keep int64) {
	block, blocks := 4*int64(r.blockRows())*int64(r.stride), int64(r.blockCount())
	if block == 0 {
		return
	}
	r.storedBlocks = int(min(keep/block, blocks))
	b, ok := r.e.c.Backend.(device.Preparer)
	if !ok || r.e.foreignDocuments(r.test) == nil || int64(r.storedBlocks) == blocks {
		return
	}
	one := b.PreparedBytes(r.blockRows(), r.maxBlockValues()) + 8*int64(r.blockRows()+1)
	if one >= block {
		return
	}
	r.storedBlocks = int(max(keep-blocks*one, 0) / (block - one))
	r.preparedBytes = one
	r.prepared = make([]preparedRows, min((keep-int64(r.storedBlocks)*block)/one, blocks-int64(r.storedBlocks)))
}

// rowStride returns the stride of rows of n values. A power of 2 would map all rows to the same few
// cache sets.
func rowStride(n int) int { return (n+15)/16*16 + 16 }

func (r *CrossMatrix) blockRows() int {
	rows, _, _ := r.e.planBatches()
	return max(rows, crossBlockRows)
}

func (r *CrossMatrix) blockCount() int { return (r.test.Rows() + r.blockRows() - 1) / r.blockRows() }

// Rows returns the number of test documents.
func (r *CrossMatrix) Rows() int { return r.test.Rows() }

// StoredBytes returns an upper bound on the memory of stored rows and documents, in bytes.
func (r *CrossMatrix) StoredBytes() int64 {
	return 4*int64(r.storedBlocks)*int64(r.blockRows())*int64(r.stride) + int64(len(r.prepared))*r.preparedBytes
}

// MultiplyBytes returns the number of bytes that a product with the given number of vectors takes.
func (r *CrossMatrix) MultiplyBytes(vectors int) int64 {
	_, workers, _ := r.e.planBatches()
	height, n := r.blockRows(), r.e.Len()
	test := MaxEngineBytes(height, r.test.Cols, r.maxBlockValues())
	one := compute.MatrixBytes(height, r.stride) + floatBytes(2*height+sumsPerWorker*n, vectors, 1) + test +
		4*compute.BlockDocs*int64(r.e.c.Kernels.PanelWidth)
	return one * int64(workers+1)
}

func (r *CrossMatrix) maxBlockValues() (most int64) {
	height, n := r.blockRows(), r.test.Rows()
	for lo := 0; lo < n; lo += height {
		most = max(most, r.test.Offsets[min(lo+height, n)]-r.test.Offsets[lo])
	}
	return most
}

// Multiply computes dst = K V for p vectors, the columns of v. v is Len × p and dst is Rows × p. v
// and dst must not overlap. Accuracy, memory and errors are as for [CrossMatrix.MultiplyTwice].
func (r *CrossMatrix) Multiply(ctx context.Context, v, dst *mat.Dense) error {
	if err := r.e.checkOpen(); err != nil {
		return err
	}
	p, err := checkVectors(v, dst, r.e.Len(), r.Rows())
	if err != nil {
		return err
	}
	if err := r.checkFits(ctx, p); err != nil {
		return err
	}
	to := dst.RawMatrix()
	if r.storedBlocks == 0 {
		if done, err := r.e.reduce(ctx, r.k, r.e.foreignDocuments(r.test), v, to); done || err != nil {
			return err
		}
	}
	return r.multiplyBlocks(ctx, v, func(first int, w *mat.Dense) error {
		from := w.RawMatrix()
		for i := range from.Rows {
			copy(to.Data[(first+i)*to.Stride:][:p], from.Data[i*p:])
		}
		return nil
	}, nil)
}

// MultiplyTwice computes dst = Kᵀ f(K V) in one pass over the matrix, for example the gradient of a
// loss. turn receives some rows of W = K V and the index of the first row, and replaces the rows by
// f(W). v and dst are Len × p and must not overlap.
//
// turn is called concurrently, with each row once, in unspecified order. It owns w until it
// returns. If it fails or panics, the computation stops. Sums are float64. With n rows, K V is
// within Len·2⁻⁵²·Σ|k v| of the exact sums, and Kᵀ f(K V) within n·2⁻⁵²·Σ|k f(w)|. Results are
// bit-identical for any number of workers. MultiplyTwice allocates MultiplyBytes. After an error
// dst is undefined.
func (r *CrossMatrix) MultiplyTwice(
	ctx context.Context, v *mat.Dense, turn func(first int, w *mat.Dense) error, dst *mat.Dense,
) error {
	if err := r.e.checkOpen(); err != nil {
		return err
	}
	p, err := checkVectors(v, dst, r.e.Len(), r.e.Len())
	if err != nil {
		return err
	}
	if err := r.checkFits(ctx, p); err != nil {
		return err
	}
	return r.multiplyBlocks(ctx, v, turn, dst)
}

func (r *CrossMatrix) checkFits(ctx context.Context, vectors int) error {
	bytes := r.MultiplyBytes(vectors)
	if !r.multiplied {
		bytes = run.AddBytes(bytes, r.StoredBytes())
	}
	return r.e.checkFits(ctx, fmt.Sprintf("products with %d vectors", vectors), bytes)
}

// multiplyBlocks implements MultiplyTwice, and Multiply if dst is nil.
func (r *CrossMatrix) multiplyBlocks(
	ctx context.Context, v *mat.Dense, turn func(first int, w *mat.Dense) error, dst *mat.Dense,
) (err error) {
	n, p := r.e.Len(), v.RawMatrix().Cols
	if r.multiplied = true; r.storedRows == nil && r.storedBlocks > 0 {
		if r.storedRows, err = tiles.MakeFloatsContext(ctx, r.storedBlocks*r.blockRows()*r.stride); err != nil {
			return err
		}
		r.filled = make([]bool, r.storedBlocks)
	}
	ctx, report := r.e.c.StartProgress(ctx, int64(r.Rows())*int64(n))
	defer report.Finish(&err)
	_, atOnce, _ := r.e.planBatches()
	var total []float64
	if dst != nil {
		total = make([]float64, n*p)
	}
	workers, order := make([]crossBlock, atOnce), newOrderedSums(r.blockCount(), sumsPerWorker*atOnce)
	err = run.Tasks(ctx, atOnce, r.blockCount(), func(ctx context.Context, w, block int) error {
		sum, err := order.begin(ctx, block, len(total))
		if err != nil {
			return err
		}
		b := &workers[w]
		b.begin(r, block, v.RawMatrix(), turn, sum)
		if err := b.run(ctx, report); err != nil {
			return err
		}
		order.end(block, func() { add(total, sum) })
		return nil
	})
	if err == nil && dst != nil {
		transposeTo(dst.RawMatrix(), 0, total, n, n)
	}
	return err
}
