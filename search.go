package gram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// ValidateOptions say what is cross-validated. With the zero value it is a support vector machine of
// the kernel diffusion:t=0.5 and C = 1, as by grambench cv: nothing is chosen.
type ValidateOptions struct {
	TrainOptions // without ChooseWork

	Folds int // default 5
}

// CrossValidate trains on all folds but one and predicts that one, for each fold; a fold holds a part
// of each class. The measure is the accuracy, the micro F1 of labels, or the mean squared error of
// regression. Documents without a label are left out, unless each label is learnt for itself.
//
// Errors: those of [Train], fewer than 2 folds or more than documents, the type one_class, whose
// predictions there is nothing to compare with.
func CrossValidate(ctx context.Context, c *sparse.Corpus, o ValidateOptions) (*learn.Validation, error) {
	if err := checked(ctx, c); err != nil {
		return nil, err
	}
	t, err := o.task(c)
	if err != nil {
		return nil, err
	}
	folds, seed := cmp.Or(o.Folds, svm.DefaultFolds), cmp.Or(o.Seed, 1)
	if t.trainer != nil {
		t.o.Choose = false
		rows, err := learn.Search(ctx, c, []learn.Point{{Trainer: t.trainer, Kernel: o.Kernel}}, t.o, nil, folds, seed)
		if err != nil {
			return nil, c.NameValue(err)
		}
		o.unfinished(rows[0].Ended)
		return rows[0], nil
	}
	s := t.settings
	s.Thresholds = o.Thresholds
	p, err := svm.NewProblem(ctx, c, s.Kernel.Embedding(), o.svm())
	if err != nil {
		return nil, c.NameValue(err)
	}
	v, err := p.CrossValidate(ctx, s, folds, seed)
	if err != nil {
		return nil, err
	}
	out := &learn.Validation{
		About: learn.About{Type: string(s.Type), Kernel: engine.Resolve(s.Kernel, p.Terms()).String(),
			Embedding: s.Kernel.Embedding().String(), Scheme: s.Scheme, C: s.C, Classes: c.Classes},
		C: s.C, Score: v.Score, ByFold: v.ByFold, Measure: v.Measure, Figures: v.Figures, Mean: v.Mean, SD: v.SD,
		Took: v.Gram + v.Solve,
	}
	if out.Ended.Unfinished = v.Unfinished; v.Unfinished > 0 {
		o.warn("%d machines stopped before the tolerance was reached", v.Unfinished)
	}
	return out, nil
}

func (o *Options) unfinished(e learn.Ended) {
	if e.Unfinished > 0 {
		o.warn("%s", e)
	}
}

// SearchOptions say what is searched. With the zero value it is kernel, C and scheme of a support
// vector machine, on samples that grow, as by grambench grid, which cuts text in other ways, too.
type SearchOptions struct {
	TrainOptions // what is given stays; ChooseWork is 60 by default

	Folds int // default 5

	// Grid has values by parameter: all combinations are tried on the same folds. Parameters are C, nu,
	// epsilon, kernel, embed, scheme, and those of the kernel, such as t, or of the learner, such as k.
	// embed and scheme don't end a search on samples. Default: none, or the usual ones where there is
	// no such search.
	Grid map[string][]string

	// Cuts are the same documents with text cut in other ways, such as with n-grams, to compare in a
	// search on samples. Default: none.
	Cuts []*sparse.Corpus
}

// SearchPoint is a combination that was tried.
type SearchPoint struct {
	Options   TrainOptions // that train with it
	Cut       int          // the corpus is 0, Cuts[i] is i+1
	Documents int          // that it was compared on
	Figures   []float64    // the measure by fold
	Mean, SD  float64      // of the figures; the deviation has n-1 in the denominator
}

// SearchResult is what a search found.
type SearchResult struct {
	Measure svm.Measure
	Points  []SearchPoint // of a search on samples those of its last round
	Best    int           // of Points, the first of several with the same mean; -1 where there is none
	Why     string        // why nothing was compared, where documents are too few: Train takes the first candidate
	Train   TrainOptions  // train the best
}

// Search searches for the best kernel and parameters by cross-validation. At the end of ctx, or after
// another error, the result has the points that are complete, if any.
//
// Errors: those of [CrossValidate], parameters that are not known, values out of range.
func Search(ctx context.Context, c *sparse.Corpus, o SearchOptions) (*SearchResult, error) {
	if err := checked(ctx, c); err != nil {
		return nil, err
	}
	for i, cut := range o.Cuts {
		if err := checked(ctx, cut); err != nil || cut.Documents.Rows() != c.Documents.Rows() {
			return nil, errors.Join(fmt.Errorf("gram: Cuts %d, expected the same %d documents", i, c.Documents.Rows()), err)
		}
	}
	o.ChooseWork, o.Folds = cmp.Or(o.ChooseWork, learn.SearchWork), cmp.Or(o.Folds, svm.DefaultFolds)
	t, err := o.task(c)
	if err != nil {
		return nil, err
	}
	lists, words, err := o.lists(t.trainer != nil)
	if err != nil {
		return nil, err
	}
	out := &SearchResult{Best: -1, Train: o.TrainOptions}
	switch {
	case t.trainer != nil:
		err = o.searchLearner(ctx, c, t, lists, words, out)
	case len(lists) == 0 && words["kernel"] == nil && t.searches(c):
		err = o.searchSamples(ctx, c, t, words, out)
	default:
		err = o.searchGrid(ctx, c, t, lists, words, out)
	}
	if out.Best >= 0 {
		out.Train = out.Points[out.Best].Options
	}
	if err != nil && len(out.Points) == 0 {
		return nil, c.NameValue(err)
	}
	return out, c.NameValue(err)
}

// searches says whether kernel, C and scheme are searched on samples: for classes, as grid does.
func (t *task) searches(c *sparse.Corpus) bool {
	return t.may && (t.given.Vectors || !slices.ContainsFunc(c.Documents.Values, func(v float32) bool { return v < 0 }))
}

// lists are the grid's lists of numbers, by their names, and those of words.
func (o *SearchOptions) lists(learner bool) (numbers []kernel.List, words map[string][]string, err error) {
	words = map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(o.Grid)) {
		values := o.Grid[name]
		if sorted := slices.Sorted(slices.Values(values)); len(values) == 0 || len(slices.Compact(sorted)) < len(values) {
			return nil, nil, fmt.Errorf("gram: Grid %s: %q, expected values, each once", name, values)
		}
		list := kernel.List{Name: name}
		for _, text := range values {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || v != v {
				list.Values = nil
				break
			}
			list.Values = append(list.Values, v)
		}
		if list.Values != nil {
			numbers = append(numbers, list)
		} else if words[name] = values; !slices.Contains([]string{"kernel", "embed", "scheme"}, name) && !learner {
			return nil, nil, fmt.Errorf("gram: Grid %s: %q, expected numbers", name, values)
		}
	}
	return numbers, words, nil
}

// kernels are those of the grid or of the options, with each embedding of the grid.
func (o *SearchOptions) kernels(t *task, words map[string][]string) (out []engine.Kernel, err error) {
	if len(words["kernel"]) == 0 && len(words["embed"]) == 0 {
		return []engine.Kernel{t.settings.Kernel}, nil
	}
	for e := range max(len(words["embed"]), 1) {
		embedding := o.Embedding
		if len(words["embed"]) > 0 {
			embedding = words["embed"][e]
		}
		specs := words["kernel"]
		if specs == nil {
			specs = []string{t.spec}
		}
		for _, spec := range specs {
			k, err := o.kernelIn(spec, embedding)
			if err != nil {
				return nil, err
			}
			out = append(out, k)
		}
	}
	return out, nil
}

// schemes are those of the grid.
func (o *SearchOptions) schemes(c *sparse.Corpus, words map[string][]string) (out []solver.Scheme, err error) {
	for _, name := range words["scheme"] {
		one := TrainOptions{Scheme: name}
		s, err := one.scheme(c)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// searchSamples compares candidates on samples that grow, and the best on all documents.
func (o *SearchOptions) searchSamples(
	ctx context.Context, c *sparse.Corpus, t *task, words map[string][]string, out *SearchResult,
) error {
	if t.given.Embeddings == nil {
		t.given.Embeddings = words["embed"]
	}
	t.settings.Thresholds = t.settings.Scheme == solver.Labels
	from, err := t.given.Candidates(c, t.settings)
	if err != nil {
		return err
	}
	schemes, err := o.schemes(c, words)
	if err != nil {
		return err
	}
	if schemes != nil && len(c.Classes) > 2 {
		from.Schemes = schemes
	}
	if from.Cuts = len(o.Cuts); from.Cuts > 0 {
		from.Cuts++
		from.Corpus = func(_ context.Context, cut int) (*sparse.Corpus, error) { return o.Cuts[cut-1], nil }
	}
	from.Near, from.Final, from.Folds = learn.Near, learn.Finalists, o.Folds
	chosen, err := svm.Choose(ctx, c, t.settings, from, o.svm())
	if chosen == nil {
		return err
	}
	if chosen.Uncut != nil {
		o.warn("other cuts were left out: %v", chosen.Uncut)
	}
	out.Measure, out.Why = chosen.Measure, chosen.Why
	if n := len(chosen.Rounds); n > 0 {
		last := chosen.Rounds[n-1]
		for _, p := range last.Points {
			out.Points = append(out.Points, o.point(t, p, last.Documents))
		}
		out.Best = last.Best
	} else {
		s := chosen.Settings
		out.Train = o.point(t, svm.Point{Candidate: svm.Candidate{Kernel: s.Kernel, Scheme: s.Scheme, C: s.C}}, 0).Options
	}
	return err
}

// searchGrid tries all combinations of lists.
func (o *SearchOptions) searchGrid(
	ctx context.Context, c *sparse.Corpus, t *task, lists []kernel.List, words map[string][]string, out *SearchResult,
) error {
	if len(o.Cuts) > 0 {
		return errors.New("gram: Cuts in a search of lists, expected none: they are compared on samples")
	}
	if len(lists) == 0 && len(words["kernel"]) < 2 {
		lists = learn.DefaultLists(t.settings.Type, o.Kernel != "" || words["kernel"] != nil || t.given.Vectors, o.C != 0)
	}
	for _, list := range lists {
		if err := learn.CheckList(t.settings.Type, list); err != nil {
			return fmt.Errorf("gram: Grid %w", err)
		}
	}
	kernels, err := o.kernels(t, words)
	if err != nil {
		return err
	}
	grid, unused, err := learn.Grid(kernels, lists)
	if err == nil && len(unused) > 0 {
		err = fmt.Errorf("gram: Grid %s: no such parameter of %v", unused[0], kernels)
	}
	if err == nil {
		grid.Schemes, err = o.schemes(c, words)
	}
	if err != nil {
		return err
	}
	grid.Folds, grid.Seed = o.Folds, t.settings.Seed
	t.settings.Kernel, t.settings.Thresholds = kernels[0], o.Thresholds
	found, err := svm.SearchCorpus(ctx, c, t.settings, grid, o.svm(), nil)
	if found != nil {
		out.Measure, out.Best = found.Measure, found.Best
		for _, p := range found.Points {
			out.Points = append(out.Points, o.point(t, p, c.Documents.Rows()))
		}
	}
	return err
}

// point is a point with the options that train it.
func (o *SearchOptions) point(t *task, p svm.Point, documents int) SearchPoint {
	own := o.TrainOptions
	own.Kernel, own.Embedding, own.ChooseWork = p.Kernel.String(), "", -1
	own.C, own.Nu, own.Epsilon = t.settings.Type.Used(p.C, p.Nu, p.Epsilon)
	own.Thresholds = t.settings.Thresholds
	if t.settings.Type.Classifies() {
		own.Scheme = p.Scheme.String()
	}
	return SearchPoint{own, p.Cut, documents, p.Figures, p.Mean, p.SD}
}

// searchLearner tries all combinations of a learner's values.
func (o *SearchOptions) searchLearner(
	ctx context.Context, c *sparse.Corpus, t *task, lists []kernel.List, words map[string][]string, out *SearchResult,
) error {
	prices, kernels := t.learner.Prices(), words["kernel"]
	if o.C != 0 && prices != nil {
		prices = []float64{o.C}
	}
	delete(words, "kernel")
	var values []learn.Words
	for _, name := range slices.Sorted(maps.Keys(words)) {
		values = append(values, learn.Words{Name: name, Values: words[name]})
	}
	for _, list := range lists {
		switch {
		case list.Name != "C":
			values = append(values, learn.Numbers(list))
		case prices == nil:
			return fmt.Errorf("gram: Grid C: type %s has no C", o.Type)
		default:
			if prices = slices.Sorted(slices.Values(list.Values)); !(prices[0] > 0 && prices[len(prices)-1] < 1e300) {
				return fmt.Errorf("gram: Grid C: %v, expected numbers above 0, below 1e300", prices)
			}
		}
	}
	points, err := learn.Points(o.Type, values, kernels, t.o)
	if err != nil {
		return err
	}
	t.o.Choose, out.Measure = false, learn.MeasureOf(t.o.Scheme)
	rows, err := learn.Search(ctx, c, points, t.o, prices, o.Folds, t.o.Seed)
	for i, row := range rows {
		at, own := points[i/max(len(prices), 1)], o.TrainOptions
		own.Type, own.Kernel, own.C = at.Spec, at.Kernel, cmp.Or(row.C, o.C)
		out.Points = append(out.Points, SearchPoint{own, 0, c.Documents.Rows(), row.Figures, row.Mean, row.SD})
		if out.Best < 0 || out.Measure.Better(row.Mean, out.Points[out.Best].Mean) {
			out.Best = i
		}
		o.unfinished(row.Ended)
	}
	return err
}
