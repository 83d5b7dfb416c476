package landmark

import (
	"context"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive/archivetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func trained(t testing.TB, s Settings) *Model {
	t.Helper()
	s.Landmarks = 12
	return musttest.Get(Train(context.Background(), texts(40, 3, 3, s.Scheme == solver.MultiLabel), s, Options{}))(t)
}

func TestModelFile(t *testing.T) {
	for _, s := range []Settings{
		{}, {Loss: Logistic, Seed: 7, C: 5}, {Loss: SquaredHinge, Scheme: solver.MultiLabel},
		{Kernel: "linear:embed=tfidf-l2"},
	} {
		archivetest.Check(t, Format, trained(t, s))
	}
}

func FuzzRead(f *testing.F) {
	archivetest.Fuzz(f, Format, func(t *testing.T, m *Model) {
		if _, err := m.Predict(t.Context(), &sparse.CSR{Cols: 1, Offsets: []int64{0, 1}, Terms: []uint32{0},
			Values: []float32{1}}, Options{}); err != nil && strings.Contains(err.Error(), "panic") {
			t.Fatal(err)
		}
	}, trained(f, Settings{Loss: Logistic}))
}

// Errors for invalid input contain the value found and the values allowed.
func TestRefused(t *testing.T) {
	c := texts(40, 3, 3, false)
	one, none, several := texts(40, 1, 3, false), texts(40, 2, 3, false), texts(40, 3, 3, true)
	none.Labels = sparse.Labels{Offsets: make([]int64, 41)}
	for want, c := range map[string]*corpus.Corpus{
		"at least 2 are required": one, "no labelled documents": none, `requires scheme "labels"`: several,
	} {
		musttest.WantError(Train(t.Context(), c, Settings{}, Options{}))(t, "Train", want)
	}
	musttest.WantError(Settings{Kernel: "ngd"}.Validate())(t, "ngd", "is only conditionally so")
	musttest.WantError(TrainPath(t.Context(), c, Settings{}, []float64{2, 1}, Options{}))(t, "C of 2 and 1", "values of C")
	musttest.WantError(Train(t.Context(), c, Settings{}, Options{MemoryBytes: 1 << 20}))(t, "1 MiB", "the limit is 1 MiB")
}
