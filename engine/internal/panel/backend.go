// Package panel computes c = 1 - cosine on the processor: it is the back end that there always is.
//
// Documents are divided by their terms, see head.go for where: values of the frequent terms, the
// head, stream past a dense panel of documents; those of the rare ones, the tail, meet them through
// posting lists. Sums make c, and pairs that are close are computed again in float64. The loops,
// from the outside in: panels over workers ([Backend.Rows]); tails of 4,096 documents and tiles of
// 512 (panel.run); segments of the head (panel.head); the panel's documents in registers (package
// asm).
//
// What doesn't live here: kernels, which are maps of c, and where results go. Both are package
// engine's.
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

// Options says how a back end works.
type Options struct {
	Kernels   *asm.Kernels
	Workers   int   // goroutines that make it, and panels that it keeps
	KeptBytes int64 // most that the columns may take in dense form, for requests of few documents
	HeadTerms int   // number of terms in the dense head, below 0 for none, 0 for what the cost model says
	Roles     Roles // which documents are dense; DenseColumns only where they can be
}

// Backend computes c by panels. It implements [device.Backend], [device.Preparer] and
// [device.Counter], and applies no programs.
type Backend struct {
	kernels  *asm.Kernels
	pairing  pairing // that of the documents' embedding
	workers  int
	layout   *layout
	own      *side     // the documents of the columns
	postings *postings // of their tail
	heads    []Head    // what the cost model says

	denseColumns bool // see rowDots

	panelMax int64 // bytes that a panel comes to hold
	kept     kept

	mu    sync.Mutex
	stats device.Stats
	idle  []*panel   // scratch space of earlier computations
	free  []*foreign // and of the documents in their rows
}

// foreign are documents other than those of the columns.
type foreign struct {
	byRank sparse.CSR
	side   side
}

// maxLent bounds the memory of documents that stays for the next ones, which come in batches.
const maxLent = 8 << 20

// longTail is how many terms the tails of two documents share at most that meet through the posting lists alone.
// The product of each is rounded to a whole number: longTail halves of 1/TailOne are 4.8·10⁻⁷. Of two that share more c
// is recomputed.
const longTail = 2048

// New makes a back end for the documents x as columns, which must be valid and stay unchanged.
func New(ctx context.Context, x *sparse.Embedded, o Options) (*Backend, error) {
	b := &Backend{kernels: o.Kernels, pairing: pairingOf(o.Kernels, x.Embedder.Pairing), workers: o.Workers}
	l, byRank, err := b.layoutFor(ctx, x, o.HeadTerms, o.Roles)
	if err != nil {
		return nil, err
	}
	b.layout, b.own = l, &side{}
	b.postings = newPostings(byRank, l.head(), l.scale)
	if err = l.split(ctx, b.own, x, byRank, o.Workers, b.postings.block); err != nil {
		return nil, err
	}
	b.panelMax = b.panelBytes()
	b.kept.limit = o.KeptBytes
	if b.denseColumns {
		b.makeKept()
	}
	return b, context.Cause(ctx)
}

// Name is the instruction set.
func (b *Backend) Name() string { return string(b.kernels.ISA) }

// HostBytes returns what the documents in head/tail form and the workers' scratch space take.
func (b *Backend) HostBytes() int64 {
	bytes := b.own.bytes() + b.postings.bytes() + int64(b.workers)*b.panelMax + b.kept.bytes()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.free {
		bytes += f.bytes()
	}
	return bytes
}

func (f *foreign) bytes() int64 { return f.byRank.Bytes() + f.side.bytes() }

// Stats returns the counts of all computations that have ended or given up a worker.
func (b *Backend) Stats() device.Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stats
}

// Close does nothing: the collector takes all.
func (b *Backend) Close() error { return nil }

// borrow hands out scratch space for one worker; giveBack takes it back.
func (b *Backend) borrow() *panel {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.idle); n > 0 {
		p := b.idle[n-1]
		b.idle = b.idle[:n-1]
		return p
	}
	return newPanel(b)
}

func (b *Backend) giveBack(p *panel) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stats.Add(p.stats)
	p.stats = device.Stats{}
	if len(b.idle) < b.workers {
		b.idle = append(b.idle, p)
	}
}

// lend hands out room for other documents; takeBack takes it back, after the last panel of them.
func (b *Backend) lend() *foreign {
	b.mu.Lock()
	defer b.mu.Unlock()
	if n := len(b.free); n > 0 {
		f := b.free[n-1]
		b.free = b.free[:n-1]
		return f
	}
	return &foreign{}
}

func (b *Backend) takeBack(f *foreign) {
	f.side.x = nil
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.free) < b.workers && f.bytes() <= maxLent {
		b.free = append(b.free, f)
	}
}

// split brings documents into the form of the layout, in memory of f.
func (b *Backend) split(ctx context.Context, f *foreign, s *side, x *sparse.Embedded, workers int) error {
	if _, err := sparse.ByRank(ctx, &f.byRank, &x.CSR, b.layout.rank, workers); err != nil {
		return err
	}
	return b.layout.split(ctx, s, x, &f.byRank, workers, 0)
}

// Rows implements [device.Backend], a panel of documents at a time on each worker.
func (b *Backend) Rows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	if panels := b.keep(r); panels != nil {
		return b.few(ctx, r, panels, visit)
	}
	workers, from := max(r.Workers, 1), b.own
	if r.From != nil && r.From != b.own.x {
		if s, ok := r.Prepared.(*side); ok {
			from = s
		} else {
			f := b.lend()
			defer b.takeBack(f)
			if err := b.split(ctx, f, &f.side, r.From, workers); err != nil {
				return err
			}
			from = &f.side
		}
	}
	starts := b.panels(r)
	held := make([]*panel, min(workers, len(starts)))
	defer func() {
		for _, p := range held {
			if p != nil {
				b.giveBack(p)
			}
		}
	}()
	order := inOrder(len(starts)-1, workers, r.LastFirst)
	end := min((r.Hi+sparse.Block-1)/sparse.Block*sparse.Block, b.own.x.Rows()) // blocks are whole
	return run.Tasks(ctx, workers, len(starts)-1, func(ctx context.Context, w, task int) error {
		task = order(task)
		if held[w] == nil {
			held[w] = b.borrow()
		}
		p := held[w]
		held[w] = nil // what panics leaves scratch space that nobody may use again
		first := starts[task]
		docs, lo := r.Docs[first:starts[task+1]], r.Lo
		if r.Half {
			lo = docs[0]
		}
		p.load(from, docs)
		err := p.run(ctx, r.Half, lo, end, func(t *device.Tile) error {
			if t.Lo >= r.Hi {
				return nil
			}
			t.First, t.Hi = first, min(t.Hi, r.Hi)
			return visit(t)
		})
		p.unload()
		held[w] = p
		return err
	})
}

// panels divides the rows of a request: panel k has those from starts[k] to before starts[k+1], for
// the symmetric half documents in sequence, of one block of the posting lists.
func (b *Backend) panels(r *device.Request) (starts []int) {
	starts = append(starts, 0)
	for first := 0; first < len(r.Docs); {
		end := min(first+b.kernels.Panel, len(r.Docs))
		for k := first + 1; r.Half && k < end; k++ {
			if r.Docs[k] != r.Docs[k-1]+1 || r.Docs[k]%b.postings.block == 0 {
				end = k
			}
		}
		starts = append(starts, end)
		first = end
	}
	return starts
}

// inOrder returns the order of n panels on so many workers: as they come or, where the last ones are
// to come first, backwards. Of the symmetric half these are the smallest, so a few of them are left
// for the end, enough to keep all workers busy while one works on the largest.
func inOrder(n, workers int, lastFirst bool) func(task int) int {
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
