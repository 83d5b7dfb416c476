package doors

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/tiles"
)

// cached draws a cache.
func (p *program) cached(e *engine.Engine) *engine.Cached {
	for {
		var store *tiles.Store
		if p.chance(4) {
			var err error
			if store, err = tiles.OpenStore(p.folder()); err != nil {
				panic(err)
			}
		}
		c, err := e.Cached(engine.CachedOptions{CacheBytes: pick(p, int64(0), 300_000, 1_000_000, 1<<30),
			TileColumns: pick(p, 0, 1, 512, 5000), Store: store})
		if err == nil {
			return c
		}
		if _, little := errors.AsType[*engine.MemoryError](err); !little {
			panic(err)
		}
	}
}

func cachedOptions(p *program) {
	e, _ := p.engineOf(p.kernel())
	opt := engine.CachedOptions{CacheBytes: int64(p.odd()), TileColumns: p.odd()}
	p.any(fmt.Sprintf("%+v", opt), func() error {
		c, err := e.Cached(opt)
		if err == nil {
			err = c.Rows(p.ctx, engine.MustParseKernel("diffusion:t=1"), []int{0}, [][2]int{{0, 1}},
				[][]float32{poisoned(p, 1)})
		}
		return err
	})
	p.bad("bytes below 0", func() error { _, err := e.Cached(engine.CachedOptions{CacheBytes: -1}); return err })
	p.bad("columns below 0", func() error { _, err := e.Cached(engine.CachedOptions{TileColumns: -1}); return err })
}

// writeTiles divides the documents into two strips, whose files serve a cache that computes nothing.
func writeTiles(p *program) {
	e, _ := p.engineOf(p.kernel())
	n := e.Len()
	dir := p.folder()
	store, err := tiles.OpenStore(dir)
	if err != nil {
		panic(err)
	}
	middle := p.IntN(n + 1)
	for _, at := range [][2]int{{middle, n}, {0, middle}} {
		p.good(fmt.Sprint("WriteTiles of ", at), func() error {
			var file bytes.Buffer
			err := e.WriteTiles(p.ctx, at[0], at[1], &file)
			for err == nil && file.Len() > 0 {
				_, err = store.Add(&file)
			}
			return err
		})
	}
	p.good("Build of what is there", func() error {
		c, err := e.Cached(engine.CachedOptions{Store: store})
		if err == nil {
			err = c.Build(p.ctx)
		}
		if err == nil && c.Stats().Computed > 0 {
			p.fails("%+v, expected nothing computed", c.Stats())
		}
		return err
	})
	p.bad("before the first document", func() error { return e.WriteTiles(p.ctx, -1, n, io.Discard) })
	p.bad("beyond the end", func() error { return e.WriteTiles(p.ctx, 0, n+1, io.Discard) })
	p.bad("the wrong way round", func() error { return e.WriteTiles(p.ctx, n, n-1, io.Discard) })
	p.bad("to nil", func() error { return e.WriteTiles(p.ctx, 0, n, nil) })
}

// rowsDoor is Cached.Rows, Matrix.Rows and solver.Dense.Rows.
type rowsDoor func(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error

// tryRows calls a door that writes parts of rows, with good and bad arguments. Of checked, whether
// the values are to be compared.
func (p *program) tryRows(call string, n int, door rowsDoor, check func(i int, columns []int, row []float32)) {
	rows := p.indices(p.IntN(min(2*n, 40)), n)
	var columns [][2]int
	var all []int
	for range p.IntN(4) {
		lo := p.IntN(n + 1)
		hi := lo + p.IntN(n-lo+1)
		if len(all) > 0 && lo <= all[len(all)-1] {
			continue // ranges increase
		}
		columns = append(columns, [2]int{lo, hi})
		for j := lo; j < hi; j++ {
			all = append(all, j)
		}
	}
	dst := make([][]float32, len(rows))
	for r := range dst {
		dst[r] = poisoned(p, len(all))
	}
	what := fmt.Sprintf("%s: rows %v, columns %v of %d", call, rows, columns, n)
	p.good(what, func() error {
		err := door(p.ctx, rows, columns, dst)
		for r := 0; err == nil && r < len(rows); r++ {
			check(rows[r], all, dst[r])
		}
		return err
	})
	one, whole := [][]float32{poisoned(p, n)}, [][2]int{{0, n}}
	i := p.outside(n)
	p.bad(fmt.Sprint(call, ": row ", i, " of ", n), func() error { return door(p.ctx, []int{i}, whole, one) })
	wrong := pick(p, [2]int{-1, n - 1}, [2]int{0, n + 1}, [2]int{1, 0}, [2]int{n, n + n},
		[2]int{math.MinInt, math.MinInt + n}, [2]int{math.MaxInt - n, math.MaxInt}, [2]int{math.MinInt, math.MaxInt})
	length := wrong[1] - wrong[0]
	p.bad(fmt.Sprint(call, ": columns ", wrong, " of ", n), func() error {
		return door(p.ctx, []int{0}, [][2]int{wrong}, [][]float32{poisoned(p, min(max(length, 0), 3*n))})
	})
	p.bad(call+": a row of results too few", func() error { return door(p.ctx, []int{0, 0}, whole, one) })
	p.bad(call+": a row of results too many", func() error { return door(p.ctx, nil, whole, one) })
	p.bad(call+": no results", func() error { return door(p.ctx, []int{0}, whole, nil) })
	p.bad(call+": a result a value short", func() error {
		return door(p.ctx, []int{0}, whole, [][]float32{poisoned(p, n-1)})
	})
	p.bad(call+": a result a value long", func() error {
		return door(p.ctx, []int{0}, whole, [][]float32{poisoned(p, n+1)})
	})
}

func cachedRows(p *program) {
	k := p.kernelOrOwn()
	e, x := p.engineOf(k)
	c := p.cached(e)
	r := engine.NewReference(x)
	n := e.Len()
	check := func(i int, columns []int, row []float32) { p.agrees("rows", r, k, i, columns, row) }
	p.good(fmt.Sprint("Ready of ", k), func() error {
		ready, err := c.Ready(p.ctx, k)
		if err == nil && ready != nil {
			if ready.N != n {
				p.fails("a matrix of %d, expected %d", ready.N, n)
			}
			all := make([]int, n)
			for j := range all {
				all[j] = j
			}
			check(n-1, all, ready.Row(n-1))
			ready.Close()
			ready.Close()
		}
		return err
	})
	p.tryRows("Cached", n, func(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
		return c.Rows(ctx, k, rows, columns, dst)
	}, check)
	p.good(fmt.Sprint("Matrix of ", k), func() error {
		m, err := c.Matrix(k)
		if err == nil {
			m.Diagonal()
			p.tryRows("Matrix", n, m.Rows, check)
		}
		return err
	})
	p.good(fmt.Sprint("Diagonal of ", k), func() error {
		d, err := c.Diagonal(k)
		if err == nil && len(d) != n {
			p.fails("a diagonal of %d, expected %d", len(d), n)
		}
		return err
	})
	p.good(fmt.Sprint("Rows of ", k, " from four goroutines"), func() error {
		var group errgroup.Group
		for g := range 4 {
			row := poisoned(p, n)
			group.Go(func() error {
				err := c.Rows(p.ctx, k, []int{g * 7 % n}, [][2]int{{0, n}}, [][]float32{row})
				if err == nil {
					p.agrees("rows", r, k, g*7%n, count(n), row)
				}
				return err
			})
		}
		return group.Wait()
	})
	u, why := p.unsuited(k)
	p.any("Ready of "+why, func() error {
		ready, err := c.Ready(p.ctx, u)
		if ready != nil {
			p.fails("a matrix of %s", why)
		}
		return err
	})
	p.bad("Matrix of "+why, func() error { _, err := c.Matrix(u); return err })
	p.bad("Diagonal of "+why, func() error { _, err := c.Diagonal(u); return err })
	p.bad("Rows of "+why, func() error {
		return c.Rows(p.ctx, u, []int{0}, [][2]int{{0, 1}}, [][]float32{poisoned(p, 1)})
	})
}

func denseAccess(p *program) {
	rows, cols := pick(p, 1, 2, 5), pick(p, 1, 3, 9)
	d := engine.NewDense(rows, cols)
	for i := range d.Data {
		d.Data[i] = float32(i)
	}
	p.good("a value", func() error {
		i, j := p.IntN(rows), p.IntN(cols)
		if v := d.At(i, j); v != float64(i*cols+j) || v != float64(d.Row(i)[j]) || v != d.T().At(j, i) {
			p.fails("value %d, %d is %v", i, j, v)
		}
		d.Dims()
		return nil
	})
	i, j := p.outside(rows), p.outside(cols)
	p.bad(fmt.Sprint("value ", i, ", 0 of ", rows, "×", cols), func() error { d.At(i, 0); return nil })
	p.bad(fmt.Sprint("value 0, ", j, " of ", rows, "×", cols), func() error { d.At(0, j); return nil })
	p.bad(fmt.Sprint("row ", i, " of ", rows), func() error { d.Row(i); return nil })
	p.bad(fmt.Sprint("value ", j, ", 0 of the transpose"), func() error { d.T().At(j, 0); return nil })
	p.quiet("of the zero value", func() { (&engine.Dense{}).T().Dims() })
	p.quiet("row of the zero value", func() { (&engine.Dense{}).Row(0) })
	short := &engine.Dense{Rows: 2, Cols: 2, Data: make([]float32, 3)}
	p.bad("a value that isn't there", func() error { short.At(1, 1); return nil })
	p.bad("a row that isn't there", func() error { short.Row(1); return nil })
}

func symmetricAccess(p *program) {
	n := pick(p, 1, 2, 5)
	s := p.symmetric(n)
	p.good("a value", func() error {
		i, j := p.IntN(n), p.IntN(n)
		if v := s.At(i, j); v != s.At(j, i) || v != float64(s.Row(i)[j]) || v != s.T().At(i, j) {
			p.fails("value %d, %d is %v", i, j, v)
		}
		return nil
	})
	i := p.outside(n)
	p.bad(fmt.Sprint("value ", i, ", 0 of ", n), func() error { s.At(i, 0); return nil })
	p.bad(fmt.Sprint("value 0, ", i, " of ", n), func() error { s.At(0, i); return nil })
	p.bad(fmt.Sprint("row ", i, " of ", n), func() error { s.Row(i); return nil })
	p.quiet("of the zero value", func() { (&engine.Symmetric{}).T().Dims(); (&engine.Symmetric{}).SymmetricDim() })
}

func newDense(p *program) {
	rows, cols := p.IntN(5), p.IntN(5)
	p.good(fmt.Sprint(rows, cols), func() error { engine.NewDense(rows, cols); return nil })
	r, c := pick(p, -1, math.MinInt, math.MaxInt, 1<<32), pick(p, -1, 3, math.MaxInt, 1<<32, 1<<31)
	p.bad(fmt.Sprint(r, "×", c), func() error { engine.NewDense(r, c); return nil })
}
