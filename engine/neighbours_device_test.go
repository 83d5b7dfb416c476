package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// selecting is a device that selects the smallest values.
type selecting struct {
	reducing
	rows int // number of requested rows
	fail error
}

func (d *selecting) FindSmallest(ctx context.Context, r *device.Request, k int, column []int32, value []float32) error {
	if err := d.fail; err != nil {
		return err
	}
	d.rows += len(r.RowIndices)
	for i := range column {
		column[i] = -1
	}
	return d.ComputeRows(ctx, r, func(t *device.Tile) error {
		for i := range t.Rows {
			row := t.Values[i*t.RowStride:][:t.Cols()]
			order := make([]int, 0, len(row))
			for j, v := range row {
				if v == v {
					order = append(order, j)
				}
			}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(row[a], row[b]) })
			for at, j := range order[:min(k, len(order))] {
				column[(t.FirstRow+i)*k+at], value[(t.FirstRow+i)*k+at] = int32(t.Lo+j), row[j]
			}
		}
		return nil
	})
}

// Neighbours that a device selects equal neighbours from its tiles. For groups, long lists and
// kernels without a program, tiles are used.
func TestNeighboursOnDevice(t *testing.T) {
	embedding := sparse.Embedding{Weighting: sparse.TF}
	m := enginetest.Zipf(90, 300, 6, 3)
	m.Values[0] += 0.5 // devices don't compute inner products of integer counts
	x := enginetest.EmbedCSR(t, embedding, m)
	n := x.Rows()
	many := musttest.Get(x.Embedder.Transform(enginetest.Zipf(reducedRows+50, 300, 3, 4)))(t)
	d := &selecting{reducing: reducing{slowDevice: &slowDevice{x: x, height: 7}}}
	own := func(context.Context, *sparse.Embedded) (Device, error) { return d, nil }
	e := newEngine(t, x, Options{Workers: 2, Device: own})
	plain, _ := withDevice(t, x, Options{Workers: 2})
	groups, least := make([]int32, n), 0.3
	for i := range groups {
		groups[i] = int32(i % 4)
	}
	for _, spec := range []string{"diffusion:t=0.5", "linear", "arccos:n=0,bias=0.3"} {
		k := musttest.Get(kernel.ParseIn(spec, embedding))(t)
		program := spec != "arccos:n=0,bias=0.3"
		for _, opt := range []NeighbourOptions{
			{Count: 1}, {Count: 7, MinValue: &least}, {Count: maxReducedCount}, {Count: maxReducedCount + 1},
			{Count: 5, Groups: groups},
		} {
			d.rows = 0
			got := musttest.Get(e.Neighbours(t.Context(), k, opt))(t)
			want := musttest.Get(plain.Neighbours(t.Context(), k, opt))(t)
			asked := 0
			if program && opt.Groups == nil && opt.Count <= maxReducedCount {
				asked = n
			}
			if d.rows != asked {
				t.Errorf("%s, %+v: the device was asked for %d rows, expected %d", spec, opt, d.rows, asked)
			}
			for i := range n {
				if !slices.Equal(got.List(i), want.List(i)) {
					t.Fatalf("%s, %+v: document %d has %v, expected %v", spec, opt, i, got.List(i), want.List(i))
				}
			}
			if opt.Groups != nil || opt.Count != 7 {
				continue
			}
			got = musttest.Get(e.Neighbours(t.Context(), k, ofTest(opt, many)))(t)
			want = musttest.Get(plain.Neighbours(t.Context(), k, ofTest(opt, many)))(t)
			for i := range many.Rows() {
				if !slices.Equal(got.List(i), want.List(i)) {
					t.Fatalf("%s: test document %d has %v, expected %v", spec, i, got.List(i), want.List(i))
				}
			}
		}
	}
	d.fail = errors.New("out of order")
	musttest.WantError(e.Neighbours(t.Context(), kernel.MustParse("linear"), NeighbourOptions{Count: 1}))(t,
		"an error of the device", d.fail)
}
