package doors

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// faulty is a device that breaks its promises.
type faulty struct {
	how int
}

func (f *faulty) Name() string     { return "faulty" }
func (f *faulty) HostBytes() int64 { return []int64{0, -1, math.MaxInt64}[f.how%3] }
func (f *faulty) Close() error     { return nil }

func (f *faulty) Rows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	width := r.Hi - r.Lo
	b := &device.Tile{Rows: len(r.Docs), Lo: r.Lo, Hi: r.Hi, RowStride: width, ColStride: 1,
		Value: make([]float32, len(r.Docs)*width)}
	switch f.how {
	case 0:
		return nil // nothing at all
	case 1:
		return errors.New("faulty: failed")
	case 2:
		b.Value = b.Value[: len(b.Value)/2 : len(b.Value)/2]
	case 3:
		b.Rows++
	case 4:
		b.First = -1
	case 5:
		b.Hi, b.RowStride = r.Hi-1, width-1
	case 6:
		b.First = 1
	case 7:
		return visit(nil)
	case 8:
		panic(ownPanic)
	case 9:
		b.RowStride = math.MinInt
	}
	return visit(b)
}

func engineDevice(p *program) {
	k := p.kernel()
	x := p.embedded(k.Embedding(), p.matrixOf(pick(p, 2, 9, 40), 30))
	with := func(f func(context.Context, *sparse.Embedded) (engine.Device, error)) func() error {
		return func() error { _, err := engine.New(x, engine.Options{Device: f}); return err }
	}
	p.bad("that fails", with(func(context.Context, *sparse.Embedded) (engine.Device, error) {
		return nil, errors.New("faulty: failed")
	}))
	p.bad("that panics", with(func(context.Context, *sparse.Embedded) (engine.Device, error) { panic(ownPanic) }))
	p.good("that there is none of", with(func(context.Context, *sparse.Embedded) (engine.Device, error) {
		return nil, nil
	}))
	f := &faulty{how: p.IntN(10)}
	e, err := engine.New(x, engine.Options{Device: func(context.Context, *sparse.Embedded) (engine.Device, error) {
		return f, nil
	}})
	if err != nil {
		return
	}
	p.bad(fmt.Sprint("that is faulty, Gram, ", f.how), func() error { _, err := e.Gram(p.ctx, k); return err })
	p.bad(fmt.Sprint("that is faulty, Rows, ", f.how), func() error {
		return e.Rows(p.ctx, k, []int{1, 0}, p.dense(2, x.Rows()))
	})
	p.bad(fmt.Sprint("that is faulty, Cross, ", f.how), func() error { _, err := e.Cross(p.ctx, k, x); return err })
	p.any(fmt.Sprint("that is faulty, Cached, ", f.how), func() error {
		c, err := e.Cached(engine.CachedOptions{})
		if err == nil {
			err = c.Rows(p.ctx, k, []int{0}, [][2]int{{0, x.Rows()}}, [][]float32{poisoned(p, x.Rows())})
		}
		return err
	})
}
