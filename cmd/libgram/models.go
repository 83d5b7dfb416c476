//go:build cgo

package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/sparse"
)

// model is the object for a trained or loaded model. It shares no memory with the caller.
type model struct {
	*gram.Model
	mu       sync.Mutex
	prepared map[string]*preparedModel // models prepared for predictions, indexed by options
}

// preparedModel is a model that is prepared for predictions with certain options. Concurrent calls
// share the model, and each call receives the progress and warnings of all calls.
type preparedModel struct {
	*gram.Model
	mu    sync.Mutex
	calls map[*call]bool
}

func (*model) kind() string { return "model" }

func (r *preparedModel) eachCall(visit func(c *call)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for c := range r.calls {
		visit(c)
	}
}

// prepare returns the model prepared for the given options. Until the caller calls done, c receives
// the progress and warnings of this model.
func (m *model) prepare(c *call, o *gram.Options, novelty bool) (r *preparedModel, done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := fmt.Sprint(o.ISA, o.Workers, o.MemoryBytes, novelty)
	if r = m.prepared[key]; r == nil {
		r = &preparedModel{calls: map[*call]bool{}}
		own := gram.Options{ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes,
			Progress: func(p gram.Progress) { r.eachCall(func(c *call) { c.progress(p) }) },
			Warn:     func(warning string) { r.eachCall(func(c *call) { c.warn(warning) }) },
		}
		if r.Model = m.WithOptions(own); novelty {
			r.Model = r.WithNovelty(nil)
		}
		if m.prepared == nil {
			m.prepared = map[string]*preparedModel{}
		}
		m.prepared[key] = r
	}
	r.mu.Lock()
	r.calls[c] = true
	r.mu.Unlock()
	return r, func() {
		r.mu.Lock()
		delete(r.calls, c)
		r.mu.Unlock()
	}
}

func (m *model) about() any {
	a := m.About()
	n := len(a.Vocabulary)
	a.Vocabulary = nil
	return struct {
		gram.About
		Text, Converged bool
		Vocabulary      int
		Table           []corpus.TableColumn
	}{a, n > 0, a.Unfinished == 0, n, corpus.TableColumns(a.Tokenizer)}
}

func (m *model) arrays() map[string]arrayMaker {
	all := map[string]arrayMaker{"bytes": bytesMaker(func(c *call, w io.Writer) error { return m.Write(c.ctx, w) })}
	of := m.DecisionFunctions
	all["support"] = func(*call) (*array, error) { return column(convert[int32](of().Support)), nil }
	all["coefficients"] = func(*call) (*array, error) { return rowsMaker(of().Coefficients)(nil) }
	all["offsets"] = func(*call) (*array, error) { return column(of().Offsets), nil }
	all["weights"] = func(*call) (*array, error) {
		weights, _ := m.Weights()
		return rowsMaker(weights)(nil)
	}
	all["columns"] = func(*call) (*array, error) {
		_, columns := m.Weights()
		return column(convert[int64](columns)), nil
	}
	return withNames(all, "vocabulary", m.About().Vocabulary)
}

// trainingCorpus returns the documents to train on. If o.Terms is set, texts are tokenised now,
// otherwise during training.
func (c *call) trainingCorpus(x *documents, o *gram.TrainOptions) (*corpus.Corpus, error) {
	read, fixed := gram.ReadOptions{Options: o.Options}, x != nil && x.texts != nil && o.Terms != nil
	if fixed { // tokenises texts now, so that warnings refer to the terms of o.Terms
		read.Tokenizer, read.MinDF, o.Terms = o.Terms.Tokenizer, o.Terms.MinDF, nil
	}
	in, err := c.corpusOf(x, "x", read)
	if err == nil && fixed {
		in.Raw = corpus.Raw{} // dropped, because training would select terms from raw texts
	}
	if l, _, unknown := learn.Parse(o.Type); err == nil && unknown == nil && l.KeepsDocuments && x.matrix != nil {
		in.Documents = cloneCSR(in.Documents)
	}
	if err == nil && o.Terms != nil && !in.HasRawDocuments() {
		err = errors.New(`gram: option "terms" requires documents with texts`)
	}
	if err == nil && (x.weights != nil || x.weightCount != 0) {
		weights, wrong := span[float64]{x.weights, x.weightCount}.sliceN(int64(in.Documents.Rows()), "weights")
		o.DocumentWeights, err = slices.Clone(weights), wrong
	}
	return in, err
}

func train(c *call, a *arguments, o *gram.TrainOptions) (object, error) {
	in, err := c.trainingCorpus(a.x, o)
	if err != nil {
		return nil, err
	}
	m, err := gram.Train(c.ctx, in, *o)
	if err != nil {
		return nil, err
	}
	return &model{Model: m.WithOptions(gram.Options{})}, nil
}

func crossValidate(c *call, a *arguments, o *gram.ValidateOptions) (object, error) {
	in, err := c.trainingCorpus(a.x, &o.TrainOptions)
	if err != nil {
		return nil, err
	}
	v, err := gram.CrossValidate(c.ctx, in, *o)
	if err != nil {
		return nil, err
	}
	return &result{name: "validation", info: struct {
		*gram.Validation
		Converged bool
	}{v, v.Unfinished == 0}}, nil
}

// searchPoint is a combination of parameters that gram_search has tried.
type searchPoint struct {
	gram.SearchPoint
	Options map[string]any
}

func search(c *call, a *arguments, o *gram.SearchOptions) (object, error) {
	in, err := c.trainingCorpus(a.x, &o.TrainOptions)
	if err != nil {
		return nil, err
	}
	found, err := gram.Search(c.ctx, in, *o)
	if err != nil {
		return nil, err
	}
	var points []searchPoint
	for _, p := range found.Points {
		points = append(points, searchPoint{p, nonzeroOptions(p.Options)})
	}
	return &result{name: "search", info: struct {
		Measure   string
		Points    []searchPoint
		Best      int
		Why       string
		Ablations []gram.Ablation
		Train     map[string]any
	}{found.Measure, points, found.BestIndex, found.Reason, found.Ablations, nonzeroOptions(found.TrainOptions)}}, nil
}

// result is the object for predictions, a validation, a search, an explanation, or matches.
type result struct {
	name   string
	info   any
	makers map[string]arrayMaker
}

func (o *result) kind() string                  { return o.name }
func (o *result) about() any                    { return o.info }
func (o *result) arrays() map[string]arrayMaker { return o.makers }

type predictOptions struct {
	gram.Options
	Novelty bool
}

func predict(c *call, a *arguments, o *predictOptions) (object, error) {
	m, err := objectOf[*model](c, a.object)
	if err != nil {
		return nil, err
	}
	r, done := m.prepare(c, &o.Options, o.Novelty)
	defer done()
	p, err := c.predictions(r.Model, a.x)
	if err != nil {
		return nil, err
	}
	return newPredictions(r.About().Classes, p), nil
}

func (c *call) predictions(m *gram.Model, x *documents) (*gram.Predictions, error) {
	if x != nil && x.terms != nil && x.check("x") == nil {
		lists, err := x.termLists()
		if err != nil {
			return nil, err
		}
		return m.PredictTerms(c.ctx, lists)
	}
	in, err := c.predictionCorpus(x)
	if err != nil {
		return nil, err
	}
	return m.Predict(c.ctx, in)
}

// predictionCorpus returns documents to predict. Texts and tables aren't tokenised here, because
// the model tokenises them.
func (c *call) predictionCorpus(x *documents) (*corpus.Corpus, error) {
	if err := x.check("x"); err != nil {
		return nil, err
	}
	var raw corpus.Raw
	var err error
	switch {
	case x.texts != nil:
		raw.Texts, err = x.texts.list("texts")
	case x.table != nil:
		raw.Columns, raw.Rows, err = x.table.fields()
	default:
		return c.corpusOf(x, "x", gram.ReadOptions{})
	}
	return &corpus.Corpus{Source: "the documents", Raw: raw, Vocabulary: []string{},
		Documents: &sparse.CSR{Offsets: make([]int64, raw.Len()+1)}}, err
}

// newPredictions converts predictions to a result object. The classes of the object are the model's
// classes, followed by other predicted labels, such as "?" or "-1".
func newPredictions(of []string, p *gram.Predictions) *result {
	classes, place := slices.Clone(of), map[string]int32{}
	for i, name := range classes {
		place[name] = int32(i)
	}
	numbers := func(to []int32, names []string) []int32 {
		for _, name := range names {
			at, ok := place[name]
			if !ok {
				at = int32(len(classes))
				place[name], classes = at, append(classes, name)
			}
			to = append(to, at)
		}
		return to
	}
	var labels, rejected []int32
	var offsets []int64
	if p.Labels != nil {
		offsets = []int64{0}
	}
	for _, own := range p.Labels {
		labels = numbers(labels, own)
		offsets = append(offsets, int64(len(labels)))
	}
	for _, is := range p.Rejected {
		rejected = append(rejected, 0)
		if is {
			rejected[len(rejected)-1] = 1
		}
	}
	out := &result{name: "predictions", makers: map[string]arrayMaker{
		"labels": existingArray(labels), "label_offsets": existingArray(offsets), "values": existingArray(p.Values),
		"scores":        rowsMaker(p.Scores),
		"probabilities": rowsMaker(p.Probabilities), "margins": existingArray(p.Margins),
		"seconds":  existingArray(numbers(nil, p.SecondClasses)),
		"rejected": existingArray(rejected), "nearest": existingArray(p.NearestValues),
		"ranks": existingArray(p.NearestRanks),
		"known": existingArray(convert[int64](p.KnownWordCounts)), "words": existingArray(convert[int64](p.WordCounts)),
	}}
	out.info = struct {
		Documents                  int
		Classes, DecisionFunctions []string
	}{len(p.KnownWordCounts), classes, p.DecisionFunctions}
	return out
}

func explain(c *call, a *arguments, o *gram.Options) (object, error) {
	m, err := objectOf[*model](c, a.object)
	if err != nil {
		return nil, err
	}
	r, done := m.prepare(c, o, false)
	defer done()
	out := &result{name: "explanation"}
	if a.x == nil {
		out.info, err = r.Explain(c.ctx, int(a.k))
		return out, err
	}
	in, err := c.predictionCorpus(a.x)
	if err != nil {
		return nil, err
	}
	out.info, err = r.ExplainDocument(c.ctx, in, int(a.i), int(a.k))
	return out, err
}
