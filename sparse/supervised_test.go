package sparse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// withLabels returns documents of two classes in turn; the first is of both.
func withLabels(m *CSR) *Corpus {
	c := &Corpus{Source: "test", Documents: m, Classes: []string{"a", "b"}}
	for i := range m.Rows() {
		if i == 0 {
			c.Labels.Add(0, 1)
		} else {
			c.Labels.Add(int32(i % 2))
		}
	}
	return c
}

// fit fits embeddings of every kind.
func fit(e Embedding, m *CSR) *Embedder { return e.FitCorpus(withLabels(m)) }

// divergenceByHand is the weight of a term, straight from the definition.
func divergenceByHand(c *Corpus, term uint32) float64 {
	has, of, all, labels := make([]float64, len(c.Classes)), make([]float64, len(c.Classes)), 0.0, 0.0
	for i := range c.Documents.Rows() {
		terms, values := c.Documents.Row(i)
		k := slices.Index(terms, term)
		for _, id := range c.Labels.Of(i) {
			of[id]++
			labels++
			if k >= 0 && values[k] != 0 {
				has[id]++
				all++
			}
		}
	}
	sum := 0.0
	for id := range c.Classes {
		if q := of[id] / labels; q > 0 {
			p := (has[id] + q) / (all + 1)
			sum += p * math.Log(p/q)
		}
	}
	return sum
}

// Documents of one class, of several and of none, classes without documents, zeros that are stored.
func TestSupervised(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	e := Embedding{Weighting: TFKL, Norm: NormL1, Power: Root}
	for trial := range 200 {
		c := &Corpus{Documents: &CSR{Cols: 30, Offsets: []int64{0}}, Classes: []string{"a", "b", "c", "none", "d"}}
		for i := range 2 + r.IntN(60) {
			for term := range uint32(29) { // 29 is nowhere, 0 everywhere
				if term == 0 || r.IntN(6) == 0 {
					c.Documents.Terms = append(c.Documents.Terms, term)
					c.Documents.Values = append(c.Documents.Values, float32(1+r.IntN(3)))
					if term > 0 && r.IntN(9) == 0 {
						c.Documents.Values[len(c.Documents.Values)-1] = 0
					}
				}
			}
			c.Documents.Offsets = append(c.Documents.Offsets, int64(len(c.Documents.Terms)))
			switch own := []int32{0, 1, 2, 4}; {
			case i < 2:
				c.Labels.Add(own[i])
			case r.IntN(5) == 0:
				c.Labels.Add()
			case r.IntN(3) == 0:
				c.Labels.Add(own[r.IntN(2)], own[2+r.IntN(2)])
			default:
				c.Labels.Add(own[r.IntN(4)])
			}
		}
		f := e.FitCorpus(c)
		if err := f.Validate(); err != nil {
			t.Fatal(err)
		}
		for j, term := range f.Terms {
			// Some 5 classes of terms below 100·ln 100, whose roundings the division by n leaves near 2⁻⁵².
			if want := max(divergenceByHand(c, term), 1e-12); !(math.Abs(f.Weights[j]-want) <= 1e-13) {
				t.Fatalf("trial %d: the weight of term %d is %v, expected %v", trial, term, f.Weights[j], want)
			}
		}
		if f.Weights[0] != 1e-12 {
			t.Fatalf("trial %d: a term in all documents has the weight %v", trial, f.Weights[0])
		}
		order := r.Perm(c.Documents.Rows())
		if again := e.FitCorpus(c.Select(order)); !slices.Equal(again.Weights, f.Weights) {
			t.Fatalf("trial %d: other weights in another order", trial)
		}
	}
}

// Without labels of two classes there is an error that says so, not other weights.
func TestSupervisedRefuses(t *testing.T) {
	m := csrOf([][]float32{{1, 2, 0}, {0, 1, 1}, {3, 0, 1}})
	e := Embedding{Weighting: TFKL, Norm: NormL1, Power: Root}
	one := withLabels(m)
	one.Labels = Labels{Offsets: []int64{0, 1, 1, 2}, IDs: []int32{1, 1}}
	for what, f := range map[string]*Embedder{
		"Fit": e.Fit(m), "no labels": e.FitCorpus(&Corpus{Documents: m}), "one class": e.FitCorpus(one),
	} {
		_, err := f.Transform(m)
		if want := "embedding tfkl-l1-sqrt learns from labels"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", what, err, want)
		}
	}
	wrong := withLabels(m)
	wrong.Labels.IDs[1] = 7
	if err := e.FitCorpus(wrong).Validate(); err == nil || !strings.Contains(err.Error(), "class 7") {
		t.Errorf("a label of no class: %v", err)
	}
	if err := e.FitCorpus(nil).Validate(); err == nil {
		t.Error("no corpus: no error")
	}
	for _, other := range []Embedding{Sphere, {Weighting: TFIDF}} {
		got, want := other.FitCorpus(withLabels(m)), other.Fit(m)
		if fmt.Sprint(got.Weights, got.Terms) != fmt.Sprint(want.Weights, want.Terms) {
			t.Errorf("%s learns from labels", other)
		}
	}
}
