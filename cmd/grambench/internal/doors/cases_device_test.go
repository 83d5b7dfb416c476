package doors

import (
	"fmt"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

func deviceCases() map[string]testCase {
	return map[string]testCase{
		"device.Stats.Add":        {run: statsAdd},
		"device.Stats.Sub":        {run: statsAdd},
		"device.Tile.Row":         {run: tileRow, index: true, panics: true},
		"device.Tile.Cols":        sized(func(p *program) any { return &device.Tile{} }),
		"device.Power":            {run: powers, panics: true},
		"device.Program.Eval":     {run: programEval, panics: true},
		"device.Program.Holds":    {run: programHolds, panics: true},
		"device.Program.Validate": {run: programValidate},
		"device.Request.Validate": {run: requestValidate},

		"device.Mix":                      {run: mix},
		"device.Request.ValidateLeast":    {run: reductionValidate},
		"device.Request.ValidateMultiply": {run: reductionValidate},
	}
}

func tileRow(p *program) {
	b := &device.Tile{Rows: 3, Hi: 5, RowStride: 8, ColStride: 1, Value: guarded[float32](p, 24)}
	p.good("of a row", func() error {
		if n := len(b.Row(p.IntN(3))); n != 5 {
			p.fails("%d values, expected 5", n)
		}
		return nil
	})
	r := p.outside(3)
	p.bad(fmt.Sprint("of row ", r), func() error { b.Row(r); return nil })
	p.quiet("of the zero value", func() { (&device.Tile{}).Row(0) })
}

func statsAdd(p *program) {
	a, b := device.Stats{Pairs: int64(p.odd())}, device.Stats{Pairs: int64(p.odd())}
	p.quiet(fmt.Sprint(a.Pairs, b.Pairs), func() {
		sum := a
		if sum.Add(b); sum.Sub(b) != a {
			p.fails("%d and %d add to %d", a.Pairs, b.Pairs, sum.Pairs)
		}
	})
}

func powers(p *program) {
	v := p.strange()
	n := p.IntN(20)
	p.good(fmt.Sprint(v, n), func() error {
		got, want := device.Power(v, n), math.Pow(v, float64(n))
		if !(got == want || math.Abs(got-want) <= 1e-12*math.Abs(want) || got != got && want != want) &&
			math.Abs(v) > 1e-15 {
			p.fails("%v to the power of %d is %v, expected %v", v, n, got, want)
		}
		return nil
	})
	p.quiet("below 0", func() { device.Power(v, pick(p, -1, math.MinInt)) })
	p.quiet("great", func() { device.Power(v, math.MaxInt) })
}

// drawProgram draws instructions at random, which seldom make a program.
func (p *program) drawProgram() *device.Program {
	d := &device.Program{Consts: []float64{1, math.NaN()}, Norms: []func(float64) float64{math.Sqrt},
		Locals: pick(p, 0, 1, 2, -1, math.MaxInt, math.MinInt)}
	for range p.IntN(12) {
		d.Code = append(d.Code, device.Code{Op: device.Op(p.IntN(int(device.OpSelect) + 2)),
			N: pick(p, 0, 0, 0, 1, -1, math.MaxInt)})
	}
	if p.chance(2) {
		d.Tables = []device.Table{{Rows: make([][8]float32, p.IntN(3)), Bits: pick(p, uint(0), 3, 64)}}
	}
	return d
}

func programValidate(p *program) {
	if d := engine.ProgramOf(p.kernel()); d != nil {
		p.good("of a kernel's program", d.Validate)
	}
	for range 50 {
		d := p.drawProgram()
		call := fmt.Sprintf("of %+v", *d)
		if p.any(call, d.Validate) {
			for _, c := range []float32{0, 1e-30, 0.5, 1, 2} {
				p.quiet(call+", then Eval", func() { d.Eval(c, 1, 2) })
			}
		}
	}
	p.bad("of the zero value", (&device.Program{}).Validate)
	p.bad("of a function that isn't there", func() error {
		d := device.Program{Code: []device.Code{{Op: device.OpX}}, Norms: []func(float64) float64{nil}}
		return d.Validate()
	})
}

func programEval(p *program) {
	k := p.kernel()
	d := engine.ProgramOf(k)
	if d == nil {
		return
	}
	for _, c := range []float32{0, math.SmallestNonzeroFloat32, 0.25, 1, float32(math.NaN()), float32(math.Inf(1)),
		-1, 3} {
		p.quiet(fmt.Sprint(k, " of ", c), func() { d.Eval(c, p.strange(), p.strange()) })
	}
}

func programHolds(p *program) {
	d := engine.ProgramOf(p.kernel())
	x := p.embedded(p.embedding(), p.matrix())
	if d != nil {
		p.good("of good documents", func() error { d.Holds(x); return nil })
		p.quiet("of the zero value", func() { d.Holds(&sparse.Embedded{}) })
	}
}

func requestValidate(p *program) {
	x := p.embedded(p.embedding(), p.matrixOf(pick(p, 1, 9, 300), 30))
	n := x.Rows()
	good := device.Request{Docs: p.indices(p.IntN(9), n), Hi: n}
	p.good("of rows", func() error { return good.Validate(x) })
	r := good
	r.Docs = []int{0, p.outside(n)}
	p.bad(fmt.Sprint("of documents ", r.Docs, " of ", n), func() error { return r.Validate(x) })
	r = good
	r.Lo, r.Hi = pick(p, -device.Columns, 1, math.MinInt, n/device.Columns*device.Columns+device.Columns), n
	p.bad(fmt.Sprint("of columns from ", r.Lo, " of ", n), func() error { return r.Validate(x) })
	r = good
	r.Hi = pick(p, -1, n+1, math.MaxInt, math.MinInt)
	p.bad(fmt.Sprint("of columns to ", r.Hi, " of ", n), func() error { return r.Validate(x) })
	r = good
	r.Program = &device.Program{}
	p.bad("of an empty program", func() error { return r.Validate(x) })
	r = good
	r.Half, r.Docs = true, []int{0, 0}
	p.bad("of a half that has no sequence", func() error { return r.Validate(x) })
	p.bad("nil", func() error { return (*device.Request)(nil).Validate(x) })
	p.bad("of no columns", func() error { return good.Validate(nil) })
}

// mix takes any numbers, and one that is changed changes it.
func mix(p *program) {
	row, column, v := p.IntN(1<<20), p.IntN(1<<20), float32(p.strange())
	p.good(fmt.Sprint("of ", row, column, v), func() error {
		m := device.Mix(row, column, v)
		if device.Mix(row+1, column, v) == m || device.Mix(row, column+1, v) == m || device.Mix(row, column, 1-v) == m &&
			math.Float32bits(1-v) != math.Float32bits(v) {
			p.fails("another value has the same")
		}
		return nil
	})
}

func reductionValidate(p *program) {
	rows, columns, k := 1+p.IntN(9), 1+p.IntN(300), 1+p.IntN(20)
	r := &device.Request{Docs: p.indices(rows, columns), Hi: columns}
	p.good("of least values", func() error { return r.ValidateLeast(k, make([]int32, rows*k), make([]float32, rows*k)) })
	p.good("of products", func() error {
		return r.ValidateMultiply(make([]float64, columns*k), k, make([]float64, rows*k))
	})
	short := p.IntN(rows * k)
	p.bad("of less room for values", func() error {
		return r.ValidateLeast(k, make([]int32, rows*k), make([]float32, short))
	})
	p.bad("of less room for columns", func() error {
		return r.ValidateLeast(k, make([]int32, short), make([]float32, short))
	})
	p.bad("of less room for sums", func() error {
		return r.ValidateMultiply(make([]float64, columns*k), k, make([]float64, short))
	})
	p.bad("of fewer numbers", func() error {
		return r.ValidateMultiply(make([]float64, p.IntN(columns*k)), k, make([]float64, rows*k))
	})
	none := pick(p, 0, -1, math.MinInt)
	p.bad(fmt.Sprint("of ", none, " values"), func() error { return r.ValidateLeast(none, nil, nil) })
	p.bad(fmt.Sprint("of ", none, " vectors"), func() error { return r.ValidateMultiply(nil, none, nil) })
	half := *r
	half.Half = true
	p.bad("of half", func() error { return half.ValidateLeast(k, make([]int32, rows*k), make([]float32, rows*k)) })
	p.bad("of half by vectors", func() error {
		return half.ValidateMultiply(make([]float64, columns*k), k, make([]float64, rows*k))
	})
}
