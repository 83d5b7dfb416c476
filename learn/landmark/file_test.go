package landmark

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gramengine/gram/learn/internal/archive/archivetest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func trained(t testing.TB, s Settings) *Model {
	t.Helper()
	s.Landmarks = 12
	m, err := Train(context.Background(), texts(40, 3, 3, s.Scheme == solver.Labels), s, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, machine := range m.Machines {
		machine.Gap = 0 // files don't keep it
	}
	return m
}

func TestModelFile(t *testing.T) {
	for _, s := range []Settings{
		{}, {Loss: Logistic, Choice: Pivoted, Seed: 7, C: 5}, {Loss: Hinge2, Scheme: solver.Labels, Choice: Stratified},
		{Kernel: "linear:embed=tfidf-l2"},
	} {
		archivetest.Check(t, form, true, trained(t, s))
	}
}

func FuzzRead(f *testing.F) {
	archivetest.Fuzz(f, form, func(t *testing.T, m *Model) {
		if _, err := m.Predict(t.Context(), &sparse.CSR{Cols: 1, Offsets: []int64{0, 1}, Terms: []uint32{0},
			Values: []float32{1}}, Options{}); err != nil && strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
	}, trained(f, Settings{Loss: Logistic}))
}

// What makes no sense is refused with what was found and expected.
func TestRefused(t *testing.T) {
	c := texts(40, 3, 3, false)
	one, none, several := texts(40, 1, 3, false), texts(40, 2, 3, false), texts(40, 3, 3, true)
	none.Labels = sparse.Labels{Offsets: make([]int64, 41)}
	var nobody context.Context
	for want, call := range map[string]func() error{
		"expected at least 2":     func() error { _, err := Train(t.Context(), one, Settings{}, Options{}); return err },
		"no labelled documents":   func() error { _, err := Train(t.Context(), none, Settings{}, Options{}); return err },
		"expected one, or":        func() error { _, err := Train(t.Context(), several, Settings{}, Options{}); return err },
		"nil context":             func() error { _, err := Train(nobody, c, Settings{}, Options{}); return err },
		"no documents":            func() error { _, err := Train(t.Context(), nil, Settings{}, Options{}); return err },
		"-1 landmarks":            func() error { return Settings{Landmarks: -1}.Validate() },
		"C -1":                    func() error { return Settings{C: -1}.Validate() },
		"Tolerance 2":             func() error { return Settings{Tolerance: 2}.Validate() },
		"isn't positive definite": func() error { return Settings{Kernel: "ngd"}.Validate() },
		"kernel:":                 func() error { return Settings{Kernel: "nonsense"}.Validate() },
		"loss 9":                  func() error { return Settings{Loss: 9}.Validate() },
		"prices": func() error {
			_, err := TrainPath(t.Context(), c, Settings{}, []float64{2, 1}, Options{})
			return err
		},
		"allowed are": func() error {
			_, err := Train(t.Context(), c, Settings{}, Options{MemoryBytes: 1 << 20})
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected an error with %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Train(ctx, c, Settings{}, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("after its end: %v", err)
	}
	m := trained(t, Settings{})
	if _, err := m.Predict(t.Context(), nil, Options{}); err == nil {
		t.Error("no documents are predicted")
	}
	m.Machines[0].Coefficients = m.Machines[0].Coefficients[1:]
	if err := m.Validate(); err == nil {
		t.Error("a model with a coefficient too few is valid")
	}
}
