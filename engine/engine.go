package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// Options says how an engine works. The zero value works.
type Options struct {
	ISA         string         // instruction set, "generic", "avx2" or "avx512"; default the best that the processor can run
	Workers     int            // goroutines; default runtime.GOMAXPROCS(0)
	MemoryBytes int64          // bound on what the engine holds at a time, its documents and results included; default none
	HeadTerms   int            // number of terms in the dense head, below 0 for none; default from a cost model
	Progress    func(Progress) // called every 100 ms and at the end of a computation, never concurrently by one; default none

	// Device makes the back end that computes in place of the engine's own panels, for the documents x as columns; default none, as where it returns nil. It belongs to the
	// engine, whose Close closes it. Values that a [Cached] maps from its c have the bits of Gram without a device; with one they may differ by what Kernel.Error allows.
	// With a device, the visit of Tiles and CrossTiles must not use the engine: it would wait for the device, which waits for it.
	Device func(ctx context.Context, x *sparse.Embedded) (Device, error)
}

// Engine computes kernels on one set of documents, in float32 from head/tail panels.
//
// Values carry an absolute error of at most 1e-6 in c and a relative one of at most 1e-5, down to the least normal float32, 2⁻¹²⁶ (below it, half the spacing of
// float32 there); c is exactly 0 for identical documents. On one instruction set they are the same bits from any number of workers, for (i, j) and (j, i), and from Gram, Rows, Stripes and Cross.
// An Engine may be used concurrently.
type Engine struct {
	kernels  *asm.Kernels
	pairing  pairing // that of the documents' embedding
	workers  int
	memory   int64
	progress func(Progress)

	layout   *sparse.Layout
	own      *side
	postings *sparse.Postings // of the tail of the documents
	place    []uint32         // where each tail value of a document stands in its posting list
	heads    []Head           // what the cost model says

	// tailDirect says that no document has more than directValues values in the tail: its matches are so few that they are added where they belong, in
	// float32, instead of passing through blocks of float64.
	tailDirect bool

	panelMost int64 // bytes that a panel comes to hold

	badNorms error // why kernels that look at norms are refused

	device   Device // nil where panels compute
	closed   atomic.Bool
	programs programs

	mu    sync.Mutex
	stats Stats
	idle  []*panel // scratch space of earlier computations
}

// resolve fills in the defaults.
func (o Options) resolve() (*asm.Kernels, int, error) {
	kernels := asm.Best()
	if o.ISA != "" {
		var err error
		if kernels, err = asm.For(asm.ISA(o.ISA)); err != nil {
			return nil, 0, fmt.Errorf("engine: %w", err)
		}
	}
	workers, err := o.resolveWorkers()
	return kernels, workers, err
}

// mostWorkers is far above what any machine has cores for, and so few that sizes in proportion to
// it are numbers.
const mostWorkers = 1 << 16

func (o Options) resolveWorkers() (int, error) {
	switch {
	case o.Workers < 0 || o.Workers > mostWorkers:
		return 0, fmt.Errorf("engine: %d workers, expected a number up to %d, or 0 for all cores",
			o.Workers, mostWorkers)
	case o.MemoryBytes < 0:
		return 0, fmt.Errorf("engine: MemoryBytes is %d, expected a number above 0, or 0 for no bound", o.MemoryBytes)
	case o.Workers == 0:
		return runtime.GOMAXPROCS(0), nil
	}
	return o.Workers, nil
}

// SeamDocuments is the number of documents whose tails are added up at a time. A test that compares results to the bit takes more, so that the seam
// between two such blocks is in them.
const SeamDocuments = tailDocs

// New makes an engine for the documents x. It copies them into head/tail form, which takes about as
// much memory as x; x must stay unchanged. Errors: options that there are none of, what x.Validate
// finds, a [MemoryError], what Options.Device returns.
func New(x *sparse.Embedded, opt Options) (*Engine, error) {
	return NewContext(context.Background(), x, opt)
}

// NewContext is [New], which returns within a second of the end of ctx, with its error.
func NewContext(ctx context.Context, x *sparse.Embedded, opt Options) (*Engine, error) {
	kernels, workers, err := opt.resolve()
	if err != nil {
		return nil, err
	}
	if err := x.Validate(); err != nil {
		return nil, err
	}
	e := &Engine{kernels: kernels, pairing: pairingOf(kernels, x.Embedder.Pairing), workers: workers, memory: opt.MemoryBytes, progress: opt.Progress}
	if int64(x.Rows()) > 1<<32-1 {
		return nil, fmt.Errorf("engine: %d documents, expected at most %d", x.Rows(), int64(1<<32-1))
	}
	// Before anything is copied: what the copies take, whatever the head will be.
	if err := allowed("an engine for these documents", NewBytes(x.Rows(), x.Cols, x.NNZ()), e.memory); err != nil {
		return nil, err
	}
	var byRank *sparse.CSR
	if e.layout, byRank, err = e.layoutFor(ctx, x, opt.HeadTerms); err != nil {
		return nil, err
	}
	if e.own, err = newSide(ctx, x, e.layout, byRank, workers); err != nil {
		return nil, err
	}
	if e.postings, e.place, err = e.own.split.Postings(ctx); err != nil {
		return nil, err
	}
	e.tailDirect = e.own.split.Tail.LongestRow() <= directValues
	e.panelMost = e.panelBytes()
	e.badNorms = checkNorms(x)
	if opt.Device != nil {
		if e.device, err = opt.Device(ctx, x); err != nil {
			return nil, err
		}
	}
	if err := e.fits("an engine for these documents", 0); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

// directValues bounds the roundings that a direct tail adds up: 32 of 2⁻²⁵ each at most, 10⁻⁶ in a sum of 1, were they all to go one way.
const directValues = 32

// Len returns the number of documents.
func (e *Engine) Len() int { return e.own.x.Rows() }

// ISA returns the instruction set that the engine uses.
func (e *Engine) ISA() asm.ISA { return e.kernels.ISA }

// Workers returns the number of goroutines that the engine uses.
func (e *Engine) Workers() int { return e.workers }

// Panel returns the number of documents in a panel, which are computed together.
func (e *Engine) Panel() int { return e.kernels.Panel }

// HeadTerms returns the number of terms in the dense head.
func (e *Engine) HeadTerms() int { return e.layout.Head() }

// Bytes returns the memory that the engine holds for its documents and its workers' scratch space, in bytes.
func (e *Engine) Bytes() int64 {
	held := e.own.x.Bytes() + e.own.split.Bytes() + e.postings.Bytes() + 4*int64(len(e.place)) + 4*int64(len(e.own.norms)) + int64(e.workers)*e.panelMost
	if e.device != nil {
		held += e.device.HostBytes()
	}
	return held
}

// borrow hands out scratch space for one worker; giveBack takes it back.
func (e *Engine) borrow() *panel {
	e.mu.Lock()
	defer e.mu.Unlock()
	if n := len(e.idle); n > 0 {
		p := e.idle[n-1]
		e.idle = e.idle[:n-1]
		return p
	}
	return newPanel(e)
}

func (e *Engine) giveBack(p *panel) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.stats.add(&p.stats)
	p.stats = Stats{}
	if len(e.idle) < e.workers {
		e.idle = append(e.idle, p)
	}
}

// bind checks that the engine is open and that a kernel fits its documents, and fills in what the
// kernel takes from them.
func (e *Engine) bind(k Kernel) (Kernel, error) {
	x := e.own.x
	if err := e.open(); err != nil {
		return nil, err
	}
	if err := kernel.Check(k); err != nil {
		return nil, err
	}
	if want, have := k.Embedding(), x.Embedder.Embedding; want != have {
		return nil, fmt.Errorf("engine: kernel %s wants documents embedded as %s, found %s; its specification takes embed=%s", k, want, have, have)
	}
	if e.badNorms != nil && kernel.UsesNorms(k) {
		return nil, fmt.Errorf("engine: kernel %s is a function of the documents' norms: %w", k, e.badNorms)
	}
	return Resolve(k, len(x.Embedder.Terms)), nil
}

// checkNorms checks that documents have norms, and none whose square float32 can't hold: only some
// kernels look at them.
func checkNorms(x *sparse.Embedded) error {
	if n := len(x.Norms); n != x.Rows() {
		return fmt.Errorf("found %d of them for %d documents", n, x.Rows())
	}
	for i, v := range x.Norms {
		if !(v <= sparse.MostNorm) {
			return fmt.Errorf("found %v in row %d, expected at most %v", v, i, float64(sparse.MostNorm))
		}
	}
	return nil
}
