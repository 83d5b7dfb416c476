package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/internal/compute"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// Options are the options of [New]. The zero value works.
type Options struct {
	ISA            string         // "generic", "avx2" or "avx512"; default the fastest that the CPU supports
	Workers        int            // number of goroutines; default runtime.GOMAXPROCS(0)
	MemoryBytes    int64          // memory limit, including documents and results; default none
	HeadTerms      int            // number of terms in the dense head, negative for none; default from a cost model
	DenseCopyBytes int64          // memory limit of a dense copy for requests with one test document; default no copy
	Progress       func(Progress) // called every 100 ms and at the end, by one goroutine at a time; default none

	// Device makes the back end that computes c, with the documents x as columns. Engine.Close
	// closes the back end. If Device is nil or returns nil, the CPU computes c. If a device is
	// used, the visit function of EachTile must not use the same engine, because the call would
	// deadlock.
	Device func(ctx context.Context, x *sparse.Embedded) (Device, error)

	method    string        // byJoin or byTiles; "" for the faster method; set by tests
	joinCount *atomic.Int64 // number of joins that ran; nil except in tests
}

// Engine computes kernel values of a set of documents in float32.
//
// The error of c is at most [device.ErrorBound], and c of identical documents is 0. With a given
// instruction set and [asm.Caches], values are bit-identical for (i, j) and (j, i), for any number
// of workers, and for joins and tiles. An Engine may be used concurrently.
type Engine struct {
	c           *compute.Computer
	memoryLimit int64
	method      string        // same as Options.method
	joinCount   *atomic.Int64 // same as Options.joinCount
	badNorms    error         // error for kernels that use norms; nil if all norms are valid
	closed      atomic.Bool
}

func (o Options) resolve() (*asm.Kernels, int, error) {
	kernels := asm.BestKernels()
	if o.ISA != "" {
		var err error
		if kernels, err = asm.KernelsFor(asm.ISA(o.ISA)); err != nil {
			return nil, 0, fmt.Errorf("engine: %w", err)
		}
	}
	workers, err := o.resolveWorkers()
	return kernels, workers, err
}

const maxWorkers = 1 << 16

func (o Options) resolveWorkers() (int, error) {
	switch {
	case o.Workers < 0 || o.Workers > maxWorkers:
		return 0, fmt.Errorf("engine: Workers must be between 1 and %d, or 0 for all cores, got %d", maxWorkers, o.Workers)
	case o.MemoryBytes < 0:
		return 0, fmt.Errorf("engine: MemoryBytes must be positive, or 0 for no limit, got %d", o.MemoryBytes)
	case o.DenseCopyBytes < 0:
		return 0, fmt.Errorf("engine: DenseCopyBytes must be positive, or 0 for no copy, got %d", o.DenseCopyBytes)
	case o.Workers == 0:
		return runtime.GOMAXPROCS(0), nil
	}
	return o.Workers, nil
}

// MinTailBlockDocuments is the minimum number of documents per block of the tail's posting lists.
// Tests of bit-for-bit equality use more documents, so that there are several blocks.
const MinTailBlockDocuments = panel.MinTailBlockDocs

// New makes an engine for the documents x, which must stay unchanged. Unless a device is used, New
// copies the documents into head and tail, which takes about as much memory as x. It fails if an
// option is invalid, if x.Validate or Options.Device fails, or if memory is too small (with a
// [MemoryError]).
func New(x *sparse.Embedded, opt Options) (*Engine, error) {
	return NewContext(context.Background(), x, opt)
}

// NewContext is [New] with a context. It returns within a second after ctx is done.
func NewContext(ctx context.Context, x *sparse.Embedded, opt Options) (*Engine, error) {
	e, err := newWithoutPanels(ctx, x, opt)
	if err != nil {
		return nil, err
	}
	if err := e.makePanelBackend(ctx, opt); err != nil {
		return nil, err
	}
	return e, nil
}

const newOperation = "preparing the documents"

// newWithoutPanels makes an engine without the CPU back end. Options.Device may set a back end.
func newWithoutPanels(ctx context.Context, x *sparse.Embedded, opt Options) (*Engine, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	kernels, workers, err := opt.resolve()
	if err != nil {
		return nil, err
	}
	if err := x.Validate(); err != nil {
		return nil, err
	}
	n := x.Rows()
	if int64(n) > 1<<32-1 {
		return nil, fmt.Errorf("engine: got %d documents; the maximum is %d", n, int64(1<<32-1))
	}
	c := &compute.Computer{X: x, Norms: make([]float32, n), Kernels: kernels, Workers: workers, Progress: opt.Progress}
	for i, norm := range x.Norms {
		c.Norms[i] = float32(norm)
	}
	e := &Engine{c: c, memoryLimit: opt.MemoryBytes, method: opt.method, joinCount: opt.joinCount, badNorms: checkNorms(x)}
	if opt.Device != nil {
		if err := e.checkMemory(); err != nil {
			return nil, err
		}
		if c.Backend, err = opt.Device(ctx, x); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// checkMemory returns an error if the engine would exceed the memory limit. It must be called
// before the documents are copied.
func (e *Engine) checkMemory() error {
	return compute.CheckLimit(newOperation, MaxEngineBytes(e.c.Len(), e.c.X.Cols, e.c.X.NNZ()), e.memoryLimit)
}

// makePanelBackend makes the CPU back end unless a device is set. On error it closes the engine.
func (e *Engine) makePanelBackend(ctx context.Context, opt Options) (err error) {
	c := e.c
	defer func() {
		if err != nil && c.Backend != nil {
			err = errors.Join(err, e.Close())
		}
	}()
	if c.Backend == nil {
		if err := e.checkMemory(); err != nil {
			return err
		}
		own := panel.Options{Kernels: c.Kernels, Workers: c.Workers, HeadTerms: opt.HeadTerms,
			DenseCopyBytes: opt.DenseCopyBytes}
		b, err := panel.New(ctx, c.X, own)
		if err != nil {
			return err
		}
		c.Backend = b
	}
	return e.checkFits(ctx, newOperation, 0)
}

// Len returns the number of documents.
func (e *Engine) Len() int { return e.c.Len() }

// bind checks that the engine is open and that the kernel is applicable to the documents. It
// returns the kernel after setting the parameters that depend on the documents.
func (e *Engine) bind(k kernel.Kernel) (kernel.Kernel, error) {
	if err := e.checkOpen(); err != nil {
		return nil, err
	}
	if err := kernel.Check(k); err != nil {
		return nil, err
	}
	if want, have := k.Embedding(), e.c.X.Embedder.Embedding; want != have {
		return nil, fmt.Errorf(
			"engine: kernel %s needs documents embedded as %s, got %s; set embed=%s in its specification",
			k, want, have, have)
	}
	if e.badNorms != nil && kernel.UsesNorms(k) {
		return nil, fmt.Errorf("engine: kernel %s needs the norms of the documents: %w", k, e.badNorms)
	}
	return kernel.Resolve(k, len(e.c.X.Embedder.Terms)), nil
}

// checkNorms returns an error unless each document has a norm whose square is finite in float32.
func checkNorms(x *sparse.Embedded) error {
	if n := len(x.Norms); n != x.Rows() {
		return fmt.Errorf("%d norms, but %d documents", n, x.Rows())
	}
	for i, v := range x.Norms {
		if !(v <= sparse.MaxNorm) {
			return fmt.Errorf("norm of row %d must be at most %v, got %v", i, float64(sparse.MaxNorm), v)
		}
	}
	return nil
}
