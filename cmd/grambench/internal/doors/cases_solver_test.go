package doors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/solver"
)

func solverCases() map[string]testCase {
	return map[string]testCase{
		"solver.Classifier.Decide":        {run: classifier, panics: true},
		"solver.Classifier.LabelsOf":      {run: classifier, panics: true},
		"solver.Classifier.NewPredictor":  {run: predictor},
		"solver.Classifier.Present":       {run: validateMachines, panics: true},
		"solver.Classifier.Validate":      {run: validateMachines},
		"solver.Machine.Validate":         {run: validateMachines},
		"solver.Classifier.Probabilities": {run: classifier, panics: true},
		"solver.Classifier.Support":       {run: classifier, panics: true},
		"solver.Dense.Row":                {run: denseRows, index: true, panics: true},
		"solver.Dense.Rows":               {run: denseRows, index: true, panics: true},
		"solver.FitSigmoid":               {run: fitSigmoid, panics: true},
		"solver.Thresholds.Apply":         {run: thresholds},
		"solver.TuneThresholds":           {run: thresholds},
		"solver.Folds":                    {run: folds, panics: true},
		"solver.Machine.Decide":           {run: machineDecide, panics: true},
		"solver.Matrix.Diagonal":          {run: faultyMatrices},
		"solver.Matrix.Len":               {run: faultyMatrices},
		"solver.Matrix.Rows":              {run: faultyMatrices},
		"solver.NewDense":                 {run: newSolverDense},
		"solver.Options.DeviceScores":     {run: faultyDevices},
		"solver.Options.Progress":         {run: solverProgress},
		"solver.Pairs":                    {run: pairs, panics: true},
		"solver.Predictor.NewSums":        {run: sums, panics: true},
		"solver.Predictor.SumsBytes":      {run: sums, panics: true},
		"solver.Sigmoid.Probability":      {run: fitSigmoid, panics: true},
		"solver.Sums.Add":                 {run: sums, panics: true},
		"solver.Sums.AddRows":             {run: sums, panics: true},
		"solver.Sums.Result":              {run: sums, panics: true},
		"solver.Train": {run: func(p *program) {
			if p.chance(3) {
				trainLabels(p)
			} else {
				train(p)
			}
		}},
		"solver.TrainBinary":              {run: trainBinary},
		"solver.TrainOneClass":            {run: trainOneClass},
		"solver.TrainRegression":          {run: trainRegression},
		"solver.Trial.Validate":           {run: trial},
		"solver.RegressionTrial.Validate": {run: validateRegression},
	}
}

func validateMachines(p *program) {
	c := p.trained(30)
	p.good("a classifier", c.Validate)
	for _, m := range c.Machines {
		if m != nil && len(m.Support) > 0 {
			p.good("a machine", func() error { return m.Validate(30) })
			p.bad("a machine over nothing", func() error { return m.Validate(pick(p, 0, -1, math.MinInt)) })
		}
	}
	c.Classes = pick(p, -1, 0, c.Classes+1, math.MaxInt)
	p.bad("another number of classes", c.Validate)
	c = p.trained(30)
	c.Scheme = pick(p, solver.Scheme(-1), 7)
	p.bad("no scheme", c.Validate)
	p.quiet("classes that have machines", func() { c.Present() })
	short := &solver.Machine{Support: []int{0, 1}, Coef: []float64{1}}
	p.bad("a coefficient short", func() error { return short.Validate(30) })
}

func pairs(p *program) {
	n := p.odd()
	p.quiet(fmt.Sprint("Pairs of ", n), func() {
		for i := range solver.Pairs(n) {
			if i > 100 {
				break
			}
		}
	})
}

// gramOf draws a positive definite matrix of n documents, some of them equal.
func (p *program) gramOf(n int) *solver.Dense {
	points := make([][3]float64, n)
	for i := range points {
		if i > 0 && p.chance(6) {
			points[i] = points[p.IntN(i)]
			continue
		}
		points[i] = [3]float64{p.NormFloat64(), p.NormFloat64(), p.NormFloat64()}
	}
	data := guarded[float32](p, n*n)
	for i, a := range points {
		for j, b := range points {
			d := 0.0
			for t := range a {
				d += (a[t] - b[t]) * (a[t] - b[t])
			}
			data[i*n+j] = float32(math.Exp(-d))
		}
	}
	m, err := solver.NewDense(n, data)
	if err != nil {
		panic(err)
	}
	return m
}

// matrixSize draws a number of documents for training.
func (p *program) matrixSize() int { return pick(p, 2, 3, 5, 12, 40) }

func (p *program) solverOptions() solver.Options {
	table, err := asm.For(asm.Available()[p.IntN(len(asm.Available()))])
	if err != nil {
		panic(err)
	}
	return solver.Options{Workers: p.IntN(3), WorkingSet: pick(p, 0, 4, 8), KeepAll: p.chance(3),
		RowBytes: pick(p, int64(0), 1, 10_000), Kernels: pick(p, nil, table)}
}

// badOptions draws options that no training takes.
func (p *program) badOptions() (solver.Options, string) {
	switch p.IntN(5) {
	case 0:
		v := pick(p, math.NaN(), -1, math.Inf(1), math.Inf(-1))
		return solver.Options{Tolerance: v}, fmt.Sprint("a tolerance of ", v)
	case 1:
		v := pick(p, -1, 1, 3, 5, math.MinInt)
		return solver.Options{WorkingSet: v}, fmt.Sprint("a working set of ", v)
	case 2:
		return solver.Options{MaxIterations: -1}, "iterations below 0"
	case 3:
		return solver.Options{RowBytes: -1}, "bytes below 0"
	default:
		return solver.Options{Kernels: &asm.Kernels{}}, "an empty table"
	}
}

func (p *program) parameters() solver.Parameters {
	return solver.Parameters{C: pick(p, 0, 0.1, 1, 100), Nu: pick(p, 0, 0, 0.1, 0.3), Probabilities: p.chance(4)}
}

func (p *program) badParameters() (solver.Parameters, string) {
	switch p.IntN(3) {
	case 0:
		v := pick(p, math.NaN(), -1, math.Inf(1))
		return solver.Parameters{C: v}, fmt.Sprint("C of ", v)
	case 1:
		v := pick(p, math.NaN(), -1, 1.5, math.Inf(1))
		return solver.Parameters{Nu: v}, fmt.Sprint("nu of ", v)
	default:
		v := pick(p, math.NaN(), -1, math.Inf(1))
		return solver.Parameters{Weights: []float64{1, v}}, fmt.Sprint("a weight of ", v)
	}
}

// sound checks a machine that was trained without an error.
func (p *program) sound(call string, m *solver.Machine, n int) {
	if m == nil {
		return
	}
	if len(m.Coef) != len(m.Support) {
		p.fails("%s: %d coefficients of %d support vectors", call, len(m.Coef), len(m.Support))
	}
	finite(p, call, append([]float64{m.Rho, m.Objective, m.Gap}, m.Coef...))
	for s, i := range m.Support {
		if i < 0 || i >= n || s > 0 && i <= m.Support[s-1] {
			p.fails("%s: support vector %d is row %d of %d", call, s, i, n)
			return
		}
	}
	if m.Sigmoid != nil {
		finite(p, call, []float64{m.Sigmoid.A, m.Sigmoid.B})
	}
}

// soundAll checks all machines of a classifier.
func (p *program) soundAll(call string, c *solver.Classifier, n int) {
	for _, m := range c.Machines {
		p.sound(call, m, n)
	}
}

func newSolverDense(p *program) {
	n := p.IntN(5)
	p.good(fmt.Sprint(n), func() error { _, err := solver.NewDense(n, make([]float32, n*n)); return err })
	p.bad("a value short", func() error { _, err := solver.NewDense(3, make([]float32, 8)); return err })
	p.bad("a value long", func() error { _, err := solver.NewDense(3, make([]float32, 10)); return err })
	w := pick(p, -1, math.MinInt, 1<<32, math.MaxInt)
	p.bad(fmt.Sprint(w), func() error { _, err := solver.NewDense(w, nil); return err })
	p.bad("fewer than none, of as many values", func() error {
		_, err := solver.NewDense(-2, make([]float32, 4))
		return err
	})
}

func denseRows(p *program) {
	n := p.matrixSize()
	m := p.gramOf(n)
	p.tryRows("Dense", n, m.Rows, func(i int, columns []int, row []float32) {
		for k, j := range columns {
			if row[k] != m.Row(i)[j] {
				p.fails("value %d of row %d is %v, expected %v", j, i, row[k], m.Row(i)[j])
				return
			}
		}
	})
	o := p.outside(n)
	p.bad(fmt.Sprint("row ", o, " of ", n), func() error { m.Row(o); return nil })
}

// faultyMatrix is a matrix that breaks its promises.
type faultyMatrix struct {
	*solver.Dense
	how int
}

const faults = 10

func (f *faultyMatrix) Len() int {
	switch f.how {
	case 0:
		return -1
	case 1:
		return 0
	}
	return f.Dense.Len()
}

func (f *faultyMatrix) Diagonal() []float32 {
	d := f.Dense.Diagonal()
	switch f.how {
	case 2:
		return d[:len(d)-1]
	case 3:
		return nil
	case 4:
		d = slices.Clone(d)
		d[0] = float32(math.NaN())
	}
	return d
}

func (f *faultyMatrix) Row(i int) []float32 {
	switch f.how {
	case 5:
		return f.Dense.Row(i)[: i+1 : i+1] // a packed triangle
	case 6:
		return nil
	}
	return f.Dense.Row(i)
}

func (f *faultyMatrix) Rows(ctx context.Context, rows []int, columns [][2]int, dst [][]float32) error {
	err := f.Dense.Rows(ctx, rows, columns, dst)
	switch f.how {
	case 7:
		return errors.New("matrix: failed")
	case 8:
		for _, r := range dst {
			for j := range r {
				r[j] = float32(math.NaN())
			}
		}
	case 9:
		panic(ownPanic)
	}
	return err
}

// plainMatrix hides the rows of another.
type plainMatrix struct{ solver.Matrix }

func faultyMatrices(p *program) {
	n := pick(p, 12, 40)
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i % 2
	}
	f := &faultyMatrix{Dense: p.gramOf(n), how: p.IntN(faults)}
	var m solver.Matrix = f
	if f.how >= 7 {
		m = plainMatrix{f}
	}
	opt := p.solverOptions()
	p.bad(fmt.Sprint("fault ", f.how), func() error {
		_, err := solver.Train(p.ctx, m, solver.Training{Labels: labels, Classes: 2}, opt)
		return err
	})
	p.bad(fmt.Sprint("fault ", f.how, ", one class"), func() error {
		_, err := solver.TrainOneClass(p.ctx, m, count(n), 0.5, opt)
		return err
	})
	p.bad(fmt.Sprint("fault ", f.how, ", regression"), func() error {
		_, err := solver.TrainRegression(p.ctx, m, solver.RegressionTraining{Docs: count(n), Targets: p.targets(n),
			Regression: solver.Regression{Nu: 0.5}}, opt)
		return err
	})
	p.bad("nil", func() error {
		_, err := solver.Train(p.ctx, nil, solver.Training{Labels: labels, Classes: 2}, opt)
		return err
	})
}

// faultyDevices answers the search with nonsense. A device that only fails is tried in package
// solver.
func faultyDevices(p *program) {
	n := 12
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i % 2
	}
	how := p.IntN(6)
	for _, make := range []func([]int, int) (solver.DeviceScores, error){
		func([]int, int) (solver.DeviceScores, error) { return nil, errors.New("device: failed") },
		func([]int, int) (solver.DeviceScores, error) { return nil, nil },
		func([]int, int) (solver.DeviceScores, error) { panic(ownPanic) },
		func([]int, int) (solver.DeviceScores, error) { return &faultyScores{n: n, how: how}, nil },
	} {
		opt := p.solverOptions()
		opt.DeviceScores = make
		p.bad("a device that fails", func() error {
			_, err := solver.Train(p.ctx, p.gramOf(n), solver.Training{Labels: labels, Classes: 2}, opt)
			return err
		})
	}
}

// faultyScores claims violations where there are none, of variables that there aren't.
type faultyScores struct{ n, how int }

func (b *faultyScores) Put(score []float64, mask []byte) error { return nil }
func (b *faultyScores) Scores(score []float64) error           { return errors.New("device: no scores") }
func (b *faultyScores) Extremes(up, low byte) (int, float64, int, float64, error) {
	switch b.how {
	case 0:
		return -1, 1, 0, -1, nil
	case 1:
		return b.n, 1, 0, -1, nil
	case 2:
		return 0, math.NaN(), 1, math.NaN(), nil
	}
	return 0, 1, 1, -1, nil
}
func (b *faultyScores) Beyond(index []int32, score []float64, bit byte, way, above float64) (int, error) {
	switch b.how {
	case 3:
		return len(index) + 1, nil
	case 4:
		return -1, nil
	}
	index[0] = int32(b.n)
	return 1, nil
}
func (b *faultyScores) Pick(ctx context.Context, docs, vars []int32, dst []float32, score []float64) (int, error) {
	return 0, errors.New("device: no rows")
}
func (b *faultyScores) Add(ctx context.Context, docs []int32, by []float64, changed []int32, mask []byte) (int, error) {
	return 0, errors.New("device: no rows")
}
func (b *faultyScores) Close() error { return nil }

func solverProgress(p *program) {
	n := 40
	labels := make([]int, n)
	for i := range labels {
		labels[i] = p.IntN(3)
	}
	opt := p.solverOptions()
	opt.Progress = func(solver.Progress) { panic(ownPanic) }
	p.bad("that panics", func() error {
		_, err := solver.Train(p.ctx, p.gramOf(n), solver.Training{Labels: labels, Classes: 3}, opt)
		return err
	})
}

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
