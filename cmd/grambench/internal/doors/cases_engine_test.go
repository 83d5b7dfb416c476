package doors

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
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
		"engine.Engine.BlockTiles":    {run: gram},
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
		"engine.Engine.GramOf":          {run: gramOf},
		"engine.Engine.GramTo":          {run: gram},
		"engine.Engine.MergeNeighbours": {run: neighbourBlocks},
		"engine.Engine.NeighbourBlock":  {run: neighbourBlocks},
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
		"engine.Engine.WriteTiles":   {run: writeTiles},
		"engine.Engine.Tiles":        {run: engineTiles},
		"engine.Engine.ZeroDiagonal": {run: gram},
		"engine.Matrix.Rows":         {run: cachedRows},
		"engine.New":                 {run: newEngine},
		"engine.ScratchBytes": {run: func(p *program) {
			p.quiet("odd numbers", func() { engine.ScratchBytes(p.odd(), p.odd()) })
		}},
		"engine.NewBytes": {run: func(p *program) {
			r, c, v := p.odd(), p.odd(), int64(p.odd())
			p.quiet(fmt.Sprint(r, c, v), func() { engine.NewBytes(r, c, v) })
		}},
		"engine.NewContext":             {run: newEngine},
		"engine.NewGroups":              {run: joined, panics: true},
		"engine.Groups.Join":            {run: joined, panics: true},
		"engine.NewDense":               {run: newDense, panics: true},
		"engine.NewReference":           {run: reference, index: true, panics: true},
		"engine.Options.Device":         {run: engineDevice},
		"engine.Options.Progress":       {run: engineProgress},
		"engine.Options.StripesBytes":   {run: stripesBytes},
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

// defined checks that values aren't NaN; some kernels are beyond float32 for some documents.
func (p *program) defined(call string, k engine.Kernel, values []float32) {
	for i, v := range values {
		if v != v {
			p.fails("%s: value %d of %v is NaN without an error", call, i, k)
			return
		}
	}
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

// joined joins documents that may not be there.
func joined(p *program) {
	n, i, j := p.IntN(4)-1, p.IntN(5)-1, p.IntN(5)-1
	p.quiet(fmt.Sprint(n, i, j), func() {
		g := engine.NewGroups(n)
		g.Join(i, j)
		g.All()
	})
}
