package learn

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/logistic"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/sparse"
)

// twoClasses returns documents of two classes without common terms. Some labels are wrong unless
// separable is set.
func twoClasses(n int, separable bool) *corpus.Corpus {
	r := rand.New(rand.NewPCG(7, 7))
	c := &corpus.Corpus{
		Source: "two", Classes: []string{"a", "b"}, Documents: &sparse.CSR{Cols: 60, Offsets: []int64{0}},
	}
	for i := range n {
		counts := make([]float32, 60)
		for range 3 + r.IntN(12) {
			counts[30*(i%2)+min(r.IntN(30), r.IntN(30))]++
		}
		for t, v := range counts {
			if v > 0 {
				c.Documents.Terms = append(c.Documents.Terms, uint32(t))
				c.Documents.Values = append(c.Documents.Values, v)
			}
		}
		c.Documents.Offsets = append(c.Documents.Offsets, int64(len(c.Documents.Terms)))
		class := int32(i % 2)
		if !separable && r.IntN(5) == 0 {
			class = 1 - class
		}
		c.Labels.Add(class)
	}
	return c
}

// losses are functions of a margin, with two derivatives; mu smooths the hinge's kink.
var losses = map[string]func(m, mu float64) (l, first, second float64){
	"square": func(m, _ float64) (float64, float64, float64) { return (1 - m) * (1 - m) / 2, m - 1, 1 },
	"logistic": func(m, _ float64) (float64, float64, float64) {
		p := 1 / (1 + math.Exp(m))
		return math.Max(-m, 0) + math.Log1p(math.Exp(-math.Abs(m))), -p, p / (1 + math.Exp(-m))
	},
	"hinge2": func(m, _ float64) (float64, float64, float64) {
		if m >= 1 {
			return 0, 0, 0
		}
		return (1 - m) * (1 - m) / 2, m - 1, 1
	},
	"squared-hinge": func(m, _ float64) (float64, float64, float64) {
		if m >= 1 {
			return 0, 0, 0
		}
		return (1 - m) * (1 - m), 2 * (m - 1), 2
	},
	"hinge": func(m, mu float64) (float64, float64, float64) {
		switch d := 1 - m; {
		case d <= 0:
			return 0, 0, 0
		case d < mu:
			return d * d / (2 * mu), -d / mu, 1 / mu
		default:
			return d - mu/2, -1, 0
		}
	},
}

// problem is ½Σ scaleₖwₖ² + Σ cᵢ ℓ(yᵢ⟨φᵢ,w⟩), with rows φ.
type problem struct {
	phi   *mat.Dense
	y     []float64
	scale []float64
	c     []float64
	loss  func(m, mu float64) (l, first, second float64)
}

func (p *problem) at(w *mat.VecDense, mu float64) (value float64, g *mat.VecDense, h *mat.SymDense) {
	n, m := p.phi.Dims()
	g, h = mat.NewVecDense(m, nil), mat.NewSymDense(m, nil)
	for k, s := range p.scale {
		value += s * w.AtVec(k) * w.AtVec(k) / 2
		g.SetVec(k, s*w.AtVec(k))
		h.SetSym(k, k, s+1e-13)
	}
	for i := range n {
		row := p.phi.RowView(i)
		l, first, second := p.loss(p.y[i]*mat.Dot(row, w), mu)
		value += p.c[i] * l
		g.AddScaledVec(g, p.c[i]*first*p.y[i], row)
		h.SymRankOne(h, p.c[i]*second, row)
	}
	return value, g, h
}

// minimum returns the smallest value that dense Newton steps in float64 reach.
func (p *problem) minimum(t *testing.T) float64 {
	_, m := p.phi.Dims()
	w := mat.NewVecDense(m, nil)
	least, _, _ := p.at(w, 0)
	for mu := 1.0; mu > 1e-9; mu /= 4 {
		for range 40 {
			value, g, h := p.at(w, mu)
			var factor mat.Cholesky
			if !factor.Factorize(h) {
				t.Fatal("a Hessian that isn't positive definite")
			}
			step, next := mat.NewVecDense(m, nil), mat.NewVecDense(m, nil)
			_ = factor.SolveVecTo(step, g) // the matrix may be ill-conditioned
			slope := mat.Dot(step, g)
			if !(slope > 1e-15*value) {
				break
			}
			for size := 1.0; size > 1e-10; size /= 2 {
				next.AddScaledVec(w, -size, step)
				if v, _, _ := p.at(next, mu); v <= value-1e-4*size*slope {
					w = next
					break
				}
			}
			exact, _, _ := p.at(w, 0)
			least = min(least, exact)
		}
	}
	return least
}

// plain returns the embedded documents as rows, followed by a bias column.
func plain(t *testing.T, e *sparse.Embedder, c *corpus.Corpus, bias float64) *mat.Dense {
	x := musttest.Get(e.Transform(c.Documents))(t)
	out := mat.NewDense(x.Rows(), x.Cols+1, nil)
	for i := range x.Rows() {
		terms, unit := x.Row(i)
		for k, at := range terms {
			out.Set(i, int(at), float64(float32(float64(unit[k])*x.Norms[i])))
		}
		out.Set(i, x.Cols, bias)
	}
	return out
}

// onLandmarks returns KₙₘT⁻¹ of k + 1, where TᵀT is the kernel between landmarks.
func onLandmarks(t *testing.T, m landmarkModel, c *corpus.Corpus) *mat.Dense {
	k := musttest.Get(kernel.Parse(m.Settings.Kernel))(t)
	z := musttest.Get(m.Embedder.Transform(m.Landmarks))(t)
	x := musttest.Get(m.Embedder.Transform(c.Documents))(t)
	e := musttest.Get(engine.New(z, engine.Options{}))(t)
	defer e.Close()
	plusOne := func(x *sparse.Embedded) *mat.Dense {
		g := musttest.Get(e.Rows(t.Context(), kernel.Resolve(k, len(m.Embedder.Terms)), engine.Request{TestDocuments: x},
			nil))(t)
		var out mat.Dense
		out.Apply(func(_, _ int, v float64) float64 { return v + 1 }, g)
		return &out
	}
	mm, n := plusOne(z), m.Landmarks.Rows()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sym.SetSym(i, j, mm.At(i, j))
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(sym) {
		t.Fatal("landmarks that depend on each other")
	}
	var upper mat.TriDense
	factor.UTo(&upper)
	var out mat.Dense
	musttest.NoError(t, out.Solve(upper.T(), plusOne(x).T()))
	return mat.DenseCopyOf(out.T())
}

// If a binary classifier reports convergence, its objective is within the tolerance of the optimum.
// In any case the reported gap bounds the difference. Dense Newton steps compute the optimum, for
// separable and inseparable documents, small to large C, and a class weight.
//
// No other test checks convergence, so the test fails for a learner that isn't listed here.
func TestConverged(t *testing.T) {
	musttest.SkipRace(t)
	told := map[string]bool{"knn": true}
	defer func() {
		for _, l := range Learners {
			if !told[l.Name] && l.Type == "" { // package solver tests support vector machines
				t.Errorf("%s tells no gap of machines that have converged", l.Name)
			}
		}
	}()
	for _, separable := range []bool{true, false} {
		c := twoClasses(160, separable)
		y := make([]float64, 160)
		for i := range y {
			if y[i] = 1; c.Labels.Classes(i)[0] != 0 {
				y[i] = -1
			}
		}
		for _, spec := range []string{
			"landmark:m=50,loss=square", "landmark:m=50,loss=logistic", "landmark:m=50,loss=hinge2",
			"landmark:m=160,loss=hinge2",
			"landmark:m=50,loss=hinge2,passes=9", "landmark:m=50,loss=square,passes=3", "landmark:m=50,loss=logistic,passes=6",
			"linear", "linear:loss=hinge", "linear:loss=hinge,bias=3,passes=20",
			"linear:origin=true", "logistic", "logistic:origin=true",
			"landmark:m=50,loss=square,weight=b=3", "linear:weight=b=3", "linear:loss=hinge,weight=b=0.25",
			"logistic:weight=b=3",
		} {
			for _, price := range []float64{1e-2, 1, 1e2, 1e4} {
				name := fmt.Sprintf("%s C=%v separable=%v", spec, price, separable)
				l, trainer, err := Parse(spec)
				musttest.NoError(t, err)
				trainer = musttest.Get(params.With(trainer, map[string]any{"c": price}))(t)
				model := musttest.Get(trainer.Train(t.Context(), c, Options{}))(t)
				text := musttest.Get(json.Marshal(model.About().ClassifierRows[0]))(t)
				var row struct {
					Objective float64
					Gap       *float64
					Converged bool
				}
				musttest.NoError(t, json.Unmarshal(text, &row))
				p, of := &problem{y: y}, map[string]float64{"a": 1, "b": 1}
				maps.Copy(of, params.Get(trainer, "weight").(map[string]float64))
				for i := range y {
					p.c = append(p.c, price*of[c.Classes[c.Labels.Classes(i)[0]]])
				}
				switch m := model.(type) {
				case landmarkModel:
					p.phi, p.loss = onLandmarks(t, m, c), losses[m.Settings.Loss.String()]
				case linearModel:
					p.phi, p.loss = plain(t, m.Embedder, c, m.Settings.InterceptScaling), losses[m.Settings.Loss.String()]
				case *LogisticModel:
					bias := 1.0
					if m.Settings.NoBias {
						bias = 0
					}
					p.phi, p.loss = plain(t, m.Embedder, c, bias), losses["logistic"]
					row.Objective *= price // p's objective is C times as large
					*row.Gap *= price
				}
				_, cols := p.phi.Dims()
				p.scale = slices.Repeat([]float64{1}, cols)
				if l.Name == "logistic" {
					p.scale[cols-1] = 0
				}
				excess, rounding := row.Objective-p.minimum(t), 1e-9*row.Objective
				if !(excess >= -rounding) {
					t.Errorf("%s: %v is %v below the optimum", name, row.Objective, -excess)
				}
				if row.Converged && row.Gap != nil && !(excess <= 1e-3*row.Objective) {
					t.Errorf("%s: %v has converged %v above the optimum", name, row.Objective, excess)
				}
				if row.Gap != nil && !(excess <= *row.Gap+rounding) {
					t.Errorf("%s: %v is %v above the optimum, at most %v by the gap", name, row.Objective, excess, *row.Gap)
				}
				told[l.Name] = told[l.Name] || row.Converged && row.Gap != nil
			}
		}
	}
}

// Logistic regression that stops early reports that it didn't converge, with a gap that bounds the
// difference from the optimum. Without regularisation, the model has no gap.
func TestStoppedLogistic(t *testing.T) {
	c := twoClasses(160, true)
	train := func(s logistic.Settings) (*logistic.DecisionFunction, About) {
		e := musttest.Get(sparse.ParseEmbedding("tf-l1-sqrt"))(t)
		m := musttest.Get(logistic.Train(t.Context(), c, e, s, logistic.Options{}))(t)
		return m.Functions[0], (&LogisticModel{m, nil}).About()
	}
	for _, origin := range []bool{false, true} {
		best, about := train(logistic.Settings{C: 1e4, NoBias: origin, Tolerance: 1e-8})
		if about.Convergence.UnfinishedCount != 0 {
			t.Errorf("%v", about.Convergence)
		}
		for _, steps := range []int{1, 4, 12} {
			m, about := train(logistic.Settings{C: 1e4, NoBias: origin, Iterations: steps})
			excess, share := m.Objective-best.Objective, m.Gap/m.Objective
			if m.Converged || about.Convergence.UnfinishedCount != 2 || about.Convergence.Gap != share ||
				!(excess <= m.Gap && share <= 1) {
				t.Errorf("%d steps: %v above the optimum, at most %v by the gap, %v", steps, excess, m.Gap, about.Convergence)
			}
		}
	}
	if _, about := train(logistic.Settings{C: math.Inf(1)}); about.ClassifierRows[0].(logisticRow).Gap > 0 {
		t.Errorf("%+v has a gap without regularisation", about)
	}
}
