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

// Rectangle is the kernel matrix K of test documents (rows) and an engine's documents (columns),
// for repeated products with vectors. It stores as many leading rows as fit, and recomputes the
// other rows for each product. The bits of a product depend neither on the number of stored rows
// nor on the number of workers. A Rectangle must not be used concurrently. The test documents must
// not change.
type Rectangle struct {
	e      *Engine
	k      kernel.Kernel
	test   *sparse.Embedded
	stride int       // distance between stored rows
	room   int       // number of stored blocks of rows
	kept   []float32 // stored rows; nil before the first product
	filled []bool    // per stored block: rows are computed
	begun  bool      // a product has been computed

	ready      []readyRows // blocks after the stored rows, whose prepared documents are stored
	readyBytes int64       // memory of one prepared block
}

// readyRows holds the documents of a block, and the documents as prepared by the back end.
type readyRows struct {
	from *sparse.Embedded
	form device.Prepared // nil before the first product
}

// rectangleRows is the number of rows per block. Sums over the rows of a block are added in the
// order of blocks.
const rectangleRows = 512

// sumsAhead is the number of block sums in memory per worker. With more than one, workers rarely
// wait for earlier blocks.
const sumsAhead = 4

// Rectangle returns the kernel matrix of test documents and the engine's documents. The first
// product stores up to keep bytes. A stored row takes a little more than 4·Len bytes. For the other
// rows, documents are stored as prepared by the back end. A prepared document takes about 100 bytes
// plus 8 bytes per value. The test documents must have the engine's embedder.
func (e *Engine) Rectangle(k kernel.Kernel, test *sparse.Embedded, keep int64) (*Rectangle, error) {
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
	r := &Rectangle{e: e, k: k, test: test, stride: rowStride(e.Len())}
	r.divide(keep)
	if err := e.fits(context.Background(), "the stored rows of a rectangle", r.KeptBytes()); err != nil {
		return nil, err
	}
	return r, nil
}

// divide divides keep bytes between rows and prepared documents. Storing prepared documents saves
// less time than storing rows, but more time per byte.
func (r *Rectangle) divide(keep int64) {
	block, blocks := 4*int64(r.height())*int64(r.stride), int64(r.blocks())
	if block == 0 {
		return
	}
	r.room = int(min(keep/block, blocks))
	b, ok := r.e.c.Backend.(device.Preparer)
	if !ok || r.e.other(r.test) == nil || int64(r.room) == blocks {
		return
	}
	one := b.PreparedBytes(r.height(), r.longest()) + 8*int64(r.height()+1)
	if one >= block {
		return
	}
	r.room = int(max(keep-blocks*one, 0) / (block - one))
	r.readyBytes = one
	r.ready = make([]readyRows, min((keep-int64(r.room)*block)/one, blocks-int64(r.room)))
}

// rowStride returns the stride of rows of n values. A power of 2 would map all rows to the same few
// cache sets.
func rowStride(n int) int { return (n+15)/16*16 + 16 }

// height returns the number of rows per block, which is at least the batch size of the device.
func (r *Rectangle) height() int {
	rows, _, _ := r.e.batches()
	return max(rows, rectangleRows)
}

func (r *Rectangle) blocks() int { return (r.test.Rows() + r.height() - 1) / r.height() }

// Rows returns the number of test documents.
func (r *Rectangle) Rows() int { return r.test.Rows() }

// KeptBytes returns an upper bound on the memory of stored rows and documents, in bytes.
func (r *Rectangle) KeptBytes() int64 {
	return 4*int64(r.room)*int64(r.height())*int64(r.stride) + int64(len(r.ready))*r.readyBytes
}

// PassBytes returns the memory that a product with the given number of vectors allocates, in bytes.
func (r *Rectangle) PassBytes(vectors int) int64 {
	_, workers, _ := r.e.batches()
	height, n := r.height(), r.e.Len()
	test := NewBytes(height, r.test.Cols, r.longest())
	one := compute.MatrixBytes(height, r.stride) + floatBytes(2*height+sumsAhead*n, vectors, 1) + test +
		4*compute.BlockDocs*int64(r.e.c.Kernels.Panel)
	return one * int64(workers+1)
}

// longest returns the maximum number of values in a block.
func (r *Rectangle) longest() (most int64) {
	height, n := r.height(), r.test.Rows()
	for lo := 0; lo < n; lo += height {
		most = max(most, r.test.Offsets[min(lo+height, n)]-r.test.Offsets[lo])
	}
	return most
}

// Multiply computes dst = K V for p vectors, the columns of v. v is Len × p and dst is Rows × p. v
// and dst must not overlap. Accuracy, memory and errors are as for [Rectangle.Pass].
func (r *Rectangle) Multiply(ctx context.Context, v, dst *mat.Dense) error {
	if err := r.e.open(); err != nil {
		return err
	}
	p, err := vectorsOf(v, dst, r.e.Len(), r.Rows())
	if err != nil {
		return err
	}
	if err := r.fits(ctx, p); err != nil {
		return err
	}
	to := dst.RawMatrix()
	if r.room == 0 {
		if done, err := r.e.reduce(ctx, r.k, r.e.other(r.test), v, to); done || err != nil {
			return err
		}
	}
	return r.pass(ctx, v, func(first int, w *mat.Dense) error {
		from := w.RawMatrix()
		for i := range from.Rows {
			copy(to.Data[(first+i)*to.Stride:][:p], from.Data[i*p:])
		}
		return nil
	}, nil)
}

// Pass computes dst = Kᵀ f(K V) in one pass over the matrix, for example the gradient of a loss.
// turn receives some rows of W = K V and the index of the first row, and replaces the rows by f(W).
// v and dst are Len × p and must not overlap.
//
// turn is called concurrently, once per row, in unspecified order. It owns w until it returns. If
// it fails or panics, the computation stops. Sums are float64. With n rows, K V is within
// Len·2⁻⁵²·Σ|k v| of the exact sums, and Kᵀ f(K V) within n·2⁻⁵²·Σ|k f(w)|. The bits are the same
// with any number of workers. Pass allocates PassBytes. After an error dst is undefined.
func (r *Rectangle) Pass(
	ctx context.Context, v *mat.Dense, turn func(first int, w *mat.Dense) error, dst *mat.Dense,
) error {
	if err := r.e.open(); err != nil {
		return err
	}
	p, err := vectorsOf(v, dst, r.e.Len(), r.e.Len())
	if err != nil {
		return err
	}
	if err := r.fits(ctx, p); err != nil {
		return err
	}
	return r.pass(ctx, v, turn, dst)
}

func (r *Rectangle) fits(ctx context.Context, vectors int) error {
	bytes := r.PassBytes(vectors)
	if !r.begun {
		bytes = run.AddBytes(bytes, r.KeptBytes())
	}
	return r.e.fits(ctx, fmt.Sprintf("products with %d vectors", vectors), bytes)
}

// pass implements Pass, and Multiply if dst is nil.
func (r *Rectangle) pass(
	ctx context.Context, v *mat.Dense, turn func(first int, w *mat.Dense) error, dst *mat.Dense,
) (err error) {
	n, p := r.e.Len(), v.RawMatrix().Cols
	if r.begun = true; r.kept == nil && r.room > 0 {
		if r.kept, err = tiles.MakeContext(ctx, r.room*r.height()*r.stride); err != nil {
			return err
		}
		r.filled = make([]bool, r.room)
	}
	ctx, report := r.e.c.Start(ctx, int64(r.Rows())*int64(n))
	defer report.Finish(&err)
	_, atOnce, _ := r.e.batches()
	var total []float64
	if dst != nil {
		total = make([]float64, n*p)
	}
	workers, order := make([]rectangleBlock, atOnce), newTurns(r.blocks(), sumsAhead*atOnce)
	err = run.Tasks(ctx, atOnce, r.blocks(), func(ctx context.Context, w, block int) error {
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
		transposed(dst.RawMatrix(), 0, total, n, n)
	}
	return err
}
