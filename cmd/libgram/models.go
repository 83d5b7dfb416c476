//go:build cgo

package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
)

// model is a model that shares no memory with the caller.
type model struct {
	*gram.Model
	warnings []string // warnings of its training

	mu    sync.Mutex
	ready map[readyFor]*ready
}

// readyFor is the key of a model's prepared copies: the options on which these depend.
type readyFor struct {
	isa     string
	workers int
	memory  int64
	novelty bool
}

// ready is a copy of a model that is prepared for predictions. Concurrent calls share it, and
// receive each other's progress and warnings.
type ready struct {
	*gram.Model
	mu      sync.Mutex
	callers map[*gram.Options]bool
}

func (*model) kind() string { return "model" }

func (m *model) close() error {
	var errs []error
	for _, r := range m.ready {
		errs = append(errs, r.Close())
	}
	return errors.Join(errs...)
}

// each visits the options of the current calls.
func (r *ready) each(visit func(o *gram.Options)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for o := range r.callers {
		visit(o)
	}
}

// with returns a copy of the model that is prepared for the options of a call. The call ends with
// done.
func (m *model) with(o *gram.Options, novelty bool) (r *ready, done func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := readyFor{o.ISA, o.Workers, o.MemoryBytes, novelty}
	if r = m.ready[key]; r == nil {
		r = &ready{callers: map[*gram.Options]bool{}}
		own := gram.Options{ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes}
		own.Progress = func(p gram.Progress) {
			r.each(func(o *gram.Options) {
				if o.Progress != nil {
					o.Progress(p)
				}
			})
		}
		own.Warn = func(warning string) {
			r.each(func(o *gram.Options) {
				if o.Warn != nil {
					o.Warn(warning)
				}
			})
		}
		if r.Model = m.With(own); novelty {
			r.Model = r.WithNovelty(nil)
		}
		if m.ready == nil {
			m.ready = map[readyFor]*ready{}
		}
		m.ready[key] = r
	}
	r.mu.Lock()
	r.callers[o] = true
	r.mu.Unlock()
	return r, func() {
		r.mu.Lock()
		delete(r.callers, o)
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
		Warnings        []string
	}{a, n > 0, a.Unfinished == 0, n, columnsOf(a.Tokenizer), m.warnings}
}

func (m *model) arrays() map[string]arrayMaker {
	all := map[string]arrayMaker{"bytes": bytesOf(m)}
	all["support"] = func(*call) (*array, error) { return column(narrowInts(m.DecisionFunctions().Support)), nil }
	all["coefficients"] = func(*call) (*array, error) { return rowsOf(m.DecisionFunctions().Coefficients)(nil) }
	all["offsets"] = func(*call) (*array, error) { return column(m.DecisionFunctions().Offsets), nil }
	all["weights"] = func(*call) (*array, error) {
		weights, _ := m.Weights()
		return rowsOf(weights)(nil)
	}
	all["columns"] = func(*call) (*array, error) {
		_, columns := m.Weights()
		out := make([]int64, len(columns))
		for i, t := range columns {
			out[i] = int64(t)
		}
		return column(out), nil
	}
	return withNames(all, "vocabulary", m.About().Vocabulary)
}

// training returns the documents for training, whose text is tokenised by Terms, or as training
// chooses.
func (c *call) training(x *documents, o *gram.TrainOptions) (*corpus.Corpus, error) {
	read, fixed := gram.ReadOptions{Options: o.Options}, x != nil && x.texts != nil && o.Terms != nil
	if fixed { // tokenised at once, so that warnings refer to these terms
		read.Tokenizer, read.MinDF, o.Terms = o.Terms.Tokenizer, o.Terms.MinDF, nil
	}
	in, err := c.corpusOf(x, "x", read)
	if err == nil && fixed {
		in.Raw = corpus.Raw{} // otherwise training would choose other terms
	}
	if l, _, unknown := learn.Parse(o.Type); err == nil && unknown == nil && l.Holds && x.matrix != nil {
		in.Documents = copied(in.Documents)
	}
	if err == nil && o.Terms != nil && !in.Kept() {
		err = errors.New(`gram: option "terms" requires documents with texts`)
	}
	if err == nil {
		o.DocumentWeights, err = x.weighted(in.Documents.Rows())
	}
	return in, err
}

// train implements gram_train.
func train(c *call, a *makeArguments) (object, error) {
	var o gram.TrainOptions
	if err := c.options(a.options, &o, &o.Options); err != nil {
		return nil, err
	}
	in, err := c.training(a.x, &o)
	if err != nil {
		return nil, err
	}
	m, err := gram.Train(c.ctx, in, o)
	if err != nil {
		return nil, err
	}
	return &model{Model: m.With(gram.Options{}), warnings: c.said()}, nil
}

// crossValidate implements gram_cross_validate.
func crossValidate(c *call, a *makeArguments) (object, error) {
	var o gram.ValidateOptions
	if err := c.options(a.options, &o, &o.Options); err != nil {
		return nil, err
	}
	in, err := c.training(a.x, &o.TrainOptions)
	if err != nil {
		return nil, err
	}
	v, err := gram.CrossValidate(c.ctx, in, o)
	if err != nil {
		return nil, err
	}
	return &answer{name: "validation", says: struct {
		*gram.Validation
		Converged bool
		Warnings  []string
	}{v, v.Unfinished == 0, c.said()}}, nil
}

// point is a combination of a search.
type point struct {
	gram.SearchPoint
	Options map[string]any
}

// search implements gram_search.
func search(c *call, a *makeArguments) (object, error) {
	var o gram.SearchOptions
	if err := c.options(a.options, &o, &o.Options); err != nil {
		return nil, err
	}
	in, err := c.training(a.x, &o.TrainOptions)
	if err != nil {
		return nil, err
	}
	found, err := gram.Search(c.ctx, in, o)
	if err != nil {
		return nil, err
	}
	var points []point
	for _, p := range found.Points {
		points = append(points, point{p, given(p.Options)})
	}
	return &answer{name: "search", says: struct {
		Measure   string
		Points    []point
		Best      int
		Why       string
		Ablations []gram.Ablation
		Train     map[string]any
		Warnings  []string
	}{found.Measure, points, found.Best, found.Why, found.Ablations, given(found.Train), c.said()}}, nil
}

// answer is the result of a function: predictions, a validation, a search, an explanation, or
// matches.
type answer struct {
	name string
	says any
	has  map[string]arrayMaker
}

func (o *answer) kind() string                  { return o.name }
func (o *answer) about() any                    { return o.says }
func (o *answer) arrays() map[string]arrayMaker { return o.has }
func (*answer) close() error                    { return nil }

type predictArguments struct {
	options text
	result
	x     *documents
	model uintptr
}

// predict implements gram_predict.
func predict(c *call, a *predictArguments) (object, error) {
	var o struct {
		gram.Options
		Novelty bool
	}
	if err := c.options(a.options, &o, &o.Options); err != nil {
		return nil, err
	}
	m, err := objectOf[*model](c, a.model)
	if err != nil {
		return nil, err
	}
	r, done := m.with(&o.Options, o.Novelty)
	defer done()
	p, err := c.predictions(r.Model, a.x)
	if err != nil {
		return nil, err
	}
	return c.answer(r.About().Classes, p), nil
}

func (c *call) predictions(m *gram.Model, x *documents) (*gram.Predictions, error) {
	if err := x.check("x"); err != nil {
		return nil, err
	}
	switch {
	case x.texts != nil:
		texts, err := x.texts.list("texts")
		if err != nil {
			return nil, err
		}
		return m.PredictTexts(c.ctx, texts)
	case x.table != nil:
		columns, rows, err := x.table.fields()
		if err != nil {
			return nil, err
		}
		return m.PredictRows(c.ctx, columns, rows)
	case x.terms != nil:
		lists, err := x.lists()
		if err != nil {
			return nil, err
		}
		return m.PredictTerms(c.ctx, lists)
	}
	in, err := c.corpusOf(x, "x", gram.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return m.Predict(c.ctx, in)
}

// answer converts predictions. Classes are the model's, followed by further predicted labels, "?"
// or "-1".
func (c *call) answer(of []string, p *gram.Predictions) *answer {
	classes, place := slices.Clone(of), map[string]int32{}
	for i, name := range classes {
		place[name] = int32(i)
	}
	number := func(name string) int32 {
		at, ok := place[name]
		if !ok {
			at = int32(len(classes))
			place[name], classes = at, append(classes, name)
		}
		return at
	}
	var labels []int32
	var offsets []int64
	if p.Labels != nil {
		offsets = []int64{0}
	}
	for _, own := range p.Labels {
		for _, name := range own {
			labels = append(labels, number(name))
		}
		offsets = append(offsets, int64(len(labels)))
	}
	seconds := make([]int32, len(p.Seconds))
	for i, name := range p.Seconds {
		seconds[i] = number(name)
	}
	rejected := make([]int32, len(p.Rejected))
	for i, is := range p.Rejected {
		if is {
			rejected[i] = 1
		}
	}
	out := &answer{name: "predictions"}
	out.has = map[string]arrayMaker{
		"labels": made(labels), "label_offsets": made(offsets), "values": made(p.Values), "scores": rowsOf(p.Scores),
		"probabilities": rowsOf(p.Probabilities), "margins": made(p.Margins), "seconds": made(seconds),
		"rejected": made(rejected), "nearest": made(p.Nearest), "ranks": made(p.Ranks), "known": made(wideInts(p.Known)),
		"words": made(wideInts(p.Words)),
	}
	out.says = struct {
		Documents         int
		Classes, Machines []string
		Warnings          []string
	}{len(p.Known), classes, p.DecisionFunctions, c.said()}
	return out
}

func narrowInts(list []int) []int32 {
	out := make([]int32, len(list))
	for i, v := range list {
		out[i] = int32(v)
	}
	return out
}

func wideInts(list []int) []int64 {
	out := make([]int64, len(list))
	for i, v := range list {
		out[i] = int64(v)
	}
	return out
}

type explainArguments struct {
	result
	x        *documents
	model    uintptr
	i, terms int64
}

// explain implements gram_explain.
func explain(c *call, a *explainArguments) (object, error) {
	m, err := objectOf[*model](c, a.model)
	if err != nil {
		return nil, err
	}
	if a.terms < 1 || a.terms > math.MaxInt32 {
		return nil, fmt.Errorf("gram: %d terms to name, expected 1 to %d", a.terms, math.MaxInt32)
	}
	var o gram.Options
	c.use(&o)
	r, done := m.with(&o, false)
	defer done()
	out := &answer{name: "explanation"}
	if a.x == nil {
		out.says, err = r.Explain(c.ctx, int(a.terms))
	} else {
		out.says, err = c.explained(r.Model, a.x, int(a.i), int(a.terms))
	}
	return out, err
}

func (c *call) explained(m *gram.Model, x *documents, i, n int) (*gram.DocumentExplanation, error) {
	if err := x.check("x"); err != nil {
		return nil, err
	}
	outside := func(n int) error {
		if i < 0 || i >= n {
			return fmt.Errorf("gram: document index %d, expected 0 to %d", i, n-1)
		}
		return nil
	}
	switch {
	case x.texts != nil:
		texts, err := x.texts.list("texts")
		if err == nil {
			err = outside(len(texts))
		}
		if err != nil {
			return nil, err
		}
		return m.ExplainText(c.ctx, strings.Clone(texts[i]), n)
	case x.table != nil:
		columns, rows, err := x.table.fields()
		if err == nil {
			err = outside(len(rows))
		}
		if err != nil {
			return nil, err
		}
		return m.ExplainRow(c.ctx, columns, rows[i], n)
	}
	in, err := c.corpusOf(x, "x", gram.ReadOptions{})
	if err != nil {
		return nil, err
	}
	return m.ExplainDocument(c.ctx, in, i, n)
}
