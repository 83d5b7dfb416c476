package logistic

import (
	"context"
	"math"
	"testing"

	"github.com/gramengine/gram/internal/learn/archive/archivetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

func trained(t testing.TB, s Settings, embedding string) *Model {
	t.Helper()
	e := musttest.Get(sparse.ParseEmbedding(embedding))(t)
	return musttest.Get(Train(context.Background(), texts(t, 20, 3, 7), e, s, Options{}))(t)
}

func TestModelFile(t *testing.T) {
	for _, s := range []Settings{
		{}, {NoBias: true}, {C: math.Inf(1)},
	} {
		a, b := trained(t, s, "tf-l1-sqrt"), trained(t, s, "tfidf-l2")
		archivetest.Check(t, Format, a, b)
	}
}

func FuzzRead(f *testing.F) {
	archivetest.Fuzz(f, Format, func(t *testing.T, m *Model) {
		if _, err := m.Predict(t.Context(), &sparse.CSR{Offsets: []int64{0, 0}}, Options{}); err != nil {
			t.Log(err)
		}
	}, trained(f, Settings{}, "tfidf-l1-sqrt"))
}
