package mkm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive/archivetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// drawn draws vectors of several classes. Half of the columns depend on the class, and half are
// noise.
func drawn(t testing.TB, n, columns, classes int, seed uint64) *corpus.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	centres := musttest.MakeSlice(classes*columns/2, func(i int) float64 { return 1.5 * r.NormFloat64() })
	c := &corpus.Corpus{Source: "drawn"}
	var data []float32
	for i := range n {
		class := r.IntN(classes)
		if i < classes {
			class = i
		}
		c.Labels.Add(int32(class))
		for k := range columns {
			v := r.NormFloat64()
			if k < columns/2 {
				v += centres[class*(columns/2)+k]
			}
			data = append(data, float32(v))
		}
	}
	for k := range classes {
		c.Classes = append(c.Classes, fmt.Sprint("class ", k))
	}
	c.Documents = musttest.Get(sparse.FromDense(n, columns, data))(t)
	return c
}

// If Steps is set, the metric is trained with this number of iterations, and no number is selected.
func TestSteps(t *testing.T) {
	m := musttest.Get(Train(t.Context(), drawn(t, 60, 8, 3, 1), Settings{Widths: []int{4}, Steps: 3}, Options{}))(t)
	if m.LMNN.Iterations != 3 || m.Choices[0].Steps != 0 || m.Choices[0].Documents != 0 {
		t.Errorf("%d iterations, %+v", m.LMNN.Iterations, m.Choices)
	}
	musttest.WantError((Settings{Steps: -1}).Validate())(t, "-1 steps")
}

// The number of workers doesn't change the model. The models of a path equal those of Train.
func TestSameModels(t *testing.T) {
	c := drawn(t, 140, 12, 3, 2)
	s := Settings{Layers: []string{"arccos:n=0", "rbf:gamma=1"}, MaxComponents: 25, BaseSize: 60, Seed: 9}
	finals := []FinalClassifier{FinalLMNN, FinalKNN, FinalSVM}
	var chosen []LevelChoice
	path := musttest.Get(TrainPath(t.Context(), c, s, finals, 0, Options{
		Workers: 3, OnChoice: func(c LevelChoice) { chosen = append(chosen, c) },
	}))(t)
	if len(path) != 9 || len(chosen) != 3 || chosen[1].Kernel == "" || chosen[2].Documents == 0 {
		t.Fatalf("%d models, choices %v", len(path), chosen)
	}
	all := musttest.Get(PredictAll(t.Context(), path, c.Documents, Options{Workers: 2}))(t)
	for i, m := range path {
		own := s
		own.Layers, own.Classifier = s.Layers[:i/3], finals[i%3]
		single := musttest.Get(Train(t.Context(), c, own, Options{Workers: 1}))(t)
		if !bytes.Equal(archivetest.Bytes(t, Format, m), archivetest.Bytes(t, Format, single)) {
			t.Errorf("model %d of the path isn't that of Train", i)
		}
		last := m.Choices[i/3]
		if metric := i%3 == 0; metric != (last.Steps > 0) || metric && m.LMNN.Settings.Iterations != last.Steps {
			t.Errorf("model %d: %+v", i, last)
		}
		p := musttest.Get(single.Predict(t.Context(), c.Documents, Options{Workers: 3}))(t)
		if !reflect.DeepEqual(p, all[i]) {
			t.Errorf("model %d predicts something else together with others", i)
		}
		wrong := 0
		for j, class := range p.ClassIndices {
			if c.Labels.IDs[j] != int32(class) {
				wrong++
			}
			for _, v := range p.DecisionValues[j] {
				if v > p.DecisionValues[j][class] {
					t.Fatalf("document %d: decisions %v for class %d", j, p.DecisionValues[j], class)
				}
			}
		}
		if wrong > 14 {
			t.Errorf("model %d: %d errors on the 140 training documents", i, wrong)
		}
	}
}

// Joint and separate predictions are equal, even if models share columns but no layers.
func TestPredictAllOfOthers(t *testing.T) {
	c := drawn(t, 60, 6, 2, 5)
	for i := range c.Labels.IDs {
		c.Labels.IDs[i] = int32(i % 2) // so that only a document's nearest neighbour, itself, determines its class
	}
	var models []*Model
	for _, kernel := range []string{"arccos:n=0", "rbf:gamma=0.1"} {
		m := musttest.Get(Train(t.Context(), c, Settings{
			Layers: []string{kernel}, Widths: []int{4}, MaxComponents: 6, Classifier: FinalKNN, K: 1,
		}, Options{}))(t)
		models = append(models, m)
	}
	together := musttest.Get(PredictAll(t.Context(), models, c.Documents, Options{}))(t)
	for i, m := range models {
		alone, err := m.Predict(t.Context(), c.Documents, Options{})
		if err != nil || !reflect.DeepEqual(alone, together[i]) {
			t.Errorf("model %d: %v, or another prediction", i, err)
		}
		wrong := 0
		for j, class := range alone.ClassIndices {
			if int32(class) != c.Labels.IDs[j] {
				wrong++
			}
		}
		if wrong > 0 {
			t.Errorf("model %d: %d of its own documents aren't their nearest", i, wrong)
		}
	}
}

// Unusual corpora give a clear error or a model.
func TestOddDocuments(t *testing.T) {
	same := musttest.Get(sparse.FromDense(12, 2, slices.Repeat([]float32{1, 2}, 12)))(t)
	none := &sparse.CSR{Cols: 2, Offsets: make([]int64, 13)}
	one := drawn(t, 12, 4, 2, 1)
	one.Labels = sparse.Labels{Offsets: []int64{0}}
	two := drawn(t, 2, 4, 2, 1)
	labels := drawn(t, 12, 4, 2, 1).Labels
	s := Settings{Layers: []string{"arccos:n=1"}, Classifier: FinalKNN}
	of := func(m *sparse.CSR) *corpus.Corpus {
		return &corpus.Corpus{Classes: []string{"a", "b"}, Documents: m, Labels: labels}
	}
	for range 12 {
		one.Labels.Add(1)
	}
	great := drawn(t, 12, 4, 2, 1)
	for i := range great.Documents.Values {
		great.Documents.Values[i] *= 1e30
	}
	for name, try := range map[string]struct {
		c    *corpus.Corpus
		s    Settings
		want string
	}{
		"the same":  {of(same), s, "to the same point"},
		"empty":     {of(none), s, "are empty"},
		"one class": {one, s, "at least two classes"},
		"two":       {two, s, "too few to choose widths on 1/6"},
		"great":     {great, Settings{Layers: []string{"arccos:n=2"}, Widths: []int{3}}, ""},
		"negative":  {drawn(t, 12, 4, 2, 1), Settings{Layers: []string{"diffusion"}}, "layer 1"},
		"no kernel": {drawn(t, 12, 4, 2, 1), Settings{Layers: []string{"arccos:n=1", "nothing"}}, "layer 2"},
		"widths": {drawn(t, 12, 4, 2, 1), Settings{Layers: s.Layers, Widths: []int{1, 2, 3}},
			"3 widths, but 1 layers"},
		"both": {drawn(t, 12, 4, 2, 1), Settings{Layers: s.Layers, Widths: []int{1}, KeepAllFeatures: true},
			"cannot be combined"},
		"few columns": {drawn(t, 60, 2, 2, 1), s, ""},
	} {
		_, err := Train(t.Context(), try.c, try.s, Options{})
		if name == "great" {
			musttest.WantError(err)(t, name, "layer 1")
			continue
		}
		if (err == nil) != (try.want == "") || err != nil && !strings.Contains(err.Error(), try.want) {
			t.Errorf("%s: %v, expected %q", name, err, try.want)
		}
	}
	// Duplicate documents and empty columns cause no error.
	c := drawn(t, 60, 4, 2, 8)
	c.Documents.Cols = 9
	twice := c.Select(append(run.Range(0, 60), run.Range(0, 60)...))
	m := musttest.Get(Train(t.Context(), twice, Settings{Layers: []string{"arccos:n=1"}, MaxComponents: 50}, Options{}))(t)
	if w := m.Width(); w > 50 {
		t.Errorf("%d features", w)
	}
	p, err := m.Predict(t.Context(), &sparse.CSR{Cols: 1, Offsets: make([]int64, 4)}, Options{})
	if err != nil || len(p.ClassIndices) != 3 || p.ClassIndices[0] != p.ClassIndices[2] {
		t.Errorf("empty documents: %v, %v", p, err)
	}
	p, err = m.Predict(t.Context(), &sparse.CSR{Cols: 1, Offsets: []int64{0}}, Options{})
	if err != nil || len(p.ClassIndices) != 0 {
		t.Errorf("no documents: %v, %v", p, err)
	}
}

// If all features are selected, all features are also selected after training on all documents,
// which gives more features. Here the number of components is the number of documents minus one.
func TestAllOfAllDocuments(t *testing.T) {
	c := drawn(t, 24, 40, 3, 1)
	for name, s := range map[string]Settings{"whole": {KeepAllFeatures: true}, "widths": {Widths: []int{30, 23}}} {
		s.Layers, s.Classifier = []string{"arccos:n=1"}, FinalKNN
		chosen := musttest.Get(Train(t.Context(), c, s, Options{}))(t)
		s.K = 3
		given := musttest.Get(Train(t.Context(), c, s, Options{}))(t)
		last := chosen.Choices[1]
		if chosen.Width() != 23 || given.Width() != 23 || last.Width != 23 || last.Features != 23 || last.Documents == 0 {
			t.Errorf("%s: %d and %d features, expected 23; %+v", name, chosen.Width(), given.Width(), last)
		}
	}
}

// Training ends after cancellation in any stage.
func TestCancelled(t *testing.T) {
	c := drawn(t, 500, 40, 5, 3)
	s := Settings{Layers: []string{"arccos:n=1", "arccos:n=1"}, BaseSize: 300}
	for _, stage := range []string{"information", "neighbours", "components", "projecting", "metric"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Train(ctx, c, s, Options{Progress: func(p run.Progress) {
			if strings.HasSuffix(p.Stage, ": "+stage) {
				cancel()
			}
		}})
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, expected the end of the context", stage, err)
		}
	}
}

// No group has documents in both the training and the held-out set.
func TestDivideByGroups(t *testing.T) {
	c := drawn(t, 120, 4, 2, 3)
	for i := range 120 {
		c.Groups = append(c.Groups, int64(i%40))
	}
	own := &training{s: Settings{Folds: 6}}
	musttest.NoError(t, own.selectDocuments(c))
	fit, valid := own.holdOut()
	for _, i := range valid {
		if slices.ContainsFunc(fit, func(j int) bool { return c.Groups[i] == c.Groups[j] }) {
			t.Fatalf("documents of group %d are in both parts", c.Groups[i])
		}
	}
	if len(valid) < 10 || len(fit)+len(valid) != 120 {
		t.Errorf("%d and %d documents", len(fit), len(valid))
	}
}
