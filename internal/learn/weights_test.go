package learn

import (
	"cmp"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
)

// ends returns each classifier's objective and its gap.
func ends(m Model) (objectives, gaps []float64) {
	add := func(objective, gap float64) { objectives, gaps = append(objectives, objective), append(gaps, gap) }
	switch m := m.(type) {
	case landmarkModel:
		for _, q := range m.Functions {
			add(q.Objective, q.Gap)
		}
	case linearModel:
		for _, q := range m.Functions {
			add(q.Objective, q.Gap)
		}
	case *LogisticModel:
		for _, q := range m.Functions {
			add(q.Objective, q.Gap)
		}
	}
	return objectives, gaps
}

// some returns the documents of a corpus for which out is false.
func some(c *corpus.Corpus, out func(i int) bool) *corpus.Corpus {
	var rows []int
	for i := range c.Documents.Rows() {
		if !out(i) {
			rows = append(rows, i)
		}
	}
	return c.Select(rows)
}

// A document with an integer weight counts as that many documents.
//
// Objectives P are strongly convex, and f = ⟨w,φ(x)⟩: ½‖w - w*‖² <= P - P*, which the gap bounds;
// for logistic regression, C times as much. So the distance of f from one optimum to either
// classifier is at most ‖w - w*‖·‖φ(x)‖. ‖φ‖² is 1 for unit vectors, and 2 with the bias or with
// the kernel k + 1. With float32 kernel values, and without near copies among the landmarks, an
// objective is exact to 10⁻⁶, which counts as a gap.
func TestWeightsRepeatDocuments(t *testing.T) {
	c := musttest.Get(corpus.Read(t.Context(),
		"synthetic:docs=90,terms=60,length=8,classes=3,seed=7", corpus.Options{}))(t)
	c = some(c, func(i int) bool { return i%10 == 9 })
	weighted, repeated := *c, []int{}
	for i := range c.Documents.Rows() {
		w := 1 + i%4
		weighted.Weights = append(weighted.Weights, float64(w))
		for range w {
			repeated = append(repeated, i)
		}
	}
	const price = 0.7
	for _, of := range []struct {
		spec     string
		scheme   solver.Scheme
		kernel   string
		distance float64 // bound on the distance of f, divided by √gap
	}{
		{"linear", solver.OneVsRest, "", 2}, {"linear:loss=hinge", solver.OneVsRest, "", 2},
		{"linear:passes=100000", solver.MultiLabel, "", 2}, {"logistic:origin=true", solver.OneVsRest, "",
			math.Sqrt(2 * price)},
		{"logistic", solver.OneVsRest, "", 0}, // its bias isn't regularised
		{"landmark:m=500", solver.OneVsRest, "diffusion:t=0.5", 2},
		{"landmark:m=500,loss=logistic", solver.OneVsRest, "diffusion:t=0.5", 2},
		{"landmark:m=500,loss=hinge2", solver.MultiLabel, "diffusion:t=0.5", 2},
	} {
		trainer := TrainerOf(t, of.spec)
		values := map[string]any{"c": price, "scheme": of.scheme, "tolerance": 1e-9, "kernel": of.kernel}
		if of.kernel == "" {
			delete(values, "kernel")
			values["embed"] = "tf-l2"
		}
		trainer = musttest.Get(params.With(trainer, values))(t)
		o := Options{Seed: 1}
		train := func(c *corpus.Corpus) (Model, [][]float64) {
			m, err := trainer.Train(t.Context(), c, o)
			if err != nil {
				t.Fatalf("%s: %v", of.spec, err)
			}
			if a := m.About(); a.Convergence.UnfinishedCount > 0 {
				t.Fatalf("%s: %s", of.spec, a.Convergence)
			}
			return m, musttest.Get(m.Predict(t.Context(), weighted.Documents, o))(t).DecisionValues
		}
		a, fa := train(&weighted)
		b, fb := train(c.Select(repeated))
		_, plain := train(c)
		pa, gaps := ends(a)
		pb, more := ends(b)
		apart, moved := 0.0, 0.0
		for k := range pa {
			rounding := 1e-12 * pb[k]
			if of.kernel != "" {
				rounding = 1e-6 * pb[k]
			}
			if d := math.Abs(pa[k] - pb[k]); !(d <= max(gaps[k], more[k])+rounding && d <= 1e-6*pb[k]) {
				t.Errorf("%s, machine %d: objective %v with weights, %v of repeated documents, gaps %v and %v", of.spec, k,
					pa[k], pb[k], gaps[k], more[k])
			}
			limit := of.distance * (math.Sqrt(gaps[k]+rounding) + math.Sqrt(more[k]+rounding))
			for i := range fa {
				d := math.Abs(fa[i][k] - fb[i][k])
				if of.distance > 0 && !(d <= limit) {
					t.Errorf("%s, document %d, machine %d: %v with weights, %v of repeated documents, at most %v apart", of.spec,
						i, k, fa[i][k], fb[i][k], limit)
				}
				apart, moved = max(apart, d), max(moved, math.Abs(fa[i][k]-plain[i][k]))
			}
			if !(moved > 10*limit) {
				t.Errorf("%s: weights move decision values by %v, which the bound %v doesn't see", of.spec, moved, limit)
			}
		}
		t.Logf("%s: %.2g apart, weights move %.2g", of.spec, apart, moved)
	}
}

// For the landmark learner, class weights multiply the document weights.
func TestLandmarksWeighClasses(t *testing.T) {
	ctx := t.Context()
	c := musttest.Get(corpus.Read(ctx, "synthetic:docs=90,terms=60,length=8,classes=3,seed=7", corpus.Options{}))(t)
	c = some(c, func(i int) bool { return i%10 == 9 || i%7 == 0 && c.Labels.Classes(i)[0] == 1 })
	given, balanced, sizes := *c, *c, make([]float64, 3)
	for i := range c.Documents.Rows() {
		c.Weights = append(c.Weights, 1+float64(i%2))
		sizes[c.Labels.Classes(i)[0]]++
	}
	if sizes[0] == sizes[1] {
		t.Fatal("classes of one size")
	}
	for i, own := range c.Weights {
		k := c.Labels.Classes(i)[0]
		given.Weights = append(given.Weights, own*[]float64{1, 3, 1}[k])
		balanced.Weights = append(balanced.Weights, own*(float64(len(c.Weights))/(3*sizes[k])))
	}
	o := Options{Seed: 1}
	none := &landmarkTrainer{Settings: landmark.Settings{Landmarks: 40, C: 2}}
	weights, equal := *none, *none
	weights.Weights, equal.Balanced = map[string]float64{c.Classes[1]: 3}, true
	decisions := func(c *corpus.Corpus, trainer *landmarkTrainer) [][]float64 {
		m := musttest.Get(trainer.Train(ctx, c, o))(t)
		path := musttest.Get(trainer.TrainAll(ctx, c, o, []Trainer{trainer}))(t)
		var all [][]float64
		for _, m := range []Model{m, path[0]} {
			all = append(all, musttest.Get(m.Predict(ctx, c.Documents, Options{}))(t).DecisionValues...)
		}
		return all
	}
	plain := decisions(c, none)
	for i, q := range []struct {
		of      *corpus.Corpus
		classes *landmarkTrainer
	}{{&given, &weights}, {&balanced, &equal}} {
		got, want := decisions(c, q.classes), decisions(q.of, none)
		if !reflect.DeepEqual(got, want) || reflect.DeepEqual(got, plain) {
			t.Errorf("case %d: decisions %v, of weighted documents %v, of none %v", i, got[0], want[0], plain[0])
		}
	}
	if c.Weights[0] > 2 {
		t.Error("training changed the corpus")
	}
	weights.Weights = map[string]float64{"other": 2}
	musttest.WantError(weights.Train(ctx, c, o))(t, "a class that isn't there", `got 2 for "other"`)
	equal.Scheme = solver.MultiLabel
	musttest.WantError(equal.Train(ctx, c, o))(t, "labels", "labels cannot be combined")
}

// firstBy returns the first weights of a sort, without zeros; ties are broken by index.
func TestFirstBy(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 10, 1000} {
		for _, size := range []int{0, 5, 40, 3000} {
			w := musttest.MakeSlice(size, func(i int) float64 { return float64(r.IntN(size/2+3) - size/4) })
			order := func(a, b int) int { return cmp.Or(cmp.Compare(w[b], w[a]), a-b) }
			var want []int
			for i, v := range w {
				if v != 0 {
					want = append(want, i)
				}
			}
			slices.SortFunc(want, order)
			want = want[:min(n, len(want))]
			if got := firstBy(w, n, order); !slices.Equal(got, want) {
				t.Errorf("the first %d of %d: %v, expected %v", n, size, got, want)
			}
		}
	}
}

// Equal positive weights are in ascending order of columns, negative weights in descending order.
func TestEqualWeights(t *testing.T) {
	w := &weights{columns: []uint32{10, 11, 12, 13, 14, 15, 16}}
	got := w.explainFunction(classifierWeights{class: "a", weights: []float64{1, -2, 1, 0, 3, -2, 1}}, 3)
	want := FunctionExplanation{
		Class: "a", TermCount: 6, Norm: math.Sqrt(20),
		Positive: []TermWeight{{"14", 3}, {"10", 1}, {"12", 1}}, Negative: []TermWeight{{"15", -2}, {"11", -2}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, expected %+v", got, want)
	}
}
