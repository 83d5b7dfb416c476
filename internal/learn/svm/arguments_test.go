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

// sixty reads a corpus of 60 documents in three classes.
func sixty(t *testing.T) *corpus.Corpus {
	return read(t, "synthetic:docs=60,terms=100,length=10,classes=3,seed=3", corpus.Options{})
}

// A device is closed only once.
func TestClosedPredictor(t *testing.T) {
	m, _ := train(t, sixty(t), Settings{}, Options{})
	d := &slowDevice{}
	p := musttest.Get(NewPredictor(t.Context(), m, Options{Device: newSlowDevice(d)}))(t)
	if err := errors.Join(p.WithHeldBytes(1).Close(), p.Close()); err != nil || d.closed != 1 {
		t.Errorf("error %v, the device was closed %d times, expected once", err, d.closed)
	}
}

// If both classes have the same documents, nu-SVC can't divide by the margin.
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
			t.Errorf("%s: error %v, want an error about the margin", spec, err)
		}
	}
	if _, _, err := problem(t, twice, kernel.MustParse(DefaultKernel), Options{}).Train(
		t.Context(), Settings{Scheme: solver.OneVsRest},
	); err != nil {
		t.Error(err)
	}
}
