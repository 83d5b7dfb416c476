package svm

import (
	"errors"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
)

// argument is a call with a bad argument, and a part of its error.
type argument struct {
	name, want string
	call       func() error
}

func checkArguments(t *testing.T, arguments []argument) {
	t.Helper()
	for _, d := range arguments {
		t.Run(d.name, func(t *testing.T) {
			if err := d.call(); err == nil || !strings.Contains(err.Error(), d.want) {
				t.Errorf("error %v, expected one with %q", err, d.want)
			}
		})
	}
}

// sixty reads a corpus of 60 documents in three classes.
func sixty(t *testing.T) *corpus.Corpus {
	return read(t, "synthetic:docs=60,terms=100,length=10,classes=3,seed=3", corpus.Options{})
}

// Trainings with invalid settings fail.
func TestProblemArguments(t *testing.T) {
	k := kernel.MustParse(DefaultKernel)
	p := musttest.Get(NewProblem(t.Context(), sixty(t), k.Embedding(), Options{Workers: 2}))(t)
	train := func(s Settings) func() error {
		return func() error { _, _, err := p.Train(t.Context(), s); return err }
	}
	checkArguments(t, []argument{
		{"nu", "nu=-1", train(Settings{Type: model.NuSVC, Nu: -1})},
		{"nu of one class", "nu=7", train(Settings{Type: model.OneClass, Nu: 7})},
		{"weight", "weight 0 of class", train(Settings{Weights: map[string]float64{sixty(t).Classes[1]: 0}})},
	})
}

// A device is closed only once.
func TestClosedPredictor(t *testing.T) {
	m, _ := train(t, sixty(t), Settings{}, Options{})
	d := &slowDevice{}
	p := musttest.Get(NewPredictor(t.Context(), m, Options{Device: newSlowDevice(d)}))(t)
	if err := errors.Join(p.Holding(1).Close(), p.Close()); err != nil || d.closed != 1 {
		t.Errorf("error %v, the device was closed %d times, expected once", err, d.closed)
	}
}

// Two classes of the same documents have no margin by which nu-SVC could divide.
func TestNoMargin(t *testing.T) {
	c := sixty(t)
	twice := &corpus.Corpus{
		Source: "twins", Documents: c.Documents.SelectRows([]int{0, 0, 1, 1, 2, 2}), Vocabulary: c.Vocabulary,
		Classes: []string{"a", "b"},
	}
	for i := range 6 {
		twice.Labels.Add(int32(i % 2))
	}
	for _, spec := range []string{DefaultKernel, "rbf:gamma=0.1", "linear"} {
		k := kernel.MustParse(spec)
		m, _, err := problem(t, twice, k, Options{}).Train(t.Context(), Settings{Type: model.NuSVC, Kernel: k, Nu: 0.6})
		if m != nil || err == nil || !strings.Contains(err.Error(), `the margin of class "a" against "b" is 0`) {
			t.Errorf("%s: error %v, expected that there is no margin", spec, err)
		}
	}
	if _, _, err := problem(t, twice, kernel.MustParse(DefaultKernel), Options{}).Train(
		t.Context(), Settings{Scheme: solver.OneVsRest},
	); err != nil {
		t.Error(err)
	}
}
