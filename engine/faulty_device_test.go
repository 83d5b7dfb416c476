package engine_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// faulty is a device that violates its specification.
type faulty func(r *device.Request, t *device.Tile, visit func(*device.Tile) error) error

func (faulty) Name() string     { return "faulty" }
func (faulty) HostBytes() int64 { return 0 }
func (faulty) Close() error     { return nil }

func (f faulty) ComputeRows(_ context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	width := r.Hi - r.Lo
	t := &device.Tile{Rows: len(r.RowIndices), Lo: r.Lo, Hi: r.Hi, RowStride: width, ColStride: 1}
	t.Values = make([]float32, len(r.RowIndices)*width)
	return f(r, t, visit)
}

// A fault of a device gives an error, never a crash or an incomplete matrix.
func TestFaultyDevices(t *testing.T) {
	k := kernel.MustParse("diffusion:t=1")
	x := enginetest.EmbedCSR(t, sparse.SphereEmbedding, enginetest.Zipf(9, 9, 4, 1))
	spoilt := func(spoil func(t *device.Tile)) faulty {
		return func(_ *device.Request, t *device.Tile, visit func(*device.Tile) error) error {
			spoil(t)
			return visit(t)
		}
	}
	for name, d := range map[string]faulty{
		"nothing": func(*device.Request, *device.Tile, func(*device.Tile) error) error { return nil },
		"fails": func(*device.Request, *device.Tile, func(*device.Tile) error) error {
			return errors.New("faulty: failed")
		},
		"panics":        func(*device.Request, *device.Tile, func(*device.Tile) error) error { panic("faulty: panics") },
		"short values":  spoilt(func(t *device.Tile) { t.Values = t.Values[:len(t.Values)/2] }),
		"a row more":    spoilt(func(t *device.Tile) { t.Rows++ }),
		"rows before":   spoilt(func(t *device.Tile) { t.FirstRow = -1 }),
		"rows after":    spoilt(func(t *device.Tile) { t.FirstRow = 1 }),
		"a column less": spoilt(func(t *device.Tile) { t.Hi, t.RowStride = t.Hi-1, t.RowStride-1 }),
		"least stride":  spoilt(func(t *device.Tile) { t.RowStride = math.MinInt }),
	} {
		e, err := engine.New(x, engine.Options{
			Device: func(context.Context, *sparse.Embedded) (engine.Device, error) { return d, nil }})
		if err != nil {
			continue
		}
		for way, use := range map[string]func() error{
			"Gram": func() error { _, err := e.Gram(t.Context(), k, nil); return err },
			"Rows": func() error {
				_, err := e.Rows(t.Context(), k, engine.Request{RowIndices: []int{1, 0}}, nil)
				return err
			},
			"Cross": func() error { _, err := e.Rows(t.Context(), k, engine.Request{TestDocuments: x}, nil); return err },
			"Cached": func() error {
				c, err := e.NewCache(engine.CacheOptions{})
				if err != nil {
					return err
				}
				return c.Rows(t.Context(), k, []int{0}, [][2]int{{0, 9}}, [][]float32{make([]float32, 9)})
			},
		} {
			var err error
			func() {
				defer func() {
					if v := recover(); v == "faulty: panics" {
						err = errors.New("passed on")
					} else if v != nil {
						panic(v)
					}
				}()
				err = use()
			}()
			if err == nil {
				t.Errorf("%s of a device, %s: no error", way, name)
			}
		}
	}
}
