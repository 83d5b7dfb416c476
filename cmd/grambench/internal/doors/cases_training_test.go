package doors

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/solver"
)

func train(p *program) {
	n := p.matrixSize()
	classes := pick(p, 2, 3, 5)
	scheme := pick(p, solver.OneVsOne, solver.OneVsRest)
	labels := guarded[int](p, n)
	for i := range labels {
		labels[i] = p.IntN(min(classes, 3)) - pick(p, 0, 0, 0, 1)
	}
	labels[0], labels[n-1] = 0, 1
	m, par, opt := p.gramOf(n), p.parameters(), p.solverOptions()
	try := func(m solver.Matrix, labels []int, classes int, scheme solver.Scheme, par solver.Parameters,
		start *solver.Classifier, opt solver.Options) func() error {
		return func() error {
			c, err := solver.Train(p.ctx, m, solver.Training{Labels: labels, Classes: classes, Scheme: scheme,
				Parameters: par, Start: start}, opt)
			if err == nil {
				p.soundAll("Train", c, n)
			}
			return err
		}
	}
	var trained *solver.Classifier
	run := p.any // ν and too few documents for probabilities are refused
	if par.Nu == 0 && !par.Probabilities {
		run = p.good
	}
	run(fmt.Sprintf("%v, %d documents of %d classes, %+v", scheme, n, classes, par), func() error {
		c, err := solver.Train(p.ctx, m, solver.Training{Labels: labels, Classes: classes, Scheme: scheme,
			Parameters: par}, opt)
		if err == nil {
			p.soundAll("Train", c, n)
			trained = c
		}
		return err
	})
	if trained != nil {
		p.good("from a start", try(m, labels, classes, scheme, solver.Parameters{C: 3}, trained, opt))
		p.any("from a start of another matrix", try(p.gramOf(2), []int{0, 1}, classes, scheme, solver.Parameters{},
			trained, opt))
		wrong := *trained
		wrong.Machines = slices.Clone(wrong.Machines)
		for k, m := range wrong.Machines {
			if m == nil {
				continue
			}
			bad := *m
			switch p.IntN(4) {
			case 0:
				bad.Support = append(slices.Clone(m.Support), p.outside(n))
			case 1:
				bad.Coef = append(slices.Clone(m.Coef), 1)
			case 2:
				bad.Coef = slices.Clone(m.Coef)
				if len(bad.Coef) > 0 {
					bad.Coef[0] = p.notFinite()
				}
			case 3:
				bad.Support = nil
			}
			wrong.Machines[k] = &bad
		}
		p.any("from a start that was changed", try(m, labels, classes, scheme, solver.Parameters{}, &wrong, opt))
		wrong.Machines = wrong.Machines[:len(wrong.Machines)-1]
		p.bad("from a start of fewer machines", try(m, labels, classes, scheme, solver.Parameters{}, &wrong, opt))
	}
	plain := solver.Parameters{}
	p.bad("a label short", try(m, labels[:n-1], classes, scheme, plain, nil, opt))
	p.bad("no labels", try(m, nil, classes, scheme, plain, nil, opt))
	wrong := slices.Clone(labels)
	wrong[p.IntN(n)] = pick(p, classes, -2, math.MinInt, math.MaxInt)
	p.bad("a label that there isn't", try(m, wrong, classes, scheme, plain, nil, opt))
	p.bad("one class", try(m, make([]int, n), classes, scheme, plain, nil, opt))
	c := pick(p, -1, 0, math.MinInt)
	p.bad(fmt.Sprint(c, " classes"), try(m, labels, c, scheme, plain, nil, opt))
	p.bad("more classes than can be", try(m, labels, pick(p, math.MaxInt, 1<<40), scheme, plain, nil, opt))
	s := pick(p, solver.Scheme(-1), solver.Labels, 9)
	p.bad(fmt.Sprint("scheme ", int(s)), try(m, labels, classes, s, plain, nil, opt))
	bad, why := p.badParameters()
	p.bad(why, try(m, labels, classes, scheme, bad, nil, opt))
	worse, why := p.badOptions()
	p.bad(why, try(m, labels, classes, scheme, plain, nil, worse))
	p.any("more weights than classes", try(m, labels, classes, scheme, solver.Parameters{Weights: make([]float64,
		classes+1)}, nil, opt))

	// Identical documents of two classes have no margin.
	ones := make([]float32, n*n)
	for i := range ones {
		ones[i] = 1
	}
	same, err := solver.NewDense(n, ones)
	if err != nil {
		panic(err)
	}
	p.any("documents that are all the same", try(same, labels, classes, scheme, par, nil, opt))
	zeros, _ := solver.NewDense(n, make([]float32, n*n))
	p.any("a matrix of zeros", try(zeros, labels, classes, scheme, par, nil, opt))
	huge := make([]float32, n*n)
	for i := range huge {
		huge[i] = pick(p, float32(math.MaxFloat32), -math.MaxFloat32, 0, 1)
	}
	for i := range n {
		for j := range i {
			huge[i*n+j] = huge[j*n+i]
		}
	}
	big, _ := solver.NewDense(n, huge)
	short := opt
	short.MaxIterations = 1000
	p.any("a matrix of huge values", try(big, labels, classes, scheme, par, nil, short))
	huge = slices.Clone(huge)
	huge[p.IntN(len(huge))] = float32(p.notFinite())
	spoilt, _ := solver.NewDense(n, huge)
	p.any("a matrix of a value that isn't finite", try(spoilt, labels, classes, scheme, par, nil, short))
}

func trainBinary(p *program) {
	n := p.matrixSize()
	m, par, opt := p.gramOf(n), p.parameters(), p.solverOptions()
	docs := p.Perm(n)[:2+p.IntN(n-1)]
	positive := make([]bool, len(docs))
	for i := range positive {
		positive[i] = p.chance(2)
	}
	positive[0], positive[1] = true, false
	try := func(m solver.Matrix, docs []int, positive []bool, par solver.Parameters, start *solver.Machine,
		opt solver.Options) func() error {
		return func() error {
			c, err := solver.TrainBinary(p.ctx, m, solver.BinaryTraining{Docs: docs, Positive: positive,
				Parameters: par, Start: start}, opt)
			if err == nil {
				p.sound("TrainBinary", c, n)
			}
			return err
		}
	}
	plain := solver.Parameters{}
	p.good("good", try(m, docs, positive, plain, nil, opt))
	p.any(fmt.Sprintf("%+v", par), try(m, docs, positive, par, nil, opt))
	p.bad("a sign short", try(m, docs, positive[:len(docs)-1], plain, nil, opt))
	p.bad("no documents", try(m, nil, nil, plain, nil, opt))
	wrong := slices.Clone(docs)
	wrong[p.IntN(len(docs))] = p.outside(n)
	p.bad(fmt.Sprint("documents ", wrong, " of ", n), try(m, wrong, positive, plain, nil, opt))
	wrong = slices.Clone(docs)
	wrong[0] = wrong[1]
	p.bad("a document twice", try(m, wrong, positive, plain, nil, opt))
	p.bad("one class", try(m, docs, make([]bool, len(docs)), plain, nil, opt))
	p.bad("no matrix", try(nil, docs, positive, plain, nil, opt))
	bad, why := p.badParameters()
	p.bad(why, try(m, docs, positive, bad, nil, opt))
	worse, why := p.badOptions()
	p.bad(why, try(m, docs, positive, plain, nil, worse))
	start := pick(p, &solver.Machine{}, &solver.Machine{Support: []int{0}}, &solver.Machine{Support: []int{n},
		Coef: []float64{1}}, &solver.Machine{Support: []int{-1}, Coef: []float64{1}},
		&solver.Machine{Support: []int{0}, Coef: []float64{math.NaN()}}, &solver.Machine{Support: []int{1, 0},
			Coef: []float64{1, 1e300}})
	p.any(fmt.Sprintf("from the start %+v", *start), try(m, docs, positive, plain, start, opt))
}

func trainLabels(p *program) {
	n := p.matrixSize()
	classes := pick(p, 1, 2, 4)
	sets := make([][]int, n)
	for i := range sets {
		sets[i] = []int{}
		for k := range classes {
			if p.chance(2) {
				sets[i] = append(sets[i], k)
			}
		}
	}
	m, opt := p.gramOf(n), p.solverOptions()
	try := func(sets [][]int, classes int, opt solver.Options) func() error {
		return func() error {
			c, err := solver.Train(p.ctx, m, solver.Training{Sets: sets, Classes: classes}, opt)
			if err == nil {
				p.soundAll("TrainLabels", c, n)
			}
			return err
		}
	}
	p.good(fmt.Sprint("of ", sets), try(sets, classes, opt))
	p.bad("a document short", try(sets[:n-1], classes, opt))
	wrong := slices.Clone(sets)
	wrong[p.IntN(n)] = pick(p, []int{classes}, []int{-1}, []int{math.MaxInt})
	p.bad(fmt.Sprint("of ", wrong), try(wrong, classes, opt))
	c := pick(p, -1, 0, math.MinInt)
	p.bad(fmt.Sprint(c, " labels"), try(sets, c, opt))
	p.any("no documents", try(make([][]int, n), classes, opt))
	worse, why := p.badOptions()
	p.bad(why, try(sets, classes, worse))
}

func trainOneClass(p *program) {
	n := p.matrixSize()
	m, opt := p.gramOf(n), p.solverOptions()
	try := func(m solver.Matrix, docs []int, nu float64, opt solver.Options) func() error {
		return func() error {
			c, err := solver.TrainOneClass(p.ctx, m, docs, nu, opt)
			if err == nil {
				p.sound("TrainOneClass", c, n)
			}
			return err
		}
	}
	p.good("good", try(m, count(n), pick(p, 0.01, 0.5, 1), opt))
	nu := pick(p, math.NaN(), 0, -1, 1.1, math.Inf(1))
	p.bad(fmt.Sprint("nu of ", nu), try(m, count(n), nu, opt))
	p.bad("no documents", try(m, nil, 0.5, opt))
	p.bad("a document that there isn't", try(m, []int{0, p.outside(n)}, 0.5, opt))
	p.bad("a document twice", try(m, []int{0, 0}, 0.5, opt))
	p.bad("no matrix", try(nil, []int{0}, 0.5, opt))
	worse, why := p.badOptions()
	p.bad(why, try(m, count(n), 0.5, worse))
}

func (p *program) targets(n int) []float64 {
	z := guarded[float64](p, n)
	for i := range z {
		z[i] = p.NormFloat64()
	}
	return z
}

func (p *program) badRegression() (solver.Regression, string) {
	r := pick(p, solver.Regression{C: -1}, solver.Regression{C: math.NaN()}, solver.Regression{C: math.Inf(1)},
		solver.Regression{Epsilon: -1}, solver.Regression{Epsilon: math.NaN()},
		solver.Regression{Epsilon: math.Inf(1)}, solver.Regression{Nu: -1},
		solver.Regression{Nu: 1.5}, solver.Regression{Nu: math.NaN()})
	return r, fmt.Sprintf("%+v", r)
}

func trainRegression(p *program) {
	n := p.matrixSize()
	m, opt, z := p.gramOf(n), p.solverOptions(), p.targets(n)
	try := func(m solver.Matrix, docs []int, z []float64, par solver.Regression, opt solver.Options) func() error {
		return func() error {
			c, err := solver.TrainRegression(p.ctx, m, solver.RegressionTraining{Docs: docs, Targets: z,
				Regression: par}, opt)
			if err == nil {
				p.sound("TrainRegression", c, n)
			}
			return err
		}
	}
	par := solver.Regression{C: pick(p, 0, 0.1, 10), Epsilon: pick(p, 0, 0.1, 100), Nu: pick(p, 0, 0.1, 1)}
	p.good(fmt.Sprintf("%+v", par), try(m, count(n), z, par, opt))
	p.bad("a target short", try(m, count(n), z[:n-1], par, opt))
	p.bad("no documents", try(m, nil, nil, par, opt))
	wrong := slices.Clone(z)
	wrong[p.IntN(n)] = p.notFinite()
	p.bad("a target that isn't finite", try(m, count(n), wrong, par, opt))
	wrong[0], wrong[n-1] = 1e308, -1e308
	for i := range wrong {
		if math.IsNaN(wrong[i]) || math.IsInf(wrong[i], 0) {
			wrong[i] = 1e308
		}
	}
	short := opt
	short.MaxIterations = 1000
	p.any("huge targets", try(m, count(n), wrong, par, short))
	p.bad("a document that there isn't", try(m, []int{0, p.outside(n)}, z[:2], par, opt))
	p.bad("a document twice", try(m, []int{0, 0}, z[:2], par, opt))
	p.bad("no matrix", try(nil, []int{0}, z[:1], par, opt))
	bad, why := p.badRegression()
	p.bad(why, try(m, count(n), z, bad, opt))
	worse, why := p.badOptions()
	p.bad(why, try(m, count(n), z, par, worse))
}
