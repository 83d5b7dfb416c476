package svm

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// noisy returns a corpus of four classes with some wrong labels, so that validations make errors.
func noisy(t testing.TB) *corpus.Corpus {
	t.Helper()
	c := read(t, "synthetic:docs=600,terms=900,length=100,classes=4,seed=5", corpus.Options{})
	for i := range c.Labels.IDs {
		if i%12 == 5 {
			c.Labels.IDs[i] = (c.Labels.IDs[i] + 1) % 4
		}
	}
	return c
}

// validated is a search of one point, with its predictions in corpus order.
type validated struct {
	tune.Point
	DotProducts int64
	Fold, Class []int // -1 if a document is left out
	Labels      [][]int
	Value       []float64
}

func crossValidate(t testing.TB, p *Problem, s Settings, folds int, seed uint64) *validated {
	t.Helper()
	s = musttest.Get(p.withKernel(s).Resolve())(t)
	s.Kernel = kernel.Resolve(s.Kernel, p.TermCount())
	own := Evaluator{Settings: s, Division: tune.Division{Folds: folds, Seed: seed}}
	w := &validationRun{Evaluator: own, cells: []solver.Regularization{s.regularization()}, stage: "validating",
		kernelsLeft: 1}
	v, before := &validated{}, p.CacheStats().PairsComputed
	musttest.NoError(t, w.run(t.Context(), p, []kernel.Kernel{s.Kernel},
		func(f *foldedProblem, _ int, out []*outcome) error {
			o, err := f.mergeFolds(out[0])
			if err != nil {
				return err
			}
			v.Fold, v.Value = inCorpusOrder(f.corpusIndex, f.foldOf), inCorpusOrder(f.corpusIndex, o.Values)
			v.Labels, v.Class = inCorpusOrder(f.corpusIndex, o.Labels), inCorpusOrder(f.corpusIndex, o.ClassIndices)
			v.Result, err = f.result(t.Context(), out[0])
			return err
		}))
	v.DotProducts = p.CacheStats().PairsComputed - before + w.DotProducts
	return v
}

// divide returns the documents outside a fold, and the documents in the fold.
func divide(v *validated, fold int) (rest, held []int) {
	for i, f := range v.Fold {
		switch f {
		case fold:
			held = append(held, i)
		case -1:
		default:
			rest = append(rest, i)
		}
	}
	return rest, held
}

// A fold's predictions equal the predictions of a model trained on the other folds by hand: select
// documents, train, predict. Both training runs stop within the tolerance, so a class may differ if
// a decision value is near 0.
func TestCrossValidateByHand(t *testing.T) {
	c := noisy(t)
	c.Labels.IDs = slices.Delete(c.Labels.IDs, 3, 4) // document 3 has no label
	for i := range c.Labels.Offsets[4:] {
		c.Labels.Offsets[4+i]--
	}
	k := kernel.MustParse("diffusion:t=0.5")
	for _, scheme := range []solver.Scheme{solver.OneVsOne, solver.OneVsRest} {
		s := Settings{Kernel: k, C: 3, Scheme: scheme, Weights: map[string]float64{c.Classes[1]: 2}}
		v := crossValidate(t, problem(t, c, k, Options{}), s, 4, 7)
		if v.Fold[3] != -1 || v.Class[3] != -1 || v.Score.Documents != 599 {
			t.Fatalf("a document without a label: fold %d, class %d, %d documents scored", v.Fold[3], v.Class[3],
				v.Score.Documents)
		}
		differ, right := 0, 0
		for fold := range 4 {
			rest, held := divide(v, fold)
			if len(held) < 149 || len(held) > 150 {
				t.Errorf("fold %d has %d documents", fold, len(held))
			}
			m, _ := train(t, c.Select(rest), s, Options{})
			own := predict(t, m, c.Select(held).Documents, Options{})
			rightHere := 0
			for r, i := range held {
				if int(c.Labels.Classes(i)[0]) == v.Class[i] {
					rightHere++
				}
				if own.ClassIndices[r] == v.Class[i] {
					continue
				}
				differ++
				nearest := math.Inf(1)
				for _, d := range own.DecisionValues[r] {
					nearest = min(nearest, math.Abs(d))
				}
				if scheme == solver.OneVsOne && nearest > 0.01 {
					t.Errorf("document %d has class %d, by hand %d with decisions %v", i, v.Class[i], own.ClassIndices[r],
						own.DecisionValues[r])
				}
			}
			right += rightHere
			within(t, "a fold's accuracy", v.FoldValues[fold], float64(rightHere)/float64(len(held)), 1e-12)
		}
		if differ > 3 || right < 450 || right > 570 || v.Score.Correct != right {
			t.Errorf("%v: %d documents differ, %d are right, %d scored right", scheme, differ, right, v.Score.Correct)
		}
		mean, sd := 0.0, 0.0
		for _, f := range v.FoldValues {
			mean += f / 4
		}
		for _, f := range v.FoldValues {
			sd += (f - mean) * (f - mean) / 3
		}
		within(t, "the mean", v.Mean, mean, 1e-12)
		within(t, "the deviation", v.SD, math.Sqrt(sd), 1e-12)
	}
}

// Folds depend on corpus order, not on the embedding. The result is the same for any number of
// workers, and nearly the same with less memory.
func TestCrossValidateIsDetermined(t *testing.T) {
	c := noisy(t)
	k := kernel.MustParse("diffusion:t=0.5")
	s := Settings{Kernel: k, C: 10}
	want := crossValidate(t, problem(t, c, k, Options{Workers: 1}), s, 5, 3)
	same := func(what string, got *validated) {
		t.Helper()
		if !reflect.DeepEqual(got.Class, want.Class) || got.Iterations != want.Iterations ||
			!reflect.DeepEqual(got.FoldValues, want.FoldValues) {
			t.Errorf("%s: another result: %v after %d steps, expected %v after %d", what, got.FoldValues, got.Iterations,
				want.FoldValues, want.Iterations)
		}
	}
	same("3 workers", crossValidate(t, problem(t, c, k, Options{Workers: 3}), s, 5, 3))
	other := crossValidate(
		t, problem(t, c, kernel.MustParse("linear:embed=tfidf-l2"), Options{}),
		Settings{Kernel: kernel.MustParse("linear:embed=tfidf-l2")}, 5, 3,
	)
	if !slices.Equal(other.Fold, want.Fold) {
		t.Error("another embedding has other folds")
	}
	if moved := crossValidate(t, problem(t, c, k, Options{}), s, 5, 4); slices.Equal(moved.Fold, want.Fold) {
		t.Error("another seed has the same folds")
	}
	for what, opt := range map[string]Options{
		"tiles for a part of the matrix": {CacheBytes: 2400000, Workers: 2},
		"no second matrix":               {MemoryBytes: memoryFor(t, c, k), Workers: 2},
	} {
		got := crossValidate(t, problem(t, c, k, opt), s, 5, 3)
		differ := 0
		for i := range got.Class {
			if got.Class[i] != want.Class[i] {
				differ++
			}
		}
		if differ > 3 || !slices.Equal(got.Fold, want.Fold) {
			t.Errorf("%s: %d documents are in another class", what, differ)
		}
	}
}

// memoryFor returns a memory limit in which one matrix of c fits, but not two matrices.
func memoryFor(t testing.TB, c *corpus.Corpus, k kernel.Kernel) int64 {
	t.Helper()
	p := problem(t, c, k, Options{})
	bytes := p.Engine().Info().Bytes + 4*int64(p.Len())*int64(p.Len()) + 8<<20
	for ; ; bytes += 1 << 19 {
		q, err := NewProblem(context.Background(), c, k.Embedding(), Options{MemoryBytes: bytes, Workers: 2})
		if err == nil && q.cached.FitsInMemory() {
			if q.spareBytes() >= foldMatrixBytes(int64(q.Len())) {
				t.Fatal("no bound between one matrix and two")
			}
			return bytes
		}
	}
}

// Independent labels are scored by micro F1, numbers by mean squared error.
func TestCrossValidateOthers(t *testing.T) {
	c := noisy(t)
	k := kernel.MustParse("diffusion:t=0.5")
	several := &corpus.Corpus{
		Source: c.Source, Documents: c.Documents, Vocabulary: c.Vocabulary, Classes: c.Classes,
		Labels: sparse.Labels{Offsets: []int64{0}},
	}
	for i := range c.Documents.Rows() {
		own := c.Labels.Classes(i)
		switch {
		case i%9 == 0:
			several.Labels.Add()
		case own[0] == 2:
			several.Labels.Add(1, 2) // all documents of class 2 are also of class 1
		default:
			several.Labels.Add(own...)
		}
	}
	s := Settings{Kernel: k, Scheme: solver.MultiLabel, C: 3}
	v := crossValidate(t, problem(t, several, k, Options{}), s, 3, 1)
	var both, given, of int
	for i, labels := range v.Labels {
		given += len(labels)
		of += len(several.Labels.Classes(i))
		for _, l := range labels {
			if slices.Contains(several.Labels.Classes(i), int32(l)) {
				both++
			}
		}
	}
	within(t, "micro F1", v.Score.MicroF1, float64(2*both)/float64(given+of), 1e-12)
	if v.Measure != tune.MicroF1 || v.Score.Documents != 600 || !(v.Mean > 0.6) ||
		!(math.Abs(v.Mean-v.Score.MicroF1) < 0.05) {
		t.Errorf("%v: mean %v of %v, together %v of %d documents", v.Measure, v.Mean, v.FoldValues, v.Score.MicroF1,
			v.Score.Documents)
	}
	m, _ := train(t, several.Select(without(v, 1)), s, Options{})
	differ := 0
	_, held := divide(v, 1)
	own := predict(t, m, several.Select(held).Documents, Options{})
	for r, i := range held {
		if !slices.Equal(own.Labels[r], v.Labels[i]) {
			differ++
		}
	}
	if differ > 2 {
		t.Errorf("%d of %d documents have other labels than by hand", differ, len(held))
	}

	numbers := &corpus.Corpus{
		Source: c.Source, Documents: c.Documents, Vocabulary: c.Vocabulary, Classes: []string{"1", "2", "4", "-3"},
		Labels: c.Labels,
	}
	target := []float64{1, 2, 4, -3}
	for _, s := range []Settings{{Kernel: k, Type: model.EpsilonSVR, C: 3}, {Kernel: k, Type: model.NuSVR, C: 3}} {
		v := crossValidate(t, problem(t, numbers, k, Options{}), s, 3, 1)
		var sum, constant float64
		for i, z := range v.Value {
			d, e := z-target[c.Labels.Classes(i)[0]], 1-target[c.Labels.Classes(i)[0]]
			sum += d * d
			constant += e * e
		}
		within(t, "the mean squared error", v.Score.MeanSquaredError, sum/600, 1e-9)
		if v.Measure != tune.MeanSquaredError || !(v.Mean < constant/600/2) || !(math.Abs(v.Mean-sum/600) < 1e-2) {
			t.Errorf("%s: %v %v of %v, together %v; %v for a constant", s.Type, v.Measure, v.Mean, v.FoldValues, sum/600,
				constant/600)
		}
	}
}

func without(v *validated, fold int) []int {
	rest, _ := divide(v, fold)
	return rest
}

func TestCrossValidateRefuses(t *testing.T) {
	c := noisy(t)
	k := kernel.MustParse("diffusion:t=0.5")
	p := problem(t, c, k, Options{})
	for what, run := range map[string]struct {
		s     Settings
		folds int
	}{
		"one fold": {Settings{}, 1}, "more folds than documents": {Settings{}, 601},
		"one class":                  {Settings{Type: model.OneClass}, 5},
		"labels that aren't numbers": {Settings{Type: model.EpsilonSVR}, 5},
		"a class that isn't there":   {Settings{Weights: map[string]float64{"x": 2}}, 5},
	} {
		musttest.WantError(p.Search(context.Background(), run.s, Grid{Folds: run.folds}, nil))(t, what)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	musttest.WantError(p.Search(ctx, Settings{}, Grid{}, nil))(t, "cancelled", context.Canceled)
}
