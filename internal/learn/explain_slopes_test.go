package learn_test

import (
	"math"
	"strconv"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Slopes equal finite differences of f, computed by its definition in float64, along each count.
func TestExplainSlopes(t *testing.T) {
	ctx := t.Context()
	c := musttest.Get(corpus.Read(ctx, "synthetic:docs=40,terms=50,length=16,classes=3,seed=6", corpus.Options{}))(t)
	var texts []string
	for i := range c.Documents.Rows() {
		text := ""
		terms, counts := c.Documents.Row(i)
		for k, term := range terms {
			for range int(counts[k]) {
				text += "word" + string(rune('a'+term%25)) + string(rune('a'+term/25)) + " "
			}
		}
		texts = append(texts, text)
	}
	views := musttest.Get(token.ParseViews("words + 2*chars:2..3"))(t)
	cut := musttest.Get(corpus.FromTexts(ctx, texts, nil, corpus.Options{Tokenizer: views, MinDF: 1}))(t)
	cut.Labels, cut.Classes = c.Labels, c.Classes
	given := 0
	for _, of := range []struct {
		kernel string
		views  bool
	}{
		{"diffusion:t=0.5", false}, {"diffusion:t=0.5", true}, {"ngd", false}, {"ngd", true}, {"arccos:n=1", false},
		{"arccos:n=0,layers=2", false}, {"rbf:gamma=0.02", false}, {"rbf:gamma=1,embed=tfidf-l2", true},
		{"polynomial:degree=3,gamma=0.1,r=1", false}, {"linear:embed=logtfidf-l2", false},
		{"linear", false}, {"bhattacharyya:embed=tf", false},
		{"diffusion:t=0.5,embed=tfidf-l1-sqrt", true}, {"linear:embed=logtfidf-l2", true},
		{"diffusion:t=2,embed=logtf-l1-sqrt", true},
		{"product(diffusion:t=1,ngd-exp:t=2)", false}, {"rbf:embed=standard", false}, {"ngd:embed=tf-l1-pow0.75", false},
	} {
		t.Run(of.kernel+"/views="+strconv.FormatBool(of.views), func(t *testing.T) {
			docs := c
			if of.views {
				docs = cut
			}
			trainer := learn.TrainerOf(t, "c_svc:c=10,kernel=("+of.kernel+")")
			trained := musttest.Get(trainer.Train(ctx, docs.Select(first(30)), learn.Options{}))(t)
			m := trained.(learn.KernelMachine)
			k := kernel.Resolve(kernel.MustParse(m.Kernel), len(m.Embedder.Terms))
			support := transform(t, m.Embedder, m.Support)
			for _, i := range []int{31, 36} {
				doc := docs.Documents.SelectRows([]int{i})
				why := musttest.Get(learn.ExplainDocument(ctx, m, doc, 0, 8, ready(t, m)))(t)
				p := musttest.Get(m.Predict(ctx, doc, learn.Options{}))(t)
				machine, sign := 0, 0.0 // index and sign of the binary classifier among 0/1, 0/2, 1/2
				classes := m.Classes
				for q, pair := range [][2]string{
					{classes[0], classes[1]}, {classes[0], classes[2]}, {classes[1], classes[2]},
				} {
					if pair == [2]string{why.Label, why.SecondClass} {
						machine, sign = q, 1
					} else if pair == [2]string{why.SecondClass, why.Label} {
						machine, sign = q, -1
					}
				}
				if !(math.Abs(sign*p.DecisionValues[0][machine]-why.Value) <= 1e-9) {
					t.Fatalf("f is %v, expected %v", why.Value, sign*p.DecisionValues[0][machine])
				}
				f := func(at int, more float32) (sum float64) {
					changed := &sparse.CSR{Cols: doc.Cols, Offsets: doc.Offsets, Terms: doc.Terms, Views: doc.Views,
						Values: append([]float32(nil), doc.Values...)}
					changed.Values[at] += more
					x := transform(t, m.Embedder, changed)
					u := dense(x, 0)
					one := m.Classifier.Functions[machine]
					for q, s := range one.Support {
						sum += sign * one.Coef[q] * k.Eval(1-dot(u, dense(support, int(s))), x.Norms[0], support.Norms[s])
					}
					return sum
				}
				for _, e := range why.Terms {
					if e.Slope == nil {
						t.Fatalf("%s has no slope", e.Term)
					}
					at := place(t, docs, doc, e.Term)
					const h = 1.0 / 64 // exact in float32; the error is h⁴f⁽⁵⁾/30, and rounding of shares by views
					var want float64
					if e.Count == 1 && m.Embedder.Weighting == sparse.LogTFIDF { // counts below 1 aren't damped
						want = (-25*f(at, 0) + 48*f(at, h) - 36*f(at, 2*h) + 16*f(at, 3*h) - 3*f(at, 4*h)) / (12 * h)
					} else {
						want = (8*(f(at, h)-f(at, -h)) - (f(at, 2*h) - f(at, -2*h))) / (12 * h)
					}
					if !(math.Abs(*e.Slope-want) <= 1e-4*max(1, math.Abs(want))) {
						t.Errorf("document %d: %s has the slope %v, differences are %v", i, e.Term, *e.Slope, want)
					}
					given++
				}
			}
		})
	}
	if given < 100 {
		t.Errorf("%d slopes were compared, expected hundreds", given)
	}
}

func first(n int) []int {
	return run.Range(0, n)
}

func place(t *testing.T, c *corpus.Corpus, doc *sparse.CSR, term string) int {
	t.Helper()
	for k, at := range doc.Terms {
		name := strconv.Itoa(int(at))
		if c.Vocabulary != nil {
			name = c.Tokenizer.FormatTerm(c.Vocabulary[at])
		}
		if name == term {
			return k
		}
	}
	t.Fatalf("no term %q", term)
	return 0
}
