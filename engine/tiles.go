package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Tile is a rectangle of c = 1 - cosine, or of kernel values, for some of an engine's documents
// (rows) and up to Width other documents (columns). It is valid only during the call of the
// function that receives it.
type Tile struct {
	First  int // first document of the rows
	Rows   int // number of rows: documents First, First+1, …
	Column int // first document of the columns
	Cols   int // number of columns: documents Column, Column+1, …
	Width  int // distance between rows in C, at least Cols
	// C[i*Width+j] is the value for documents First+i and Column+j. Values for Cols <= j < Width
	// are finite but meaningless.
	C []float32
}

// Request selects the values that [Engine.Each] computes. The zero value selects the whole Gram
// matrix.
type Request struct {
	Test    *sparse.Embedded // documents of the rows, with the engine's embedder; default the engine's documents
	Rows    [2]int           // range of rows, Rows[0] <= i < Rows[1]; default all
	Columns [2]int           // range of the engine's documents, Columns[0] <= j < Columns[1]; default all

	// Documents lists the rows, in any order, instead of the range Rows. Row indices of a tile are
	// indices into Documents.
	Documents []int

	// Half leaves out values that follow by symmetry. Without ranges each pair i <= j is in one
	// tile, as row j and column i or vice versa. A block that ends on the diagonal leaves out some
	// pairs with i < j.
	Half    bool
	Workers int // number of goroutines that call visit; default Options.Workers
}

// Each computes values of k, or of c if k is nil, and calls visit for each tile. Tiles are
// transposed: a tile's rows are columns of the request, and its columns are rows of the request.
// Values are bit-identical to [Engine.Gram]. Columns[0] must be a multiple of [device.Columns], and
// so must Columns[1] unless it is Len. With many columns a pair takes less time than with few.
//
// Up to Workers goroutines call visit concurrently. Tiles of the same rows of the request are
// visited with ascending columns. With one worker, rows are ascending, too. If visit fails or
// panics, Each stops and returns the error or a [PanicError]. Each also stops within a second after
// ctx is done. If q.Test is set, Each reports no progress and allocates up to [Engine.CrossBytes]
// bytes. Several goroutines may call Each with different test documents (see [Info]).
func (e *Engine) Each(ctx context.Context, k kernel.Kernel, q Request, visit func(t *Tile) error) (err error) {
	all := q.Half && q.Rows == [2]int{} && q.Columns == [2]int{}
	if k, err = e.resolve(k, &q); err != nil {
		return err
	}
	guarded := func(t *Tile) error { return run.Guard("engine: visit", func() error { return visit(t) }) }
	var report *run.Reporter
	if q.Test == nil {
		ctx, report = e.c.Start(ctx, e.pairs(&q, all))
		defer report.Finish(&err)
	}
	if all {
		r := &device.Request{Docs: q.Documents, Hi: e.Len(), Half: true, Workers: q.Workers}
		return e.c.Rows(ctx, k, r, report, e.either(0, guarded))
	}
	for first := 0; first < len(q.Documents); {
		r := e.strip(&q, first)
		if err := e.c.Rows(ctx, k, r, report, e.columns(q.Rows[0]+first, guarded)); err != nil {
			return err
		}
		first += len(r.Docs)
	}
	return nil
}

// resolve binds the kernel (c if k is nil), sets the defaults of q, and checks q.
func (e *Engine) resolve(k kernel.Kernel, q *Request) (_ kernel.Kernel, err error) {
	rows, columns := e.Len(), e.Len()
	if k == nil {
		k, err = kernel.C(), e.open()
	} else {
		k, err = e.bind(k)
	}
	if err == nil && q.Test != nil {
		err = e.checkTest(k, q.Test)
		rows = q.Test.Rows()
	}
	if err != nil {
		return nil, err
	}
	if q.Rows == [2]int{} {
		q.Rows[1] = rows
	}
	if q.Columns == [2]int{} {
		q.Columns[1] = columns
	}
	if q.Workers == 0 {
		q.Workers = e.c.Workers
	}
	lo, hi := q.Columns[0], q.Columns[1]
	switch {
	case q.Workers < 0 || q.Workers > maxWorkers:
		return nil, fmt.Errorf("engine: Workers must be between 0 and %d, got %d", maxWorkers, q.Workers)
	case q.Half && (q.Test != nil || q.Documents != nil):
		return nil, errors.New("engine: Half cannot be combined with Test or Documents")
	case q.Rows[0] < 0 || q.Rows[1] < q.Rows[0] || q.Rows[1] > rows:
		return nil, fmt.Errorf("engine: Rows must be within [0, %d), got [%d, %d)", rows, q.Rows[0], q.Rows[1])
	case lo < 0 || hi < lo || hi > columns:
		return nil, fmt.Errorf("engine: Columns must be within [0, %d), got [%d, %d)", columns, lo, hi)
	case lo%device.Columns != 0 || hi%device.Columns != 0 && hi != columns:
		return nil, fmt.Errorf("engine: Columns must start and end at multiples of %d, or at the end %d, got [%d, %d)",
			device.Columns, columns, lo, hi)
	case q.Documents == nil:
		q.Documents = run.Numbers(0, q.Rows[1])[q.Rows[0]:]
		return k, nil
	}
	for _, i := range q.Documents {
		if i < q.Rows[0] || i >= q.Rows[1] {
			return nil, fmt.Errorf("engine: document %d is outside of Rows, [%d, %d)", i, q.Rows[0], q.Rows[1])
		}
	}
	q.Rows = [2]int{}
	return k, nil
}

// strip returns the device request for the rows of q from index first on. A half block that ends on
// the diagonal is divided into strips, each with the columns up to its last row.
func (e *Engine) strip(q *Request, first int) *device.Request {
	r := &device.Request{From: e.other(q.Test), Docs: q.Documents[first:], Lo: q.Columns[0], Hi: q.Columns[1],
		Workers: q.Workers}
	if q.Half && q.Rows[1] == r.Hi && q.Rows[0] >= r.Lo && len(r.Docs) > 0 {
		r.Docs = r.Docs[:min(max(compute.BlockDocs, 2*q.Workers*e.c.Kernels.Panel), len(r.Docs))]
		end := r.Docs[len(r.Docs)-1] + 1
		r.Hi = min((end+device.Columns-1)/device.Columns*device.Columns, r.Hi)
	}
	return r
}

func (e *Engine) pairs(q *Request, all bool) (pairs int64) {
	if all {
		return compute.PairsOf(e.Len())
	}
	for first := 0; first < len(q.Documents); {
		r := e.strip(q, first)
		pairs += int64(len(r.Docs)) * int64(r.Hi-r.Lo)
		first += len(r.Docs)
	}
	return pairs
}

// either returns a function that passes tiles of a Half request to visit. Tiles with contiguous
// columns are transposed. at is the document of the request's row 0.
func (e *Engine) either(at int, visit func(t *Tile) error) func(t *device.Tile) error {
	columns := e.columns(at, visit)
	return func(t *device.Tile) error {
		if t.ColStride != 1 {
			return columns(t)
		}
		own := Tile{First: at + t.First, Rows: t.Rows, Column: t.Lo, Cols: t.Cols(), Width: t.RowStride, C: t.Value}
		return visit(&own)
	}
}

// columns returns a function that passes transposed tiles to visit. at is the tile column of the
// request's row 0.
func (e *Engine) columns(at int, visit func(t *Tile) error) func(t *device.Tile) error {
	width := e.c.Kernels.Panel
	var spare sync.Pool
	return func(t *device.Tile) error {
		own := Tile{First: t.Lo, Rows: t.Cols(), Column: at + t.First, Cols: t.Rows, Width: t.ColStride, C: t.Value}
		if t.RowStride != 1 {
			c, ok := spare.Get().(*[]float32)
			if !ok {
				c = new([]float32)
				*c = make([]float32, compute.BlockDocs*width)
			}
			defer spare.Put(c)
			own.Width, own.C = width, (*c)[:t.Cols()*width]
			e.c.Store(own.C, width, t, true)
		}
		return visit(&own)
	}
}

// CrossBytes returns an upper bound on the memory of a call of [Engine.Each] in bytes, for rows
// test documents with values values in total. It excludes these documents. With a device, it
// includes the test documents of the previous call, which are still in memory, and transposed
// tiles.
func (e *Engine) CrossBytes(rows int, values int64) int64 {
	embedded := sparse.EmbeddedBytes(rows, values)
	bytes := NewBytes(rows, e.c.X.Cols, values) - embedded
	if _, ok := e.c.Backend.(device.Accelerator); ok {
		bytes += embedded + 4*int64(e.c.Workers)*compute.BlockDocs*int64(e.c.Kernels.Panel)
	}
	return bytes
}

// other returns x, or nil if x holds the engine's own documents.
func (e *Engine) other(x *sparse.Embedded) *sparse.Embedded {
	if x == e.c.X {
		return nil
	}
	return x
}

func (e *Engine) checkTest(k kernel.Kernel, test *sparse.Embedded) error {
	switch {
	case test == nil:
		return errors.New("engine: test documents are nil")
	case test.Embedder != e.c.X.Embedder:
		return errors.New("engine: test documents must be embedded with the embedder of the training documents")
	case test == e.c.X:
		return nil
	}
	if err := test.Validate(); err != nil {
		return fmt.Errorf("engine: test documents: %w", err)
	}
	if kernel.UsesNorms(k) {
		if err := checkNorms(test); err != nil {
			return fmt.Errorf("engine: kernel %s needs the norms of the test documents: %w", k, err)
		}
	}
	return nil
}
