package svm

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// byKernelValues predicts without weights.
func byKernelValues(t *testing.T, m *model.Model, docs *sparse.CSR, opt Options) *model.Prediction {
	t.Helper()
	before := maxWeightBytes
	maxWeightBytes = 0
	defer func() { maxWeightBytes = before }()
	return predict(t, m, docs, opt)
}

// texts returns documents with views of words and characters.
func texts(t *testing.T, n, classes int) *corpus.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var all, labels []string
	for i := range n {
		text := ""
		for range 5 + r.IntN(20) {
			word := r.IntN(30)
			if r.IntN(3) == 0 {
				word = 30 + 6*(i%classes) + r.IntN(6)
			}
			text += fmt.Sprintf("w%cx%c ", 'a'+word%23, 'a'+word/23*7+word%5)
		}
		all, labels = append(all, text), append(labels, fmt.Sprint(i%classes))
	}
	return musttest.Get(corpus.FromTexts(t.Context(), all, labels, corpus.Options{
		Tokenizer: corpus.Tokenizer{Views: "word:ngrams=1..2 + char_wb:ngrams=2..4"}}))(t)
}

// emptied returns a corpus in which the first of each group of every pairs of documents has no
// terms.
func emptied(c *corpus.Corpus, every int) *corpus.Corpus {
	out, docs := *c, &sparse.CSR{Cols: c.Documents.Cols, Offsets: []int64{0}}
	for i := range c.Documents.Rows() {
		if i/2%every != 0 {
			terms, values := c.Documents.Row(i)
			docs.Terms, docs.Values = append(docs.Terms, terms...), append(docs.Values, values...)
		}
		docs.Offsets = append(docs.Offsets, int64(len(docs.Terms)))
	}
	out.Documents = docs
	return &out
}

// Weights give the same decision values as support vectors. With u = 2⁻²⁴, a stored value of a unit
// vector has a relative error of u, and its norm has an error of 2⁻⁵², so the error of ⟨w, x⟩ is u
// Σ|α|‖s‖‖x‖; float64 sums add far less. float32 kernel values with c within 10⁻⁶ (docs/design.md)
// add a few u, and 10⁻⁶ of the same sum.
func TestWeightsDecideAsSupportVectors(t *testing.T) {
	views := texts(t, 240, 4)
	vectors := read(t, "synthetic:docs=300,terms=900,length=30,classes=4,seed=1", corpus.Options{})
	empty := emptied(vectors, 4) // some support vectors and some predicted documents have no terms
	for _, tc := range []struct {
		kernel string
		c      *corpus.Corpus
		s      Settings
	}{
		{"linear:embed=logtfidf-l2", views, Settings{Scheme: solver.OneVsRest}},
		{"linear:embed=tfidf-l2", views, Settings{}},
		{"bhattacharyya", views, Settings{Scheme: solver.MultiLabel}},
		{"bhattacharyya:embed=tf", vectors, Settings{}}, // ignores document lengths
		{"linear", vectors, Settings{}},
		{"linear:embed=tf-l1", vectors, Settings{Scheme: solver.OneVsRest, C: 100}},
		{"linear:embed=tf-l1-pow0.75", vectors, Settings{C: 10}},
		{"linear:embed=tfidf-l2", vectors, Settings{Type: model.OneClass, Nu: 0.2}},
		{"linear:embed=tfidf-l2", empty, Settings{}}, {"bhattacharyya", empty, Settings{Scheme: solver.OneVsRest}},
	} {
		t.Run(fmt.Sprint(tc.kernel, "/", tc.s.Type, "/", tc.s.Scheme), func(t *testing.T) {
			learn, test := halves(tc.c)
			tc.s.Kernel = kernel.MustParse(tc.kernel)
			m, _ := train(t, learn, tc.s, Options{})
			got := predict(t, m, test.Documents, Options{Workers: 1})
			if p, err := NewPredictor(t.Context(), m, Options{}); err != nil || p.Weights() == nil || p.Engine() != nil {
				t.Fatalf("weights %v, engine %v, error %v, expected weights alone", p.Weights(), p.Engine(), err)
			}
			for _, workers := range []int{2, 5} {
				again := predict(t, m, test.Documents, Options{Workers: workers, ISA: "generic"})
				if fmt.Sprint(again) != fmt.Sprint(got) {
					t.Errorf("other predictions from %d workers", workers)
				}
			}
			want := byKernelValues(t, m, test.Documents, Options{})
			support := musttest.Get(m.Embedder.Transform(m.Support))(t)
			x := musttest.Get(m.Embedder.Transform(test.Documents))(t)
			c := distances(x, support)
			for i := range want.DecisionValues {
				for j, machine := range m.Classifier.Functions {
					size, exact := 0.0, -machine.Rho
					for s, row := range machine.Support {
						a, xn, sn := machine.Coef[s], x.Norms[i], support.Norms[row]
						if strings.HasPrefix(m.Kernel, "bhattacharyya") {
							xn, sn = 1, 1
						}
						size += math.Abs(a) * xn * sn
						exact += a * xn * sn * (1 - c[i][row])
					}
					place := fmt.Sprintf("document %d, machine %d", i, j)
					within(t, place+", the sum", got.DecisionValues[i][j], exact, 2*0x1p-24*size+1e-12)
					within(t, place+", kernel values", got.DecisionValues[i][j], want.DecisionValues[i][j], (1e-6+8*0x1p-24)*size)
				}
			}
			p := musttest.Get(NewPredictor(t.Context(), m, Options{}))(t)
			rows := musttest.Get(p.KernelRows(t.Context(), test.Documents))(t)
			for i := range c {
				for s, v := range rows.Row(i) {
					xn, sn := x.Norms[i], support.Norms[s]
					if strings.HasPrefix(m.Kernel, "bhattacharyya") {
						xn, sn = 1, 1
					}
					within(t, "kernel value", float64(v), xn*sn*(1-c[i][s]), 4*0x1p-24*xn*sn)
				}
			}
			if !slices.Equal(got.ClassIndices, want.ClassIndices) || fmt.Sprint(got.Labels) != fmt.Sprint(want.Labels) {
				t.Error("other classes than by support vectors")
			}
		})
	}
}

// Predictions use kernel values unless memory suffices for weights and an engine. The engine is
// made on request.
func TestWeightsLeaveRoom(t *testing.T) {
	learn, test := halves(read(t, "synthetic:docs=300,terms=3000,length=30,classes=20,seed=1", corpus.Options{}))
	m, _ := train(t, learn, Settings{Kernel: kernel.MustParse("linear:embed=tfidf-l2")}, Options{})
	want := predict(t, m, test.Documents, Options{})
	seen := map[bool]bool{}
	for memory := int64(1 << 18); memory <= 1<<24; memory += memory / 8 {
		p, err := NewPredictor(t.Context(), m, Options{MemoryBytes: memory, Workers: 1})
		if err != nil {
			continue // as without weights
		}
		has := p.Weights() != nil
		if has != (p.Engine() == nil) || seen[true] && !has {
			t.Errorf("%d bytes: weights %v, engine %v", memory, has, p.Engine() != nil)
		}
		got, err := p.Predict(t.Context(), test.Documents)
		if short := (*engine.MemoryError)(nil); errors.As(err, &short) {
			continue
		}
		if seen[has] = true; err != nil || !slices.Equal(got.ClassIndices, want.ClassIndices) {
			t.Errorf("%d bytes: error %v, or other classes", memory, err)
		}
		if row, err := p.WithHeldBytes(1).KernelRows(t.Context(), test.Documents.SelectRows([]int{0})); err != nil ||
			row.Cols != m.Support.Rows() {
			t.Errorf("%d bytes: error %v, or no kernel values", memory, err)
		}
		if e, err := p.SupportEngine(t.Context()); err != nil || e == nil || e != p.Engine() {
			t.Errorf("%d bytes: error %v, or no engine", memory, err)
		}
		musttest.NoError(t, p.Close())
	}
	if !seen[true] || !seen[false] {
		t.Errorf("weights and kernel values decided: %v, expected both", seen)
	}
}
