package solver

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/doortest"
	"github.com/gramengine/gram/internal/musttest"
)

// filled is a matrix whose rows come from a function.
type filled struct {
	Matrix
	fill func(dst []float32) error
}

func (f filled) Rows(_ context.Context, _ []int, _ [][2]int, dst [][]float32) error {
	for _, row := range dst {
		if err := f.fill(row); err != nil {
			return err
		}
	}
	return nil
}

func TestDoors(t *testing.T) {
	const n = 12
	m, _ := gaussian(t, 31, n, 3, 0.3)
	labels, signs, targets := make([]int, n), make([]bool, n), make([]float64, n)
	parts, sets, decisions := make([]int, n), make([][]int, n), make([][]float64, n)
	for i := range n {
		labels[i], signs[i], targets[i], parts[i], sets[i] = i%3, i%2 == 0, float64(i%5), i%2, []int{i % 3}
		decisions[i] = []float64{float64(i%3 - 1), float64(i % 2), -1}
	}
	training := Training{Labels: labels, Classes: 3}
	c := musttest.Get(Train(t.Context(), m, training, Options{}))(t)
	for _, machine := range c.Machines {
		machine.Sigmoid = &Sigmoid{A: -1}
	}
	support := c.Support()
	predictor := musttest.Get(c.NewPredictor(support, asm.Best()))(t)
	sums := func() *Sums {
		s := musttest.Get(predictor.NewSums(1))(t)
		return s
	}
	full := func() *Sums {
		s := sums()
		musttest.Do(t, s.Add(0, make([]float32, len(support))))
		return s
	}
	machine := &Machine{Support: []int{0, 1}, Coef: []float64{1, -1}}
	ofLabels := func() *Classifier { return &Classifier{Scheme: Labels, Classes: 3, Machines: make([]*Machine, 3)} }
	fill := func(v float32, err error) any {
		return doortest.As[Matrix](filled{m, func(dst []float32) error {
			for j := range dst {
				dst[j] = v
			}
			return err
		}})
	}
	matrix := func(m Matrix) any { return doortest.As[Matrix](m) }
	three := make([]float64, 3)
	doortest.Run(t, doortest.Package{
		Good: []any{doortest.As[Matrix](m), m, c, machine, predictor, sums, training, asm.Best(),
			&Thresholds{Above: []float64{0, 0, 0}}, Sigmoid{A: -1}, RejectionTarget{Error: 0.1}, &Estimates{Values: targets},
			&Trial{Labels: labels, Classes: 3, Parts: parts}, &RegressionTrial{Targets: targets, Parts: parts},
			Options{MaxIterations: 1000}},
		Bad: []any{matrix(packed{m}), matrix(wide{m}), matrix(narrow{m}), matrix(sized{m, -1}), matrix(sized{m, 1 << 32}),
			matrix(panicking{m}), fill(float32(math.NaN()), nil), fill(0, errors.New("failed"))},
		Whole: []any{asm.Kernels{}},
		Calls: [][]any{
			{Train}, {TrainBinary, m, BinaryTraining{Docs: counting(n), Positive: signs}},
			{TrainRegression, m, RegressionTraining{Docs: counting(n), Targets: targets}},
			{TrainOneClass, m, OneClassTraining{Docs: counting(n), Nu: 0.5}},
			{NewDense, 2, []float32{1, 0, 0, 1}}, {Pairs}, {FitSigmoid, targets, signs},
			{TuneThresholds, decisions, sets, parts}, {Folds, labels, 3}, {FitTemperature, c, true, decisions, labels},
			{TuneRejection, []Answer{{0.9, true, 0}, {0.8, true, 1}}, RejectionTarget{Error: 0.5}}, {"RejectionTarget.Validate"},
			{"Classifier.NewPredictor", support}, {"Classifier.Decide", three}, {"Classifier.Probabilities", three, three},
			{(*Classifier).LabelsOf, ofLabels, nil, three}, {"Machine.Validate", n}, {"Machine.Decide", []float32{1, 2}},
			{"Dense.Rows", []int{1}, [][2]int{{0, n}}, [][]float32{make([]float32, n)}},
			{"Sums.Add", 0, make([]float32, len(support))}, {"Sums.AddRows", make([]float32, len(support)), 1},
			{(*Sums).Result, full, 0, make([]float64, len(c.Machines))}, {"Training.Groups", n},
			{"Thresholds.Apply", ofLabels}, {"Trial.Validate", m, []Parameters{{C: 1}}, nil},
			{"RegressionTrial.Validate", m, []Regression{{C: 1}}, nil},
		},
	})
}
