// Package panel is the CPU back end, which computes c = 1 - cosine.
//
// Terms are divided by document frequency (see head.go). Values of frequent terms (the head) are
// multiplied by a dense panel of documents. Values of rare terms (the tail) are multiplied through
// posting lists. c follows from the sums, and c of close pairs is recomputed in float64. From the
// outside in, the loops are: panels, divided among workers ([Backend.ComputeRows]); blocks of at
// least 4,096 documents for the tail, and tiles of 512 documents (panel.run); segments of the head
// (panel.addHeadDots); documents of the panel, in registers (package asm).
//
// Package engine applies kernels and stores results.
package panel

import (
	"context"
	"math"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Options are the options of [New].
type Options struct {
	Kernels        *asm.Kernels
	Workers        int          // number of goroutines
	DenseCopyBytes int64        // memory limit of a dense copy of the columns, for repeated requests with few documents
	HeadTerms      int          // number of terms in the dense head; negative for none, 0 for the cost model's choice
	DenseOperand   DenseOperand // dense documents: rows or columns; DenseRows replaces DenseColumns for long documents
}

// Backend computes c by panels. It implements [device.Backend], [device.Preparer] and
// [device.Counter]. It doesn't run programs.
type Backend struct {
	kernels  *asm.Kernels
	pairing  pairing // pairing of the documents' embedding
	workers  int
	layout   *layout
	columns  *docSet   // documents of the columns
	postings *postings // posting lists of the column documents' tail
	heads    []Head    // heads that the cost model compared

	denseColumns bool // true if columns are dense; see computeRowDots

	panelMax  int64 // maximum memory of a panel in bytes
	denseCopy denseCopy

	mu         sync.Mutex
	stats      device.Stats
	idlePanels []*panel   // scratch space for reuse
	freeRows   []*rowDocs // memory of row documents, for reuse
}

// rowDocs holds row documents that aren't column documents.
type rowDocs struct {
	byRank sparse.CSR
	side   docSet
}

// maxReusedBytes is the maximum size in bytes of a rowDocs that is kept for the next batch.
const maxReusedBytes = 8 << 20

// maxAccurateTail is the maximum number of shared tail terms for which tail sums are accurate
// enough. Each product is rounded to an integer, so maxAccurateTail products have an error of at
// most maxAccurateTail/(2·TailOne) = 4.8·10⁻⁷. If two documents share more tail terms, c is
// recomputed.
const maxAccurateTail = 2048

// New makes a back end with the documents x as columns. x must be valid and must not change.
func New(ctx context.Context, x *sparse.Embedded, o Options) (*Backend, error) {
	b := &Backend{kernels: o.Kernels, pairing: pairingOf(o.Kernels, x.Embedder.Pairing), workers: o.Workers}
	l, byRank, err := b.chooseLayout(ctx, x, o.HeadTerms, o.DenseOperand)
	if err != nil {
		return nil, err
	}
	b.layout, b.columns = l, &docSet{}
	b.postings = &postings{block: TailBlockDocs(byRank.Cols, byRank.Rows(), byRank.NNZ())}
	if err = l.split(ctx, b.columns, x, byRank, o.Workers, b.postings); err != nil {
		return nil, err
	}
	b.panelMax = b.panelBytes()
	b.denseCopy.limit = o.DenseCopyBytes
	if b.denseColumns {
		b.fillDenseCopy()
	}
	return b, context.Cause(ctx)
}

// Name returns the name of the instruction set that the kernels use.
func (b *Backend) Name() string { return string(b.kernels.ISA) }

// HostBytes returns the total size of the documents and of the workers' scratch space in bytes.
func (b *Backend) HostBytes() int64 {
	bytes := b.columns.bytes() + b.postings.bytes() + int64(b.workers)*b.panelMax + b.denseCopy.bytes()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.freeRows {
		bytes += f.bytes()
	}
	return bytes
}

func (f *rowDocs) bytes() int64 { return f.byRank.Bytes() + f.side.bytes() }

// Stats returns the counts of all completed computations.
func (b *Backend) Stats() device.Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stats
}

// Close does nothing.
func (b *Backend) Close() error { return nil }

func (b *Backend) acquirePanel() *panel {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.idlePanels); n > 0 {
		p := b.idlePanels[n-1]
		b.idlePanels = b.idlePanels[:n-1]
		return p
	}
	return newPanel(b)
}

func (b *Backend) releasePanel(p *panel) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.Add(p.stats)
	p.stats = device.Stats{}
	if len(b.idlePanels) < b.workers {
		b.idlePanels = append(b.idlePanels, p)
	}
}

func (b *Backend) acquireRowDocs() *rowDocs {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.freeRows); n > 0 {
		f := b.freeRows[n-1]
		b.freeRows = b.freeRows[:n-1]
		return f
	}
	return &rowDocs{}
}

func (b *Backend) releaseRowDocs(f *rowDocs) {
	f.side.x = nil
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.freeRows) < b.workers && f.bytes() <= maxReusedBytes {
		b.freeRows = append(b.freeRows, f)
	}
}

// split fills s with the documents x, divided into head and tail. It reuses the memory of f.
func (b *Backend) split(ctx context.Context, f *rowDocs, s *docSet, x *sparse.Embedded, workers int) error {
	if _, err := device.TransposeByRank(ctx, &f.byRank, &x.CSR, b.layout.rank, workers); err != nil {
		return err
	}
	return b.layout.split(ctx, s, x, &f.byRank, workers, nil)
}

// ComputeRows implements [device.Backend]. Each worker computes one panel of documents at a time.
func (b *Backend) ComputeRows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	if panels := b.densePanels(r); panels != nil {
		return b.computeSingleRows(ctx, r, panels, visit)
	}
	workers, from := max(r.Workers, 1), b.columns
	if r.RowDocuments != nil && r.RowDocuments != b.columns.x {
		if s, ok := r.Prepared.(*docSet); ok {
			from = s
		} else {
			f := b.acquireRowDocs()
			defer b.releaseRowDocs(f)
			if err := b.split(ctx, f, &f.side, r.RowDocuments, workers); err != nil {
				return err
			}
			from = &f.side
		}
	}
	starts := b.panelStarts(r)
	held := make([]*panel, min(workers, len(starts)))
	defer func() {
		for _, p := range held {
			if p != nil {
				b.releasePanel(p)
			}
		}
	}()
	order := panelOrder(len(starts)-1, workers, r.LastFirst)
	end := min((r.Hi+sparse.BlockSize-1)/sparse.BlockSize*sparse.BlockSize, b.columns.x.Rows()) // rounded up to blocks
	return run.Tasks(ctx, workers, len(starts)-1, func(ctx context.Context, w, task int) error {
		task = order(task)
		if held[w] == nil {
			held[w] = b.acquirePanel()
		}
		p := held[w]
		held[w] = nil // after a panic the scratch space isn't reused
		first := starts[task]
		docs, lo := r.RowIndices[first:starts[task+1]], r.Lo
		if r.UpperOnly {
			lo = docs[0]
		}
		p.load(from, docs)
		err := p.run(ctx, r.UpperOnly, lo, end, func(t *device.Tile) error {
			if t.Lo >= r.Hi {
				return nil
			}
			t.FirstRow, t.Hi = first, min(t.Hi, r.Hi)
			return visit(t)
		})
		p.unload()
		held[w] = p
		return err
	})
}

// panelStarts divides the rows of a request into panels. Panel k has rows starts[k] to
// starts[k+1]-1. If UpperOnly is set, the rows of a panel are consecutive documents within a block
// of the posting lists.
func (b *Backend) panelStarts(r *device.Request) (starts []int) {
	starts = append(starts, 0)
	for first := 0; first < len(r.RowIndices); {
		end := min(first+b.kernels.PanelWidth, len(r.RowIndices))
		for k := first + 1; r.UpperOnly && k < end; k++ {
			if r.RowIndices[k] != r.RowIndices[k-1]+1 || r.RowIndices[k]%b.postings.block == 0 {
				end = k
			}
		}
		starts = append(starts, end)
		first = end
	}
	return starts
}

// panelOrder returns the order of n panels, which is ascending or, if lastFirst is set, descending.
// The last panels of the upper triangle are the smallest. Some small panels are computed last, to
// keep all workers busy while one worker computes the largest panel.
func panelOrder(n, workers int, lastFirst bool) func(task int) int {
	if !lastFirst {
		return func(task int) int { return task }
	}
	first := n - min(int(math.Sqrt(float64(n)*float64(workers))), n/2)
	return func(task int) int {
		if task < first {
			return first - 1 - task
		}
		return task
	}
}
