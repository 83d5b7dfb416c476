package linear

import (
	"context"
	"testing"

	"github.com/gramengine/gram/internal/learn/archive/archivetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

func fitted(t testing.TB, s Settings, embedding string) *Model {
	t.Helper()
	e := musttest.Get(sparse.ParseEmbedding(embedding))(t)
	return musttest.Get(Train(context.Background(), texts(t, 20, 3, 7), e, s, Options{}))(t)
}

func TestModelFile(t *testing.T) {
	for _, s := range []Settings{
		{}, {NoBias: true}, {Loss: Hinge, C: 3, InterceptScaling: 2, Seed: 5}, {Scheme: solver.MultiLabel, Iterations: 1},
	} {
		archivetest.Check(t, Format, fitted(t, s, "tf-l1-sqrt"), fitted(t, s, "tfidf-l2"))
	}
}

func FuzzRead(f *testing.F) {
	archivetest.Fuzz(f, Format, func(t *testing.T, m *Model) {
		if _, err := m.Predict(t.Context(), &sparse.CSR{Offsets: []int64{0, 0}}, Options{}); err != nil {
			t.Log(err)
		}
	}, fitted(f, Settings{}, "tfidf-l1-sqrt"))
}
