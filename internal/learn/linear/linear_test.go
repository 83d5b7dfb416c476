package linear

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

var tfidf = sparse.Embedding{Weighting: sparse.TFIDF, Norm: sparse.NormL2}

// texts draws documents of several classes with overlapping words. One document is empty.
func texts(t testing.TB, n, classes int, seed uint64) *corpus.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	var docs, labels []string
	for i := range n {
		k := i % classes
		var b strings.Builder
		for range 5 + r.IntN(20) {
			word := int(60 * math.Pow(r.Float64(), 2))
			if r.IntN(4) == 0 {
				word = 60 + 8*k + r.IntN(12)
			}
			if i != 3 {
				fmt.Fprintf(&b, "w%c%c ", 'a'+word/26, 'a'+word%26)
			}
		}
		docs, labels = append(docs, b.String()), append(labels, fmt.Sprint("class", k))
	}
	return musttest.Get(corpus.FromTexts(context.Background(), docs, labels, corpus.Options{MinDF: 1}))(t)
}

func trained(t testing.TB, c *corpus.Corpus, s Settings, workers int) *Model {
	t.Helper()
	return musttest.Get(Train(context.Background(), c, tfidf, s, Options{Workers: workers}))(t)
}

// vectors returns dense documents, with the intercept as last column.
func vectors(t testing.TB, c *corpus.Corpus, b float64) [][]float64 {
	t.Helper()
	x := musttest.Get(tfidf.Fit(c.Documents).Transform(c.Documents))(t)
	var out [][]float64
	for i := range x.Rows() {
		v := make([]float64, x.Cols+1)
		terms, unit := x.Row(i)
		for k, t := range terms {
			v[t] = float64(unit[k]) * x.Norms[i]
		}
		v[x.Cols] = b
		out = append(out, v)
	}
	return out
}

// Decision values agree with their definition.
func TestPredict(t *testing.T) {
	c := texts(t, 60, 3, 5)
	m := trained(t, c, Settings{}, 2)
	x := vectors(t, c, 0)
	p := musttest.Get(m.Predict(context.Background(), c.Documents, Options{}))(t)
	for i := range x {
		for k := range m.Classes {
			want := m.Functions[k].Bias
			for j, v := range x[i][:len(x[i])-1] {
				want += v * m.Weights[j*3+k]
			}
			if !(math.Abs(want-p.DecisionValues[i][k]) <= 1e-13) {
				t.Errorf("document %d, class %d: %v, expected %v", i, k, p.DecisionValues[i][k], want)
			}
			if p.DecisionValues[i][k] > p.DecisionValues[i][p.ClassIndices[i]] {
				t.Errorf("document %d: class %d, but %d has more", i, p.ClassIndices[i], k)
			}
		}
	}
}

// Each classifier of a path is as good as a classifier trained alone. With the squared hinge, a
// path takes fewer passes.
func TestPath(t *testing.T) {
	c := texts(t, 120, 3, 3)
	cValues := []float64{0.01, 0.1, 1, 3, 10}
	for _, loss := range []Loss{SquaredHinge, Hinge} {
		s := Settings{Loss: loss, Tolerance: 1e-4, Iterations: 1e5}
		models := musttest.Get(TrainPath(context.Background(), c, tfidf, s, cValues, Options{}))(t)
		together, apart := 0, 0
		for i, m := range models {
			musttest.NoError(t, m.Validate())
			s.C = cValues[i]
			alone := trained(t, c, s, 1)
			for k, q := range m.Functions {
				b := alone.Functions[k]
				together, apart = together+q.Passes, apart+b.Passes
				if !(math.Abs(q.Objective-b.Objective) <= max(q.Gap, b.Gap)) {
					t.Errorf("%v, C %v: %v on the path, %v alone", loss, s.C, q.Objective, b.Objective)
				}
			}
		}
		if loss == SquaredHinge && together >= apart {
			t.Errorf("%v: %d passes on the path, %d alone", loss, together, apart)
		}
	}
}

// Training works with a label of all or of no documents, with and without bias.
func TestLabels(t *testing.T) {
	c := texts(t, 40, 2, 6)
	c.Classes = append(c.Classes, "all", "none")
	var labels sparse.Labels
	for i := range c.Documents.Rows() {
		labels.Add(append(append([]int32{}, c.Labels.Classes(i)...), 2)...)
	}
	c.Labels = labels
	for _, s := range []Settings{{}, {NoBias: true}, {Loss: Hinge}, {Loss: Hinge, NoBias: true}} {
		s.Scheme = solver.MultiLabel
		m := trained(t, c, s, 2)
		p := musttest.Get(m.Predict(context.Background(), c.Documents, Options{}))(t)
		wrong := 0
		for i, own := range p.Labels {
			if len(own) != 2 || own[0] != int(c.Labels.Classes(i)[0]) || own[1] != 2 {
				wrong++
			}
		}
		if wrong > 4 {
			t.Errorf("%+v: %d of 40 documents got other labels", s, wrong)
		}
	}
}

func TestRefused(t *testing.T) {
	ctx := context.Background()
	c := texts(t, 20, 2, 7)
	musttest.WantError(Train(ctx, c, tfidf, Settings{}, Options{Workers: -1}))(t, "workers", "at least 1, got -1")
	musttest.WantError(Train(ctx, c, tfidf, Settings{C: -1}, Options{}))(t, "C", "and at most 1e12, got -1")
	musttest.WantError(Train(ctx, c, tfidf, Settings{}, Options{MemoryBytes: 1}))(t, "memory", "the limit is 1 B")
	heavy := Settings{Weights: map[string]float64{"class0": 1e13}}
	musttest.WantError(Train(ctx, c, tfidf, heavy, Options{}))(t,
		"weights", "the largest weight must be at most 1e+12, got 1 * 1e+13")
	great, m := *c, *c.Documents // the largest values of documents are valid
	great.Documents, m.Values = &m, slices.Repeat([]float32{3e38}, len(m.Values))
	musttest.Get(Train(ctx, &great, sparse.Embedding{}, Settings{C: 1e12}, Options{}))(t)
}

// Training stops soon after ctx is done.
func TestCancel(t *testing.T) {
	c := texts(t, 4000, 2, 8)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	s := Settings{Tolerance: 1e-300, Iterations: math.MaxInt, C: 1e9, Loss: Hinge}
	musttest.WantError(Train(ctx, c, tfidf, s, Options{}))(t, "after the deadline", context.DeadlineExceeded)
	if m := trained(t, c, Settings{Tolerance: 1e-12, Iterations: 3}, 1); m.Functions[0].Converged ||
		m.Functions[0].Passes != 3 {
		t.Errorf("%+v after 3 passes", m.Functions[0])
	}
}

// Training with a tolerance below rounding errors ends, and reports that it hasn't converged.
func TestBelowRounding(t *testing.T) {
	for _, loss := range []Loss{Hinge, SquaredHinge} {
		s := Settings{Loss: loss, Tolerance: 1e-30, Iterations: 1 << 20}
		for k, q := range trained(t, texts(t, 60, 3, 5), s, 1).Functions {
			if q.Converged != (q.Gap <= s.Tolerance*q.Objective) || q.Passes > 10000 || !(q.Gap <= 1e-10*q.Objective) {
				t.Errorf("%v, class %d: gap %v of %v after %d passes, converged %v", loss, k, q.Gap, q.Objective, q.Passes,
					q.Converged)
			}
		}
	}
}

// The chunk after the last whole chunk is embedded, too.
func TestChunks(t *testing.T) {
	for _, n := range []int{chunkRows - 1, chunkRows, chunkRows + 1} {
		c := texts(t, n, 2, 9)
		rows := run.Range(0, n)
		f := tfidf.Fit(c.Documents)
		p := musttest.Get(newProblem(t.Context(), c.Documents, rows, f, 2))(t)
		x := musttest.Get(f.Transform(c.Documents))(t)
		for i := range n {
			terms, _ := x.Row(i)
			if want := x.Norms[i] * x.Norms[i]; int(p.counts[i]) != len(terms) ||
				!(math.Abs(p.squaredNorms[i]-want) <= 1e-6*want) {
				t.Fatalf("%d documents: document %d has %d values, squared length %v, expected %d, %v", n, i, p.counts[i],
					p.squaredNorms[i], len(terms), want)
			}
		}
	}
}
