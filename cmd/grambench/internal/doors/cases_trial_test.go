package doors

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/solver"
)

func trial(p *program) {
	n := pick(p, 6, 12, 40)
	classes := pick(p, 2, 3)
	labels, parts := make([]int, n), make([]int, n)
	for i := range labels {
		labels[i], parts[i] = i%classes, i/classes%2
	}
	m, opt := p.gramOf(n), p.solverOptions()
	good := solver.Trial{Labels: labels, Classes: classes, Scheme: pick(p, solver.OneVsOne, solver.OneVsRest),
		Parts: parts}
	if p.chance(3) {
		good.Labels, good.Scheme, good.Sets = nil, solver.Labels, make([][]int, n)
		for i := range good.Sets {
			good.Sets[i] = []int{labels[i]}
		}
	}
	pars := []solver.Parameters{{C: 1}, {C: 10}}
	var result []*solver.Validation
	try := func(t solver.Trial, m solver.Matrix, pars []solver.Parameters, start []solver.WarmStart,
		opt solver.Options) func() error {
		return func() error {
			v, err := t.Validate(p.ctx, m, pars, start, opt)
			for _, v := range v {
				for _, c := range v.Fits {
					p.soundAll("Validate", c, n)
				}
			}
			result = v
			return err
		}
	}
	if !p.good(fmt.Sprintf("%+v", good), try(good, m, pars, nil, opt)) {
		return
	}
	first := result
	p.good("from a start", try(good, m, pars, []solver.WarmStart{{Of: first[0], By: 2}, {Of: first[1], By: -1}}, opt))
	p.bad("from nothing", try(good, m, pars, []solver.WarmStart{{Of: nil, By: 1}}, opt))
	p.bad("from the zero value", try(good, m, pars, []solver.WarmStart{{Of: &solver.Validation{}, By: 1}}, opt))
	p.bad("from a multiple that isn't finite", try(good, m, pars, []solver.WarmStart{{Of: first[0],
		By: p.notFinite()}}, opt))
	p.any("no parameters", try(good, m, nil, nil, opt))
	p.bad("no matrix", try(good, nil, pars, nil, opt))
	bad, why := p.badParameters()
	p.bad(why, try(good, m, []solver.Parameters{bad}, nil, opt))
	worse, why := p.badOptions()
	p.bad(why, try(good, m, pars, nil, worse))
	t := good
	t.Parts = parts[:n-1]
	p.bad("a part short", try(t, m, pars, nil, opt))
	t.Parts = slices.Clone(parts)
	t.Parts[0] = pick(p, -2, math.MinInt)
	p.bad("a part below -1", try(t, m, pars, nil, opt))
	t.Parts[0] = pick(p, math.MaxInt, 1<<40)
	p.bad("a part beyond all", try(t, m, pars, nil, opt))
	t.Parts = make([]int, n)
	p.bad("one part", try(t, m, pars, nil, opt))
	for i := range t.Parts {
		t.Parts[i] = -1
	}
	p.any("no parts", try(t, m, pars, nil, opt))
	t = good
	t.Labels, t.Sets = nil, nil
	p.bad("no labels", try(t, m, pars, nil, opt))
	t.Labels, t.Sets = labels, make([][]int, n)
	p.bad("labels and sets", try(t, m, pars, nil, opt))
	t = solver.Trial{Labels: slices.Clone(labels), Classes: classes, Parts: parts}
	t.Labels[p.IntN(n)] = pick(p, classes, -2, math.MaxInt)
	p.bad("a label that there isn't", try(t, m, pars, nil, opt))
	t = good
	t.Classes = pick(p, -1, 0, 1, math.MinInt)
	p.bad(fmt.Sprint(t.Classes, " classes"), try(t, m, pars, nil, opt))
	t = good
	if t.Scheme = 9; t.Labels != nil {
		p.bad("a scheme that there isn't", try(t, m, pars, nil, opt))
	}
}

func validateRegression(p *program) {
	n := pick(p, 4, 12, 40)
	m, opt, z := p.gramOf(n), p.solverOptions(), p.targets(n)
	parts := make([]int, n)
	for i := range parts {
		parts[i] = i % 2
	}
	pars := []solver.Regression{{C: 1, Epsilon: 0.1}, {C: 10, Epsilon: 0.1}}
	var result []*solver.Estimates
	try := func(m solver.Matrix, z []float64, parts []int, pars []solver.Regression, start *solver.Estimates,
		opt solver.Options) func() error {
		return func() error {
			e, err := (&solver.RegressionTrial{Targets: z, Parts: parts}).Validate(p.ctx, m, pars, start, opt)
			for _, e := range e {
				for _, f := range e.Fits {
					p.sound("ValidateRegression", f, n)
				}
			}
			result = e
			return err
		}
	}
	if !p.good("good", try(m, z, parts, pars, nil, opt)) {
		return
	}
	first := result[0]
	p.good("from a start", try(m, z, parts, pars, first, opt))
	p.any("from the zero value", try(m, z, parts, pars, &solver.Estimates{}, opt))
	p.any("from a start of nothing", try(m, z, parts, pars, &solver.Estimates{Fits: make([]*solver.Machine, 2)}, opt))
	p.any("from a start that was changed", try(m, z, parts, pars,
		&solver.Estimates{Fits: []*solver.Machine{{Support: []int{p.outside(n)}, Coef: []float64{1}},
			{Support: []int{0}}}}, opt))
	p.bad("a target short", try(m, z[:n-1], parts, pars, nil, opt))
	p.bad("a part short", try(m, z, parts[:n-1], pars, nil, opt))
	wrong := slices.Clone(z)
	wrong[p.IntN(n)] = p.notFinite()
	p.bad("a target that isn't finite", try(m, wrong, parts, pars, nil, opt))
	odd := slices.Clone(parts)
	odd[0] = pick(p, -2, math.MinInt, math.MaxInt)
	p.bad(fmt.Sprint("part ", odd[0]), try(m, z, odd, pars, nil, opt))
	p.bad("one part", try(m, z, make([]int, n), pars, nil, opt))
	p.any("no parameters", try(m, z, parts, nil, nil, opt))
	p.bad("no matrix", try(nil, z, parts, pars, nil, opt))
	bad, why := p.badRegression()
	p.bad(why, try(m, z, parts, []solver.Regression{bad}, nil, opt))
	worse, why := p.badOptions()
	p.bad(why, try(m, z, parts, pars, nil, worse))
}

func folds(p *program) {
	n := p.IntN(30)
	labels := make([]int, n)
	for i := range labels {
		labels[i] = p.IntN(4) - 1
	}
	k := 1 + p.IntN(9)
	p.good(fmt.Sprint(n, " documents, ", k, " folds"), func() error {
		for i, f := range solver.Folds(labels, k, p.Uint64()) {
			if f < -1 || f >= k || (f == -1) != (labels[i] == -1) {
				p.fails("document %d of class %d is in fold %d of %d", i, labels[i], f, k)
			}
		}
		return nil
	})
	k = pick(p, 0, -1, math.MinInt)
	p.bad(fmt.Sprint(k, " folds"), func() error { solver.Folds(labels, k, 1); return nil })
	p.quiet("more folds than there can be", func() { solver.Folds(labels, math.MaxInt, 1) })
	wrong := append(slices.Clone(labels), pick(p, -2, math.MinInt))
	p.quiet("a class below -1", func() { solver.Folds(wrong, 3, 1) })
	wrong[n] = math.MaxInt
	p.quiet("a class beyond all", func() { solver.Folds(wrong, 3, 1) })
}
