package knn

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/archive/archivetest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// texts makes documents whose term frequencies differ between classes. Some documents are empty or
// duplicates. If several is set, documents have up to two labels.
func texts(n int, seed uint64, several bool) *corpus.Corpus {
	r := rand.New(rand.NewPCG(seed, 1))
	c := &corpus.Corpus{
		Source: "texts", Documents: &sparse.CSR{Cols: 40, Offsets: []int64{0}}, Classes: []string{"a", "b", "c"},
	}
	for t := range 40 {
		c.Vocabulary = append(c.Vocabulary, string(rune('A'+t)))
	}
	for i := range n {
		class := r.IntN(3)
		counts := map[uint32]float32{}
		for range r.IntN(9) {
			counts[uint32(min(class*8+r.IntN(20), 39))]++
		}
		terms := slices.Sorted(maps.Keys(counts))
		for _, t := range terms {
			c.Documents.Terms = append(c.Documents.Terms, t)
			c.Documents.Values = append(c.Documents.Values, counts[t])
		}
		c.Documents.Offsets = append(c.Documents.Offsets, int64(len(c.Documents.Terms)))
		ids := []int32{int32(class)}
		switch {
		case several && i%5 == 0:
			ids = nil
		case several && i%3 == 0:
			ids = []int32{int32(class % 2), 2}
		}
		c.Labels.Add(ids...)
	}
	return c
}

// Predictions equal votes computed from a Gram matrix.
func TestPredict(t *testing.T) {
	ctx := t.Context()
	for _, s := range []Settings{
		{}, {K: 1}, {K: 7, Kernel: "linear:embed=tfidf-l2"}, {K: 3, Kernel: "rbf"}, {K: 9, Kernel: "ngd", Uniform: true},
		{K: 5, Kernel: "ngd:shift=pi"}, {K: 9, Kernel: "sigmoid:gamma=1,r=-3"},
		{K: 4, Scheme: solver.MultiLabel}, {K: 500, Kernel: "diffusion:t=0.1"},
	} {
		train, test := texts(80, 1, s.Scheme == solver.MultiLabel), texts(30, 2, false)
		m := musttest.Get(Train(train, s))(t)
		got := musttest.Get(m.Predict(ctx, test.Documents, Options{Workers: 2}))(t)
		own, k, _ := s.resolve()
		x := musttest.Get(k.Embedding().Fit(train.Documents).Transform(train.Documents))(t)
		y := musttest.Get(x.Embedder.Transform(test.Documents))(t)
		e := musttest.Get(engine.New(x, engine.Options{}))(t)
		g := musttest.Get(e.Rows(ctx, kernel.Resolve(k, len(x.Embedder.Terms)), engine.Request{TestDocuments: y}, nil))(t)
		for i := range y.Rows() {
			order := run.Range(0, x.Rows())
			slices.SortStableFunc(order, func(a, b int) int {
				switch va, vb := g.Row(i)[a], g.Row(i)[b]; {
				case va > vb:
					return -1
				case va < vb:
					return 1
				}
				return 0
			})
			votes, all := make([]float64, 3), 0.0
			for _, j := range order[:min(own.K, len(order))] {
				w := float64(g.Row(i)[j])
				if s.Uniform {
					w = 1
				}
				if w > 0 {
					all += w
					for _, id := range train.Labels.Classes(j) {
						votes[id] += w
					}
				}
			}
			for c, v := range votes {
				if all > 0 {
					v /= all
				}
				if d := v - got.DecisionValues[i][c]; !(d <= 1e-12 && d >= -1e-12) {
					t.Fatalf("%+v: document %d has shares %v, expected %v of %v", s, i, got.DecisionValues[i], votes, all)
				}
			}
			if s.Scheme == solver.MultiLabel {
				for c, v := range got.DecisionValues[i] {
					if slices.Contains(got.Labels[i], c) != (v > 0.5) {
						t.Fatalf("%+v: document %d of shares %v has the labels %v", s, i, got.DecisionValues[i], got.Labels[i])
					}
				}
			} else if all > 0 && got.DecisionValues[i][got.ClassIndices[i]] != slices.Max(got.DecisionValues[i]) {
				t.Fatalf("%+v: document %d of shares %v is of class %d", s, i, got.DecisionValues[i], got.ClassIndices[i])
			}
		}
	}
}

// A tie goes to the class of the nearest neighbour. Without votes, the most frequent class wins.
func TestTies(t *testing.T) {
	c := &corpus.Corpus{
		Documents: &sparse.CSR{
			Cols: 3, Offsets: []int64{0, 1, 3, 4}, Terms: []uint32{0, 0, 1, 2}, Values: []float32{1, 1, 1, 1},
		},
		Classes: []string{"rare", "common"},
	}
	c.Labels.Add(1)
	c.Labels.Add(0)
	c.Labels.Add(1)
	m := musttest.Get(Train(c, Settings{K: 2, Uniform: true}))(t)
	docs := &sparse.CSR{Cols: 3, Offsets: []int64{0, 2}, Terms: []uint32{0, 1}, Values: []float32{1, 1}}
	p, err := m.Predict(t.Context(), docs, Options{})
	if err != nil || p.ClassIndices[0] != 0 { // the middle document is identical, but the first document votes, too
		t.Errorf("class %v, %v, expected that of the nearest", p.ClassIndices, err)
	}
	// The neighbour with the smallest index has the rare class.
	m = musttest.Get(Train(c.Select([]int{1, 0, 2}), Settings{K: 2}))(t)
	nothing := &sparse.CSR{Cols: 3, Offsets: []int64{0, 0}}
	if p, err = m.Predict(t.Context(), nothing, Options{}); err != nil || p.ClassIndices[0] != 1 {
		t.Errorf("class %v, %v, expected the commonest where nobody votes", p.ClassIndices, err)
	}
}

func TestRefused(t *testing.T) {
	c := texts(20, 1, false)
	for kernel, want := range map[string]string{"ngd": "kernel ngd", "ned": "kernel ned:", "-1*rbf + ned-log": "-1*rbf"} {
		musttest.WantError((Settings{Kernel: kernel}).Validate())(t, kernel, want)
	}
	for kernel, want := range map[string]string{
		"ngd-log":                  "no positive values",
		"sigmoid:r=-1,embed=tf-l2": "on these documents",
		"exp(100*bhattacharyya)":   "document 0 and document 0 is +Inf",
	} {
		musttest.WantError(Train(c, Settings{Kernel: kernel}))(t, kernel, want)
	}
	signed := texts(20, 1, false)
	signed.Documents.Values[3] = -1
	musttest.WantError(Train(signed, Settings{}))(t, "a negative value", "got -1")
	musttest.WantError(Train(texts(20, 1, true), Settings{}))(t, "documents of two classes", "has 2 classes")
	musttest.WantError(Train(c.Select(nil), Settings{}))(t, "no documents", "no labelled documents")
}

func trained(t testing.TB, s Settings) *Model {
	t.Helper()
	return musttest.Get(Train(texts(30, 4, s.Scheme == solver.MultiLabel), s))(t)
}

func TestModelFile(t *testing.T) {
	for _, s := range []Settings{{}, {K: 3, Kernel: "linear", Uniform: true}, {Scheme: solver.MultiLabel}} {
		archivetest.Check(t, Format, trained(t, s))
	}
}

func FuzzRead(f *testing.F) {
	archivetest.Fuzz(f, Format, func(t *testing.T, m *Model) {
		if _, err := m.Predict(t.Context(), &sparse.CSR{Offsets: []int64{0, 0}}, Options{MemoryBytes: 1 << 28}); err != nil {
			t.Log(err)
		}
	}, trained(f, Settings{Scheme: solver.MultiLabel}))
}
