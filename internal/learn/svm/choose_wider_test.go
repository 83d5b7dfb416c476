package svm

import (
	"context"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

// A choice with neighbours continues if the best candidate is at the edge of its list, tries all
// tokenizers, and compares the best candidates on all documents with the requested folds.
func TestChooseWider(t *testing.T) {
	c := noisy(t)
	from := tune.Candidates{
		Kernels: kernelsFor("diffusion:t=2,embed=tfidf-l1-sqrt"), C: []float64{1, 10}, Seed: 3, WorkBudget: 100,
		TokenizerCount: 2, Corpus: func(_ context.Context, cut int, docs []int) (*corpus.Corpus, error) {
			if cut != 1 {
				t.Errorf("cut %d", cut)
			}
			if docs == nil {
				return c, nil
			}
			return c.Select(docs), nil
		},
		Neighbours: func(k kernel.Kernel) []kernel.Kernel {
			if k.String() == "diffusion:t=0.02" {
				return kernelsFor("diffusion:t=2,embed=tfidf-l1-sqrt")
			}
			return nil
		},
		FinalistCount: 2, FinalFolds: 4,
	}
	got, err := choose(t.Context(), c, Settings{}, from, Options{})
	if err != nil || len(got.Rounds) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []string{"kernel", "C", "all"} {
		if got.Rounds[i].Parameter != want {
			t.Errorf("round %d compares by %s", i, got.Rounds[i].Parameter)
		}
	}
	tried := func(r tune.Round) (all []float64) {
		for _, p := range r.Points {
			all = append(all, p.C)
		}
		return all
	}
	if all := tried(got.Rounds[1]); !slices.Contains(all, 0.1) && !slices.Contains(all, 100) {
		t.Errorf("tried C = %v, expected it to go on", all)
	}
	last := got.Rounds[2]
	if last.DocumentCount != c.Documents.Rows() || last.Folds != 4 || len(last.Points[0].FoldValues) != 4 ||
		got.Tokenizer != last.Points[last.BestIndex].Tokenizer || last.Points[0].Score == nil {
		t.Errorf("%+v", last)
	}
	for i, p := range last.Points {
		if p.Mean > last.Points[last.BestIndex].Mean {
			t.Errorf("point %d is better than the best", i)
		}
	}
	from.Kernels = kernelsFor("diffusion:t=0.02", "diffusion:t=0.01")
	from.C, from.TokenizerCount, from.FinalistCount = nil, 0, 0
	if got, err = choose(t.Context(), c, Settings{}, from, Options{}); err != nil || len(got.Rounds) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if k := got.Settings.Kernel.String(); k != "diffusion:t=2,embed=tfidf-l1-sqrt" {
		t.Errorf("kernel %s", k)
	}
}

// The second-best tokenizer is tried with the kernels of the second family.
func TestChooseSecondTerms(t *testing.T) {
	c := noisy(t)
	got, err := choose(t.Context(), c, Settings{}, tune.Candidates{
		Kernels:        kernelsFor("diffusion:t=2", "diffusion:t=8", "linear:embed=tfidf-l2", "linear:embed=tf-l2"),
		TokenizerCount: 2, WorkBudget: 100, PreferSmallC: true,
		Corpus: func(_ context.Context, _ int, docs []int) (*corpus.Corpus, error) {
			if docs == nil {
				return c, nil
			}
			return c.Select(docs), nil
		},
	}, Options{})
	if err != nil || len(got.Rounds) != 2 || got.Rounds[1].Parameter != "kernel" {
		t.Fatalf("%+v, %v", got, err)
	}
	terms, kernels := got.Rounds[0], got.Rounds[1]
	second := 1 - terms.Points[terms.BestIndex].Tokenizer
	var others []string
	for _, p := range kernels.Points {
		if p.Tokenizer == second {
			others = append(others, p.Kernel.String())
		}
	}
	if len(kernels.Points) != 6 || !slices.Equal(others, []string{"linear:embed=tfidf-l2", "linear:embed=tf-l2"}) {
		t.Errorf("%d kernels, on the second best terms %q", len(kernels.Points), others)
	}
}

// Balanced weights compensate for class sizes in each scheme, and keep explicit weights.
func TestBalanced(t *testing.T) {
	c := noisy(t).Select(run.Range(0, 200))
	count := make([]int, len(c.Classes))
	for i := range 200 {
		count[c.Labels.Classes(i)[0]]++
	}
	p := problem(t, c, kernelsFor("linear:embed=tfidf-l2")[0], Options{})
	given := map[string]float64{c.Classes[0]: 7}
	ovo := p.weights(&Settings{Balanced: true, Weights: given})
	ovr := p.weights(&Settings{Balanced: true, Scheme: solver.OneVsRest})
	for k, name := range c.Classes {
		of := float64(count[k])
		if want := 200 / (of * float64(len(count))); k > 0 && ovo[name] != want {
			t.Errorf("one-vs-one, %s: %v, expected %v", name, ovo[name], want)
		}
		if want := (200 - of) / of; ovr[name] != want {
			t.Errorf("one-vs-rest, %s: %v, expected %v", name, ovr[name], want)
		}
	}
	if ovo[c.Classes[0]] != 7 {
		t.Errorf("%v, given 7", ovo[c.Classes[0]])
	}
}

// The round of C also compares the neighbours of the best kernel, each once.
func TestChooseFiner(t *testing.T) {
	from := tune.Candidates{
		Kernels: kernelsFor("diffusion:t=2", "linear:embed=tfidf-l2"), C: []float64{1, 10}, Seed: 3, WorkBudget: 100,
		FinerNeighbours: func(k kernel.Kernel) []kernel.Kernel { return kernelsFor("diffusion:t=4", "diffusion:t=1") },
	}
	got, err := choose(t.Context(), noisy(t), Settings{}, from, Options{})
	if err != nil || len(got.Rounds) != 2 || got.Rounds[1].Parameter != "C" {
		t.Fatalf("%+v, %v", got, err)
	}
	tried := map[string]int{}
	for _, p := range got.Rounds[1].Points {
		tried[p.Kernel.String()]++
	}
	if len(tried) != 4 || tried["diffusion:t=4"] != 1 || tried["diffusion:t=1"] != 1 || tried["diffusion:t=2"] != 2 {
		t.Errorf("tried %v, expected each near kernel once and the others by both C", tried)
	}
}
