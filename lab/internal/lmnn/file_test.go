package lmnn

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/learn/archive/archivetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

func fitted(t testing.TB) *Model {
	t.Helper()
	return musttest.Get(Train(context.Background(), drawn(t, 30, 3, 2, 8), Settings{Iterations: 5}, Options{}))(t)
}

func TestModelFile(t *testing.T) {
	m := fitted(t)
	m.Settings, _ = m.Settings.resolve()
	archivetest.Check(t, Format, m)
}

func FuzzRead(f *testing.F) {
	archivetest.Fuzz(f, Format, func(t *testing.T, m *Model) {
		docs := &sparse.CSR{Cols: m.Cols, Offsets: []int64{0, 0}}
		if _, err := m.Predict(t.Context(), docs, Options{}); err != nil {
			t.Log(err)
		}
	}, fitted(f))
}

// Distances may be very large but must be finite, so that a nearest document always exists.
func TestGreatMetric(t *testing.T) {
	m := fitted(t)
	docs := &sparse.CSR{
		Cols: m.Cols, Offsets: []int64{0, 1}, Terms: []uint32{0}, Values: []float32{math.MaxFloat32},
	}
	for i := range m.Transform {
		m.Transform[i] = maxTransform
	}
	p, err := m.Predict(t.Context(), docs, Options{})
	if err != nil || slices.ContainsFunc(p.DecisionValues[0], func(v float64) bool { return math.IsInf(v, 0) || v != v }) {
		t.Errorf("%v: %+v, expected finite energies", err, p)
	}
	m.Transform[0] = 2 * maxTransform
	if m.Validate() == nil {
		t.Error("no error for a metric under which distances overflow")
	}
}
