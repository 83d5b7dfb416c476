package doors

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/solver"
)

func fitSigmoid(p *program) {
	n := 1 + p.IntN(30)
	decisions, positive := make([]float64, n), make([]bool, n)
	for i := range decisions {
		decisions[i], positive[i] = p.NormFloat64(), p.chance(2)
	}
	try := func(decisions []float64, positive []bool) func() error {
		return func() error {
			s, err := solver.FitSigmoid(decisions, positive)
			if err != nil {
				return err
			}
			finite(p, "sigmoid", []float64{s.A, s.B})
			for _, f := range []float64{0, 1e300, -1e300, math.Inf(1), math.Inf(-1), 1} {
				if v := s.Probability(f); !(v >= 0 && v <= 1) && !(math.IsInf(f, 0) && s.A == 0) {
					p.fails("the probability of %v by %v is %v", f, s, v)
				}
			}
			return nil
		}
	}
	p.good(fmt.Sprint(n, " decisions"), try(decisions, positive))
	same := make([]float64, n)
	p.good("decisions that are all the same", try(same, positive))
	for i := range same {
		same[i] = pick(p, 1e308, -1e308, 1e-308, 0)
	}
	p.any("huge decisions", try(same, positive))
	p.bad("a sign short", try(append(slices.Clone(decisions), 1), positive))
	p.bad("a sign long", try(decisions, append(slices.Clone(positive), true)))
	if n > 0 {
		same[0] = p.notFinite()
		p.bad("a decision that isn't finite", try(same, positive))
	}
	p.quiet("any sigmoid", func() { solver.Sigmoid{A: p.strange(), B: p.strange()}.Probability(p.strange()) })
}

func machineDecide(p *program) {
	n := p.IntN(9)
	m := &solver.Machine{Support: count(n), Coef: p.targets(n), Rho: 1}
	row := poisoned(p, n)
	for i := range row {
		row[i] = 1
	}
	p.good("good", func() error { finite(p, "decision", []float64{m.Decide(row)}); return nil })
	p.bad("a value long", func() error { m.Decide(append(slices.Clone(row), 1)); return nil })
	if n > 0 {
		p.bad("a value short", func() error { m.Decide(row[:n-1]); return nil })
	}
}

// trained is a classifier of n documents.
func (p *program) trained(n int) *solver.Classifier {
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i % 3
	}
	c, err := solver.Train(p.ctx, p.gramOf(n), solver.Training{Labels: labels, Classes: 3,
		Scheme: pick(p, solver.OneVsOne, solver.OneVsRest)}, solver.Options{})
	if err != nil {
		panic(err)
	}
	return c
}

func thresholds(p *program) {
	n, labels := 1+p.IntN(20), 1+p.IntN(4)
	decisions, sets, parts := make([][]float64, n), make([][]int, n), make([]int, n)
	for i := range n {
		decisions[i], sets[i], parts[i] = p.targets(labels), []int{p.IntN(labels)}, p.IntN(3)
	}
	var t *solver.Thresholds
	p.good("TuneThresholds", func() (err error) {
		t, _, err = solver.TuneThresholds(decisions, sets, parts)
		if err == nil {
			finite(p, "thresholds", t.Above)
		}
		return err
	})
	tune := func(d [][]float64, s [][]int, f []int) func() error {
		return func() error { _, _, err := solver.TuneThresholds(d, s, f); return err }
	}
	p.bad("TuneThresholds of nothing", tune(nil, nil, nil))
	p.bad("TuneThresholds, a part short", tune(decisions, sets, parts[:n-1]))
	p.bad("TuneThresholds, a set short", tune(decisions, sets[:n-1], parts))
	p.bad("TuneThresholds, a label beyond", tune(decisions, append(slices.Clone(sets[:n-1]), []int{labels}), parts))
	p.bad("TuneThresholds, part -1", tune(decisions, sets, append(slices.Clone(parts[:n-1]), -1)))
	p.bad("TuneThresholds of NaN", tune(append(slices.Clone(decisions[:n-1]),
		slices.Repeat([]float64{math.NaN()}, labels)), sets, parts))
	if t != nil {
		p.bad("Apply to nil", func() error { return t.Apply(nil) })
		p.bad("Apply to the zero value", func() error { return t.Apply(&solver.Classifier{}) })
		c := &solver.Classifier{Scheme: solver.Labels, Classes: labels, Machines: make([]*solver.Machine, labels)}
		p.good("Apply", func() error { return t.Apply(c) })
	}
}

func classifier(p *program) {
	c := p.trained(30)
	n := len(c.Machines)
	f := p.targets(n)
	p.good("Decide", func() error {
		if k := c.Decide(f); k < 0 || k >= c.Classes {
			p.fails("class %d of %d", k, c.Classes)
		}
		return nil
	})
	labels := *c
	labels.Scheme = solver.Labels
	if c.Scheme == solver.OneVsRest {
		p.good("LabelsOf", func() error { labels.LabelsOf(nil, f); return nil })
	}
	p.quiet("LabelsOf another scheme", func() { c.LabelsOf(nil, f) })
	p.bad("Decide, a value short", func() error { c.Decide(f[:n-1]); return nil })
	p.bad("Decide, a value long", func() error { c.Decide(append(slices.Clone(f), 1)); return nil })
	p.bad("Decide, no values", func() error { c.Decide(nil); return nil })
	p.bad("LabelsOf, a value short", func() error { labels.LabelsOf(nil, f[:n-1]); return nil })
	p.bad("LabelsOf, a value long", func() error { labels.LabelsOf(nil, append(slices.Clone(f), 1)); return nil })
	p.bad("Probabilities without a sigmoid", func() error { return c.Probabilities(make([]float64, 3), f) })
	for _, m := range c.Machines {
		m.Sigmoid = &solver.Sigmoid{A: -1}
	}
	dst := poisoned64(p, c.Classes)
	p.good("Probabilities", func() error {
		err := c.Probabilities(dst, f)
		finite(p, "Probabilities", dst)
		return err
	})
	p.bad("Probabilities, a class short", func() error { return c.Probabilities(dst[:2], f) })
	p.bad("Probabilities, a class long", func() error { return c.Probabilities(make([]float64, 4), f) })
	p.bad("Probabilities, a value short", func() error { return c.Probabilities(dst, f[:n-1]) })
	for i := range f {
		f[i] = p.strange()
	}
	p.any("Probabilities of any values", func() error {
		err := c.Probabilities(dst, f)
		if err == nil {
			finite(p, fmt.Sprint("Probabilities of ", f), dst)
		}
		return err
	})
	p.quiet("Decide of any values", func() { c.Decide(f) })
	zero := &solver.Classifier{}
	p.quiet("Support of the zero value", func() { zero.Support() })
	p.quiet("Decide of the zero value", func() { zero.Decide(nil) })
	p.quiet("LabelsOf the zero value", func() { zero.LabelsOf(nil, nil) })
	p.any("Probabilities of the zero value", func() error { return zero.Probabilities(nil, nil) })
	wrong := *c
	wrong.Machines = wrong.Machines[:n-1]
	p.quiet("Decide of a classifier of fewer machines", func() { wrong.Decide(f[:n-1]) })
	p.any("Probabilities of a classifier of fewer machines", func() error { return wrong.Probabilities(dst, f[:n-1]) })
}

func predictor(p *program) {
	c := p.trained(30)
	columns := c.Support()
	table, err := asm.For(asm.Available()[p.IntN(len(asm.Available()))])
	if err != nil {
		panic(err)
	}
	if !p.good("NewPredictor", func() error { _, err := c.NewPredictor(columns, table); return err }) {
		return
	}
	p.bad("a column short", func() error { _, err := c.NewPredictor(columns[1:], table); return err })
	p.bad("a column twice", func() error {
		_, err := c.NewPredictor(append(slices.Clone(columns), columns[0]), table)
		return err
	})
	p.any("a column that there isn't", func() error {
		_, err := c.NewPredictor(append(slices.Clone(columns), p.outside(30)), table)
		return err
	})
	p.any("of the zero value", func() error { _, err := (&solver.Classifier{}).NewPredictor(nil, nil); return err })
	wrong := *c
	m := *c.Machines[0]
	wrong.Machines = append([]*solver.Machine{&m}, c.Machines[1:]...)
	m.Coef = m.Coef[:len(m.Coef)-1]
	p.bad("of a machine of a coefficient short", func() error {
		_, err := wrong.NewPredictor(columns, table)
		return err
	})
	p.any("by an empty table", func() error {
		pr, err := c.NewPredictor(columns, &asm.Kernels{})
		if err == nil {
			_, err = pr.NewSums(2)
		}
		return err
	})
}

func sums(p *program) {
	c := p.trained(30)
	columns := c.Support()
	pr, err := c.NewPredictor(columns, nil)
	if err != nil {
		panic(err)
	}
	width := pick(p, 1, 2, 16, 33)
	w := p.odd()
	p.quiet(fmt.Sprint("SumsBytes of ", w), func() { pr.SumsBytes(w) })
	w = pick(p, 0, -1, math.MinInt)
	p.bad(fmt.Sprint("NewSums of ", w), func() error { _, err := pr.NewSums(w); return err })
	p.bad("NewSums of more than there can be", func() error {
		_, err := pr.NewSums(pick(p, math.MaxInt, 1<<50))
		return err
	})
	s, err := pr.NewSums(width)
	if err != nil {
		p.fails("%v", err)
		return
	}
	values := guarded[float32](p, width*len(columns))
	for i := range values {
		values[i] = float32(p.NormFloat64())
	}
	f := poisoned64(p, len(c.Machines))
	add := func(parts ...int) func() error {
		// adds columns parts[0] to parts[1], parts[2] to parts[3], …, and asks for a result where
		// these are all

		return func() error {
			s.Start()
			for i := 0; i < len(parts); i += 2 {
				lo, hi := min(max(parts[i], 0), len(columns)), min(max(parts[i+1], 0), len(columns))
				if err := s.Add(parts[i], values[lo*width:hi*width]); err != nil {
					return err
				}
			}
			return nil
		}
	}
	all := len(columns)
	p.good(fmt.Sprint("all columns, width ", width), func() error {
		s.Start()
		for first := 0; first < all; {
			n := 1 + p.IntN(all-first)
			if err := s.Add(first, values[first*width:(first+n)*width]); err != nil {
				return err
			}
			first += n
		}
		err := s.Result(p.IntN(width), f)
		finite(p, "result", f)
		return err
	})
	rows := guarded[float32](p, width*all)
	p.good("AddRows", func() error {
		s.Start()
		if err := s.AddRows(rows, width); err != nil {
			return err
		}
		return s.Result(p.IntN(width), f)
	})
	for what, objects := range map[string]int{
		"an object too many": width + 1, "fewer than no objects": -1, "no numbers": math.MaxInt,
	} {
		p.bad("AddRows, "+what, func() error { s.Start(); return s.AddRows(rows, objects) })
	}
	if all > 0 {
		p.bad("AddRows, a value short", func() error { s.Start(); return s.AddRows(rows[1:], width) })
	}
	p.bad("columns that are left out", add(1, all))
	p.bad("columns left out in the middle", add(0, 1, 2, all))
	p.bad("columns twice", add(0, all, 0, all))
	p.bad("columns out of order", add(1, all, 0, 1))
	first := p.outside(all)
	p.bad(fmt.Sprint("columns from ", first), func() error { s.Start(); return s.Add(first, values[:width]) })
	p.bad("columns beyond the last", func() error {
		if err := add(0, all)(); err != nil {
			return nil
		}
		return s.Add(all, values[:width])
	})
	if width > 1 {
		p.bad("a part of a column", func() error { s.Start(); return s.Add(0, values[:width+1]) })
	}
	result := func(r int, dst []float64) func() error {
		return func() error {
			if err := add(0, all)(); err != nil {
				p.fails("%v", err)
			}
			return s.Result(r, dst)
		}
	}
	p.good("a result", result(0, f))
	p.bad("a result before all columns", func() error {
		s.Start()
		if err := s.Add(0, values[:width]); err != nil {
			p.fails("%v", err)
		}
		return s.Result(0, f)
	})
	r := p.outside(width)
	p.bad(fmt.Sprint("the result of object ", r), result(r, f))
	p.bad("a result short", result(0, f[1:]))
	p.bad("a result long", result(0, append(slices.Clone(f), 1)))
}
