package mkm

import (
	"context"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive/archivetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// trained returns models of each kind, with two layers and without layers, and a text model.
func trained(t testing.TB) (models []*Model) {
	t.Helper()
	c := drawn(t, 40, 4, 2, 8)
	all := musttest.Get(TrainPath(context.Background(), c, Settings{
		Layers: []string{"arccos:n=1", "rbf:gamma=1"}, Widths: []int{3}, MaxComponents: 4, K: 3, C: 1, BaseSize: 9,
	}, []FinalClassifier{FinalLMNN, FinalKNN, FinalSVM}, 0, Options{}))(t)
	models = append(all[:1:1], all[6:]...)
	words := []string{"red apple", "red tree apple", "blue sky", "blue sea sky"}
	texts := musttest.Get(corpus.FromTexts(context.Background(), words, []string{"a", "a", "b", "b"}, corpus.Options{}))(t)
	m := musttest.Get(Train(context.Background(), texts, Settings{
		Layers: []string{"diffusion:embed=tfidf-l1-sqrt"}, Widths: []int{4}, Classifier: FinalKNN, K: 1,
	}, Options{}))(t)
	return append(models, m)
}

func TestModelFile(t *testing.T) { archivetest.Check(t, Format, trained(t)...) }

func FuzzRead(f *testing.F) {
	docs := &sparse.CSR{Cols: 2, Offsets: []int64{0, 1, 1}, Terms: []uint32{1}, Values: []float32{2}}
	archivetest.Fuzz(f, Format, func(t *testing.T, m *Model) {
		p, err := m.Predict(t.Context(), docs, Options{Workers: 1})
		if err != nil {
			return
		}
		for _, class := range p.ClassIndices {
			if class < 0 || class >= len(m.Classes) {
				t.Fatalf("class %d of %d", class, len(m.Classes))
			}
		}
	}, trained(f)...)
}
