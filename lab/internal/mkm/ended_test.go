package mkm

import (
	"context"
	"errors"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/lmnn"
	"github.com/gramengine/gram/lab/internal/selection"
	"github.com/gramengine/gram/lab/internal/width"
)

// If the context is already done, long functions return its error before they allocate much memory.
func TestEnded(t *testing.T) {
	read := func(source string) *corpus.Corpus {
		return musttest.Get(corpus.Read(t.Context(), source, corpus.Options{}))(t)
	}
	c := read("synthetic:docs=4000,terms=1000,length=40,classes=4")
	settings := Settings{Layers: []string{"arccos:n=0"}, Widths: []int{20}, MaxComponents: 10, Classifier: FinalKNN}
	few := read("synthetic:docs=200,terms=1000,length=40,classes=4")
	m := musttest.Get(Train(t.Context(), few, settings, Options{}))(t)
	set := width.Dataset{Features: mat.NewDense(4000, 200, nil), Labels: make([]int32, 4000)}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, work := range map[string]func() error{
		"lmnn.Train":     func() error { _, err := lmnn.Train(ended, c, lmnn.Settings{}, lmnn.Options{}); return err },
		"Train":          func() error { _, err := Train(ended, c, settings, Options{}); return err },
		"Predict":        func() error { _, err := m.Predict(ended, c.Documents, Options{}); return err },
		"selection.Rank": func() error { _, err := selection.Rank(ended, c, selection.Options{}); return err },
		"width.Search":   func() error { _, err := width.Search(ended, set, set, width.Options{}); return err },
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := work()
		runtime.ReadMemStats(&after)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, expected that of the context", name, err)
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; !(bytes <= 512<<10) {
			t.Errorf("%s: %d bytes allocated, expected at most 512 KiB", name, bytes)
		}
	}
}
