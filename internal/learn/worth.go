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

// Ablation is the gain from a component of a tokenizer: words, word pairs, characters, terms that
// occur in only one document, or other components.
type Ablation struct {
	Component             string      // an n-gram view, an analyzer, or min-df 1
	BestWith, BestWithout *Validation // best points of the last round, with and without Component
	tune.Difference                   // difference between BestWith and BestWithout
}

// Ablations returns the gains from the components that were compared on the same folds of the same
// documents, or nil if only one tokenizer was tried.
func (f *SearchResult) Ablations() (out []Ablation) {
	if f.Tokenizers == nil {
		return nil
	}
	var seen []string
	for _, p := range f.Points {
		for _, part := range componentsOf(f.Tokenizers[p.Tokenizer]) {
			if slices.Contains(seen, part) {
				continue
			}
			seen = append(seen, part)
			w := Ablation{Component: part, BestWith: f.bestWith(part, true), BestWithout: f.bestWith(part, false)}
			same := func(o Ablation) bool { return o.BestWith == w.BestWith && o.BestWithout == w.BestWithout }
			// report only one of two components that always occur together
			if w.BestWithout == nil || slices.ContainsFunc(out, same) {
				continue
			}
			w.Difference = tune.PairedDifference(w.BestWith.FoldValues, w.BestWithout.FoldValues)
			out = append(out, w)
		}
	}
	return out
}

func (f *SearchResult) bestWith(part string, has bool) (best *Validation) {
	for _, p := range f.Points {
		if slices.Contains(componentsOf(f.Tokenizers[p.Tokenizer]), part) == has &&
			(best == nil || f.Measure.Better(p.Mean, best.Mean)) {
			best = p
		}
	}
	return best
}

// componentsOf lists the components of a tokenizer: n-gram views, analyzers, and min-df 1 for terms
// that occur in only one document.
func componentsOf(t corpus.TermOptions) (parts []string) {
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

func (f *SearchResult) bestPoint() (p Point, ok bool) {
	if f.BestIndex >= 0 && f.BestIndex < len(f.Points) {
		p = f.Points[f.BestIndex].Point
	} else if f.Choice != nil && f.Choice.Reason != "" {
		s := &f.Choice.Settings
		p = validationOf(s.Type, tune.Point{Candidate: f.Choice.Candidate, Result: &tune.Result{}}).Point
	}
	return p, p.Trainer != nil
}

// Train trains a model on all documents of the searched corpus, with the settings of the best
// point. If nothing was compared, it uses the first settings (see Reason of [tune.Choice]). o must
// be the options passed to the search.
//
// It fails if the search has no best point, or if training fails.
func (f *SearchResult) Train(ctx context.Context, c *corpus.Corpus, g *Grid, o Options) (_ Model, err error) {
	p, ok := f.bestPoint()
	if !ok {
		return nil, errors.New("learn: the search found no settings to train with")
	}
	if p.Tokenizer > 0 && c != nil && c.Documents != nil { // the caller's documents stay in memory
		o.HeldBytes += c.Documents.Bytes() + c.Raw.Bytes()
	}
	switch {
	case f.Tokenizers != nil && p.Tokenizer > 0:
		c, err = f.Tokenizers[p.Tokenizer].Tokenize(ctx, c, corpus.Options{
			Workers: o.Workers, MemoryBytes: MemoryLeft(o.MemoryBytes, o.HeldBytes)})
	case p.Tokenizer > 0:
		c, err = g.Corpus(ctx, p.Tokenizer)
	}
	if err != nil {
		return nil, fmt.Errorf("the best terms: %w", err)
	}
	o.WorkBudget = 0
	if g.svmTrainer != nil {
		return g.svmTrainer.withPoint(p, f.Choice).Train(ctx, c, o)
	}
	return p.Trainer.Train(ctx, c, o)
}

func (t *svmTrainer) withPoint(p Point, chosen *SVMChoice) *svmTrainer {
	own := *t
	own.Kernel, own.Embedding, own.C, own.Nu, own.Epsilon = p.Kernel, Embedding{}, cmp.Or(p.C, t.C), p.Nu, p.Epsilon
	if t.Type.Classifies() {
		own.Scheme = p.Scheme
	}
	if chosen != nil {
		own.TuneThresholds, own.Settings.Tolerance = chosen.Settings.TuneThresholds, chosen.Settings.Tolerance
	}
	return &own
}
