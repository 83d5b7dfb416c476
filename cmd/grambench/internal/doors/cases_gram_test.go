package doors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

func gram(p *program) {
	k := p.kernelOrOwn()
	e, x := p.engineOf(k)
	r := engine.NewReference(x)
	n := e.Len()
	p.good(fmt.Sprint("Gram of ", k, ", ", n), func() error {
		g, err := e.Gram(p.ctx, k)
		for i := 0; err == nil && i < n; i++ {
			p.agrees("Gram", r, k, i, count(n), g.Row(i))
		}
		return err
	})
	into := &engine.Symmetric{N: n, Data: poisoned(p, n*n)}
	p.good(fmt.Sprint("GramTo of ", k), func() error {
		err := e.GramTo(p.ctx, k, into)
		for i := 0; err == nil && i < n; i++ {
			p.agrees("GramTo", r, k, i, count(n), into.Row(i))
		}
		return err
	})
	block(p, e, k)
	p.good(fmt.Sprint("Digest of ", k), func() error { _, err := e.Digest(p.ctx, k); return err })
	p.good(fmt.Sprint("ZeroDiagonal of ", k), func() error { _, err := e.ZeroDiagonal(k); return err })
	wrong := *into
	wrong.Data = wrong.Data[:len(wrong.Data)-1]
	p.bad("GramTo of a matrix that lacks a value", func() error { return e.GramTo(p.ctx, k, &wrong) })
	wrong = *into
	wrong.N = p.outside(n)
	if wrong.N == n {
		wrong.N++
	}
	p.bad(fmt.Sprint("GramTo of a matrix of ", wrong.N, " instead of ", n), func() error {
		return e.GramTo(p.ctx, k, &wrong)
	})
	p.bad("GramTo of nil", func() error { return e.GramTo(p.ctx, k, nil) })
	u, why := p.unsuited(k)
	p.bad("Gram of "+why, func() error { _, err := e.Gram(p.ctx, u); return err })
	p.bad("ZeroDiagonal of "+why, func() error { _, err := e.ZeroDiagonal(u); return err })
	if own := p.panicking(); own.Embedding() == k.Embedding() {
		p.bad("Gram of a kernel that panics", func() error { _, err := e.Gram(p.ctx, own); return err })
		p.any("ZeroDiagonal of a kernel that panics", func() error { _, err := e.ZeroDiagonal(own); return err })
	}
	ended, cancel := context.WithCancel(p.ctx)
	cancel()
	p.any("Gram after the end", func() error { _, err := e.Gram(ended, k); return err })
}

func engineRows(p *program) {
	k := p.kernelOrOwn()
	e, x := p.engineOf(k)
	r := engine.NewReference(x)
	n := e.Len()
	rows := p.indices(p.IntN(2*n), n)
	dst := p.dense(len(rows), n)
	p.good(fmt.Sprint("rows ", rows, " of ", n, " of ", k), func() error {
		err := e.Rows(p.ctx, k, rows, dst)
		for i := 0; err == nil && i < len(rows); i++ {
			p.agrees("Rows", r, k, rows[i], count(n), dst.Row(i))
		}
		return err
	})
	try := func(k engine.Kernel, rows []int, dst *engine.Dense) func() error {
		return func() error { return e.Rows(p.ctx, k, rows, dst) }
	}
	wrong := append(slices.Clone(rows), p.outside(n))
	p.bad(fmt.Sprint("rows ", wrong, " of ", n), try(k, wrong, p.dense(len(wrong), n)))
	p.bad("into nil", try(k, rows, nil))
	if len(rows) > 0 {
		p.bad("into a row too few", try(k, rows, p.dense(len(rows)-1, n)))
		short := *dst
		short.Data = short.Data[:len(short.Data)-1]
		p.bad("into a matrix that lacks a value", try(k, rows, &short))
	}
	p.bad("into a row too many", try(k, rows, p.dense(len(rows)+1, n)))
	p.bad("into a column too many", try(k, []int{0}, p.dense(1, n+1)))
	p.bad("into a column too few", try(k, []int{0}, p.dense(1, n-1)))
	huge := &engine.Dense{Rows: 1 << 32, Cols: 1 << 32}
	p.bad("into a matrix of 2⁶⁴ values", try(k, rows, huge))
	u, why := p.unsuited(k)
	p.bad("of "+why, try(u, rows, dst))
}

func stripes(p *program) {
	k := p.kernelOrOwn()
	e, x := p.engineOf(k)
	r := engine.NewReference(x)
	n, next := e.Len(), 0
	p.good(fmt.Sprint(k), func() error {
		return e.Stripes(p.ctx, k, func(first int, s *engine.Dense) error {
			if first != next {
				p.fails("stripe from %d, expected %d", first, next)
			}
			for i := range s.Rows {
				p.agrees("Stripes", r, k, first+i, count(n), s.Row(i))
			}
			next = first + s.Rows
			return nil
		})
	})
	if next != n {
		p.fails("%d rows, expected %d", next, n)
	}
	p.bad("without yield", func() error { return e.Stripes(p.ctx, k, nil) })
	p.bad("that fail", func() error {
		return e.Stripes(p.ctx, k, func(int, *engine.Dense) error { return errors.New("own: failed") })
	})
	p.bad("that panic", func() error {
		return e.Stripes(p.ctx, k, func(int, *engine.Dense) error { panic(ownPanic) })
	})
	u, why := p.unsuited(k)
	p.bad("of "+why, func() error { return e.Stripes(p.ctx, u, func(int, *engine.Dense) error { return nil }) })
}

func engineTiles(p *program) {
	e, _ := p.engineOf(p.kernel())
	p.good("all", func() error {
		return e.Tiles(p.ctx, func(t *engine.Tile) error {
			for i := range t.Rows {
				finite(p, "tile", t.C[i*t.Width:i*t.Width+t.Cols])
			}
			return nil
		})
	})
	p.bad("without visit", func() error { return e.Tiles(p.ctx, nil) })
	p.bad("that fail", func() error {
		return e.Tiles(p.ctx, func(*engine.Tile) error { return errors.New("own: failed") })
	})
	p.bad("that panic", func() error { return e.Tiles(p.ctx, func(*engine.Tile) error { panic(ownPanic) }) })
}

func multiply(p *program) {
	k := p.kernelOrOwn()
	e, x := p.engineOf(k)
	n, vectors := e.Len(), pick(p, 1, 3)
	if n == 0 {
		return
	}
	v, dst := mat.NewDense(n, vectors, nil), mat.NewDense(n, vectors, nil)
	for i := range n {
		v.Set(i, 0, p.Float64())
	}
	check := func(what string) {
		for _, value := range dst.RawMatrix().Data {
			if value-value != 0 {
				p.fails("%s: %v", what, value)
				return
			}
		}
	}
	call := fmt.Sprint(vectors, " vectors by ", k)
	if p.good("Multiply "+call, func() error { return e.Multiply(p.ctx, k, v, dst) }) {
		check("Multiply")
	}
	if p.good("CrossMultiply "+call, func() error { return e.CrossMultiply(p.ctx, k, x, v, dst) }) {
		check("CrossMultiply")
	}
	turn := func(int, *mat.Dense) error { return nil }
	var r *engine.Rectangle
	keep := pick[int64](p, 0, 1<<20, math.MaxInt64)
	p.good("Rectangle "+call, func() (err error) { r, err = e.Rectangle(k, x, keep); return err })
	for range 2 {
		if p.good("Pass "+call, func() error { return r.Pass(p.ctx, v, turn, dst) }) {
			check("Pass")
		}
	}
	p.good("Rectangle.Multiply "+call, func() error { return r.Multiply(p.ctx, v, dst) })
	p.bad("a negative number of bytes", func() error { _, err := e.Rectangle(k, x, -1); return err })
	p.bad("no documents", func() error { _, err := e.Rectangle(k, nil, 0); return err })
	p.bad("the zero value", func() error { return new(engine.Rectangle).Multiply(p.ctx, v, dst) })
	p.bad("a pass of the zero value", func() error { return new(engine.Rectangle).Pass(p.ctx, v, turn, dst) })
	p.bad("a pass without turn", func() error { return r.Pass(p.ctx, v, nil, dst) })
	p.bad("a pass that panics", func() error {
		return r.Pass(p.ctx, v, func(int, *mat.Dense) error { panic(ownPanic) }, dst)
	})
	long := mat.NewDense(n+1, vectors, nil)
	for what, m := range map[string][2]*mat.Dense{
		"nil vectors": {nil, dst}, "a nil destination": {v, nil}, "shared memory": {v, v},
		"a row too many": {long, dst}, "a longer destination": {v, long}, "empty ones": {new(mat.Dense), new(mat.Dense)},
	} {
		p.bad("Multiply "+what, func() error { return e.Multiply(p.ctx, k, m[0], m[1]) })
		p.bad("CrossMultiply "+what, func() error { return e.CrossMultiply(p.ctx, k, x, m[0], m[1]) })
		p.bad("Rectangle.Multiply "+what, func() error { return r.Multiply(p.ctx, m[0], m[1]) })
		p.bad("Pass "+what, func() error { return r.Pass(p.ctx, m[0], turn, m[1]) })
	}
	v.Set(n-1, vectors-1, math.NaN())
	p.bad("NaN", func() error { return r.Pass(p.ctx, v, turn, dst) })
	u, why := p.unsuited(k)
	p.bad("of "+why, func() error { return e.Multiply(p.ctx, u, dst, v) })
}

func neighbours(p *program) {
	k := p.kernelOrOwn()
	e, x := p.engineOf(k)
	n, count := e.Len(), pick(p, 1, 2, 10, 200)
	check := func(what string, near *engine.Neighbours) {
		for i := range near.Len() {
			list := near.Of(i)
			for at, v := range list {
				if int(v.Document) >= n || at > 0 && !(list[at-1].Value >= v.Value) {
					p.fails("%s: neighbour %d of document %d is %v", what, at, i, v)
					return
				}
			}
		}
	}
	opt := engine.NeighbourOptions{Count: count}
	if p.chance(2) {
		opt.Least = new(pick(p, 0, -1, 0.5, math.Inf(1), math.Inf(-1)))
	}
	call := fmt.Sprint(count, " of ", n, " by ", k)
	p.good("CrossNeighbours "+call, func() error {
		near, err := e.CrossNeighbours(p.ctx, k, x, opt)
		if err == nil {
			check("CrossNeighbours", near)
		}
		return err
	})
	if p.chance(2) {
		opt.Groups = make([]int32, n)
	}
	var near *engine.Neighbours
	if !p.good("Neighbours "+call, func() (err error) { near, err = e.Neighbours(p.ctx, k, opt); return err }) {
		return
	}
	check("Neighbours", near)
	for _, i := range []int{-1, n, p.odd()} {
		if p.door != "engine.Neighbours.Of" {
			break
		}
		p.attempt(fmt.Sprint("Of ", i), func() error { near.Of(i); return nil })
	}
	p.good("Pairs", func() error { return e.Pairs(p.ctx, k, 0, func(int, int, float32) error { return nil }) })
	p.good("PairsWithin", func() error {
		return e.PairsWithin(p.ctx, 0.5, func(i, j int, c float32) error {
			if i >= j || j >= n || !(c <= 0.5) {
				p.fails("PairsWithin: pair %d, %d of %v", i, j, c)
			}
			return nil
		})
	})
	p.bad("of no neighbours", func() error {
		_, err := e.Neighbours(p.ctx, k, engine.NeighbourOptions{Count: -p.IntN(3)})
		return err
	})
	p.bad("of too many groups", func() error {
		_, err := e.Neighbours(p.ctx, k, engine.NeighbourOptions{Count: 1, Groups: make([]int32, n+1)})
		return err
	})
	p.bad("of nil", func() error { _, err := e.CrossNeighbours(p.ctx, k, nil, opt); return err })
	p.bad("within NaN", func() error {
		return e.PairsWithin(p.ctx, math.NaN(), func(int, int, float32) error { return nil })
	})
	p.bad("at least NaN", func() error {
		return e.Pairs(p.ctx, k, math.NaN(), func(int, int, float32) error { return nil })
	})
	p.bad("without visit", func() error { return e.PairsWithin(p.ctx, 1, nil) })
	u, why := p.unsuited(k)
	p.bad("of "+why, func() error { _, err := e.Neighbours(p.ctx, u, opt); return err })
}

// block asks for blocks of the matrix, those on its diagonal among them.
func block(p *program, e *engine.Engine, k engine.Kernel) {
	n := e.Len()
	at := func() [2]int {
		lo := p.IntN(n + 1)
		return [2]int{lo, lo + p.IntN(n-lo+1)}
	}
	rows, columns := at(), [2]int{0, n}
	if c := at(); c[0] >= device.Columns {
		columns[0] = c[0] - c[0]%device.Columns
	}
	none := func(*engine.Tile) error { return nil }
	for _, rows := range [][2]int{rows, columns} {
		p.good(fmt.Sprint("BlockTiles of ", rows, " and ", columns), func() error {
			return e.BlockTiles(p.ctx, k, rows, columns, func(t *engine.Tile) error {
				for i := range t.Rows {
					for _, v := range t.C[i*t.Width:][:t.Cols] {
						if v != v {
							return fmt.Errorf("a value of %v is NaN", k)
						}
					}
				}
				return nil
			})
		})
	}
	whole := [2]int{0, n}
	p.bad("BlockTiles of rows beyond the end", func() error {
		return e.BlockTiles(p.ctx, k, [2]int{1, n + 1}, whole, none)
	})
	p.bad("BlockTiles of columns that end before they begin", func() error {
		return e.BlockTiles(p.ctx, k, whole, [2]int{0, -1}, none)
	})
	if n > 1 {
		p.bad("BlockTiles of columns from 1 on", func() error {
			return e.BlockTiles(p.ctx, k, whole, [2]int{1, n}, none)
		})
	}
	p.bad("BlockTiles without visit", func() error { return e.BlockTiles(p.ctx, k, whole, whole, nil) })
}

func cross(p *program) {
	k := p.kernelOrOwn()
	e, x := p.engineOf(k)
	n := e.Len()
	test, err := x.Embedder.Transform(p.matrix())
	if err != nil {
		p.fails("%v", err)
		return
	}
	m := test.Rows()
	dst := p.dense(m, n)
	p.good(fmt.Sprint("Cross of ", m, " and ", n, " by ", k), func() error {
		_, err := e.Cross(p.ctx, k, test)
		return err
	})
	p.good(fmt.Sprint("CrossTo of ", m, " and ", n, " by ", k), func() error {
		err := e.CrossTo(p.ctx, k, test, dst)
		if err == nil {
			p.defined("CrossTo", k, dst.Data)
		}
		return err
	})
	p.good("CrossTiles", func() error {
		return e.CrossTiles(p.ctx, k, test, func(t *engine.Tile) error {
			for i := range t.Rows {
				for j := range t.Cols {
					a, b := t.C[i*t.Width+j], dst.Row(t.Column + j)[t.First+i]
					if !(a == b || a != a && b != b) {
						p.fails("CrossTiles: %v instead of %v", a, b)
						return nil
					}
				}
			}
			return nil
		})
	})
	for _, w := range []struct {
		why string
		k   engine.Kernel
		x   *sparse.Embedded
		dst *engine.Dense
	}{
		{"of nil", k, nil, dst},
		{"of the zero value", k, &sparse.Embedded{}, p.dense(0, n)},
		{"of another embedder's documents", k, p.embedded(k.Embedding(), p.matrixOf(m, 7)), dst},
	} {
		p.bad("Cross "+w.why, func() error { _, err := e.Cross(p.ctx, w.k, w.x); return err })
		p.bad("CrossTo "+w.why, func() error { return e.CrossTo(p.ctx, w.k, w.x, w.dst) })
		p.bad("CrossTilesBy "+w.why, func() error {
			return e.CrossTilesBy(p.ctx, w.k, w.x, 2, func(*engine.Tile) error { return nil })
		})
		p.bad("CrossTiles "+w.why, func() error {
			return e.CrossTiles(p.ctx, w.k, w.x, func(*engine.Tile) error { return nil })
		})
	}
	b, why := p.brokenBy(x.Embedder)
	refuse := p.bad
	if why == noNorms && !engine.PropertiesOf(k).UsesNorms {
		refuse = func(call string, f func() error) { p.good(call, f) }
	}
	refuse("Cross of documents with "+why, func() error { _, err := e.Cross(p.ctx, k, b); return err })
	refuse("CrossTo of documents with "+why, func() error { return e.CrossTo(p.ctx, k, b, p.dense(b.Rows(), n)) })
	refuse("CrossTiles of documents with "+why, func() error {
		return e.CrossTiles(p.ctx, k, b, func(*engine.Tile) error { return nil })
	})
	p.bad("CrossTo into nil", func() error { return e.CrossTo(p.ctx, k, test, nil) })
	p.bad("CrossTo into a row too many", func() error { return e.CrossTo(p.ctx, k, test, p.dense(m+1, n)) })
	p.bad("CrossTo into a column too many", func() error { return e.CrossTo(p.ctx, k, test, p.dense(m, n+1)) })
	if m > 0 {
		short := *dst
		short.Data = short.Data[:len(short.Data)-1]
		p.bad("CrossTo into a matrix that lacks a value", func() error { return e.CrossTo(p.ctx, k, test, &short) })
	}
	p.bad("CrossTiles without visit", func() error { return e.CrossTiles(p.ctx, k, test, nil) })
	u, name := p.unsuited(k)
	p.bad("Cross by "+name, func() error { _, err := e.Cross(p.ctx, u, test); return err })
	if m > 0 {
		p.bad("CrossTiles that panic", func() error {
			return e.CrossTiles(p.ctx, k, test, func(*engine.Tile) error { panic(ownPanic) })
		})
	}
}
