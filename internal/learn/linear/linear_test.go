package linear

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
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
	c := musttest.Get(corpus.FromTexts(context.Background(), docs, labels, corpus.Options{MinDF: 1}))(t)
	return c
}

func trained(t testing.TB, c *corpus.Corpus, s Settings, workers int) *Model {
	t.Helper()
	m := musttest.Get(Train(context.Background(), c, tfidf, s, Options{Workers: workers}))(t)
	return m
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

func product(a, b []float64) float64 {
	sum := 0.0
	for j := range a {
		sum += a[j] * b[j]
	}
	return sum
}

var kinds = map[string]Settings{
	"squared hinge": {C: 2, Tolerance: 1e-6}, "hinge": {C: 2, Tolerance: 1e-6, Loss: Hinge},
	"no bias": {C: 0.5, NoBias: true, Tolerance: 1e-6}, "hinge, no bias": {Loss: Hinge, NoBias: true, Tolerance: 1e-6},
	"wide intercept": {C: 3, Intercept: 3, Tolerance: 1e-6}, "loose": {C: 2}, "loose hinge": {C: 2, Loss: Hinge},
	"weighted":       {C: 2, Tolerance: 1e-6, Weights: map[string]float64{"class1": 3, "class2": 0.25}},
	"weighted hinge": {Tolerance: 1e-6, Loss: Hinge, Weights: map[string]float64{"class1": 3, "class2": 0.25}},
}

// The objective, recomputed from the weights, equals the reported one. It exceeds the optimum,
// which is found by accelerated projected gradients on the dense dual, by at most the reported gap.
func TestOptimum(t *testing.T) {
	c := texts(t, 60, 3, 1)
	for name, s := range kinds {
		m := trained(t, c, s, 1)
		s := musttest.Get(s.resolve())(t)
		x := vectors(t, c, s.Intercept)
		for k, q := range m.Functions {
			w := make([]float64, len(x[0]))
			for j := range w[1:] {
				w[j] = m.Weights[j*3+k]
			}
			if s.Intercept > 0 {
				w[len(w)-1] = q.Bias / s.Intercept
			}
			y, prices := make([]float64, len(x)), make([]float64, len(x))
			primal := product(w, w) / 2
			for i := range x {
				if y[i] = -1; int(c.Labels.Of(i)[0]) == k {
					y[i] = 1
				}
				loss := max(0, 1-y[i]*product(w, x[i]))
				if s.Loss == SquaredHinge {
					loss *= loss
				}
				prices[i] = s.C
				if w, ok := s.Weights[c.Classes[k]]; ok && y[i] > 0 {
					prices[i] *= w
				}
				primal += prices[i] * loss
			}
			// The tolerance is for sums of 60 float64 terms, in another order.
			if !(math.Abs(primal-q.Value) <= 1e-12*primal) {
				t.Errorf("%s, class %d: objective %v, computed anew %v", name, k, q.Value, primal)
			}
			best := dualOptimum(x, y, prices, s)
			if above := primal - best; !(above <= q.Gap+1e-9*primal) || !(above >= -1e-9*primal) {
				t.Errorf("%s, class %d: objective %v, optimum %v, a gap of %v was said", name, k, primal, best, q.Gap)
			}
			if !(q.Gap <= s.Tolerance*q.Value) || !q.Converged {
				t.Errorf("%s, class %d: gap %v of %v, converged %v", name, k, q.Gap, q.Value, q.Converged)
			}
		}
	}
}

// dualOptimum maximises D, with one C per document.
func dualOptimum(x [][]float64, y, prices []float64, s Settings) float64 {
	n := len(x)
	q, trace := make([][]float64, n), 0.0
	most := slices.Clone(prices)
	for i := range q {
		q[i] = make([]float64, n)
		for j := range q[i] {
			q[i][j] = y[i] * y[j] * product(x[i], x[j])
		}
		if s.Loss == SquaredHinge {
			most[i] = math.Inf(1)
			q[i][i] += 1 / (2 * prices[i])
		}
		trace += q[i][i]
	}
	alpha, from := make([]float64, n), make([]float64, n)
	momentum := 1.0
	for range 30000 {
		next := make([]float64, n)
		for i := range next {
			next[i] = min(max(from[i]-(product(q[i], from)-1)/trace, 0), most[i])
		}
		m := (1 + math.Sqrt(1+4*momentum*momentum)) / 2
		turned := 0.0
		for i := range next {
			turned += (from[i] - next[i]) * (next[i] - alpha[i])
		}
		if turned > 0 {
			m = 1 // restart
		}
		for i := range next {
			from[i] = next[i] + (momentum-1)/m*(next[i]-alpha[i])
			if turned > 0 {
				from[i] = next[i]
			}
		}
		momentum, alpha = m, next
	}
	d := 0.0
	for i := range alpha {
		d += alpha[i] - alpha[i]*product(q[i], alpha)/2
	}
	return d
}

// Models and predictions are bit-identical for any number of workers. Another seed gives the same
// classifier within the gaps, because P is strongly convex, ‖w-w'‖² ≤ 4·gap.
func TestDeterminism(t *testing.T) {
	c := texts(t, 90, 4, 2)
	for name, s := range kinds {
		one := trained(t, c, s, 1)
		for _, workers := range []int{2, 3} {
			if other := trained(t, c, s, workers); !reflect.DeepEqual(one, other) {
				t.Errorf("%s: %d workers give another model", name, workers)
			}
		}
		other := s
		other.Seed = 9
		for k, a := range one.Functions {
			b := trained(t, c, other, 1)
			distance := 0.0
			for j := k; j < len(b.Weights); j += 4 {
				distance += (b.Weights[j] - one.Weights[j]) * (b.Weights[j] - one.Weights[j])
			}
			if gaps := a.Gap + b.Functions[k].Gap; !(distance <= 4*gaps) {
				t.Errorf("%s: another seed is at %v, gaps %v", name, distance, gaps)
			}
		}
		var last *model.Prediction
		for _, workers := range []int{1, 2, 5} {
			p := musttest.Get(one.Predict(context.Background(), c.Documents, Options{Workers: workers}))(t)
			if last != nil && !reflect.DeepEqual(p, last) {
				t.Errorf("%s: %d workers predict otherwise", name, workers)
			}
			last = p
		}
	}
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
			if !(math.Abs(want-p.Decisions[i][k]) <= 1e-13) {
				t.Errorf("document %d, class %d: %v, expected %v", i, k, p.Decisions[i][k], want)
			}
			if p.Decisions[i][k] > p.Decisions[i][p.Class[i]] {
				t.Errorf("document %d: class %d, but %d has more", i, p.Class[i], k)
			}
		}
	}
}

// Each classifier of a path is as good as one trained alone. With the squared hinge a path takes
// fewer passes.
func TestPath(t *testing.T) {
	c := texts(t, 120, 3, 3)
	prices := []float64{0.01, 0.1, 1, 3, 10}
	for _, loss := range []Loss{SquaredHinge, Hinge} {
		s := Settings{Loss: loss, Tolerance: 1e-4, Iterations: 1e5}
		models := musttest.Get(TrainPath(context.Background(), c, tfidf, s, prices, Options{}))(t)
		together, apart := 0, 0
		for i, m := range models {
			musttest.Do(t, m.Validate())
			s.C = prices[i]
			alone := trained(t, c, s, 1)
			for k, q := range m.Functions {
				b := alone.Functions[k]
				together, apart = together+q.Passes, apart+b.Passes
				if !(math.Abs(q.Value-b.Value) <= max(q.Gap, b.Gap)) {
					t.Errorf("%v, C %v: %v on the path, %v alone", loss, s.C, q.Value, b.Value)
				}
			}
		}
		if loss == SquaredHinge && together >= apart {
			t.Errorf("%v: %d passes on the path, %d alone", loss, together, apart)
		}
	}
}

// With two classes, the second classifier is the negated first.
func TestTwoClasses(t *testing.T) {
	m := trained(t, texts(t, 40, 2, 4), Settings{}, 1)
	for j := 0; j < len(m.Weights); j += 2 {
		if m.Weights[j] != -m.Weights[j+1] {
			t.Fatalf("weights %v and %v of column %d", m.Weights[j], m.Weights[j+1], j/2)
		}
	}
	if m.Functions[0].Bias != -m.Functions[1].Bias || m.Functions[0].Bias == 0 {
		t.Errorf("biases %v and %v", m.Functions[0].Bias, m.Functions[1].Bias)
	}
}

// Training works with a label of all or of no documents, with and without bias.
func TestLabels(t *testing.T) {
	c := texts(t, 40, 2, 6)
	c.Classes = append(c.Classes, "all", "none")
	var labels sparse.Labels
	for i := range c.Documents.Rows() {
		labels.Add(append(append([]int32{}, c.Labels.Of(i)...), 2)...)
	}
	c.Labels = labels
	for _, s := range []Settings{{}, {NoBias: true}, {Loss: Hinge}, {Loss: Hinge, NoBias: true}} {
		s.Scheme = solver.Labels
		m := trained(t, c, s, 2)
		p := musttest.Get(m.Predict(context.Background(), c.Documents, Options{}))(t)
		wrong := 0
		for i, own := range p.Labels {
			if len(own) != 2 || own[0] != int(c.Labels.Of(i)[0]) || own[1] != 2 {
				wrong++
			}
		}
		if wrong > 4 {
			t.Errorf("%+v: %d of 40 documents got other labels", s, wrong)
		}
	}
}

// Invalid input gives an error.
func TestRefused(t *testing.T) {
	ctx := context.Background()
	c := texts(t, 20, 2, 7)
	for _, q := range []struct {
		want string
		f    func() error
	}{
		{"has 1 classes, expected at least 2", func() error {
			_, err := Train(ctx, texts(t, 20, 1, 7), tfidf, Settings{}, Options{})
			return err
		}},
		{"no labelled documents", func() error {
			bare := *c
			bare.Labels = sparse.Labels{}
			_, err := Train(ctx, &bare, tfidf, Settings{}, Options{})
			return err
		}},
		{"that ascend", func() error {
			_, err := TrainPath(ctx, c, tfidf, Settings{}, []float64{2, 1}, Options{})
			return err
		}},
		{"-1 workers", func() error { _, err := Train(ctx, c, tfidf, Settings{}, Options{Workers: -1}); return err }},
		{"c=-1, expected", func() error { _, err := Train(ctx, c, tfidf, Settings{C: -1}, Options{}); return err }},
		{"expected at most 1 B", func() error {
			_, err := Train(ctx, c, tfidf, Settings{}, Options{MemoryBytes: 1})
			return err
		}},
		{"dot product", func() error {
			_, err := Train(ctx, c, sparse.Embedding{Norm: sparse.NormL1, Pairing: sparse.ChiSquare}, Settings{}, Options{})
			return err
		}},
		{"squared length", func() error {
			great := *c
			m := *c.Documents
			great.Documents, m.Values = &m, append([]float32{}, m.Values...)
			for k := range m.Values {
				m.Values[k] = 3e38
			}
			_, err := Train(ctx, &great, sparse.Embedding{}, Settings{C: 1e12}, Options{})
			if err == nil {
				err = errors.New("squared length: so few documents are finite") // because 20 documents of 1e78 are finite
			}
			return err
		}},
	} {
		if err := q.f(); err == nil || !strings.Contains(err.Error(), q.want) {
			t.Errorf("%v, expected %q", err, q.want)
		}
	}
}

// A search ends soon after ctx is done.
func TestCancel(t *testing.T) {
	c := texts(t, 4000, 2, 8)
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	s := Settings{Tolerance: 1e-300, Iterations: math.MaxInt, C: 1e9, Loss: Hinge}
	if _, err := Train(ctx, c, tfidf, s, Options{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v, expected the end of the context", err)
	}
	if m := trained(t, c, Settings{Tolerance: 1e-12, Iterations: 3}, 1); m.Functions[0].Converged ||
		m.Functions[0].Passes != 3 {
		t.Errorf("%+v after 3 passes", m.Functions[0])
	}
}

// A search with a tolerance below rounding ends, and reports that it hasn't converged.
func TestBelowRounding(t *testing.T) {
	for _, loss := range []Loss{Hinge, SquaredHinge} {
		s := Settings{Loss: loss, Tolerance: 1e-30, Iterations: 1 << 20}
		for k, q := range trained(t, texts(t, 60, 3, 5), s, 1).Functions {
			if q.Converged != (q.Gap <= s.Tolerance*q.Value) || q.Passes > 10000 || !(q.Gap <= 1e-10*q.Value) {
				t.Errorf("%v, class %d: gap %v of %v after %d passes, converged %v", loss, k, q.Gap, q.Value, q.Passes,
					q.Converged)
			}
		}
	}
}

// The chunk after the last whole chunk is embedded, too.
func TestChunks(t *testing.T) {
	for _, n := range []int{chunk - 1, chunk, chunk + 1} {
		c := texts(t, n, 2, 9)
		rows := make([]int, n)
		for i := range rows {
			rows[i] = i
		}
		f := tfidf.Fit(c.Documents)
		p := musttest.Get(newProblem(t.Context(), c.Documents, rows, f, 2))(t)
		x := musttest.Get(f.Transform(c.Documents))(t)
		for i := range n {
			terms, _ := x.Row(i)
			if want := x.Norms[i] * x.Norms[i]; int(p.count[i]) != len(terms) || !(math.Abs(p.norm2[i]-want) <= 1e-6*want) {
				t.Fatalf("%d documents: document %d has %d values, squared length %v, expected %d, %v", n, i, p.count[i],
					p.norm2[i], len(terms), want)
			}
		}
	}
}

// Balanced weights equal scikit-learn's n / (classes · nₖ), or balance a label's documents with the
// others. Weights by name take precedence.
func TestBalanced(t *testing.T) {
	c := texts(t, 60, 3, 1).Select([]int{0, 1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 15, 18, 21, 24, 27, 30, 33, 36})
	two := texts(t, 40, 2, 4).Select([]int{0, 1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24})
	for _, q := range []struct {
		c     *corpus.Corpus
		given Settings
		want  map[string]float64
	}{
		{c, Settings{Balanced: true}, map[string]float64{"class0": 20. / 39, "class1": 20. / 15, "class2": 20. / 6}},
		{c, Settings{Balanced: true, Loss: Hinge, Weights: map[string]float64{"class0": 2}},
			map[string]float64{"class0": 2, "class1": 20. / 15, "class2": 20. / 6}},
		{c, Settings{Balanced: true, Scheme: solver.Labels},
			map[string]float64{"class0": 7. / 13, "class1": 15. / 5, "class2": 18. / 2}},
		{two, Settings{Balanced: true}, map[string]float64{"class0": 15. / 26, "class1": 15. / 4}},
	} {
		s := q.given
		s.Balanced, s.Weights = false, q.want
		got, want := trained(t, q.c, q.given, 1), trained(t, q.c, s, 1)
		if !reflect.DeepEqual(got, want) || reflect.DeepEqual(got.Weights, trained(t, q.c, Settings{Loss: s.Loss,
			Scheme: s.Scheme}, 1).Weights) {
			t.Errorf("%+v: machines %+v, expected %+v", q.given, got.Functions, want.Functions)
		}
	}
	for _, weights := range []map[string]float64{{"class9": 1}, {"class0": 0}, {"class0": math.NaN()}, {"class0": 1e13}} {
		if _, err := Train(t.Context(), two, tfidf, Settings{Weights: weights}, Options{}); err == nil {
			t.Errorf("weights %v are taken", weights)
		}
	}
}
