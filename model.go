package gram

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/sparse"
)

// Model is a trained model of any kind: support vector machines, linear machines, logistic regression,
// landmarks, nearest neighbours, a learnt metric, layers of kernels. [Train] and [Load] make one. The zero Model is
// invalid. A Model may be used concurrently.
type Model struct {
	m learn.Model
	o Options

	once  sync.Once
	about learn.About // made at the first question

	mu      sync.Mutex
	ready   learn.Predictor // made at the first prediction
	counter *corpus.Counter
	columns map[string]uint32

	novel    bool // predictions have Nearest and Ranks
	training *corpus.Corpus
	novelty  *learn.Novelty // made at the first prediction
}

// Load reads a model of any kind that this package, gram or LIBSVM's
// svm-train wrote; columns of the latter are LIBSVM's indices, from 1. The model needs a kernel of the program's
// own at its first prediction only, by [Model.With].
//
// Errors wrap [ErrFormat], [ErrVersion], [ErrTruncated] or [ErrDamaged] unless the file can't be read.
func Load(path string) (_ *Model, err error) {
	defer facade(&err)
	m, err := learn.Load(context.Background(), path, nil)
	if err != nil {
		return nil, err
	}
	return &Model{m: m}, nil
}

// LoadFrom reads a model as [Load] does, to the end of r. After the end of ctx it doesn't wait for a call of r.Read
// that blocks.
func LoadFrom(ctx context.Context, r io.Reader) (_ *Model, err error) {
	defer facade(&err)
	m, err := learn.Read(ctx, r)
	if err != nil {
		return nil, err
	}
	return &Model{m: m}, nil
}

// With returns a copy of the model with other options for predictions; one that [Train] made has those of its
// training, of which concurrent predictions call Progress and Warn concurrently. The copy shares no prepared state
// with m.
func (m *Model) With(o Options) *Model {
	if m.made() != nil {
		return m
	}
	return &Model{m: m.m, o: o, novel: m.novel, training: m.training}
}

// WithNovelty returns a copy of the model whose predictions say how near documents are to those of training:
// [Predictions.Nearest] and Ranks. training are the model's documents; nil for those that it keeps, support vectors
// or neighbours. The first prediction compares up to 2,000 of them with all, and each takes as many kernel values
// again. The copy shares no prepared state with m.
func (m *Model) WithNovelty(training *corpus.Corpus) *Model {
	if m.made() != nil {
		return m
	}
	return &Model{m: m.m, o: m.o, novel: true, training: training}
}

// made is an error where there is no model.
func (m *Model) made() error {
	if m == nil || m.m == nil {
		return errors.New("gram: an empty Model, expected one that Train or Load made")
	}
	return nil
}

// About describes the model: its type and kernel, classes, vocabulary, and how training went.
func (m *Model) About() About { return aboutOf(m.is()) }

// is returns what package learn says of the model.
func (m *Model) is() *learn.About {
	if m.made() != nil {
		return &learn.About{}
	}
	m.once.Do(func() { m.about = m.m.About() }) // 150 classes have 11,175 machines with names
	return &m.about
}

// Warm makes ready what predictions share, so that the first one isn't slower than those that follow: an
// index of the words and, of machines with kernels, a dense copy of the support vectors or, of linear kernels, the
// weights of terms. The first explanation by a linear kernel still makes lists of the support vectors. Errors: a model
// that can't predict, such as one of a program's own kernel without it, or the end of ctx.
func (m *Model) Warm(ctx context.Context) (err error) {
	defer facade(&err)
	if err := m.made(); err != nil {
		return err
	}
	p, err := m.predictor(ctx)
	if err != nil {
		return err
	}
	a := m.is()
	if a.Vocabulary == nil {
		return nil // documents of vectors may need any columns
	}
	text := ""
	if len(a.Vocabulary) > 0 {
		text = a.Vocabulary[0]
	}
	if rows := a.Tokenizer.Rows(); rows != nil {
		text = rows.Text(nil)
	}
	docs, err := m.count(ctx, []string{text})
	for range 2 { // the second request of few texts makes the dense copy
		if err == nil {
			_, err = p.Predict(ctx, docs)
		}
	}
	return err
}

// Save writes the model to a file, which is either what it was before or the whole model, and on the
// disk when Save returns. [Load] reads it.
func (m *Model) Save(path string) (err error) {
	defer facade(&err)
	if err := m.made(); err != nil {
		return err
	}
	return save(path, func(w io.Writer) error { return m.m.Write(context.Background(), w) })
}

// Explain returns the n terms that speak most for each class, and as many against it: by their weights in a linear
// function or, for support vector machines with other kernels, by their mean effects.
// Errors: n below 1, a model of another type, which has neither.
func (m *Model) Explain(ctx context.Context, n int) (_ *Explanation, err error) {
	defer facade(&err)
	if err := m.made(); err != nil {
		return nil, err
	}
	o := m.o.learn()
	if o.Ready, err = m.predictor(ctx); err != nil {
		return nil, err
	}
	x, err := learn.Explain(ctx, m.m, n, "", o)
	if err != nil {
		return nil, err
	}
	return explanationOf(x), nil
}

// ExplainText says why the model, of any kind, predicts what it does for a text: the n terms without which its
// decision value changes most, each with that change, and the n support vectors with the greatest share of it. It
// costs a prediction per term, or one pass for linear machines and kernels. Errors: n below 1, those of
// [Model.PredictTexts].
func (m *Model) ExplainText(ctx context.Context, text string, n int) (_ *DocumentExplanation, err error) {
	defer facade(&err)
	docs, err := m.count(ctx, []string{text})
	if err != nil {
		return nil, err
	}
	return m.explain(ctx, docs, 0, n)
}

// ExplainDocument is [Model.ExplainText] of document i of a corpus. Errors: no such document, n below 1,
// those of [Model.Predict].
func (m *Model) ExplainDocument(
	ctx context.Context, c *corpus.Corpus, i, n int,
) (_ *DocumentExplanation, err error) {
	defer facade(&err)
	docs, err := m.documents(ctx, c)
	if err != nil {
		return nil, err
	}
	x, err := m.explain(ctx, docs, i, n)
	return x, c.NameValue(err)
}

func (m *Model) explain(ctx context.Context, docs *sparse.CSR, i, n int) (_ *DocumentExplanation, err error) {
	o := m.o.learn()
	if o.Ready, err = m.predictor(ctx); err != nil {
		return nil, err
	}
	x, err := learn.ExplainDocument(ctx, m.m, docs, i, n, o)
	return documentExplanationOf(x), err
}

// Write writes the model, as it stands in a file. [LoadFrom] reads it.
func (m *Model) Write(ctx context.Context, w io.Writer) (err error) {
	defer facade(&err)
	if err := m.made(); err != nil {
		return err
	}
	return m.m.Write(ctx, w)
}

// Close frees what predictions have made ready; the next one makes it again. No prediction may be under way.
func (m *Model) Close() (err error) {
	defer facade(&err)
	if err := m.made(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	err = m.novelty.Close()
	if m.novelty = nil; m.ready != nil {
		err = errors.Join(err, m.ready.Close())
	}
	m.ready = nil
	return err
}

// predictor returns what predictions share.
func (m *Model) predictor(ctx context.Context) (learn.Predictor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ready == nil {
		if err := m.o.check(); err != nil {
			return nil, err
		}
		p, err := learn.Ready(ctx, m.m, m.o.learn())
		if err != nil {
			return nil, err
		}
		m.ready = p
	}
	return m.ready, nil
}

// learn returns the options as package learn has them.
func (o *Options) learn() learn.Options {
	return learn.Options{
		ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes, Kernels: o.Kernels,
		Progress: func(stage string, done, total int64, _ ...string) { o.tell(stage, done, total) },
		Warn:     o.warn,
	}
}

// Machines are the support vector machines of a model, by the names of About().Machines. The decision value of
// machine m for a document x is
//
//	f(x) = Σ Coefficients[m][s] k(Support[s], x) − Offsets[m],
//
// of two classes above 0 for the first.
type Machines struct {
	Support      []int       // numbers of the training documents that are support vectors, from 0; nil if unknown
	Coefficients [][]float64 // by machine and support vector
	Offsets      []float64
}

// Machines returns the support vector machines of a model; the zero value for models of other types.
func (m *Model) Machines() Machines {
	if m.made() != nil {
		return Machines{}
	}
	own, _ := learn.MachinesOf(m.m)
	if own == nil {
		return Machines{}
	}
	out := Machines{Support: make([]int, len(own.SupportDoc))}
	for s, number := range own.SupportDoc {
		if out.Support != nil {
			out.Support[s] = int(number)
		}
		if number < 0 {
			out.Support = nil
		}
	}
	for _, q := range own.Classifier.Machines {
		coefficients, offset := make([]float64, own.Support.Rows()), 0.0
		if q != nil {
			offset = q.Rho
			for k, s := range q.Support {
				coefficients[s] = q.Coef[k]
			}
		}
		out.Coefficients, out.Offsets = append(out.Coefficients, coefficients), append(out.Offsets, offset)
	}
	return out
}

// Weights returns, by machine of About().Machines, the weight of each of columns, which are columns of the documents
// that the model learnt from, ascending; nil for models without weights by term: those of kernels other than linear,
// landmarks, neighbours.
func (m *Model) Weights() (weights [][]float64, columns []uint32) {
	if m.made() != nil {
		return nil, nil
	}
	weights, columns, err := learn.WeightsOf(m.m)
	if err != nil {
		return nil, nil
	}
	return weights, columns
}
