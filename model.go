package gram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles/atomicfile"
)

// Model is a trained model of any kind: support vector machines, linear machines, logistic regression,
// landmarks, nearest neighbours, a learnt metric, layers of kernels. [Train] and [Load] make one. It
// may be used concurrently.
type Model struct {
	m learn.Model
	o Options

	mu      sync.Mutex
	ready   learn.Predictor // made at the first prediction
	counter *sparse.Counter
	columns map[string]uint32
}

// Load reads a model of any kind that this program, an earlier version of it, grambench or LIBSVM's
// svm-train wrote; columns of the latter are LIBSVM's indices, from 1.
//
// Errors: a file that isn't a model, is damaged, or is of a later version.
func Load(path string) (*Model, error) {
	m, err := learn.Load(context.Background(), path, nil)
	if err != nil {
		return nil, err
	}
	return &Model{m: m}, nil
}

// LoadFrom reads a model as [Load] does, to the end of r. It doesn't know LIBSVM's form.
func LoadFrom(ctx context.Context, r io.Reader) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errors.New("gram: no context or no reader, expected both")
	}
	m, err := learn.Read(ctx, r)
	if err != nil {
		return nil, err
	}
	return &Model{m: m}, nil
}

// With returns the model with other options for predictions. They share nothing that is made ready for
// predictions.
func (m *Model) With(o Options) *Model { return &Model{m: m.m, o: o} }

// About says what the model is: its type and kernel, classes, vocabulary, and how training went.
func (m *Model) About() learn.About { return m.m.About() }

// Save writes the model to a file, which is either what it was before or the whole model, and on the
// disk when Save returns. [Load] reads it.
func (m *Model) Save(path string) error {
	f, err := atomicfile.Create(path, "")
	if err != nil {
		return fmt.Errorf("gram: %w", err)
	}
	defer f.Abort()
	if err := m.Write(context.Background(), f); err != nil {
		return fmt.Errorf("gram: %s: %w", path, err)
	}
	return f.Commit()
}

// Explain returns the n terms that speak most for each class or pair of classes, and as many against
// it. Errors: n below 1, a model without weights by term: those of kernels other than linear.
func (m *Model) Explain(n int) (*learn.Explanation, error) { return learn.Explain(m.m, n, nil) }

// Write writes the model, as it stands in a file. [LoadFrom] reads it.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return m.m.Write(ctx, w) }

// Predictions are what a model says of documents.
type Predictions struct {
	// Labels are, by document, the names of its classes: one, or any number where the model learnt
	// labels each for itself; "1" or "-1" of a model of one class. Nil where the model estimates numbers.
	Labels [][]string

	Values        []float64   // by document, the estimates of a regression, else nil
	Scores        [][]float64 // by document, by machine: decision values, votes or energies
	Machines      []string    // names the columns of Scores
	Probabilities [][]float64 // by document, by class of About().Classes, where the model has them, else nil

	// Known is, by document, how many of its different terms the model knows. With 0 a prediction says
	// nothing about the document: it is what the model says of an empty one.
	Known []int
}

// Label returns the label of document i, the first of several; "" for none.
func (p *Predictions) Label(i int) string {
	if i < 0 || i >= len(p.Labels) || len(p.Labels[i]) == 0 {
		return ""
	}
	return p.Labels[i][0]
}

// Predict predicts documents. Their terms are known by their texts; vectors have those of training.
//
// Errors: text for a model of vectors or the reverse, values that the embedding refuses, more memory
// than is allowed.
func (m *Model) Predict(ctx context.Context, c *sparse.Corpus) (*Predictions, error) {
	if err := checked(ctx, c); err != nil {
		return nil, err
	}
	docs, vocabulary := c.Documents, m.m.About().Vocabulary
	switch {
	case (c.Vocabulary == nil) != (vocabulary == nil):
		return nil, fmt.Errorf("gram: one of %s and the model has text and the other vectors, expected the same of both: "+
			"columns say nothing about words", c.Source)
	case c.Vocabulary != nil:
		var err error
		if docs, err = reordered(c, m.columnsOf(vocabulary), len(vocabulary)); err != nil {
			return nil, err
		}
	}
	p, err := m.predict(ctx, docs)
	return p, c.NameValue(err)
}

// PredictTexts predicts texts, which are cut as those of training were.
//
// Errors: a model that learnt from vectors, or from terms of the program's own ([Terms]), and those of
// Predict.
func (m *Model) PredictTexts(ctx context.Context, texts []string) (*Predictions, error) {
	m.mu.Lock()
	if m.counter == nil {
		a := m.m.About()
		if a.Vocabulary == nil {
			m.mu.Unlock()
			return nil, errors.New("gram: texts for a model that learnt from vectors, and knows no words")
		}
		var err error
		if m.counter, err = sparse.NewCounter(a.Tokenizer, a.Vocabulary); err != nil {
			m.mu.Unlock()
			return nil, err
		}
	}
	counter := m.counter
	m.mu.Unlock()
	docs, err := counter.Count(ctx, texts)
	if err != nil {
		return nil, err
	}
	return m.predict(ctx, docs)
}

// PredictTerms predicts documents of terms that the program has found, as for [Terms].
func (m *Model) PredictTerms(ctx context.Context, documents [][]string) (*Predictions, error) {
	vocabulary := m.m.About().Vocabulary
	if vocabulary == nil {
		return nil, errors.New("gram: terms for a model that learnt from vectors, and knows no words")
	}
	column := m.columnsOf(vocabulary)
	r := NewRows(len(vocabulary))
	for _, terms := range documents {
		columns, counts := count(terms, column)
		if err := r.Add(columns, counts); err != nil {
			return nil, err
		}
	}
	return m.predict(ctx, r.Corpus().Documents)
}

func (m *Model) columnsOf(vocabulary []string) map[string]uint32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.columns == nil {
		m.columns = columnsOf(vocabulary)
	}
	return m.columns
}

// Close frees what predictions have made ready, which the next one makes anew. No prediction may be under way.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ready == nil {
		return nil
	}
	err := m.ready.Close()
	m.ready = nil
	return err
}

// predictor returns what predictions share.
func (m *Model) predictor(ctx context.Context) (learn.Predictor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ready == nil {
		p, err := learn.Ready(ctx, m.m, m.o.learn())
		if err != nil {
			return nil, err
		}
		m.ready = p
	}
	return m.ready, nil
}

func (m *Model) predict(ctx context.Context, docs *sparse.CSR) (*Predictions, error) {
	p, err := m.predictor(ctx)
	if err != nil {
		return nil, err
	}
	found, err := p.Predict(ctx, docs)
	if err != nil {
		return nil, err
	}
	return predictionsOf(m.m.About(), found, docs), nil
}

// predictionsOf names what was predicted.
func predictionsOf(a learn.About, p *svm.Prediction, docs *sparse.CSR) *Predictions {
	out := &Predictions{Scores: p.Decisions, Machines: a.Machines, Probabilities: p.Probabilities}
	if a.Numbers {
		out.Values = p.Value
	}
	for i := range docs.Rows() {
		terms, _ := docs.Row(i)
		out.Known = append(out.Known, len(terms))
		if !a.Numbers {
			out.Labels = append(out.Labels, a.Labels(p, i))
		}
	}
	return out
}

// learn returns the options as package learn has them.
func (o *Options) learn() learn.Options {
	return learn.Options{
		ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes, Kernels: o.Kernels,
		Progress: func(stage string, done, total int64, _ ...string) { o.tell(stage, done, total) },
		Warn:     o.warn, Say: o.warn,
	}
}
