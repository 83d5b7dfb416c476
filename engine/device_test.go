package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/panel"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// slowDevice computes requests from the definition, in blocks of few rows with padding between
// them.
type slowDevice struct {
	x      *sparse.Embedded
	height int
	fail   error
	closed bool
}

func (d *slowDevice) Name() string     { return "slow" }
func (d *slowDevice) HostBytes() int64 { return 1000 }
func (d *slowDevice) BatchRows() int   { return 50 }
func (d *slowDevice) Close() error     { d.closed = true; return nil }

func (d *slowDevice) ComputeRows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	from := r.RowDocuments
	if from == nil {
		from = d.x
	}
	for first := 0; first < len(r.RowIndices); first += d.height {
		if ctx.Err() != nil || d.fail != nil {
			return errors.Join(context.Cause(ctx), d.fail)
		}
		b := &device.Tile{
			FirstRow:       first,
			Rows:           min(d.height, len(r.RowIndices)-first),
			Lo:             r.Lo,
			Hi:             r.Hi,
			ColStride:      1,
			ProgramApplied: r.Program != nil,
		}
		if r.UpperOnly {
			b.Lo = r.RowIndices[first] / device.ColumnAlignment * device.ColumnAlignment
		}
		b.RowStride = b.Cols() + 3
		b.Values = make([]float32, b.Rows*b.RowStride)
		for i := range b.Rows {
			doc := r.RowIndices[first+i]
			terms, _ := from.Row(doc)
			unit := from.UnitVector64(doc, nil)
			for j := range b.Cols() {
				other, _ := d.x.Row(b.Lo + j)
				v := float32(panel.ExactFunc(sparse.Cosine)(terms, unit, other, d.x.UnitVector64(b.Lo+j, nil)))
				if r.Program != nil {
					v = float32(r.Program.Eval(v, from.Norms[doc], d.x.Norms[b.Lo+j]))
				}
				b.Values[i*b.RowStride+j] = v
			}
		}
		if err := visit(b); err != nil {
			return err
		}
	}
	return nil
}

func withDevice(t *testing.T, x *sparse.Embedded, opt Options) (*Engine, *slowDevice) {
	d := &slowDevice{x: x, height: 7}
	opt.Device = func(context.Context, *sparse.Embedded) (Device, error) { return d, nil }
	return newEngine(t, x, opt), d
}

// within compares a matrix with the reference.
func within(t *testing.T, what string, k kernel.Kernel, x, y *sparse.Embedded, rows []int, got func(r, j int) float32) {
	t.Helper()
	for r, i := range rows {
		terms, _ := y.Row(i)
		unit := y.UnitVector64(i, nil)
		for j := range x.Rows() {
			other, _ := x.Row(j)
			c := panel.ExactFunc(sparse.Cosine)(terms, unit, other, x.UnitVector64(j, nil))
			a, b := y.Norms[i], x.Norms[j]
			if v, want := float64(got(r, j)), k.Eval(c, a, b); !kernel.WithinTolerance(k, v, want, c, a, b) {
				t.Fatalf("%s, %s: row %d, column %d: found %v, expected %v", what, k, i, j, v, want)
			}
		}
	}
}

// Matrices and caches contain the device's values, and kernels without a program are mapped.
// Package devicetest tests the other methods of an engine.
func TestDevice(t *testing.T) {
	embedding := sparse.Embedding{Weighting: sparse.TF}
	x := embedded(t, embedding, zipf(300, 900, 6, 3))
	e, d := withDevice(t, x, Options{Workers: 2})
	if e.Info().Backend != "slow" || e.Info().Bytes != x.Bytes()+4*300+1000 {
		t.Errorf("back end %s, %d bytes", e.Info().Backend, e.Info().Bytes)
	}
	specs := []string{"c", "diffusion:t=0.5", "rbf:gamma=0.1", "arccos:n=0,bias=0.3"}
	if testing.Short() {
		specs = specs[2:] // one kernel that the device maps, one that it doesn't
	}
	for _, spec := range specs {
		k := musttest.Get(kernel.ParseIn(spec, embedding))(t)
		g := gram(t, e, k)
		within(t, "Gram", k, x, x, run.Range(0, 300), func(i, j int) float32 { return g.Row(i)[j] })
		for name, bytes := range map[string]int64{"whole": 0, "partial": scratchBytes(e) + 40*tiles.TileBytes(300)} {
			c := newCached(t, e, CacheOptions{CacheBytes: bytes})
			err := check(t.Context(), c, k, mapped(t, e, k), []int{5, 299, 5, 64, 63}, [][2]int{{0, 300}})
			if err != nil {
				t.Errorf("%s, %s: %v", k, name, err)
			}
		}
	}
	d.fail = errors.New("out of order")
	musttest.WantError(e.Gram(t.Context(), parseIn(t, "c", embedding), nil))(t, "an error of the device", d.fail)
	if err := e.Close(); err != nil || !d.closed {
		t.Errorf("closing: %v, closed %v", err, d.closed)
	}
}

func parseIn(t *testing.T, spec string, e sparse.Embedding) kernel.Kernel {
	t.Helper()
	return musttest.Get(kernel.ParseIn(spec, e))(t)
}

// mapped returns the matrix of k that the engine maps from c, as a cache does, even if the device
// could run k as a program.
func mapped(t *testing.T, e *Engine, k kernel.Kernel) *Symmetric {
	t.Helper()
	g := gram(t, e, parse(t, "c:embed="+k.Embedding().String()))
	for i := range g.N {
		musttest.NoError(t, e.c.Map(k, g.Row(i), g.Row(i), i, 0))
	}
	return g
}
