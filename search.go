package gram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/svm"
)

// ValidateOptions say what is cross-validated. With the zero value it is a support vector machine of
// the kernel diffusion:t=0.5 and C = 1, as by gram cv: nothing is chosen.
type ValidateOptions struct {
	TrainOptions // ChooseWork is ignored

	Folds int // default 5
}

// CrossValidate trains on all folds but one and predicts that one, for each fold; a fold holds a part
// of each class. The measure is the accuracy, the micro F1 of labels, or the mean squared error of
// regression. Documents without a label are left out, unless each label is learnt for itself.
//
// Errors: those of [Train], fewer than 2 folds or more than documents, the type one_class, whose
// predictions there is nothing to compare with.
func CrossValidate(ctx context.Context, c *corpus.Corpus, o ValidateOptions) (_ *Validation, err error) {
	defer facade(&err)
	if err := checked(ctx, c); err != nil {
		return nil, err
	}
	if c, err = o.cut(ctx, c); err != nil {
		return nil, err
	}
	_, trainer, own, err := o.learner(c)
	if err != nil {
		return nil, err
	}
	v, err := learn.CrossValidate(ctx, c, trainer, own, cmp.Or(o.Folds, svm.DefaultFolds))
	if err != nil {
		return nil, c.NameValue(err)
	}
	o.unfinished(v.Ended)
	return validationOf(v), nil
}

func (o *Options) unfinished(e learn.Ended) {
	if e.Unfinished > 0 {
		o.warn("%s", flagtext.Words(e.String()))
	}
}

// SearchOptions say what is searched. With the zero value it is terms, if the corpus keeps its texts, kernel, C
// and scheme of a support vector machine, on samples that grow, as by gram grid.
type SearchOptions struct {
	TrainOptions // what is given stays; ChooseWork is 60 by default

	Folds int // default 5

	// Grid has values by parameter: all combinations are tried on the same folds. Parameters are C, nu,
	// epsilon, kernel, embed, scheme, and those of the kernel, such as t, or of the learner, such as k.
	// With lists of embed and scheme alone, the search tries the rest on samples. Default: such a search, or the
	// usual lists of learners that have none.
	Grid map[string][]string

	// Cuts are the same documents with text cut in other ways, such as with n-grams, to compare in a
	// search on samples. Default: those that [Train] chooses from, if the corpus keeps its texts.
	Cuts []*corpus.Corpus
}

// SearchPoint is a combination that was tried.
type SearchPoint struct {
	Options    TrainOptions // that train with it
	Cut        int          // the corpus is 0, Cuts[i] is i+1; without Cuts, Options have the terms
	Documents  int          // number of documents that it was compared on
	FoldScores []float64    // the measure on each fold
	Mean, SD   float64      // of FoldScores; the deviation has n-1 in the denominator
	SE         float64      // standard error of Mean: SD / √folds
	ToBest     *Difference  // to the best point; nil for the best
}

// Difference is the mean difference of the measure of two points on the same folds, with its standard error.
type Difference struct{ Mean, SE float64 }

// SearchResult is what a search found.
type SearchResult struct {
	Measure   string        // as in Validation
	Points    []SearchPoint // of a search on samples those of its last round
	Best      int           // of Points, the first of several with the same mean; -1 if there is none
	Why       string        // why nothing was compared, if documents are too few: Train has the first candidate
	Ablations []Ablation    // by part of the terms, if several ways to cut text were compared
	Train     TrainOptions  // train the best
}

// Ablation compares the best point that has a part of the terms with the best one that lacks it.
type Ablation struct {
	Part       string // an analyzer such as word, n-grams, or min-df 1
	Difference        // with the part less without it
}

// Search searches for the best kernel and parameters by cross-validation. At the end of ctx, or after
// another error, the result has the points that are complete, if any.
//
// Errors: those of [CrossValidate], parameters that are not known, values out of range.
func Search(ctx context.Context, c *corpus.Corpus, o SearchOptions) (_ *SearchResult, err error) {
	defer facade(&err)
	if err := checked(ctx, c); err != nil {
		return nil, err
	}
	o.Cuts = slices.Clone(o.Cuts)
	for i, cut := range o.Cuts {
		if err := checked(ctx, cut); err != nil || cut.Documents.Rows() != c.Documents.Rows() {
			return nil, errors.Join(fmt.Errorf("gram: Cuts %d, expected the same %d documents", i, c.Documents.Rows()), err)
		}
		if o.Cuts[i], err = o.weighted(cut); err != nil {
			return nil, err
		}
	}
	o.ChooseWork = cmp.Or(o.ChooseWork, learn.SearchWork)
	if c, err = o.cut(ctx, c); err != nil {
		return nil, err
	}
	l, trainer, own, err := o.learner(c)
	if err != nil {
		return nil, err
	}
	if own.Vectors == nil && slices.ContainsFunc(c.Documents.Values, func(v float32) bool { return v < 0 }) {
		own.Work = 0 // samples are for text and counts, and for kernels of vectors
	}
	g, err := o.grid(l, trainer, own)
	if err != nil {
		return nil, err
	}
	found, err := learn.Search(ctx, c, g, own)
	if found == nil || err != nil && len(found.Points) == 0 {
		return nil, c.NameValue(err)
	}
	out := &SearchResult{Measure: string(found.Measure), Best: found.Best, Train: o.TrainOptions}
	for _, w := range found.Worths() {
		out.Ablations = append(out.Ablations, Ablation{w.Part, Difference(w.Difference)})
	}
	documents := c.Documents.Rows()
	if chosen := found.Chosen; chosen != nil {
		if out.Why = chosen.Why; len(chosen.Rounds) > 0 {
			documents = chosen.Rounds[len(chosen.Rounds)-1].Documents
		}
		first := chosen.Settings
		out.Train = o.with(l, &learn.Validation{Point: learn.Point{Kernel: first.Kernel.String(), Scheme: first.Scheme,
			Regularization: first.Used()}})
		out.Train.Thresholds, out.Train.Tolerance = first.Thresholds, first.Tolerance
	}
	for _, p := range found.Points {
		one := SearchPoint{o.with(l, p), p.Cut, documents, p.Figures, p.Mean, p.SD, p.SE, (*Difference)(p.ToBest)}
		if found.Chosen != nil {
			one.Options.Thresholds, one.Options.Tolerance = out.Train.Thresholds, out.Train.Tolerance
			if p.Cut > 0 && found.Terms != nil {
				one.Options.Terms = &found.Terms[p.Cut]
			}
		}
		o.unfinished(p.Ended)
		out.Points = append(out.Points, one)
	}
	if out.Best >= 0 {
		out.Train = out.Points[out.Best].Options
	}
	return out, c.NameValue(err)
}

// grid is what is searched.
func (o *SearchOptions) grid(l *learn.Learner, t learn.Trainer, own learn.Options) (*learn.Grid, error) {
	var lists []learn.Words
	for _, name := range slices.Sorted(maps.Keys(o.Grid)) {
		values := o.Grid[name]
		if sorted := slices.Sorted(slices.Values(values)); len(values) == 0 || len(slices.Compact(sorted)) < len(values) {
			return nil, fmt.Errorf("gram: Grid %s: %q, expected values, each once", name, values)
		}
		lists = append(lists, learn.Words{Name: name, Values: values})
	}
	g, err := learn.NewGrid(l, t, lists, own)
	if err != nil {
		return nil, err
	}
	if g.Folds = o.Folds; len(o.Cuts) > 0 {
		if !g.Samples {
			return nil, errors.New("gram: Cuts in a search of lists, expected none: they are compared on samples")
		}
		g.Cuts = len(o.Cuts) + 1
		g.Corpus = func(_ context.Context, cut int) (*corpus.Corpus, error) { return o.Cuts[cut-1], nil }
	}
	return g, nil
}

// with are the options that train with a point.
func (o *SearchOptions) with(l *learn.Learner, p *learn.Validation) TrainOptions {
	own := o.TrainOptions
	own.Kernel, own.C = p.Kernel, cmp.Or(p.C, o.C)
	if l.Type == "" {
		own.Type = p.Spec
		return own
	}
	own.Embedding, own.ChooseWork, own.C, own.Nu, own.Epsilon = "", -1, p.C, p.Nu, p.Epsilon
	if l.Type.Classifies() {
		own.Scheme = p.Scheme.String()
	}
	return own
}
