package lmnn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// drawn draws classes that differ in some coordinates. Another coordinate has a large variance.
func drawn(t testing.TB, n, d, classes int, seed uint64) *corpus.Corpus {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	data := make([]float32, n*d)
	c := &corpus.Corpus{Source: "drawn"}
	for y := range classes {
		c.Classes = append(c.Classes, string(rune('a'+y)))
	}
	for i := range n {
		y := r.IntN(classes)
		c.Labels.Add(int32(y))
		for j := range d {
			v := r.NormFloat64()
			switch {
			case j == 0:
				v *= 6
			case j-1 == y:
				v += 2
			}
			data[i*d+j] = float32(v)
		}
	}
	c.Documents = musttest.Get(sparse.FromDense(n, d, data))(t)
	return c
}

func trained(t testing.TB, c *corpus.Corpus, s Settings) *Model {
	t.Helper()
	return musttest.Get(Train(t.Context(), c, s, Options{Workers: 2}))(t)
}

// objective returns ε and its gradient with respect to M by the definition, over all triples.
func objective(m *Model, metric *mat.SymDense) (float64, *mat.SymDense) {
	n, d := m.Rows(), m.Cols
	s, _ := m.Settings.resolve()
	slope := mat.NewSymDense(d, nil)
	difference := func(a, b int) *mat.VecDense {
		v := mat.NewVecDense(d, nil)
		for c := range d {
			v.SetVec(c, float64(m.Documents[a*d+c])-float64(m.Documents[b*d+c]))
		}
		return v
	}
	sum := 0.0
	for t, j := range m.Targets {
		if j < 0 {
			continue
		}
		i := t / s.K
		near := difference(i, int(j))
		at := mat.Inner(near, metric, near)
		sum += (1 - s.Push) * at
		slope.SymRankOne(slope, 1-s.Push, near)
		for l := range n {
			if m.Labels[l] == m.Labels[i] {
				continue
			}
			far := difference(i, l)
			if loss := 1 + at - mat.Inner(far, metric, far); loss > 0 {
				sum += s.Push * loss
				slope.SymRankOne(slope, s.Push, near)
				slope.SymRankOne(slope, -s.Push, far)
			}
		}
	}
	return sum, slope
}

// projected returns the nearest positive semidefinite matrix.
func projected(a *mat.SymDense) *mat.SymDense {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		panic("no eigenvalues")
	}
	var v mat.Dense
	e.VectorsTo(&v)
	out := mat.NewSymDense(a.SymmetricDim(), nil)
	for i, value := range e.Values(nil) {
		if value > 0 {
			out.SymRankOne(out, value, v.ColView(i))
		}
	}
	return out
}

// ε of L is compared with a slow reference, projected gradient descent in M over all triples with
// decreasing step sizes. ε is convex in M. The reference improves ε by at most 10⁻⁴.
func TestAgainstProjectedGradient(t *testing.T) {
	if testing.Short() {
		t.Skip("the slow reference takes its time and runs alone")
	}
	for _, s := range []Settings{{Tolerance: 1e-7}, {K: 2, Push: 0.8, Tolerance: 1e-7}} {
		m := trained(t, drawn(t, 40, 4, 3, 1), s)
		l := mat.NewDense(m.Cols, m.Cols, m.Transform)
		var square mat.Dense
		square.Mul(l.T(), l)
		own := mat.NewSymDense(m.Cols, slices.Clone(square.RawMatrix().Data))
		value, _ := objective(m, own)
		if !(math.Abs(value-m.Loss) <= 1e-9*value) {
			t.Fatalf("ε is %v, by its definition %v", m.Loss, value)
		}
		if !(m.Loss < m.InitialLoss) {
			t.Errorf("ε is %v, it began at %v", m.Loss, m.InitialLoss)
		}
		at := mat.NewSymDense(m.Cols, nil)
		for i := range m.Cols {
			at.SetSym(i, i, 0.1)
		}
		best := math.Inf(1)
		for step := range 3000 {
			now, slope := objective(m, at)
			best = min(best, now)
			slope.ScaleSym(-0.5/mat.Norm(slope, 2)/math.Sqrt(float64(step+1)), slope)
			at.AddSym(at, slope)
			at = projected(at)
		}
		if !(m.Loss <= best*(1+1e-4)) || !(best >= m.Loss*(1-1e-4)) {
			t.Errorf("%+v: ε is %v, the reference finds %v", s, m.Loss, best)
		}
	}
}

// The gradient with respect to L agrees with finite differences of step h, away from kinks of ε.
// The error is h² plus the rounding error 2⁻⁵²ε/h.
func TestGradient(t *testing.T) {
	m := trained(t, drawn(t, 50, 3, 2, 2), Settings{Iterations: 1})
	p := &problem{y: m.Labels, targets: m.Targets, k: 3, push: 0.5, workers: 2, smoothing: 0.5}
	p.x = toMatrix(m.Documents, 3)
	w := []float64{0.3, 0.1, 0, -0.2, 0.5, 0.1, 0, 0.2, 0.4}
	musttest.Get(p.findImpostors(t.Context(), w, 5))(t)
	g, none := make([]float64, 9), make([]float64, 9)
	musttest.Get(p.loss(t.Context(), w, g))(t)
	for c := range w {
		const h = 1e-6
		up, down := slices.Clone(w), slices.Clone(w)
		up[c] += h
		down[c] -= h
		a, _ := p.loss(t.Context(), up, none)
		b, _ := p.loss(t.Context(), down, none)
		if want := (a - b) / (2 * h); !(math.Abs(g[c]-want) <= 1e-4*(1+math.Abs(want))) {
			t.Errorf("the derivative %d is %v, differences say %v", c, g[c], want)
		}
	}
}

// A coordinate with large variance and no information hides the classes from the Euclidean metric,
// but not from the learnt metric. Energies agree with their definition.
func TestPredict(t *testing.T) {
	train, test := drawn(t, 300, 6, 3, 3), drawn(t, 200, 6, 3, 4)
	m := trained(t, train, Settings{})
	p := musttest.Get(m.Predict(t.Context(), test.Documents, Options{Workers: 3}))(t)
	plain := *m
	plain.Transform = make([]float64, 36)
	for i := range 6 {
		plain.Transform[i*7] = 1
	}
	if own, euclidean := wrongs(t, m, test), wrongs(t, &plain, test); own >= euclidean {
		t.Errorf("%d wrong under the metric, %d under the Euclidean one", own, euclidean)
	}
	again, err := m.Predict(t.Context(), test.Documents, Options{Workers: 1})
	if err != nil || !slices.Equal(again.ClassIndices, p.ClassIndices) ||
		!slices.Equal(again.DecisionValues[7], p.DecisionValues[7]) {
		t.Errorf("other energies from one worker, %v", err)
	}
	// Reference: ε with the document minus ε without it. The document's targets are the nearest
	// documents under the metric.
	l := mat.NewDense(6, 6, m.Transform)
	var z, x mat.Dense
	z.Mul(toMatrix(m.Documents, 6), l.T())
	x.Mul(toMatrix(toDense(test.Documents, 6), 6), l.T())
	for i := range 5 {
		for c := range 3 {
			best := newNeighbourList(3)
			for j, y := range m.Labels {
				if int(y) == c {
					best.insert(j, squaredDistance(x.RawRowView(i), z.RawRowView(j)))
				}
			}
			want := 0.0
			for t, j := range best.indices {
				near := squaredDistance(x.RawRowView(i), z.RawRowView(int(j)))
				want += 0.5 * near
				for l, y := range m.Labels {
					if int(y) != c {
						want += 0.5 * max(0, 1+near-squaredDistance(x.RawRowView(i), z.RawRowView(l)))
						if own := m.Targets[l*3+t]; own >= 0 {
							far := squaredDistance(z.RawRowView(l), x.RawRowView(i))
							want += 0.5 * max(0, 1+squaredDistance(z.RawRowView(l), z.RawRowView(int(own)))-far)
						}
					}
				}
			}
			if got := -p.DecisionValues[i][c]; !(math.Abs(got-want) <= 1e-9*want) {
				t.Errorf("document %d, class %d: energy %v, expected %v", i, c, got, want)
			}
		}
	}
}

func TestWorkersAndScale(t *testing.T) {
	c := drawn(t, 120, 5, 3, 6)
	var before *Model
	for _, workers := range []int{1, 3} {
		m := musttest.Get(Train(t.Context(), c, Settings{}, Options{Workers: workers}))(t)
		if before != nil && !slices.Equal(m.Transform, before.Transform) {
			t.Error("other bits from other workers")
		}
		before = m
	}
	for i := range c.Documents.Values {
		c.Documents.Values[i] *= 1024 // exact
	}
	m := trained(t, c, Settings{})
	if !(math.Abs(m.Loss-before.Loss) <= 1e-9*m.Loss) {
		t.Errorf("ε is %v of documents that are scaled, %v before", m.Loss, before.Loss)
	}
}

func TestRefused(t *testing.T) {
	c := drawn(t, 20, 3, 2, 7)
	one := *c
	one.Labels = sparse.Labels{}
	for range 20 {
		one.Labels.Add(0)
	}
	wide := *c
	documents := *c.Documents
	documents.Cols = MaxColumns + 1
	wide.Documents = &documents
	musttest.WantError(Train(t.Context(), c, Settings{Push: 1}, Options{}))(t, "push")
	musttest.WantError(Train(t.Context(), &one, Settings{}, Options{}))(t, "one class")
	musttest.WantError(Train(t.Context(), &wide, Settings{}, Options{}))(t, "too many columns")
	musttest.WantError(Train(t.Context(), c, Settings{}, Options{MemoryBytes: 8 * 20 * 3 * (rangeCount + 5)}))(t, "memory")
}

// One column, two documents of one class and one document of another class suffice. One document
// per class doesn't.
func TestFewest(t *testing.T) {
	c := &corpus.Corpus{Source: "few", Classes: []string{"a", "b"}}
	c.Documents = musttest.Get(sparse.FromDense(3, 1, []float32{1, 2, 4}))(t)
	c.Labels.Add(0)
	c.Labels.Add(0)
	c.Labels.Add(1)
	m := trained(t, c, Settings{K: 1})
	// 1/3 at L² = 1/3, where one loss has its kink, which is smoothed by 0.002/2, times Push
	if !(math.Abs(m.Loss-1.0/3) <= 5e-4) {
		t.Errorf("ε is %v, expected 1/3", m.Loss)
	}
	if p, err := m.Predict(t.Context(), c.Documents, Options{}); err != nil ||
		!slices.Equal(p.ClassIndices, []int{0, 0, 1}) {
		t.Errorf("%+v, %v", p, err)
	}
	musttest.WantError(Train(t.Context(), c.Select([]int{0, 2}), Settings{K: 1}, Options{}))(t,
		"one document of each class")
}
