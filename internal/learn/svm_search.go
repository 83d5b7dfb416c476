package learn

import (
	"context"
	"slices"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/sparse"
)

func (t *svmTrainer) search(ctx context.Context, c *corpus.Corpus, g *Grid, o Options) (*SearchResult, error) {
	s, err := t.settings(&o)
	if err == nil {
		s, err = s.Resolve()
	}
	if err != nil {
		return nil, err
	}
	other := func(q tune.Candidate) bool { return q.Kernel.Embedding() != g.candidates[0].Kernel.Embedding() }
	several := g.TokenizerCount > 1 || slices.ContainsFunc(g.candidates, other)
	if several {
		o.HeldBytes += c.Documents.Bytes() // c stays in memory
	}
	var tasks []svm.PlannedRun
	with := s
	for _, with.Scheme = range append(g.schemes, s.Scheme) {
		tasks = append(tasks, svm.PlannedRun{Settings: with, Folds: g.Folds,
			RegularizationCount: max(len(g.C), 1) * max(len(g.nu), 1) * max(len(g.epsilon), 1)})
	}
	classes := c.Classes
	var last *svm.Problem
	at := 0 // index of the tokenizer of c
	problem := func(ctx context.Context, cut int, e sparse.Embedding) (_ *svm.Problem, err error) {
		if last != nil {
			if err := last.Engine().Close(); err != nil {
				return nil, err
			}
		}
		last = nil // frees memory for the next kernel matrix, and GPU memory for the next documents
		if cut != at {
			if c, err = g.Corpus(ctx, cut); err != nil {
				return nil, err
			}
			at = cut
		}
		var kernels []kernel.Kernel
		for _, k := range g.kernels {
			if k.Embedding() == e {
				kernels = append(kernels, k)
			}
		}
		last, err = o.problem(ctx, c, kernels, t.options(&o, tasks...))
		if !several {
			c = nil // frees memory for the kernel matrix
		}
		return last, err
	}
	v := &svm.Evaluator{Settings: s, Division: tune.Division{Folds: g.Folds, Seed: o.Seed}, Problem: problem}
	found, err := tune.Search(ctx, v, g.candidates, g.PreferSmallC, func(p tune.Point) {
		if g.OnPoint != nil {
			g.OnPoint(validationOf(t.Type, p))
		}
	})
	out := &SearchResult{Measure: s.Measure(), PointCount: len(g.candidates), BestIndex: found.BestIndex,
		FitCount:    found.FitCount(),
		DotProducts: v.DotProducts, SavedDotProducts: v.SeparateDotProducts - v.DotProducts, GramTime: v.GramTime,
		SolveTime: v.SolveTime}
	for _, p := range found.Points {
		v := validationOf(t.Type, p)
		v.About.Classes = classes
		out.Points = append(out.Points, v)
	}
	return out, err
}

// searchSamples compares candidates on growing samples, see [tune.Choose].
func (t *svmTrainer) searchSamples(ctx context.Context, c *corpus.Corpus, g *Grid, o *Options) (*SearchResult, error) {
	s, err := t.settings(o)
	if err != nil {
		return nil, err
	}
	from, s, err := t.candidates(o, c, s, g.embeddings)
	if err != nil {
		return nil, err
	}
	if len(g.schemes) > 0 && len(c.Classes) > 2 && t.Type.Classifies() {
		from.Schemes = g.schemes
	}
	from.TokenizerCount, from.Neighbours, from.FinalistCount, from.FinalFolds = g.TokenizerCount, NeighbourKernels,
		FinalistCount, g.Folds
	if g.Corpus != nil {
		from.Corpus = func(ctx context.Context, cut int, documents []int) (*corpus.Corpus, error) {
			c, err := g.Corpus(ctx, cut)
			if err != nil {
				return nil, err
			}
			if documents == nil {
				return c, nil
			}
			return c.Select(documents), nil
		}
	}
	var terms []corpus.TermOptions
	if g.TokenizerCount == 0 {
		if terms, _, err = o.compareTokenizers(ctx, c, searchTerms(c), t.constraints(o, g.embeddings), &from); err != nil {
			return nil, err
		}
	}
	from.PreferSmallC, from.Kernels, from.SupervisedKernels = g.PreferSmallC,
		append(from.Kernels, from.SupervisedKernels...), nil
	begin := time.Now()
	on := &svm.SampleEvaluator{Corpus: c, Settings: s, Candidates: &from, Options: t.options(o)}
	chosen, err := tune.Choose(ctx, c, from, on)
	if isMemoryError(err) && from.TokenizerCount > 1 {
		o.Warnf("only one tokenizer was tried: %v", err)
		words, one := *c, *g
		words.Raw, one.TokenizerCount, one.Corpus = corpus.Raw{}, 0, nil
		return t.searchSamples(ctx, &words, &one, o)
	}
	if chosen == nil {
		return nil, err
	}
	return t.newSearchResult(chosen, on, terms, time.Since(begin)), err
}

// SVMChoice adds the chosen settings to a [tune.Choice].
type SVMChoice struct {
	*tune.Choice
	Settings svm.Settings
}

func (t *svmTrainer) newSearchResult(
	chosen *tune.Choice, on *svm.SampleEvaluator, terms []corpus.TermOptions, took time.Duration,
) *SearchResult {
	s := on.Settings
	s.Kernel, s.Scheme, s.C, s.Epsilon = chosen.Kernel, chosen.Scheme, chosen.C, chosen.Epsilon
	out := &SearchResult{Measure: on.Candidates.Measure, BestIndex: -1, FitCount: chosen.FitCount,
		DotProducts: on.DotProducts,
		Choice:      &SVMChoice{chosen, s}, Tokenizers: terms, SolveTime: took}
	for _, r := range chosen.Rounds {
		round := Round{DocumentCount: r.DocumentCount, Folds: r.Folds, Parameter: r.Parameter, BestIndex: r.BestIndex}
		for _, p := range r.Points {
			round.Points = append(round.Points, validationOf(t.Type, p))
		}
		out.Rounds, out.PointCount = append(out.Rounds, round), out.PointCount+len(round.Points)
		out.Points, out.BestIndex = round.Points, round.BestIndex
	}
	return out
}
