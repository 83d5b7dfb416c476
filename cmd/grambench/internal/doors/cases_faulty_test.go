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
