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

// Tile is a rectangle of values of c = 1 - cosine, or of a kernel. The rows are documents of an
// engine. The columns are documents of the same engine, or test documents (see [Request]). A Tile
// is valid only during the call of the function that receives it.
type Tile struct {
	FirstRow    int // first document of the rows
	Rows        int // number of rows: documents FirstRow, FirstRow+1, …
	FirstColumn int // first document of the columns
	Cols        int // number of columns: documents FirstColumn, FirstColumn+1, …
	Stride      int // distance between rows in Values, at least Cols
	// Values[i*Stride+j] is the value for documents FirstRow+i and FirstColumn+j. Elements with
	// Cols <= j < Stride are finite but meaningless.
	Values []float32
}

// Request selects the values that [Engine.EachTile] computes. The zero value selects the whole Gram
// matrix.
type Request struct {
	TestDocuments *sparse.Embedded // documents of the rows, with the engine's embedder; default the engine's documents
	RowRange      [2]int           // range of rows, RowRange[0] <= i < RowRange[1]; default all
	ColumnRange   [2]int           // range of columns, ColumnRange[0] <= j < ColumnRange[1]; default all

	// RowIndices lists the rows, in any order, instead of RowRange. FirstColumn of a tile is then
	// an index into RowIndices.
	RowIndices []int

	// OmitSymmetric leaves out values that follow by symmetry. If no ranges are set, each pair i <=
	// j is in one tile, as row j and column i or vice versa. If RowRange and ColumnRange have the
	// same end, some pairs with i < j may be left out.
	OmitSymmetric bool
	Workers       int // number of goroutines that call visit; default Options.Workers
}

// EachTile computes values of k, or of c if k is nil, and calls visit for each tile. Tiles are
// transposed: a tile's rows are columns of the request, and its columns are rows of the request.
// Values are bit-identical to [Engine.Gram]. q.ColumnRange[0] must be a multiple of
// [device.ColumnAlignment], and so must q.ColumnRange[1] unless it is Len. The time per pair
// decreases with the number of columns.
//
// Up to Workers goroutines call visit concurrently. Tiles of the same rows of the request are
// visited with ascending columns. With one worker, rows of the request are ascending, too. If visit
// fails or panics, EachTile stops and returns the error or a [PanicError]. It also stops within a
// second after ctx is done. If q.TestDocuments is set, EachTile reports no progress and allocates
// up to [Engine.EachTileBytes] bytes. Several goroutines may call EachTile with different test
// documents (see [Info]).
func (e *Engine) EachTile(ctx context.Context, k kernel.Kernel, q Request, visit func(t *Tile) error) (err error) {
	all := q.OmitSymmetric && q.RowRange == [2]int{} && q.ColumnRange == [2]int{}
	if k, err = e.resolve(k, &q); err != nil {
		return err
	}
	guarded := func(t *Tile) error { return run.CatchPanic("engine: visit", func() error { return visit(t) }) }
	var report *run.Reporter
	if q.TestDocuments == nil {
		ctx, report = e.c.StartProgress(ctx, e.pairCount(&q, all))
		defer report.Finish(&err)
	}
	if all {
		r := &device.Request{RowIndices: q.RowIndices, Hi: e.Len(), UpperOnly: true, Workers: q.Workers}
		return e.c.ComputeRows(ctx, k, r, report, e.passTiles(0, guarded))
	}
	for first := 0; first < len(q.RowIndices); {
		r := e.deviceRequest(&q, first)
		if err := e.c.ComputeRows(ctx, k, r, report, e.passTransposed(q.RowRange[0]+first, guarded)); err != nil {
			return err
		}
		first += len(r.RowIndices)
	}
	return nil
}

func (e *Engine) resolve(k kernel.Kernel, q *Request) (_ kernel.Kernel, err error) {
	rows, columns := e.Len(), e.Len()
	if k == nil {
		k, err = kernel.C(), e.checkOpen()
	} else {
		k, err = e.bind(k)
	}
	if err == nil && q.TestDocuments != nil {
		err = e.checkTest(k, q.TestDocuments)
		rows = q.TestDocuments.Rows()
	}
	if err != nil {
		return nil, err
	}
	if q.RowRange == [2]int{} {
		q.RowRange[1] = rows
	}
	if q.ColumnRange == [2]int{} {
		q.ColumnRange[1] = columns
	}
	if q.Workers == 0 {
		q.Workers = e.c.Workers
	}
	lo, hi := q.ColumnRange[0], q.ColumnRange[1]
	switch {
	case q.Workers < 0 || q.Workers > maxWorkers:
		return nil, fmt.Errorf("engine: Workers must be between 0 and %d, got %d", maxWorkers, q.Workers)
	case q.OmitSymmetric && (q.TestDocuments != nil || q.RowIndices != nil):
		return nil, errors.New("engine: OmitSymmetric cannot be combined with TestDocuments or RowIndices")
	case q.RowRange[0] < 0 || q.RowRange[1] < q.RowRange[0] || q.RowRange[1] > rows:
		return nil, fmt.Errorf("engine: RowRange must be within [0, %d), got [%d, %d)", rows, q.RowRange[0], q.RowRange[1])
	case lo < 0 || hi < lo || hi > columns:
		return nil, fmt.Errorf("engine: ColumnRange must be within [0, %d), got [%d, %d)", columns, lo, hi)
	case lo%device.ColumnAlignment != 0 || hi%device.ColumnAlignment != 0 && hi != columns:
		return nil, fmt.Errorf("engine: bounds of ColumnRange must be multiples of %d, or %d for the end, got [%d, %d)",
			device.ColumnAlignment, columns, lo, hi)
	case q.RowIndices == nil:
		q.RowIndices = run.Range(0, q.RowRange[1])[q.RowRange[0]:]
		return k, nil
	}
	for _, i := range q.RowIndices {
		if i < q.RowRange[0] || i >= q.RowRange[1] {
			return nil, fmt.Errorf("engine: row %d of RowIndices is outside RowRange [%d, %d)", i, q.RowRange[0], q.RowRange[1])
		}
	}
	q.RowRange = [2]int{}
	return k, nil
}

// deviceRequest returns the device request for the rows of q from index first on. If
// q.OmitSymmetric is set, and the row and column ranges have the same end, the rows are divided
// into strips. A strip has the columns up to its last row.
func (e *Engine) deviceRequest(q *Request, first int) *device.Request {
	r := &device.Request{RowDocuments: e.foreignDocuments(q.TestDocuments), RowIndices: q.RowIndices[first:],
		Lo: q.ColumnRange[0], Hi: q.ColumnRange[1],
		Workers: q.Workers}
	if q.OmitSymmetric && q.RowRange[1] == r.Hi && q.RowRange[0] >= r.Lo && len(r.RowIndices) > 0 {
		r.RowIndices = r.RowIndices[:min(max(compute.BlockDocs, 2*q.Workers*e.c.Kernels.PanelWidth), len(r.RowIndices))]
		end := r.RowIndices[len(r.RowIndices)-1] + 1
		r.Hi = min((end+device.ColumnAlignment-1)/device.ColumnAlignment*device.ColumnAlignment, r.Hi)
	}
	return r
}

func (e *Engine) pairCount(q *Request, all bool) (pairCount int64) {
	if all {
		return compute.TrianglePairCount(e.Len())
	}
	for first := 0; first < len(q.RowIndices); {
		r := e.deviceRequest(q, first)
		pairCount += int64(len(r.RowIndices)) * int64(r.Hi-r.Lo)
		first += len(r.RowIndices)
	}
	return pairCount
}

// passTiles returns a function that passes tiles of an UpperOnly request to visit. Tiles with
// contiguous columns are transposed. at is the document of the request's row 0.
func (e *Engine) passTiles(at int, visit func(t *Tile) error) func(t *device.Tile) error {
	columns := e.passTransposed(at, visit)
	return func(t *device.Tile) error {
		if t.ColStride != 1 {
			return columns(t)
		}
		own := Tile{FirstRow: at + t.FirstRow, Rows: t.Rows, FirstColumn: t.Lo, Cols: t.Cols(), Stride: t.RowStride,
			Values: t.Values}
		return visit(&own)
	}
}

// passTransposed returns a function that passes transposed tiles to visit. at is the tile column of
// the request's row 0.
func (e *Engine) passTransposed(at int, visit func(t *Tile) error) func(t *device.Tile) error {
	width := e.c.Kernels.PanelWidth
	var spare sync.Pool
	return func(t *device.Tile) error {
		own := Tile{FirstRow: t.Lo, Rows: t.Cols(), FirstColumn: at + t.FirstRow, Cols: t.Rows, Stride: t.ColStride,
			Values: t.Values}
		if t.RowStride != 1 {
			c, ok := spare.Get().(*[]float32)
			if !ok {
				c = new([]float32)
				*c = make([]float32, compute.BlockDocs*width)
			}
			defer spare.Put(c)
			own.Stride, own.Values = width, (*c)[:t.Cols()*width]
			e.c.Store(own.Values, width, t, true)
		}
		return visit(&own)
	}
}

// EachTileBytes returns an upper bound on the memory of a call of [Engine.EachTile] in bytes, for
// test documents with the given numbers of rows and values. The bound excludes the test documents.
// If a device is used, it includes transposed tiles and the previous call's test documents, which
// are still in memory.
func (e *Engine) EachTileBytes(rows int, values int64) int64 {
	embedded := sparse.EmbeddedBytes(rows, values)
	bytes := MaxEngineBytes(rows, e.c.X.Cols, values) - embedded
	if _, ok := e.c.Backend.(device.Accelerator); ok {
		bytes += embedded + 4*int64(e.c.Workers)*compute.BlockDocs*int64(e.c.Kernels.PanelWidth)
	}
	return bytes
}

func (e *Engine) foreignDocuments(x *sparse.Embedded) *sparse.Embedded {
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
