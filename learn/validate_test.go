package learn

import (
	"context"
	"strings"
	"testing"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// Each point of a search is trained with its own kernel, and has what a search of it alone has.
func TestSearchTriesEachKernel(t *testing.T) {
	c, err := sparse.Read(t.Context(), "synthetic:docs=90,terms=60,length=12,classes=3,seed=2", sparse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, spec := range []string{"landmark:m=20", "knn"} {
		kernels := []string{"diffusion:t=0.01", "diffusion:t=50"}
		points, err := Points(spec, nil, kernels, Options{})
		if err != nil {
			t.Fatal(err)
		}
		prices := []float64{1, 10}
		if spec == "knn" {
			prices = nil
		}
		all, err := Search(t.Context(), c, points, Options{Seed: 1}, prices, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		each := max(len(prices), 1)
		for i := range points {
			alone, err := Search(t.Context(), c, points[i:i+1], Options{Seed: 1}, prices, 3, 1)
			if err != nil {
				t.Fatal(err)
			}
			for p := range each {
				if got := all[i*each+p]; got.Mean != alone[p].Mean || got.C != alone[p].C || len(got.ByFold) != 3 {
					t.Errorf("%s, %s, C %v: %v, expected %v as alone", spec, points[i].Kernel, got.C, got.Mean, alone[p].Mean)
				}
			}
		}
		if spec != "knn" && all[0].Mean == all[each].Mean && all[0].Score.MacroF1 == all[each].Score.MacroF1 {
			t.Errorf("%s: %v by both of %v: one was trained twice", spec, all[0].Mean, kernels)
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	c, err := sparse.Read(t.Context(), "synthetic:docs=20,terms=30,length=5,classes=2,seed=2", sparse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	points, err := Points("knn", []Words{Numbers(kernel.List{Name: "k", Values: []float64{1, 3}})}, nil, Options{})
	if err != nil || len(points) != 2 || points[1].Spec != "knn:k=3" {
		t.Fatalf("points %v, %v", points, err)
	}
	for name, q := range map[string]struct {
		ctx    context.Context
		c      *sparse.Corpus
		points []Point
		folds  int
		says   string
	}{
		"no context": {nil, c, points, 5, "no context"}, "no points": {t.Context(), c, nil, 5, "no points"},
		"no corpus": {t.Context(), nil, points, 5, "no corpus"}, "one fold": {t.Context(), c, points, 1, "2 to 20"},
		"too many folds": {t.Context(), c, points, 21, "2 to 20"}, "no folds": {t.Context(), c, points, 0, "2 to 20"},
	} {
		_, err := Search(q.ctx, q.c, q.points, Options{}, nil, q.folds, 1)
		if err == nil || !strings.Contains(err.Error(), q.says) {
			t.Errorf("%s: %v, expected an error with %q", name, err, q.says)
		}
	}
	if _, err := Points("guess", nil, nil, Options{}); err == nil {
		t.Error("a learner that isn't known: no error")
	}
}
