package doors

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/solver"
)

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
