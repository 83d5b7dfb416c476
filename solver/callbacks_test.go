package solver

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gramengine/gram/tiles"
)

// A matrix, a device or a Progress function that panics ends the training with an error, whatever
// goroutine it ran on, and leaves no device open.
func TestPanicsAreErrors(t *testing.T) {
	const n = 256
	m, x := gaussian(t, 31, n, 3, 0.3)
	defer setReportEvery(0)()
	check := func(what string, err error) {
		t.Helper()
		if failed := (*tiles.PanicError)(nil); !errors.As(err, &failed) || !errors.Is(err, errOwn) {
			t.Errorf("%s: error %v, expected a PanicError with the caller's own", what, err)
		}
	}
	for name, train := range trainersOf(n) {
		check(name+", Row", train(panicking{m}))
		check(name+", Rows", train(panickingRows{m}))
	}
	for name, train := range learnersOf(x) {
		if name == "C-SVC from near" {
			continue // its first training is C-SVC
		}
		b := &devices{m: m}
		told := 0
		_, err := train(t.Context(), m, Options{DeviceScores: b.make, Progress: func(Progress) {
			if told++; told == 3 {
				panic(errOwn)
			}
		}})
		check(name+", Progress", err)
		if b.open.Load() != 0 {
			t.Errorf("%s: %d devices are left", name, b.open.Load())
		}
	}
	labels := classes(x, 4)
	_, err := Train(
		t.Context(), m, Training{Labels: labels, Classes: 4},
		Options{Workers: 3, Progress: func(Progress) { panic(errOwn) }},
	)
	check("Train, Progress", err)

	// Whichever call of a device panics, the device is closed, and so are those of all other
	// problems.
	train := learnersOf(x)["C-SVC"]
	count := &devices{m: m}
	if _, err := train(t.Context(), m, Options{DeviceScores: count.make}); err != nil {
		t.Fatal(err)
	}
	for fail := int64(2); fail <= count.calls.Load(); fail++ {
		b := &devices{m: m, fail: fail}
		_, err := train(t.Context(), m, Options{DeviceScores: func(docs []int, copies int) (DeviceScores, error) {
			device, err := b.make(docs, copies)
			if err != nil {
				panic(errOwn)
			}
			return panickingScores{device.(*hostScores)}, nil
		}})
		check("device", err)
		if b.open.Load() != 0 {
			t.Fatalf("call %d: %d devices are left", fail, b.open.Load())
		}
	}
}

// panickingScores panics where a hostScores fails.
type panickingScores struct{ *hostScores }

func or(err error) error {
	if err != nil {
		panic(errOwn)
	}
	return nil
}

func (b panickingScores) Put(score []float64, mask []byte) error {
	return or(b.hostScores.Put(score, mask))
}
func (b panickingScores) Scores(score []float64) error { return or(b.hostScores.Scores(score)) }
func (b panickingScores) Extremes(up, low byte) (int, float64, int, float64, error) {
	i, most, j, least, err := b.hostScores.Extremes(up, low)
	return i, most, j, least, or(err)
}
func (b panickingScores) Beyond(index []int32, score []float64, bit byte, way, above float64) (int, error) {
	n, err := b.hostScores.Beyond(index, score, bit, way, above)
	return n, or(err)
}
func (b panickingScores) Pick(ctx context.Context, docs, vars []int32, dst []float32, score []float64) (int, error) {
	n, err := b.hostScores.Pick(ctx, docs, vars, dst, score)
	return n, or(err)
}
func (b panickingScores) Add(
	ctx context.Context, docs []int32, by []float64, changed []int32, mask []byte,
) (int, error) {
	n, err := b.hostScores.Add(ctx, docs, by, changed, mask)
	return n, or(err)
}

// slowScores waits, where a report asks for its scores, until another problem has gone on for some
// rounds.
type slowScores struct {
	*hostScores
	*slowDevices
	first bool
}

type slowDevices struct {
	made    atomic.Int64
	waiting chan struct{} // closed when the first device is asked for its scores
	others  chan struct{} // closed when others have gone on
	rounds  atomic.Int64  // of others since
	late    atomic.Bool
}

func (b *slowScores) Scores(score []float64) error {
	if b.first {
		b.first = false
		close(b.waiting)
		select {
		case <-b.others:
		case <-time.After(time.Minute):
			b.late.Store(true)
		}
	}
	return b.hostScores.Scores(score)
}

func (b *slowScores) Add(ctx context.Context, docs []int32, by []float64, changed []int32, mask []byte) (int, error) {
	if !b.first {
		select {
		case <-b.waiting:
			if b.rounds.Add(1) == 4 {
				close(b.others)
			}
		case <-time.After(time.Minute):
			b.late.Store(true)
		}
	}
	return b.hostScores.Add(ctx, docs, by, changed, mask)
}

// While a report brings scores from a device, or the caller takes time over one, the other workers
// go on.
func TestReportsKeepNobodyWaiting(t *testing.T) {
	const n = 300
	m, x := gaussian(t, 23, n, 4, 0.3)
	labels := classes(x, 3)
	defer setReportEvery(0)()
	b := &devices{m: m}
	slow := &slowDevices{waiting: make(chan struct{}), others: make(chan struct{})}
	_, err := Train(t.Context(), m, Training{Labels: labels, Classes: 3, Parameters: Parameters{C: 10}}, Options{
		Workers: 2, WorkingSet: 8, Progress: func(Progress) {},
		DeviceScores: func(docs []int, copies int) (DeviceScores, error) {
			own, err := b.make(docs, copies)
			if err != nil {
				return nil, err
			}
			return &slowScores{own.(*hostScores), slow, slow.made.Add(1) == 1}, nil
		}})
	if err != nil || slow.late.Load() {
		t.Errorf("error %v; no other worker went on while one brought its scores: %v", err, slow.late.Load())
	}

	var told, rounds atomic.Int64
	var late atomic.Bool
	on := make(chan struct{})
	_, err = Train(t.Context(), &counted{Dense: m, t: t, wait: func() {
		if told.Load() > 0 && rounds.Add(1) == 4 {
			close(on)
		}
	}}, Training{
		Labels: labels, Classes: 3, Parameters: Parameters{C: 10},
	}, Options{Workers: 2, WorkingSet: 8, RowBytes: 4 * n * 32, Progress: func(Progress) {
		if told.Add(1) == 1 {
			select {
			case <-on:
			case <-time.After(time.Minute):
				late.Store(true)
			}
		}
	}})
	if err != nil || late.Load() {
		t.Errorf("error %v; no other worker went on while the caller took time over a report: %v", err, late.Load())
	}
}

// Two classes with the same documents have no margin to divide by.
func TestNoMargin(t *testing.T) {
	const n = 40
	m, _ := gaussian(t, 7, n/2, 2, 1)
	signs := make([]bool, n)
	for i := range signs {
		signs[i] = i%2 == 0
	}
	ctx := context.Background()
	for name, same := range map[string]*Dense{
		"twins":    matrixOf(t, n, func(i, j int) float64 { return float64(m.Row(i / 2)[j/2]) }),
		"constant": matrixOf(t, n, func(i, j int) float64 { return 0.3 }),
		"small":    matrixOf(t, n, func(i, j int) float64 { return 1e-30 * float64(m.Row(i / 2)[j/2]) }),
		"nothing":  matrixOf(t, n, func(i, j int) float64 { return 0 }),
	} {
		for _, nu := range []float64{0.1, 0.37, 1} {
			got, err := TrainBinary(
				ctx, same, BinaryTraining{Docs: counting(n), Positive: signs, Parameters: Parameters{Nu: nu}},
				Options{},
			)
			if err == nil || !strings.Contains(err.Error(), "the margin of class 0 against 1 is 0") {
				t.Errorf("%s, ν = %v: error %v and %+v, expected that there is no margin", name, nu, err, got)
			}
		}
		labels := make([]int, n)
		for i := range labels {
			labels[i] = i % 2
		}
		trial := &Trial{Labels: labels, Classes: 2, Parts: Folds(make([]int, n/2), 2, 1)}
		trial.Parts = append(trial.Parts, trial.Parts...)
		for i := range trial.Parts {
			trial.Parts[i] = i / 2 % 2
		}
		if _, err := trial.Validate(
			ctx, same, []Parameters{{Nu: 0.4}}, nil, Options{},
		); err == nil || !strings.Contains(err.Error(), "the margin of class") {
			t.Errorf("%s: validation with error %v, expected that there is no margin", name, err)
		}
	}

	// A fold of a problem with a margin may have none: without document 0 these can't be told
	// apart. Its probabilities are numbers all the same.
	few := matrixOf(t, 12, func(i, j int) float64 {
		if i == 0 && j == 0 {
			return 5
		}
		if i == 0 || j == 0 {
			return 0
		}
		return 1
	})
	positive := make([]bool, 12)
	for i := range positive {
		positive[i] = i%2 == 0
	}
	got, err := TrainBinary(
		ctx, few,
		BinaryTraining{Docs: counting(12), Positive: positive, Parameters: Parameters{Nu: 0.88, Probabilities: true}},
		Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if s := got.Sigmoid; math.IsNaN(s.A) || math.IsNaN(s.B) {
		t.Errorf("sigmoid %+v", *s)
	}

	// Where all variables are at their bound none can move: that violates nothing, by 0 and not by
	// -Inf, which no model file has.
	got, err = TrainBinary(
		ctx, m, BinaryTraining{Docs: []int{0, 1}, Positive: []bool{true, false}, Parameters: Parameters{Nu: 1}},
		Options{},
	)
	if err != nil || got.Gap != 0 || !got.Converged {
		t.Errorf("%+v, error %v, expected a gap of 0", got, err)
	}
}

// A result beyond float64 is an error.
func TestResultIsFinite(t *testing.T) {
	for what, m := range map[string]*Machine{
		"coefficient": {
			Support: []int{3}, Coef: []float64{math.Inf(1)},
		}, "rho": {Rho: math.NaN()}, "objective": {Objective: math.Inf(-1)}, "gap": {Gap: math.Inf(1)},
	} {
		if m.finite() == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if err := (&Machine{
		Support: []int{3}, Coef: []float64{1}, Rho: 1e308, Objective: 1e308, Gap: 1e308,
	}).finite(); err != nil {
		t.Error(err)
	}
}
