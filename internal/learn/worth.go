package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/tune"
)

// Ablation is the gain from a part of the terms: words, word pairs, characters, terms that occur in
// only one document, or other parts.
type Ablation struct {
	Part            string      // an n-gram view, an analyzer, or min-df 1
	With, Without   *Validation // best points of the last round, with and without Part
	tune.Difference             // difference between With and Without
}

// Ablations returns the gains from the parts of terms that were compared on the same folds of the
// same documents, or nil if only one tokenizer was tried.
func (f *Found) Ablations() (out []Ablation) {
	if f.Terms == nil {
		return nil
	}
	var seen []string
	for _, p := range f.Points {
		for _, part := range partsOf(f.Terms[p.Terms]) {
			if slices.Contains(seen, part) {
				continue
			}
			seen = append(seen, part)
			w := Ablation{Part: part, With: f.bestWith(part, true), Without: f.bestWith(part, false)}
			same := func(o Ablation) bool { return o.With == w.With && o.Without == w.Without }
			if w.Without == nil || slices.ContainsFunc(out, same) { // report only one of two parts that always occur together
				continue
			}
			w.Difference = tune.Paired(w.With.Figures, w.Without.Figures)
			out = append(out, w)
		}
	}
	return out
}

// bestWith returns the best point with or without a part, or nil.
func (f *Found) bestWith(part string, has bool) (best *Validation) {
	for _, p := range f.Points {
		if slices.Contains(partsOf(f.Terms[p.Terms]), part) == has &&
			(best == nil || f.Measure.Better(p.Mean, best.Mean)) {
			best = p
		}
	}
	return best
}

// partsOf lists the parts of terms: n-gram views, analyzers, and min-df 1 for terms that occur in
// only one document.
func partsOf(t corpus.Terms) (parts []string) {
	for view := range strings.SplitSeq(t.Tokenizer.String(), " + ") {
		analyzer, settings, _ := strings.Cut(view, ":")
		if strings.Contains(settings, "ngrams=") {
			parts = append(parts, view)
		}
		parts = append(parts, analyzer)
	}
	if t.MinDF == 1 {
		parts = append(parts, "min-df 1")
	}
	return parts
}

func (f *Found) point() (p Point, ok bool) {
	if f.Best >= 0 && f.Best < len(f.Points) {
		p = f.Points[f.Best].Point
	} else if f.Chosen != nil && f.Chosen.Why != "" {
		s := &f.Chosen.Settings
		p = validationOf(s.Type, tune.Point{Candidate: f.Chosen.Candidate, Result: &tune.Result{}}).Point
	}
	return p, p.Trainer != nil
}

// Train trains a model on all documents of the searched corpus, with the settings of the best
// point. If nothing was compared, it uses the first settings (see Chosen.Why). o must be the
// options of the search.
//
// It fails if the search has no best point, or if training fails.
func (f *Found) Train(ctx context.Context, c *corpus.Corpus, g *Grid, o Options) (_ Model, err error) {
	p, ok := f.point()
	if !ok {
		return nil, errors.New("learn: the search found no settings to train with")
	}
	if p.Terms > 0 && c != nil && c.Documents != nil { // the documents of c stay in memory
		o.HeldBytes += c.Documents.Bytes() + c.Raw.Bytes()
	}
	switch {
	case f.Terms != nil && p.Terms > 0:
		c, err = f.Terms[p.Terms].Tokenize(ctx, c, corpus.Options{
			Workers: o.Workers, MemoryBytes: MemoryLeft(o.MemoryBytes, o.HeldBytes)})
	case p.Terms > 0:
		c, err = g.Corpus(ctx, p.Terms)
	}
	if err != nil {
		return nil, fmt.Errorf("the best terms: %w", err)
	}
	o.Work = 0
	if g.machines != nil {
		return g.machines.at(p, f.Chosen).Train(ctx, c, o)
	}
	return p.Trainer.Train(ctx, c, o)
}

// at returns a trainer with the parameters of p and, if not nil, of chosen.
func (t *machines) at(p Point, chosen *Chosen) *machines {
	own := *t
	own.Kernel, own.Embedding, own.C, own.Nu, own.Epsilon = p.Kernel, Embedding{}, cmp.Or(p.C, t.C), p.Nu, p.Epsilon
	if t.Type.Classifies() {
		own.Scheme = p.Scheme
	}
	if chosen != nil {
		own.Thresholds, own.Settings.Tolerance = chosen.Settings.Thresholds, chosen.Settings.Tolerance
	}
	return &own
}
