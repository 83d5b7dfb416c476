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

func (t *machines) search(ctx context.Context, c *corpus.Corpus, g *Grid, o Options) (*Found, error) {
	s, err := t.settings(&o)
	if err == nil {
		s, err = s.Resolve()
	}
	if err != nil {
		return nil, err
	}
	other := func(q tune.Candidate) bool { return q.Kernel.Embedding() != g.all[0].Kernel.Embedding() }
	several := g.Terms > 1 || slices.ContainsFunc(g.all, other)
	if several {
		o.HeldBytes += c.Documents.Bytes() // the corpus stays in memory
	}
	var tasks []svm.Task
	with := s
	for _, with.Scheme = range append(g.schemes, s.Scheme) {
		tasks = append(tasks, svm.Task{Settings: with, Folds: g.Folds,
			Cells: max(len(g.C), 1) * max(len(g.nu), 1) * max(len(g.epsilon), 1)})
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
	found, err := tune.Search(ctx, v, g.all, g.MinC, func(p tune.Point) {
		if g.Each != nil {
			g.Each(validationOf(t.Type, p))
		}
	})
	out := &Found{Measure: s.Measure(), Total: len(g.all), Best: found.Best, Fits: found.Fits(),
		DotProducts: v.DotProducts, Saved: v.Separate - v.DotProducts, Gram: v.Gram, Solve: v.Solve}
	for _, p := range found.Points {
		v := validationOf(t.Type, p)
		v.About.Classes = classes
		out.Points = append(out.Points, v)
	}
	return out, err
}

// searchSamples compares candidates on growing samples, and the best candidates on all documents.
func (t *machines) searchSamples(ctx context.Context, c *corpus.Corpus, g *Grid, o *Options) (*Found, error) {
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
	from.Terms, from.Near, from.Final, from.Folds = g.Terms, Near, Finalists, g.Folds
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
	var terms []corpus.Terms
	if g.Terms == 0 {
		if terms, _, err = o.cutting(ctx, c, searchTerms(c), t.given(o, g.embeddings), &from); err != nil {
			return nil, err
		}
	}
	from.MinC, from.Kernels, from.Supervised = g.MinC, append(from.Kernels, from.Supervised...), nil
	begin := time.Now()
	on := &svm.Samples{Corpus: c, Settings: s, From: &from, Options: t.options(o)}
	chosen, err := tune.Choose(ctx, c, from, on)
	if short(err) && from.Terms > 1 {
		o.Warning("only one tokenizer was tried: %v", err)
		words, one := *c, *g
		words.Raw, one.Terms, one.Corpus = corpus.Raw{}, 0, nil
		return t.searchSamples(ctx, &words, &one, o)
	}
	if chosen == nil {
		return nil, err
	}
	return t.foundOf(chosen, on, terms, time.Since(begin)), err
}

// Chosen adds the chosen settings to a [tune.Choice].
type Chosen struct {
	*tune.Choice
	Settings svm.Settings
}

// foundOf converts a choice to the result of a search.
func (t *machines) foundOf(chosen *tune.Choice, on *svm.Samples, terms []corpus.Terms, took time.Duration) *Found {
	s := on.Settings
	s.Kernel, s.Scheme, s.C, s.Epsilon = chosen.Kernel, chosen.Scheme, chosen.C, chosen.Epsilon
	out := &Found{Measure: on.From.Measure, Best: -1, Fits: chosen.Fits, DotProducts: on.DotProducts,
		Chosen: &Chosen{chosen, s}, Terms: terms, Solve: took}
	for _, r := range chosen.Rounds {
		round := Round{Documents: r.Documents, Folds: r.Folds, Compares: r.Compares, Best: r.Best}
		for _, p := range r.Points {
			round.Points = append(round.Points, validationOf(t.Type, p))
		}
		out.Rounds, out.Total = append(out.Rounds, round), out.Total+len(round.Points)
		out.Points, out.Best = round.Points, round.Best
	}
	return out
}
