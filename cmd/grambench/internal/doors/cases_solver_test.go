package doors

import (
	"fmt"
	"math"

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
		"solver.Training.Groups":          {run: groups},
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
