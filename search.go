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
	"github.com/gramengine/gram/internal/learn/tune"
)

// ValidateOptions are the options of [CrossValidate]. The zero value selects a support vector
// machine with C = 1 and the default kernel stated at [TrainOptions], as in gram cv. No parameter
// is chosen automatically.
type ValidateOptions struct {
	TrainOptions // ChooseWork is ignored

	Folds int // number of folds; default 5
}

// CrossValidate cross-validates training with the options o. Folds are stratified by class, except
// in regression. The measure is the accuracy, the micro F1 of label sets, or the mean squared error
// of regression. Documents without a label are excluded, except for label sets.
//
// It fails if there are fewer than 2 folds or more folds than documents, if Type is one_class,
// whose predictions can't be scored, or for the same reasons as [Train].
func CrossValidate(ctx context.Context, c *corpus.Corpus, o ValidateOptions) (_ *Validation, err error) {
	defer convertError(&err)
	if err := checkCorpus(ctx, c); err != nil {
		return nil, err
	}
	if c, err = o.prepareCorpus(ctx, c); err != nil {
		return nil, err
	}
	_, trainer, own, err := o.learner(c)
	if err != nil {
		return nil, err
	}
	v, err := learn.CrossValidate(ctx, c, trainer, own, cmp.Or(o.Folds, tune.DefaultFolds))
	if err != nil {
		return nil, c.DescribeError(err)
	}
	o.warnUnfinished(v.Convergence)
	return validationOf(v), nil
}

func (o *Options) warnUnfinished(e learn.Convergence) {
	if e.UnfinishedCount > 0 {
		o.warn("%s", flagtext.FlagText(e.String()))
	}
}

// SearchOptions are the options of [Search]. The zero value tunes kernel, C and scheme of a support
// vector machine on samples of increasing size, as gram grid does. If the corpus keeps its texts,
// it also tunes the terms.
type SearchOptions struct {
	TrainOptions // parameters that are set aren't tuned; ChooseWork is 60 by default

	Folds int // number of folds; default 5

	// Grid lists the values to try for each parameter. All combinations are compared on the same
	// folds. Parameters are C, nu, epsilon, kernel, embed and scheme, parameters of the kernel,
	// such as t, and parameters of the learner, such as k. If only embed and scheme are listed, the
	// other parameters are searched on samples. Default: a search on samples, or the learner's
	// default values if it doesn't support a search on samples.
	Grid map[string][]string

	// Terms lists corpora with other tokenisations of the same documents, such as n-grams. A search
	// on samples compares all tokenisations. Default: the tokenisations that [Train] tries, if
	// texts were kept.
	Terms []*corpus.Corpus
}

// SearchPoint is an evaluated combination of parameters. If Search generated the tokenisation,
// Options.Terms specifies it.
type SearchPoint struct {
	Options    TrainOptions     // training options with these parameters
	Terms      int              // index of the tokenisation: 0 for the corpus, i+1 for SearchOptions.Terms[i]
	Documents  int              // number of documents that were cross-validated
	FoldScores []float64        // value of the measure on each fold
	Mean, SD   float64          // mean and standard deviation of FoldScores, with n-1 in the denominator
	SE         float64          // standard error of Mean: SD / √folds
	ToBest     *ScoreDifference // difference to the best point; nil for the best point
}

// ScoreDifference is the mean difference of two points' fold scores, with its standard error.
type ScoreDifference struct{ Mean, SE float64 }

// SearchResult is the result of [Search].
type SearchResult struct {
	Measure      string        // name of the measure, as in Validation.Measure
	Points       []SearchPoint // evaluated combinations; for a search on samples, the combinations of the last round
	BestIndex    int           // index of the best point, ties broken by index; -1 if there are no points
	Reason       string        // reason why nothing was compared, or ""; if set, TrainOptions holds the first candidate
	Ablations    []Ablation    // effects of parts of the terms, if several tokenisations were compared
	TrainOptions TrainOptions  // training options with the parameters of the best point
}

// Ablation compares the best point whose terms include Part with the best point whose terms don't.
type Ablation struct {
	Part            string // part of the specification of terms, such as "word", "n-grams" or "min-df 1"
	ScoreDifference        // scores with Part minus scores without Part
}

// Search tunes the kernel and other parameters by cross-validation. If ctx is done or another error
// occurs, the result holds the completed points, if any.
//
// It fails if a parameter is unknown or out of range, or for the same reasons as [CrossValidate].
func Search(ctx context.Context, c *corpus.Corpus, o SearchOptions) (_ *SearchResult, err error) {
	defer convertError(&err)
	if err := checkCorpus(ctx, c); err != nil {
		return nil, err
	}
	o.Terms = slices.Clone(o.Terms)
	for i, cut := range o.Terms {
		if err := checkCorpus(ctx, cut); err != nil || cut.Documents.Rows() != c.Documents.Rows() {
			return nil, errors.Join(fmt.Errorf("gram: Terms[%d] must contain the same %d documents as the corpus", i,
				c.Documents.Rows()), err)
		}
		if o.Terms[i], err = o.withWeights(cut); err != nil {
			return nil, err
		}
	}
	o.ChooseWork = cmp.Or(o.ChooseWork, learn.SearchWorkBudget)
	if c, err = o.prepareCorpus(ctx, c); err != nil {
		return nil, err
	}
	l, trainer, own, err := o.learner(c)
	if err != nil {
		return nil, err
	}
	if own.VectorDefaults == nil && slices.ContainsFunc(c.Documents.Values, func(v float32) bool { return v < 0 }) {
		own.WorkBudget = 0 // a search on samples requires text, counts, or kernels of vectors
	}
	g, err := o.grid(l, trainer, own)
	if err != nil {
		return nil, err
	}
	found, err := learn.Search(ctx, c, g, own)
	if found == nil || err != nil && len(found.Points) == 0 {
		return nil, c.DescribeError(err)
	}
	out := &SearchResult{Measure: string(found.Measure), BestIndex: found.BestIndex, TrainOptions: o.TrainOptions}
	for _, w := range found.Ablations() {
		out.Ablations = append(out.Ablations, Ablation{w.Component, ScoreDifference(w.Difference)})
	}
	documents := c.Documents.Rows()
	if chosen := found.Choice; chosen != nil {
		if out.Reason = chosen.Reason; len(chosen.Rounds) > 0 {
			documents = chosen.Rounds[len(chosen.Rounds)-1].DocumentCount
		}
		first := chosen.Settings
		out.TrainOptions = o.trainOptions(l, &learn.Validation{Point: learn.Point{Kernel: first.Kernel.String(),
			Scheme:         first.Scheme,
			Regularization: first.UsedRegularization()}})
		out.TrainOptions.Thresholds, out.TrainOptions.Tolerance = first.TuneThresholds, first.Tolerance
	}
	for _, p := range found.Points {
		one := SearchPoint{o.trainOptions(l, p), p.Tokenizer, documents, p.FoldValues, p.Mean, p.SD, p.SE,
			(*ScoreDifference)(p.DifferenceToBest)}
		if found.Choice != nil {
			one.Options.Thresholds, one.Options.Tolerance = out.TrainOptions.Thresholds, out.TrainOptions.Tolerance
			if p.Tokenizer > 0 && found.Tokenizers != nil {
				one.Options.Terms = &found.Tokenizers[p.Tokenizer]
			}
		}
		o.warnUnfinished(p.Convergence)
		out.Points = append(out.Points, one)
	}
	if out.BestIndex >= 0 {
		out.TrainOptions = out.Points[out.BestIndex].Options
	}
	return out, c.DescribeError(err)
}

func (o *SearchOptions) grid(l *learn.Learner, t learn.Trainer, own learn.Options) (*learn.Grid, error) {
	var lists []learn.ParameterValues
	for _, name := range slices.Sorted(maps.Keys(o.Grid)) {
		values := o.Grid[name]
		if sorted := slices.Sorted(slices.Values(values)); len(values) == 0 || len(slices.Compact(sorted)) < len(values) {
			return nil, fmt.Errorf("gram: Grid.%s must have one or more distinct values, got %q", name, values)
		}
		lists = append(lists, learn.ParameterValues{Name: name, Values: values})
	}
	g, err := learn.NewGrid(l, t, lists, own)
	if err != nil {
		return nil, err
	}
	if g.Folds = o.Folds; len(o.Terms) > 0 {
		if !g.UseSamples {
			return nil, errors.New("gram: Terms and Grid cannot be combined")
		}
		g.TokenizerCount = len(o.Terms) + 1
		g.Corpus = func(_ context.Context, cut int) (*corpus.Corpus, error) { return o.Terms[cut-1], nil }
	}
	return g, nil
}

func (o *SearchOptions) trainOptions(l *learn.Learner, p *learn.Validation) TrainOptions {
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
