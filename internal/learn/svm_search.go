package learn

import (
	"context"
	"slices"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// Grid implements Searcher.
func (t *machines) Grid(lists []Words, o Options) (*Grid, error) {
	if t.Type == model.OneClass {
		return nil, flagtext.Errorf("-type %s: there is nothing to compare predictions with", t.Type)
	}
	return newMachinesGrid(t, lists, o)
}

// Search implements Searcher.
func (t *machines) Search(ctx context.Context, c *corpus.Corpus, g *Grid, o Options) (*Found, error) {
	s, err := t.settings(&o)
	if err != nil {
		return nil, err
	}
	if g.Samples {
		return t.searchSamples(ctx, c, g, &o, s)
	}
	own := g.machines
	own.Folds, own.Seed, own.LeastC, s.Kernel = g.Folds, o.Seed, g.LeastC, own.Kernels[0]
	other := func(k kernel.Kernel) bool { return k.Embedding() != own.Kernels[0].Embedding() }
	several := own.Cuts > 1 || slices.ContainsFunc(own.Kernels, other)
	if several {
		o.HeldBytes += c.Documents.Bytes() // the corpus is kept
	}
	var tasks []svm.Task
	cells := max(len(own.C), 1) * max(len(own.Nu), 1) * max(len(own.Epsilon), 1)
	for _, s.Scheme = range append(own.Schemes, s.Scheme) {
		tasks = append(tasks, svm.Task{Settings: s, Folds: own.Folds, Cells: cells})
	}
	classes := c.Classes
	var last *svm.Problem
	at := 0 // the cut that c has
	problem := func(cut int, embedding sparse.Embedding) (_ *svm.Problem, err error) {
		if last != nil {
			if err := last.Engine().Close(); err != nil {
				return nil, err
			}
		}
		last = nil // the next matrix needs the room, and its documents that on the GPU
		if cut != at {
			if c, err = g.Corpus(ctx, cut); err != nil {
				return nil, err
			}
			at = cut
		}
		var kernels []kernel.Kernel
		for _, k := range own.Kernels {
			if k.Embedding() == embedding {
				kernels = append(kernels, k)
			}
		}
		last, err = o.problem(ctx, c, kernels, t.options(&o, tasks...))
		if !several {
			c = nil // the matrix needs the room
		}
		return last, err
	}
	each := func(p svm.Point) {
		if g.Each != nil {
			g.Each(validationOf(t.Type, p))
		}
	}
	found, err := svm.SearchProblems(ctx, s, own, problem, each)
	if found == nil {
		return nil, err
	}
	out := &Found{Measure: found.Measure, Total: found.Total, Best: found.Best, Fits: found.Fits(),
		DotProducts: found.DotProducts, Saved: found.Saved(), Gram: found.Gram, Solve: found.Solve}
	for _, p := range found.Points {
		v := validationOf(t.Type, p)
		v.About.Classes = classes
		out.Points = append(out.Points, v)
	}
	return out, err
}

// searchSamples compares candidates on samples that grow, and the best on all documents.
func (t *machines) searchSamples(
	ctx context.Context, c *corpus.Corpus, g *Grid, o *Options, s svm.Settings,
) (*Found, error) {
	given := s
	from, s, err := t.candidates(o, c, s, g.embeddings)
	if err != nil {
		return nil, err
	}
	if len(g.machines.Schemes) > 0 && len(c.Classes) > 2 && t.Type.Classifies() {
		from.Schemes = g.machines.Schemes
	}
	from.Cuts, from.Near, from.Final, from.Folds = g.Cuts, Near, Finalists, g.Folds
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
	if g.Cuts == 0 {
		if terms, _, err = o.cutting(ctx, c, searchTerms(c), &from); err != nil {
			return nil, err
		}
	}
	from.LeastC, from.Kernels, from.Supervised = g.LeastC, append(from.Kernels, from.Supervised...), nil
	begin := time.Now()
	chosen, err := svm.Choose(ctx, c, s, from, t.options(o))
	if short(err) && from.Cuts > 1 {
		o.Warning("other terms are left out: %v", err)
		words, one := *c, *g
		words.Raw, one.Cuts, one.Corpus = corpus.Raw{}, 0, nil
		return t.searchSamples(ctx, &words, &one, o, given)
	}
	if chosen == nil {
		return nil, err
	}
	return t.foundOf(chosen, terms, time.Since(begin)), err
}

// foundOf is a choice as what a search found.
func (t *machines) foundOf(chosen *svm.Chosen, terms []corpus.Terms, took time.Duration) *Found {
	out := &Found{Measure: chosen.Measure, Best: -1, Fits: chosen.Fits, DotProducts: chosen.DotProducts,
		Chosen: chosen, Terms: terms, Solve: took}
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
