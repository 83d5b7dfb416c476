// Package devicetest has the smallest back end that there can be. It says what one must do, and
// tests of all that stands on a back end run on it.
package devicetest

import (
	"context"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// Backend computes c from its definition, a request in one tile. It applies no programs.
type Backend struct{ Columns *sparse.Embedded }

// New makes one, for engine.Options.Device.
func New(_ context.Context, x *sparse.Embedded) (device.Backend, error) { return Backend{x}, nil }

func (b Backend) Name() string     { return "devicetest" }
func (b Backend) HostBytes() int64 { return 0 }
func (b Backend) Close() error     { return nil }

func (b Backend) Rows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	rows, n := r.From, r.Hi-r.Lo
	if rows == nil {
		rows = b.Columns
	}
	t := &device.Tile{Rows: len(r.Docs), Lo: r.Lo, Hi: r.Hi, RowStride: n, ColStride: 1}
	for _, i := range r.Docs {
		a := dense(rows, i)
		for j := r.Lo; j < r.Hi; j++ {
			c := 0.0
			for k, v := range dense(b.Columns, j) {
				c += (a[k] - v) * (a[k] - v) / 2
			}
			t.Value = append(t.Value, float32(c))
		}
	}
	if len(t.Value) == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return visit(t)
}

// dense returns a unit row with all its zeros.
func dense(x *sparse.Embedded, i int) []float64 {
	row := make([]float64, x.Cols)
	terms, _ := x.Row(i)
	for k, v := range x.Unit64(i, nil) {
		row[terms[k]] = v
	}
	return row
}
