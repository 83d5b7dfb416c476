package svm

import (
	"context"
	"sync"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// slowDevice is a device that computes on the CPU.
type slowDevice struct {
	x      *sparse.Embedded
	e      *engine.Engine
	c      []float32 // c of all pairs
	closed int       // number of calls of Close

	mu       sync.Mutex
	requests []int // number of rows in each call of ComputeRows
}

// batchRows is the preferred number of rows per request.
const batchRows = 4096

// newSlowDevice returns a function for Options.Device, which makes its device in d.
func newSlowDevice(d *slowDevice) func(context.Context, *sparse.Embedded) (engine.Device, error) {
	return func(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
		e, err := engine.NewContext(ctx, x, engine.Options{})
		if err != nil {
			return nil, err
		}
		n := x.Rows()
		d.x, d.e, d.c = x, e, make([]float32, n*n)
		dst := &engine.Dense{Rows: n, Cols: n, Data: d.c}
		_, err = e.Rows(ctx, plainC(x), engine.Request{}, dst)
		return d, err
	}
}

// plainC returns the kernel c for documents as they are embedded.
func plainC(x *sparse.Embedded) kernel.Kernel {
	k, err := kernel.ParseIn("c", x.Embedder.Embedding)
	if err != nil {
		panic(err)
	}
	return k
}

func (d *slowDevice) Name() string     { return "slow" }
func (d *slowDevice) HostBytes() int64 { return 0 }
func (d *slowDevice) BatchRows() int   { return batchRows }
func (d *slowDevice) Close() error     { d.closed++; return nil }

func valueOf(p *device.Program, c float32, x, y float64) float32 {
	if p == nil {
		return c
	}
	return float32(p.Eval(c, x, y))
}

func (d *slowDevice) ComputeRows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	d.mu.Lock()
	d.requests = append(d.requests, len(r.RowIndices))
	d.mu.Unlock()
	from, c := d.x, d.c
	if r.RowDocuments != nil {
		cross, err := d.e.Rows(ctx, plainC(d.x), engine.Request{TestDocuments: r.RowDocuments}, nil)
		if err != nil {
			return err
		}
		from, c = r.RowDocuments, cross.Data
	}
	b := &device.Tile{
		Rows: len(r.RowIndices), Lo: r.Lo, Hi: r.Hi, ProgramApplied: r.Program != nil, RowStride: r.Hi - r.Lo, ColStride: 1,
	}
	for _, i := range r.RowIndices {
		for j := r.Lo; j < r.Hi; j++ {
			b.Values = append(b.Values, valueOf(r.Program, c[i*d.x.Rows()+j], from.Norms[i], d.x.Norms[j]))
		}
	}
	return visit(b)
}

// If a problem can't be made, its device is closed. Otherwise the problem's engine closes the
// device.
func TestProblemGivesDeviceBack(t *testing.T) {
	c := read(t, "synthetic:docs=90,terms=300,classes=2,seed=3", corpus.Options{})
	d := &slowDevice{}
	if _, err := NewProblem(
		t.Context(), c, sparse.SphereEmbedding, Options{Device: newSlowDevice(d), CacheBytes: 1000},
	); err == nil || d.closed != 1 {
		t.Errorf("error %v, the device is closed %d times", err, d.closed)
	}
	d = &slowDevice{}
	p := problem(t, c, kernel.MustParse(DefaultKernel), Options{Device: newSlowDevice(d)})
	if err := p.Engine().Close(); err != nil || d.closed != 1 {
		t.Errorf("error %v, the device is closed %d times", err, d.closed)
	}
}
