package engine

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
	"gonum.org/v1/gonum/mat"
)

// Rectangle is the matrix K of a kernel between test documents, its rows, and an engine's documents,
// its columns, for products with vectors. Of the matrix only the first rows are kept, as many as
// there is room for; the others are computed anew for each product, from documents that are kept in
// the form that this takes. The bits of a product depend neither on what is kept nor on workers. One
// goroutine at a time may use it; the test documents must stay unchanged.
type Rectangle struct {
	e      *Engine
	k      kernel.Kernel
	test   *sparse.Embedded
	stride int       // between kept rows
	room   int       // blocks of rows that are kept
	kept   []float32 // their rows, once there was a product
	filled []bool    // of each of these blocks
	begun  bool      // there was a product

	ready      []readyRows // blocks of documents after these that are kept as they are computed with
	readyBytes int64       // of one of them
}

// readyRows are documents of a block, and what a back end made of them.
type readyRows struct {
	from *sparse.Embedded
	form device.Prepared // nil before the first product
}

// rectangleRows is how many rows are one worker's at a time. Sums over rows are added up for each
// such block, and those of blocks in order.
const rectangleRows = 512

// sumsAhead is how many sums over blocks there is room for, for each worker, so that it needn't wait
// for blocks before its own.
const sumsAhead = 4

// Rectangle returns the matrix of k between test documents and the engine's, of which it keeps rows
// in up to keep bytes, 4·Len bytes a row and a little more; documents whose rows aren't kept take 8
// bytes a value and about 100 each. They are allocated and computed by the first product. Both sides
// must have been embedded by the same embedder. Errors: a kernel or documents that don't fit, and a
// [MemoryError] where keep is more than Options.MemoryBytes leaves.
func (e *Engine) Rectangle(k kernel.Kernel, test *sparse.Embedded, keep int64) (*Rectangle, error) {
	k, err := e.bindCross(k, test)
	if err != nil {
		return nil, err
	}
	if keep < 0 {
		return nil, fmt.Errorf("engine: %d bytes of rows to be kept, expected a number not below 0", keep)
	}
	r := &Rectangle{e: e, k: k, test: test, stride: rowStride(e.Len())}
	r.divide(keep)
	if err := e.fits(context.Background(), "rows that are kept", r.KeptBytes()); err != nil {
		return nil, err
	}
	return r, nil
}

// divide divides memory among rows and documents in the back end's form, which save less time but more
// of it for their memory.
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

// rowStride is the distance of rows of so many values. Were it a power of 2 they would all fall on
// the same few lines of a cache.
func rowStride(n int) int { return (n+15)/16*16 + 16 }

// height is the number of rows of a block: on a device, as many as it takes at a time.
func (r *Rectangle) height() int {
	rows, _, _ := r.e.Batches()
	return max(rows, rectangleRows)
}

func (r *Rectangle) blocks() int { return (r.test.Rows() + r.height() - 1) / r.height() }

// Rows returns the number of rows, that of the test documents.
func (r *Rectangle) Rows() int {
	if r == nil || r.e == nil {
		return 0
	}
	return r.test.Rows()
}

// KeptBytes returns the memory of the rows and documents that are kept, in bytes, or a little more.
func (r *Rectangle) KeptBytes() int64 {
	if r == nil || r.e == nil {
		return 0
	}
	return 4*int64(r.room)*int64(r.height())*int64(r.stride) + int64(len(r.ready))*r.readyBytes
}

// PassBytes returns the memory that a product with so many vectors allocates besides, in bytes.
func (r *Rectangle) PassBytes(vectors int) int64 {
	if r == nil || r.e == nil {
		return 0
	}
	_, workers, _ := r.e.Batches()
	height, n := r.height(), r.e.Len()
	test := NewBytes(height, r.test.Cols, r.longest())
	one := run.AddBytes(compute.MatrixBytes(height, r.stride), floatBytes(2*height+sumsAhead*n, vectors, 1))
	one = run.AddBytes(one, run.AddBytes(test, 4*compute.BlockDocs*int64(r.e.Panel())))
	if one > math.MaxInt64/int64(workers+1) {
		return math.MaxInt64
	}
	return one * int64(workers+1)
}

// longest is the number of values that a block has at most.
func (r *Rectangle) longest() (most int64) {
	height, n := r.height(), r.test.Rows()
	for lo := 0; lo < n; lo += height {
		most = max(most, r.test.Offsets[min(lo+height, n)]-r.test.Offsets[lo])
	}
	return most
}

// open returns an error where there is no matrix, or its engine is closed.
func (r *Rectangle) open() error {
	if r == nil {
		return errors.New("engine: no rectangle, expected one")
	}
	return r.e.open()
}

// Multiply computes dst = K V for p vectors, the columns of v: v is Len × p, dst Rows × p, and they
// share no memory. Accuracy, memory and errors are those of [Rectangle.Pass].
func (r *Rectangle) Multiply(ctx context.Context, v, dst *mat.Dense) error {
	if err := r.open(); err != nil {
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

// Pass computes dst = Kᵀ f(K V) in one pass over the matrix: some rows of W = K V at a time are
// handed to turn, with the number of the first, which puts R = f(W) in their place, and dst += Kᵀ R.
// v and dst are Len × p and share no memory. Gradients of losses are of that form.
//
// turn is called from several goroutines at the same time, for each row once and in no order; w is
// its own until it returns. An error of turn ends the computation, as does a panic, which comes back
// as a [PanicError]. Sums are float64: with n rows, those of K V are within Len·2⁻⁵²·Σ|k v| of
// the exact ones, and those of Kᵀ R within n·2⁻⁵²·Σ|k r|. They have the same bits from any number of
// workers.
//
// It allocates PassBytes, and fails with a [MemoryError] before that where Options.MemoryBytes, or
// what the machine has left, is less. It returns within a second of the end of ctx, with its error;
// dst then holds anything.
func (r *Rectangle) Pass(
	ctx context.Context, v *mat.Dense, turn func(first int, w *mat.Dense) error, dst *mat.Dense,
) error {
	if err := r.open(); err != nil {
		return err
	}
	if turn == nil {
		return errors.New("engine: a nil function turn, expected one that takes rows of a product")
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

// pass is Pass, and Multiply where dst is nil.
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
	_, atOnce, _ := r.e.Batches()
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
