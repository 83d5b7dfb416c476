package doors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"
)

func engineCases() map[string]testCase {
	return map[string]testCase{
		"engine.Cached.Diagonal":      {run: cachedRows},
		"engine.Cached.Matrix":        {run: cachedRows},
		"engine.Cached.Ready":         {run: cachedRows},
		"engine.Cached.Rows":          {run: cachedRows},
		"engine.Dense.At":             {run: denseAccess, index: true, panics: true},
		"engine.Dense.Dims":           {run: denseAccess, index: true, panics: true},
		"engine.Dense.Row":            {run: denseAccess, index: true, panics: true},
		"engine.Dense.T":              {run: denseAccess, index: true, panics: true},
		"normal.DeviationError.Error": messages(&engine.DeviationError{}),
		"engine.Engine.Cached":        {run: cachedOptions},
		"engine.Engine.Close":         {run: engineClose},
		"engine.Engine.Cross":         {run: cross},
		"engine.Engine.CrossTiles":    {run: cross},
		"engine.Engine.CrossTilesBy":  {run: cross},
		"engine.Engine.CrossTilesBytes": {run: func(p *program) {
			e, _ := p.engineOf(p.kernel())
			r, v := p.odd(), int64(p.odd())
			p.quiet(fmt.Sprint(r, v), func() { e.CrossTilesBytes(r, v) })
		}},
		"engine.Engine.CrossTo":         {run: cross},
		"engine.Engine.Digest":          {run: gram},
		"engine.Engine.Gram":            {run: gram},
		"engine.Engine.GramTo":          {run: gram},
		"engine.Engine.Neighbours":      {run: neighbours},
		"engine.Engine.CrossNeighbours": {run: neighbours},
		"engine.Engine.Multiply":        {run: multiply},
		"engine.Engine.CrossMultiply":   {run: multiply},
		"engine.Engine.Rectangle":       {run: multiply},
		"engine.Rectangle.Multiply":     {run: multiply},
		"engine.Rectangle.Pass":         {run: multiply},
		"engine.Engine.MultiplyBytes": {run: func(p *program) {
			e, _ := p.engineOf(p.kernel())
			v := p.odd()
			p.quiet(fmt.Sprint(v), func() { e.MultiplyBytes(v) })
		}},
		"engine.Rectangle.PassBytes": {run: func(p *program) {
			v := p.odd()
			p.quiet(fmt.Sprint("of the zero value, ", v), func() { new(engine.Rectangle).PassBytes(v) })
			k := p.kernel()
			e, x := p.engineOf(k)
			r, err := e.Rectangle(k, x, 0)
			if err == nil {
				p.quiet(fmt.Sprint(v), func() { r.PassBytes(v) })
			}
		}},
		"engine.Engine.Pairs":       {run: neighbours},
		"engine.Engine.PairsWithin": {run: neighbours},
		"engine.Neighbours.Of":      {run: neighbours, index: true, panics: true},
		"engine.NeighboursBytes": {run: func(p *program) {
			n, k := p.odd(), p.odd()
			p.quiet(fmt.Sprint(n, k), func() { engine.NeighboursBytes(n, k) })
		}},
		"engine.Engine.Rows":         {run: engineRows},
		"engine.Engine.Stripes":      {run: stripes},
		"engine.Engine.Tiles":        {run: engineTiles},
		"engine.Engine.ZeroDiagonal": {run: gram},
		"engine.Matrix.Rows":         {run: cachedRows},
		"engine.New":                 {run: newEngine},
		"engine.NewBytes": {run: func(p *program) {
			r, c, v := p.odd(), p.odd(), int64(p.odd())
			p.quiet(fmt.Sprint(r, c, v), func() { engine.NewBytes(r, c, v) })
		}},
		"engine.NewContext":             {run: newEngine},
		"engine.NewDense":               {run: newDense, panics: true},
		"engine.NewReference":           {run: reference, index: true, panics: true},
		"engine.Options.Device":         {run: engineDevice},
		"engine.Options.Progress":       {run: engineProgress},
		"engine.Options.StripesBytes":   {run: stripesBytes},
		"kernel.PanicError.Error":       messages(&engine.PanicError{}, &engine.PanicError{Value: errors.New("x")}),
		"kernel.PanicError.Unwrap":      messages(&engine.PanicError{}),
		"engine.Ready.Close":            {run: cachedRows},
		"engine.Reference.C":            {run: reference, index: true, panics: true},
		"engine.Reference.Norm":         {run: reference, index: true, panics: true},
		"engine.Reference.Resolve":      {run: reference, index: true, panics: true},
		"engine.Reference.Row":          {run: reference, index: true, panics: true},
		"engine.Reference.Value":        {run: reference, index: true, panics: true},
		"normal.SpreadError.Error":      messages(&engine.SpreadError{}),
		"engine.Symmetric.At":           {run: symmetricAccess, index: true, panics: true},
		"engine.Symmetric.Dims":         {run: symmetricAccess, index: true, panics: true},
		"engine.Symmetric.Row":          {run: symmetricAccess, index: true, panics: true},
		"engine.Symmetric.SymmetricDim": {run: symmetricAccess, index: true, panics: true},
		"engine.Symmetric.T":            {run: symmetricAccess, index: true, panics: true},
	}
}

// dense is a matrix in guarded memory, full of NaN.
func (p *program) dense(rows, cols int) *engine.Dense {
	return &engine.Dense{Rows: rows, Cols: cols, Data: poisoned(p, rows*cols)}
}

// agrees checks values of row i of a Gram matrix against the reference.
func (p *program) agrees(call string, r *engine.Reference, k engine.Kernel, i int, columns []int, row []float32) {
	k = r.Resolve(k)
	if len(row) != len(columns) {
		p.fails("%s: %d values, expected %d", call, len(row), len(columns))
		return
	}
	for n, j := range columns {
		c, x, y := r.C(i, j), r.Norm(i), r.Norm(j)
		if want := k.Eval(c, x, y); !engine.Within(k, float64(row[n]), want, c, x, y) {
			p.fails("%s: %v of documents %d and %d is %v, expected %v", call, k, i, j, row[n], want)
			return
		}
	}
}

func count(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

// noNorms is how documents are broken for kernels that look at norms alone.
const noNorms = "no norms"

// brokenEmbedded draws documents that were tampered with, and says how.
func (p *program) brokenEmbedded(e sparse.Embedding) (*sparse.Embedded, string) {
	return p.brokenBy(e.Fit(p.documents()))
}

// brokenBy is brokenEmbedded by an embedder.
func (p *program) brokenBy(f *sparse.Embedder) (*sparse.Embedded, string) {
	made, err := f.Transform(p.matrixOf(pick(p, 3, 9, 40), pick(p, 9, 60)))
	if err != nil {
		panic(err)
	}
	x, m := *made, clone(&made.CSR)
	x.Norms, x.Raw = slices.Clone(x.Norms), slices.Clone(x.Raw)
	k := p.IntN(len(m.Terms))
	why := ""
	switch p.IntN(12) {
	case 0:
		x.Embedder, why = nil, "no embedder"
	case 1:
		x.Norms, why = x.Norms[:len(x.Norms)-1], "a norm short"
	case 2:
		x.Norms, why = nil, noNorms
	case 3:
		x.Norms[p.IntN(len(x.Norms))], why = p.notFinite(), "a norm that isn't finite"
	case 4:
		x.Norms[p.IntN(len(x.Norms))], why = -1, "a norm below 0"
	case 5:
		x.Norms[p.IntN(len(x.Norms))], why = 1e30, "a norm of 1e30"
	case 6:
		m.Values[k], why = float32(p.notFinite()), "a value that isn't finite"
	case 7:
		m.Terms[k], why = pick(p, uint32(m.Cols), math.MaxUint32), "a term that is no column"
	case 8:
		m.Values, why = m.Values[:len(m.Values)-1], "a value short"
	case 9:
		m.Offsets, why = nil, "no offsets"
	case 10:
		m.Offsets[len(m.Offsets)-1], why = math.MaxInt64, "an offset of 2⁶³-1"
	case 11:
		m.Offsets[1], why = pick(p, int64(-1), math.MaxInt64), "an offset out of order"
	}
	x.CSR = *m
	return &x, why
}

func newEngine(p *program) {
	x := p.embedded(p.embedding(), p.matrix())
	opt := p.engineOptions()
	try := func(x *sparse.Embedded, opt engine.Options) func() error {
		return func() error {
			e, err := engine.NewContext(p.ctx, x, opt)
			if err == nil {
				err = e.Close()
			}
			return err
		}
	}
	p.any(fmt.Sprintf("%d documents, %+v", x.Rows(), opt), try(x, opt))
	if b, why := p.brokenEmbedded(p.embedding()); why != noNorms {
		p.bad("of documents with "+why, try(b, opt))
	}
	p.any("of the zero value", try(&sparse.Embedded{}, opt))
	p.bad("of nil", try(nil, opt))
	if x.Rows() > 0 {
		p.bad("of an instruction set that there isn't", try(x, engine.Options{ISA: pick(p, "none", "AVX2")}))
		p.any("of any options", try(x, engine.Options{Workers: pick(p, -1, math.MinInt, 3),
			MemoryBytes: int64(p.odd()), HeadTerms: p.odd()}))
		p.bad("in a byte", try(x, engine.Options{MemoryBytes: 1}))
		p.bad("in less than nothing", try(x, engine.Options{MemoryBytes: -1}))
		p.any("of fewer workers than none", try(x, engine.Options{Workers: -1}))
	}
}

func engineClose(p *program) {
	e, _ := p.engineOf(p.kernel())
	k := engine.MustParseKernel("diffusion:t=1")
	c := p.cached(e)
	p.good("once", e.Close)
	p.good("twice", e.Close)
	p.bad("then Gram", func() error { _, err := e.Gram(p.ctx, k); return err })
	p.bad("then GramTo", func() error {
		return e.GramTo(p.ctx, k, &engine.Symmetric{N: e.Len(), Data: poisoned(p, e.Len()*e.Len())})
	})
	p.bad("then Rows", func() error { return e.Rows(p.ctx, k, []int{0}, p.dense(1, e.Len())) })
	p.bad("then Stripes", func() error { return e.Stripes(p.ctx, k, func(int, *engine.Dense) error { return nil }) })
	p.bad("then Tiles", func() error { return e.Tiles(p.ctx, func(*engine.Tile) error { return nil }) })
	p.bad("then Cached", func() error {
		return c.Rows(p.ctx, k, []int{0}, [][2]int{{0, 1}}, [][]float32{poisoned(p, 1)})
	})
	p.bad("then Build", func() error { return c.Build(p.ctx) })
}

// unsuited are kernels that an engine of documents refuses.
func (p *program) unsuited(of engine.Kernel) (engine.Kernel, string) {
	if p.chance(3) {
		return nil, "nil"
	}
	for {
		if k := p.kernel(); k.Embedding() != of.Embedding() {
			return k, k.String()
		}
	}
}

func (p *program) kernelOrOwn() engine.Kernel {
	if !p.chance(4) {
		return p.kernel()
	}
	k, err := engine.NewKernel(engine.Custom{Name: "own", Eval: func(c, x, y float64) float64 { return 1 - c/2 }})
	if err != nil {
		panic(err)
	}
	return k
}

// panicking is a kernel whose functions panic, after some calls.
func (p *program) panicking() engine.Kernel {
	k, err := engine.NewKernel(engine.Custom{Name: "panicking", Properties: engine.Properties{UsesNorms: true},
		Eval: func(c, x, y float64) float64 { return 1 - c },
		Row:  func(dst, c []float32, x float32, y []float32) { panic(ownPanic) }})
	if err != nil {
		panic(err)
	}
	return k
}

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

// defined checks that values aren't NaN; some kernels are beyond float32 for some documents.
func (p *program) defined(call string, k engine.Kernel, values []float32) {
	for i, v := range values {
		if v != v {
			p.fails("%s: value %d of %v is NaN without an error", call, i, k)
			return
		}
	}
}

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

func reference(p *program) {
	k := p.kernel()
	x := p.embedded(k.Embedding(), p.documents())
	r := engine.NewReference(x)
	n := r.Len()
	i, j := p.IntN(n), p.IntN(n)
	k = r.Resolve(k)
	row := poisoned64(p, n)
	p.good(fmt.Sprint(k, " of ", i, ", ", j), func() error {
		c := r.C(i, j)
		if c != r.C(j, i) || !(c >= 0) {
			p.fails("C of %d, %d is %v", i, j, c)
		}
		if v := r.Value(k, i, j); v != v {
			p.fails("%v of documents %d and %d is NaN", k, i, j)
		}
		err := r.Row(p.ctx, i, row)
		if err == nil && !(math.Abs(row[j]-c) <= 1e-9) {
			p.fails("c of %d, %d is %v in its row, expected %v", i, j, row[j], c)
		}
		return err
	})
	o := p.outside(n)
	p.bad(fmt.Sprint("C of ", o, " of ", n), func() error { r.C(o, 0); return nil })
	p.bad(fmt.Sprint("C with ", o, " of ", n), func() error { r.C(0, o); return nil })
	p.bad(fmt.Sprint("Norm of ", o, " of ", n), func() error { r.Norm(o); return nil })
	p.bad(fmt.Sprint("Value of ", o, " of ", n), func() error { r.Value(k, o, 0); return nil })
	p.bad(fmt.Sprint("Row of ", o, " of ", n), func() error { return r.Row(p.ctx, o, row) })
	p.bad("Row into a value short", func() error { return r.Row(p.ctx, i, row[:n-1]) })
	p.bad("Row into a value long", func() error { return r.Row(p.ctx, i, poisoned64(p, n+1)) })
	p.bad("of nil", func() error { engine.NewReference(nil); return nil })
	b, why := p.brokenEmbedded(k.Embedding())
	p.quiet("of documents with "+why, func() { engine.NewReference(b) })
}

func stripesBytes(p *program) {
	n := p.odd()
	p.any(fmt.Sprint(n), func() error { _, err := (engine.Options{}).StripesBytes(n); return err })
	p.bad("of an instruction set that there isn't", func() error {
		_, err := (engine.Options{ISA: "none"}).StripesBytes(5)
		return err
	})
}

func engineProgress(p *program) {
	k := p.kernel()
	x := p.embedded(k.Embedding(), p.documents())
	e, err := engine.New(x, engine.Options{Progress: func(engine.Progress) { panic(ownPanic) }})
	if err != nil {
		p.fails("%v", err)
		return
	}
	p.bad("that panics, Gram", func() error { _, err := e.Gram(p.ctx, k); return err })
	p.bad("that panics, Stripes", func() error {
		return e.Stripes(p.ctx, k, func(int, *engine.Dense) error { return nil })
	})
}

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
