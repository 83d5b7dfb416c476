package engine_test

import (
	"context"
	"errors"
	"io"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/internal/enginetest"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/engine/normal"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/sparse"
)

func TestDoors(t *testing.T) {
	const n = 6
	custom := func(row func(dst []float32)) any {
		return doortest.As[kernel.Kernel](doortest.Must(kernel.New(kernel.Custom{
			Name: "own", Embedding: sparse.Sphere, Eval: func(c, _, _ float64) float64 { return 1 - c },
			Row: func(dst, c []float32, _ float32, _ []float32) {
				if len(c) > 0 {
					row(dst)
				}
			}})))
	}
	k := kernel.MustParse("diffusion:t=1")
	x := enginetest.Embedded(t, sparse.Sphere, enginetest.Zipf(n, 9, 4, 1))
	e := doortest.Must(engine.New(x, engine.Options{Workers: 2}))
	cached := doortest.Must(e.Cached(engine.CachedOptions{}))
	matrix := doortest.Must(cached.Matrix(k))
	ready := doortest.Must(matrix.Ready(t.Context()))
	rectangle := doortest.Must(e.Rectangle(k, x, 1<<20))
	points := doortest.Must(sparse.FromDense(5, 2, []float32{1, 2, 2, 1, 3, 3, 5, 4, 1, 1}))
	of := []int32{0, 0, 1, 1, 1}
	normals := doortest.Must(normal.Fit(t.Context(), points, of, 2))
	hyperbolic := doortest.Must(engine.NewHyperbolic(t.Context(), kernel.Hyperbolic{T: 1}, normals, engine.Options{}))
	zero := doortest.Must(e.ZeroDiagonal(k))
	dense := func(rows, columns int) func() *mat.Dense {
		return func() *mat.Dense { return mat.NewDense(rows, columns, nil) }
	}
	cols, four := [][2]int{{0, n}}, []float32{0, 0.25, 0.5, 1}
	rows := func() [][]float32 { return [][]float32{make([]float32, n)} }
	neighbours := engine.NeighbourOptions{Count: 2}
	near := doortest.Must(e.Neighbours(t.Context(), k, neighbours))
	all := [2]int{0, n}
	turn := func(int, *mat.Dense) error { return nil }
	doortest.Run(t, doortest.Package{
		Good: []any{doortest.As[kernel.Kernel](k), x, e, cached, matrix, ready, rectangle, normals, hyperbolic, zero,
			engine.NewReference(x), engine.NewGroups(n), engine.NewDense(2, n), &engine.Symmetric{N: 2, Data: four}, near,
			doortest.Must(engine.NewIndex(t.Context(), x, engine.Options{})), neighbours, asm.Best(), sparse.Sphere},
		Bad: []any{doortest.As[kernel.Kernel](kernel.Precomputed()),
			custom(func(dst []float32) { panic(errors.New("own: panics")) }),
			custom(func(dst []float32) { dst[len(dst)] = 1 }), custom(func(dst []float32) { dst[0] = float32(math.NaN()) })},
		Whole: []any{asm.Kernels{}},
		Calls: [][]any{
			{engine.NewHyperbolic, kernel.Hyperbolic{T: 1}}, {engine.New}, {engine.NewContext}, {engine.NewReference},
			{engine.NewGroups}, {engine.NewDense}, {engine.NewBytes}, {engine.ScratchBytes}, {engine.NeighboursBytes},
			{"Cached.Rows", k, []int{1}, cols, rows}, {"Matrix.Rows", []int{1}, cols, rows}, {"Matrix.Of", []int{0, 1}},
			{"Engine.WriteTiles", 0, 1, io.Discard}, {"Engine.GramTo", k, &engine.Symmetric{N: n, Data: make([]float32, n*n)}},
			{"Engine.Rows", k, []int{1, 0}, engine.NewDense(2, n)}, {"Engine.CrossTo", k, x, engine.NewDense(n, n)},
			{"Engine.Multiply", k, dense(n, 2), dense(n, 2)}, {"Engine.CrossMultiply", k, x, dense(n, 2), dense(n, 2)},
			{"Engine.BlockTiles", k, all, all}, {"Engine.NeighbourBlock", k, all, all},
			{"Engine.PairsWithin", 0.5}, {engine.GroupsWithin, x, 0.5, engine.Options{}}, {engine.GroupsBytes, n, 9},
			{engine.NewIndex}, {"Index.Nearest", x, 0, 2}, {"Index.Within", x, 0, 0.5}, {engine.CompareRows, x, 0, x, 1, 0.5},
			{engine.SortMatches, []engine.Match{{1, 0.5}, {0, 0.5}}},
			{engine.CrossWithin, x, x, 0.5, engine.Options{}}, {"Rectangle.Multiply", dense(n, 2), dense(n, 2)},
			{"Rectangle.Pass", dense(n, 2), turn, dense(n, 2)}, {"HyperbolicGram.Against", normals, 1, []float32{0, 0}},
			{"HyperbolicGram.Rows", 0, engine.NewDense(1, 2)}, {"Reference.Row", 1, make([]float64, n)},
			{"Engine.MergeNeighbours", k, [][][]engine.Neighbour{make([][]engine.Neighbour, n)}, neighbours},
		},
		Elsewhere: map[string]string{"Engine.Close": "TestClosedEngine"},
	})
}

// faulty is a device that breaks its promises.
type faulty func(r *device.Request, t *device.Tile, visit func(*device.Tile) error) error

func (faulty) Name() string     { return "faulty" }
func (faulty) HostBytes() int64 { return 0 }
func (faulty) Close() error     { return nil }

func (f faulty) Rows(_ context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	width := r.Hi - r.Lo
	t := &device.Tile{Rows: len(r.Docs), Lo: r.Lo, Hi: r.Hi, RowStride: width, ColStride: 1}
	t.Value = make([]float32, len(r.Docs)*width)
	return f(r, t, visit)
}

// What a device does wrong is an error, never a crash or a matrix with holes.
func TestFaultyDevices(t *testing.T) {
	k := kernel.MustParse("diffusion:t=1")
	x := enginetest.Embedded(t, sparse.Sphere, enginetest.Zipf(9, 9, 4, 1))
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
		"no tile":       func(_ *device.Request, _ *device.Tile, visit func(*device.Tile) error) error { return visit(nil) },
		"panics":        func(*device.Request, *device.Tile, func(*device.Tile) error) error { panic("faulty: panics") },
		"short values":  spoilt(func(t *device.Tile) { t.Value = t.Value[:len(t.Value)/2] }),
		"a row more":    spoilt(func(t *device.Tile) { t.Rows++ }),
		"rows before":   spoilt(func(t *device.Tile) { t.First = -1 }),
		"rows after":    spoilt(func(t *device.Tile) { t.First = 1 }),
		"a column less": spoilt(func(t *device.Tile) { t.Hi, t.RowStride = t.Hi-1, t.RowStride-1 }),
		"least stride":  spoilt(func(t *device.Tile) { t.RowStride = math.MinInt }),
	} {
		e, err := engine.New(x, engine.Options{
			Device: func(context.Context, *sparse.Embedded) (engine.Device, error) { return d, nil }})
		if err != nil {
			continue
		}
		for way, use := range map[string]func() error{
			"Gram":  func() error { _, err := e.Gram(t.Context(), k); return err },
			"Rows":  func() error { return e.Rows(t.Context(), k, []int{1, 0}, engine.NewDense(2, 9)) },
			"Cross": func() error { _, err := e.Cross(t.Context(), k, x); return err },
			"Cached": func() error {
				c, err := e.Cached(engine.CachedOptions{})
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
