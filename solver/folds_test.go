package solver

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
)

func TestFoldsAreStratified(t *testing.T) {
	labels := make([]int, 103)
	for i := range labels {
		labels[i] = i % 4
		if i%10 == 9 {
			labels[i] = -1
		}
	}
	a, b, c := StratifiedFolds(labels, 5, 1), StratifiedFolds(labels, 5, 1), StratifiedFolds(labels, 5, 2)
	if !slices.Equal(a, b) || slices.Equal(a, c) {
		t.Error("the parts don't follow the seed")
	}
	var size [5]int
	var count [5][4]int
	for i, f := range a {
		if (f < 0) != (labels[i] < 0) {
			t.Fatalf("document %d of class %d is in part %d", i, labels[i], f)
		}
		if f >= 0 {
			size[f]++
			count[f][labels[i]]++
		}
	}
	if slices.Max(size[:])-slices.Min(size[:]) > 1 {
		t.Errorf("sizes %v", size)
	}
	for class := range 4 {
		lo, hi := math.MaxInt, 0
		for f := range count {
			lo, hi = min(lo, count[f][class]), max(hi, count[f][class])
		}
		if hi-lo > 1 {
			t.Errorf("class %d: between %d and %d documents a part", class, lo, hi)
		}
	}
}

func TestLabels(t *testing.T) {
	const n = 300
	m, x := gaussian(t, 23, n, 2, 1)
	labels := make([][]int, n)
	for i := range labels {
		labels[i] = []int{1} // every document has label 1, no document has label 3
		if x[i][0] > 0 {
			labels[i] = append(labels[i], 0)
		}
		if x[i][1] > 0 {
			labels[i] = append(labels[i], 2)
		}
	}
	labels[5] = nil
	c, err := Train(context.Background(), m,
		Training{LabelSets: labels, Classes: 4, Parameters: Parameters{Regularization: Regularization{C: 10},
			Probabilities: true}}, Options{})
	musttest.NoError(t, err)
	opt := musttest.Get(Options{Workers: 1}.resolve())(t)
	wrong := 0
	err = c.predictRows(context.Background(), sourceOf(t, m), run.Range(0, n), &opt, func(i int, decisions []float64) {
		got := c.PredictLabels(nil, decisions)
		want := slices.Clone(labels[i])
		slices.Sort(want)
		if i != 5 && !slices.Equal(got, want) {
			wrong++
		}
		p := make([]float64, 4)
		musttest.NoError(t, c.Probabilities(p, decisions))
		if !(p[1] > 0.99 && p[3] < 0.01) {
			t.Fatalf("probabilities %v: all have label 1, none has 3", p)
		}
	})
	musttest.NoError(t, err)
	if wrong > n/20 { // training documents that are near the decision boundary
		t.Errorf("%d of %d with wrong labels", wrong, n)
	}
	for _, machine := range c.Functions {
		if slices.Contains(machine.Support, 5) {
			t.Error("a document without a list was trained on")
		}
	}
}
