package doors

import (
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

func kernelCases() map[string]testCase {
	return map[string]testCase{
		"engine.Apply":            {run: apply},
		"kernel.Custom.Error":     {run: custom},
		"kernel.Custom.Eval":      {run: custom},
		"kernel.Custom.Row":       {run: custom},
		"engine.HyperbolicOf":     {run: aboutKernels},
		"kernel.Kernel.Embedding": {run: aboutKernels},
		"kernel.Kernel.Error":     {run: kernelValues},
		"kernel.Kernel.Eval":      {run: kernelValues},
		"kernel.Kernel.String":    {run: aboutKernels},
		"engine.NewKernel":        {run: custom},
		"engine.ParseKernelIn":    {run: parseKernelIn},
		"engine.ProgramOf":        {run: aboutKernels},
		"engine.PropertiesOf":     {run: aboutKernels},
		"engine.Resolve":          {run: aboutKernels},
		"engine.Tolerance":        {run: kernelValues, panics: true},
		"engine.SameKernel":       {run: sameKernels},
		"kernel.Equal":            {run: sameKernels},
		"kernel.Key":              {run: sameKernels},
		"kernel.Apply":            {run: apply},
		"kernel.C.Error":          {run: kernelValues, panics: true},
		"kernel.C.Eval":           {run: kernelValues, panics: true},
		"kernel.Caught":           {run: mapped},
		"kernel.Check":            {run: mapped},
		"kernel.HyperbolicOf":     {run: aboutKernels},
		"kernel.Map":              {run: mapped},
		"kernel.New":              {run: custom},
		"kernel.ParseIn":          {run: parseKernelIn},
		"kernel.ProgramOf":        {run: aboutKernels},
		"kernel.PropertiesOf":     {run: aboutKernels},
		"kernel.Resolve":          {run: aboutKernels},
		"kernel.Tolerance":        {run: kernelValues, panics: true},
		"kernel.UsesNorms":        {run: mapped},
		"kernel.FallsWithC":       {run: aboutKernels},
		"kernel.Within":           {run: kernelValues, panics: true},
		"engine.Within":           {run: kernelValues, panics: true},
		"kernel.Family":           {run: vary},
		"kernel.ParamOf":          {run: vary},
		"kernel.Takes":            {run: vary},
		"kernel.Vary":             {run: vary},
		"kernel.With":             {run: vary},
	}
}

// vary asks kernels for their parameters, and changes these.
func vary(p *program) {
	k, key := pick(p, nil, p.kernelOrOwn()), pick(p, "t", "gamma", "", "embed", "n")
	values := []float64{float64(p.odd()), math.NaN(), 2}
	p.quiet(fmt.Sprint(k, key, values), func() {
		kernel.Family(k)
		_, takes := kernel.Takes(k, key)
		if _, has := kernel.ParamOf(k, key); has && !takes {
			p.fails("%v has a parameter %q that it doesn't take", k, key)
		}
		for _, v := range values {
			if other, err := kernel.With(k, key, v); err == nil && kernel.Family(other) != kernel.Family(k) {
				p.fails("%v with %s = %v is %v", k, key, v, other)
			}
		}
		_, _, _ = kernel.Vary([]kernel.Kernel{k}, []kernel.List{{}, {Name: key, Values: values}})
	})
}

// apply maps tiles of c in guarded memory.
func apply(p *program) {
	k := engine.Resolve(p.kernelOrOwn(), 1+p.IntN(40))
	isa := asm.Available()[p.IntN(len(asm.Available()))]
	table, err := asm.For(isa)
	if err != nil {
		p.fails("%v", err)
		return
	}
	rows, cols := p.IntN(5), p.IntN(40)
	x, y, c, dst := guarded[float32](p, rows), guarded[float32](p, cols), guarded[float32](p, rows*cols), poisoned(p,
		rows*cols)
	for i := range x {
		x[i] = pick(p, 0, 1, float32(3+p.ExpFloat64()))
	}
	for i := range y {
		y[i] = pick(p, 0, 1, float32(3+p.ExpFloat64()))
	}
	for i := range c {
		c[i] = pick(p, 0, 1, float32(p.Float64()), float32(p.Float64()), math.SmallestNonzeroFloat32)
	}
	what := fmt.Sprintf("%v, %d×%d, %s", k, rows, cols, isa)
	p.good(what, func() error {
		err := engine.Apply(k, table, dst, c, x, y)
		for i := 0; err == nil && i < len(c); i++ {
			a, b := float64(x[i/cols]), float64(y[i%cols])
			if want := k.Eval(float64(c[i]), a, b); !engine.Within(k, float64(dst[i]), want, float64(c[i]), a, b) {
				p.fails("%s: %v for c %v and norms %v and %v, expected %v", what, dst[i], c[i], a, b, want)
				break
			}
		}
		return err
	})
	n := len(c)
	p.bad(what+": dst a value long", func() error { return engine.Apply(k, table, poisoned(p, n+1), c, x, y) })
	p.bad(what+": c a value long", func() error { return engine.Apply(k, table, dst, guarded[float32](p, n+1), x, y) })
	if n > 0 {
		p.bad(what+": dst a value short", func() error { return engine.Apply(k, table, dst[:n-1], c, x, y) })
		p.bad(what+": c a value short", func() error { return engine.Apply(k, table, dst, c[:n-1], x, y) })
		p.bad(what+": x a value short", func() error { return engine.Apply(k, table, dst, c, x[:rows-1], y) })
		p.any(what+": y a value short", func() error { return engine.Apply(k, table, dst, c, x, y[:cols-1]) })
		norms := engine.PropertiesOf(k).UsesNorms
		p.any(what+": no norms", func() error {
			err := engine.Apply(k, table, dst, c, nil, nil)
			if err == nil && norms {
				p.fails("%s: no norms, and no error", what)
			}
			return err
		})
		wrong := copied(p, c)
		wrong[p.IntN(n)] = pick(p, float32(math.NaN()), -1, 2.5, float32(math.Inf(1)))
		p.bad(what+": a c that can't be", func() error { return engine.Apply(k, table, dst, wrong, x, y) })
		wrong = copied(p, x)
		wrong[p.IntN(rows)] = pick(p, float32(math.NaN()), -1, float32(math.Inf(1)))
		p.bad(what+": a norm that can't be", func() error { return engine.Apply(k, table, dst, c, wrong, y) })
		wrong = copied(p, y)
		wrong[p.IntN(cols)] = pick(p, float32(math.NaN()), -1, float32(math.Inf(1)))
		p.bad(what+": a norm that can't be", func() error { return engine.Apply(k, table, dst, c, x, wrong) })
		p.bad("a kernel that panics", func() error { return engine.Apply(p.panicking(), table, dst, c, x, y) })
	}
	p.bad("no kernel", func() error { return engine.Apply(nil, table, dst, c, x, y) })
	p.bad("no table", func() error { return engine.Apply(k, nil, dst, c, x, y) })
	p.any("an empty table", func() error {
		return engine.Apply(k, &asm.Kernels{}, guarded[float32](p, 1), guarded[float32](p, 1),
			guarded[float32](p, 1), guarded[float32](p, 1))
	})
	if n > 1 {
		both := guarded[float32](p, n+1)
		p.bad(what+": slices that overlap", func() error { return engine.Apply(k, table, both[:n], both[1:], x, y) })
	}
}

// mapped maps tiles by the door that takes c and norms for right, which those of an engine are.
func mapped(p *program) {
	k, table := engine.Resolve(p.kernelOrOwn(), 9), asm.Best()
	rows, cols := 1+p.IntN(5), 1+p.IntN(40)
	x, y := guarded[float32](p, rows), guarded[float32](p, cols)
	c, dst := guarded[float32](p, rows*cols), poisoned(p, rows*cols)
	p.good(fmt.Sprint(k), func() error { return errors.Join(kernel.Check(k), kernel.Map(k, table, dst, c, x, y)) })
	p.bad("dst a value short", func() error { return kernel.Map(k, table, dst[1:], c, x, y) })
	p.bad("c a value short", func() error { return kernel.Map(k, table, dst, c[1:], x, y) })
	p.bad("x a value short", func() error { return kernel.Map(k, table, dst, c, x[1:], y) })
	if kernel.UsesNorms(k) {
		p.bad("no norms", func() error { return kernel.Map(k, table, dst, c, nil, nil) })
	}
	p.bad("a kernel that panics", func() error { return kernel.Map(p.panicking(), table, dst, c, x, y) })
	p.bad("no kernel", func() error { return kernel.Check(nil) })
	p.bad("what panics", func() (err error) {
		defer kernel.Caught(k, &err)
		panic(ownPanic)
	})
}

func kernelValues(p *program) {
	k := engine.Resolve(p.kernelOrOwn(), 9)
	c, x, y := p.Float64(), p.ExpFloat64(), p.ExpFloat64()
	what := fmt.Sprint(k, " of ", c, x, y)
	p.good(what, func() error {
		v, e := k.Eval(c, x, y), k.Error(c, x, y)
		if v != k.Eval(c, y, x) || v != v {
			p.fails("%s: %v and %v", what, v, k.Eval(c, y, x))
		}
		if !(e >= 0) {
			p.fails("%s: an error of %v", what, e)
		}
		if t := engine.Tolerance(k, c, x, y); !(t >= 0) {
			p.fails("%s: a tolerance of %v", what, t)
		}
		if !engine.Within(k, float64(float32(v)), v, c, x, y) {
			p.fails("%s: %v rounded isn't within its tolerance", what, v)
		}
		if engine.Within(k, math.NaN(), v, c, x, y) {
			p.fails("%s: NaN is within the tolerance of %v", what, v)
		}
		return nil
	})
	if inf := k.Eval(c, x, y) + 1; !math.IsInf(k.Error(c, x, y), 1) && engine.Within(k, math.Inf(int(-inf)),
		k.Eval(c, x, y), c, x, y) {
		p.fails("%s: an infinity is within the tolerance", what)
	}
	c, x, y = p.strange(), p.strange(), p.strange()
	what = fmt.Sprint(k, " of ", c, x, y)
	p.quiet(what, func() { k.Eval(c, x, y) })
	p.quiet(what, func() { k.Error(c, x, y) })
	p.quiet(what, func() { engine.Tolerance(k, c, x, y) })
	p.quiet(what, func() { engine.Within(k, p.strange(), p.strange(), c, x, y) })
}

func aboutKernels(p *program) {
	k := p.kernelOrOwn()
	terms := p.odd()
	p.good(fmt.Sprint(k, " with ", terms, " terms"), func() error {
		r := engine.Resolve(k, terms)
		if terms > 0 {
			if v := r.Eval(0.5, 1, 2); v != v {
				p.fails("%v of 0.5, 1, 2 is NaN", r)
			}
		}
		engine.PropertiesOf(k)
		kernel.FallsWithC(k)
		engine.HyperbolicOf(k)
		k.Embedding()
		if d := engine.ProgramOf(r); d != nil && terms > 0 {
			return d.Validate()
		}
		return nil
	})
	p.quiet("ProgramOf a kernel that panics", func() { engine.ProgramOf(p.panicking()) })
}

func sameKernels(p *program) {
	a, b := p.kernelOrOwn(), p.kernelOrOwn()
	p.good(fmt.Sprint(a, " and ", b), func() error {
		switch same := engine.SameKernel(a, b); {
		case same != engine.SameKernel(b, a), !engine.SameKernel(a, a):
			p.fails("%v and %v: SameKernel isn't an equivalence", a, b)
		case same != (kernel.Key(a) == kernel.Key(b)), same != kernel.Equal(a, b):
			p.fails("%v and %v: keys, Equal and SameKernel differ", a, b)
		}
		return nil
	})
}

func custom(p *program) {
	try := func(c engine.Custom) func() error {
		return func() error { _, err := engine.NewKernel(c); return err }
	}
	eval := func(c, x, y float64) float64 { return 1 - c }
	p.bad("of nothing", try(engine.Custom{}))
	p.bad("without a name", try(engine.Custom{Eval: eval}))
	p.bad("without Eval", try(engine.Custom{Name: "own"}))
	p.bad("of an Error without Row", try(engine.Custom{Name: "own", Eval: eval, Error: eval}))
	p.bad("that panics", try(engine.Custom{Name: "own", Eval: func(c, x, y float64) float64 { panic(ownPanic) }}))
	p.bad("that changes with norms", try(engine.Custom{Name: "own",
		Eval: func(c, x, y float64) float64 { return x * y }}))
	p.any("of an embedding that there isn't", try(engine.Custom{Name: "own", Eval: eval,
		Embedding: sparse.Embedding{Norm: 9, Power: -1}}))
	k, err := engine.NewKernel(engine.Custom{Name: "own", Eval: eval,
		Error: func(c, x, y float64) float64 { panic(ownPanic) },
		Row: func(dst, c []float32, x float32, y []float32) {
			for i, v := range c {
				dst[i] = 1 - v
			}
		}})
	if err != nil {
		p.fails("%v", err)
		return
	}
	e, _ := p.engineOf(k)
	p.any("Gram of a kernel whose bound panics", func() error { _, err := e.Gram(p.ctx, k); return err })
	nan, err := engine.NewKernel(engine.Custom{Name: "own", Properties: engine.Properties{UsesNorms: true},
		Eval: func(c, x, y float64) float64 { return math.NaN() }})
	if err == nil {
		p.any("Gram of a kernel of NaN", func() error { _, err := e.Gram(p.ctx, nan); return err })
	}
	long, err := engine.NewKernel(engine.Custom{Name: "own", Eval: eval, Row: func(dst, c []float32, x float32,
		y []float32) {
		dst[len(dst)] = 1
	}})
	if err == nil {
		p.bad("Gram of a kernel whose Row writes too much", func() error { _, err := e.Gram(p.ctx, long); return err })
		p.bad("ProgramOf such a kernel", func() error {
			var d *device.Program = engine.ProgramOf(long)
			if d == nil {
				return errors.New("engine: none")
			}
			return nil
		})
	}
}

// parseKernelIn tries embeddings; specifications are tried by FuzzParseKernel.
func parseKernelIn(p *program) {
	e := p.embedding()
	k := p.kernel()
	p.good(fmt.Sprint(k, " in ", e), func() error { _, err := engine.ParseKernelIn("linear", e); return err })
	p.any("in an embedding that there isn't", func() error {
		k, err := engine.ParseKernelIn("linear", sparse.Embedding{Norm: 9, Weighting: 9, Power: p.strange()})
		if err == nil {
			_ = k.String()
		}
		return err
	})
}
