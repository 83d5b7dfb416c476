package solver

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gramengine/gram/asm"
)

// devices makes devices on the processor, and counts those that are open and their calls.
type devices struct {
	m           *Dense
	open, calls atomic.Int64
	fail        int64 // the call that fails, 0 for none
}

var errDevice = errors.New("the device fails")

func (b *devices) next() error {
	if n := b.calls.Add(1); b.fail > 0 && n >= b.fail {
		return errDevice
	}
	return nil
}

func (b *devices) make(docs []int, copies int) (DeviceScores, error) {
	if err := b.next(); err != nil {
		return nil, err
	}
	b.open.Add(1)
	n := padded(len(docs) * copies)
	return &hostScores{
		devices: b, docs: docs, n: len(docs) * copies, score: make([]float64, n), mask: make([]byte, n), k: asm.Best(),
	}, nil
}

type hostScores struct {
	*devices
	docs  []int
	n     int // variables
	score []float64
	mask  []byte
	k     *asm.Kernels
}

func (b *hostScores) Put(score []float64, mask []byte) error {
	if len(score) != b.n || len(mask) != b.n {
		panic("another number of variables")
	}
	copy(b.score, score)
	copy(b.mask, mask)
	return b.next()
}

func (b *hostScores) Scores(score []float64) error {
	copy(score, b.score[:b.n])
	return b.next()
}

func (b *hostScores) Extremes(up, low byte) (int, float64, int, float64, error) {
	i, most, j, least := b.k.Extremes(b.score, b.mask, up, low)
	return i, most, j, least, b.next()
}

func (b *hostScores) Beyond(index []int32, score []float64, bit byte, way, above float64) (int, error) {
	room := make([]int32, len(b.score))
	n := copy(index, room[:b.k.Beyond(room, b.score, b.mask, bit, way, above)])
	for _, t := range index[:n] {
		score[t] = b.score[t]
	}
	return n, b.next()
}

func (b *hostScores) Pick(ctx context.Context, docs, vars []int32, dst []float32, score []float64) (int, error) {
	for r, d := range docs {
		if slices.Contains(docs[:r], d) {
			panic("a document twice")
		}
		for c, t := range vars {
			dst[r*len(vars)+c] = b.m.Row(b.docs[d])[b.docs[int(t)%len(b.docs)]]
		}
	}
	for _, t := range vars {
		score[t] = b.score[t]
	}
	return 0, errors.Join(ctx.Err(), b.next())
}

func (b *hostScores) Add(ctx context.Context, docs []int32, by []float64, changed []int32, mask []byte) (int, error) {
	for r, d := range docs {
		for t := range b.score[:b.n] {
			b.score[t] = math.FMA(by[r], float64(b.m.Row(b.docs[d])[b.docs[t%len(b.docs)]]), b.score[t])
		}
	}
	for i, t := range changed {
		b.mask[t] = mask[i]
	}
	return 0, errors.Join(ctx.Err(), b.next())
}

func (b *hostScores) Close() error {
	b.open.Add(-1)
	return nil
}

// learner trains a machine of some kind on a matrix.
type learner func(ctx context.Context, m Matrix, opt Options) (*Machine, error)

// learnersOf returns one learner of each kind on points, with documents left out and in another
// order.
func learnersOf(x [][]float64) map[string]learner {
	var docs []int
	for i := range x {
		if i%7 != 3 {
			docs = append(docs, i)
		}
	}
	all := noisySigns(5, x)
	signs := make([]bool, len(docs))
	targets := make([]float64, len(docs))
	for t, d := range docs {
		signs[t], targets[t] = all[d], x[d][0]*x[d][1]+0.1*x[d][2]
	}
	return map[string]learner{
		"C-SVC": func(ctx context.Context, m Matrix, opt Options) (*Machine, error) {
			return TrainBinary(
				ctx, m, BinaryTraining{Docs: docs, Positive: signs, Parameters: Parameters{C: 3, Probabilities: true}},
				opt,
			)
		},
		"C-SVC from near": func(ctx context.Context, m Matrix, opt Options) (*Machine, error) {
			near, err := TrainBinary(
				ctx, m, BinaryTraining{Docs: docs, Positive: signs, Parameters: Parameters{C: 2}}, opt,
			)
			if err != nil {
				return nil, err
			}
			return TrainBinary(
				ctx, m, BinaryTraining{Docs: docs, Positive: signs, Parameters: Parameters{C: 3}, Start: near}, opt,
			)
		},
		"nu-SVC": func(ctx context.Context, m Matrix, opt Options) (*Machine, error) {
			return TrainBinary(
				ctx, m, BinaryTraining{Docs: docs, Positive: signs, Parameters: Parameters{Nu: 0.4}}, opt,
			)
		},
		"epsilon-SVR": func(ctx context.Context, m Matrix, opt Options) (*Machine, error) {
			return TrainRegression(
				ctx, m, RegressionTraining{Docs: docs, Targets: targets, Regression: Regression{C: 2, Epsilon: 0.05}},
				opt,
			)
		},
		"epsilon-SVR, both variables of a document": func(
			ctx context.Context, m Matrix, opt Options,
		) (*Machine, error) {
			opt.MaxIterations = 3000 // of many more: what is left isn't looked for
			return TrainRegression(
				ctx, m, RegressionTraining{Docs: docs, Targets: targets, Regression: Regression{C: 100, Epsilon: 1e-5}},
				opt,
			)
		},
		"nu-SVR": func(ctx context.Context, m Matrix, opt Options) (*Machine, error) {
			return TrainRegression(
				ctx, m, RegressionTraining{Docs: docs, Targets: targets, Regression: Regression{C: 2, Nu: 0.3}}, opt,
			)
		},
		"one class": func(ctx context.Context, m Matrix, opt Options) (*Machine, error) {
			return TrainOneClass(ctx, m, docs, 0.3, opt)
		},
	}
}

// A search with a device takes the same steps as one without, to the bit, for every learner, with
// documents left out on the way and without; nothing stays open, and progress tells the same.
func TestDeviceSameBits(t *testing.T) {
	m, x := gaussian(t, 21, 613, 4, 0.3)
	for name, train := range learnersOf(x) {
		// Without reports, too: each brings all scores, and would hide that what reads them
		// doesn't.
		for _, tc := range []struct{ keep, reports bool }{{false, false}, {false, true}, {true, true}} {
			keep, b := tc.keep, &devices{m: m}
			var told [2][]Progress
			var machines [2]*Machine
			restore := setReportEvery(0)
			for i, device := range []func([]int, int) (DeviceScores, error){nil, b.make} {
				tell := func(p Progress) {
					p.Rows, p.Hits = 0, 0 // which depend on where rows are kept
					told[i] = append(told[i], p)
				}
				if !tc.reports {
					tell = nil
				}
				var err error
				if machines[i], err = train(
					t.Context(), m,
					Options{KeepAll: keep, WorkingSet: 32, Workers: 1, DeviceScores: device, Progress: tell},
				); err != nil {
					restore()
					t.Fatal(err)
				}
			}
			restore()
			want, got := machines[0], machines[1]
			if (len(told[0]) > 0) != tc.reports || !slices.Equal(told[0], told[1]) {
				t.Errorf("%s, all kept %v: %d reports, expected the same %d", name, keep, len(told[1]), len(told[0]))
			}
			if b.calls.Load() == 0 || b.open.Load() != 0 {
				t.Errorf("%s: %d calls, %d devices are left", name, b.calls.Load(), b.open.Load())
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf(
					"%s, all kept %v: found objective %v after %d steps, expected %v after %d", name, keep,
					got.Objective, got.Iterations, want.Objective, want.Iterations,
				)
			}
		}
	}
}

func setReportEvery(d time.Duration) func() {
	before := reportEvery
	reportEvery = d
	return func() { reportEvery = before }
}

// Whichever call of a device fails, the training ends with its error, asks no more of any device, and
// gives them back; it gives them back at the end of its context, too.
func TestDeviceErrors(t *testing.T) {
	m, x := gaussian(t, 22, 401, 4, 0.3)
	train := learnersOf(x)["C-SVC from near"]
	count := &devices{m: m}
	if _, err := train(t.Context(), m, Options{DeviceScores: count.make}); err != nil {
		t.Fatal(err)
	}
	for fail := int64(1); fail <= count.calls.Load(); fail++ {
		b := &devices{m: m, fail: fail}
		if _, err := train(
			t.Context(), m, Options{DeviceScores: b.make},
		); !errors.Is(err, errDevice) || b.open.Load() != 0 || b.calls.Load() != fail {
			t.Errorf(
				"call %d of %d fails: error %v, %d devices are left, %d calls in all", fail, count.calls.Load(), err,
				b.open.Load(), b.calls.Load(),
			)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := &devices{m: m}
	if _, err := train(ctx, m, Options{DeviceScores: b.make}); !errors.Is(err, context.Canceled) || b.open.Load() != 0 {
		t.Errorf("error %v, %d devices are left", err, b.open.Load())
	}
}

// Where devices keep the rows, the bytes for rows of the machine lower neither the number of workers
// nor the working set.
func TestDeviceRowBytes(t *testing.T) {
	m, _ := gaussian(t, 23, 300, 4, 0.3)
	labels := make([]int, 300)
	for i := range labels {
		labels[i] = i % 3
	}
	b := &devices{m: m}
	var waiting atomic.Int64
	both := make(chan struct{})
	device := func(docs []int, copies int) (DeviceScores, error) {
		if waiting.Add(1) == 2 {
			close(both)
		}
		select {
		case <-both:
			return b.make(docs, copies)
		case <-time.After(time.Minute):
			return nil, errors.New("one problem at a time")
		}
	}
	opt := Options{Workers: 2, RowBytes: 1, DeviceScores: device}
	if size := opt.workingSet(300); size != leastSet {
		t.Errorf("a working set of %d, expected %d", size, leastSet)
	}
	if _, err := Train(
		t.Context(), m, Training{Labels: labels, Classes: 3, Parameters: Parameters{C: 1}}, opt,
	); err != nil {
		t.Error(err)
	}
}
