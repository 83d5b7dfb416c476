// Package devicetest contains a minimal back end. It shows the required methods, and is used by
// tests of packages that use back ends.
package devicetest

import (
	"context"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// Backend computes c from its definition, in a single tile per request. It doesn't run programs.
type Backend struct{ Columns *sparse.Embedded }

// New makes a Backend, and can be used as engine.Options.Device.
func New(_ context.Context, x *sparse.Embedded) (device.Backend, error) { return Backend{x}, nil }

func (b Backend) Name() string     { return "devicetest" }
func (b Backend) HostBytes() int64 { return 0 }
func (b Backend) Close() error     { return nil }

func (b Backend) ComputeRows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	rows, n := r.RowDocuments, r.Hi-r.Lo
	if rows == nil {
		rows = b.Columns
	}
	t := &device.Tile{Rows: len(r.RowIndices), Lo: r.Lo, Hi: r.Hi, RowStride: n, ColStride: 1}
	for _, i := range r.RowIndices {
		a := denseRow(rows, i)
		for j := r.Lo; j < r.Hi; j++ {
			c := 0.0
			for k, v := range denseRow(b.Columns, j) {
				c += (a[k] - v) * (a[k] - v) / 2
			}
			t.Values = append(t.Values, float32(c))
		}
	}
	if len(t.Values) == 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return visit(t)
}

func denseRow(x *sparse.Embedded, i int) []float64 {
	row := make([]float64, x.Cols)
	terms, _ := x.Row(i)
	for k, v := range x.UnitVector64(i, nil) {
		row[terms[k]] = v
	}
	return row
}
