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

// Model is a trained model: a support vector machine, linear model, logistic regression, landmark
// model, nearest-neighbour classifier, learnt metric, or layers of kernels. [Train] and [Load]
// return models. The zero Model is invalid. A Model may be used concurrently.
type Model struct {
	m learn.Model
	o Options

	once  sync.Once
	about learn.About

	mu              sync.Mutex
	sharedPredictor learn.Predictor // created at the first prediction
	counter         *corpus.Counter
	columns         map[string]uint32

	withNovelty bool // true if predictions include NearestValues and NearestRanks
	training    *corpus.Corpus
	novelty     *learn.NoveltyScorer // created at the first prediction
}

// Load reads a model file written by this package, by the program gram, or by LIBSVM's svm-train.
// In models from LIBSVM, column numbers are LIBSVM's indices, which start from 1. If the model has
// a user-defined kernel, pass it by [Model.WithOptions] before the first prediction.
//
// Errors about an invalid file wrap [ErrFormat], [ErrVersion], [ErrTruncated] or [ErrDamaged],
// unless the file is in LIBSVM's format.
func Load(path string) (_ *Model, err error) {
	defer convertError(&err)
	m, err := learn.Load(context.Background(), path, nil)
	if err != nil {
		return nil, err
	}
	return &Model{m: m}, nil
}

// LoadFrom is like [Load], but reads from r until EOF. If ctx is done during a blocked call of
// r.Read, LoadFrom returns without waiting for the call.
func LoadFrom(ctx context.Context, r io.Reader) (_ *Model, err error) {
	defer convertError(&err)
	m, err := learn.Read(ctx, r)
	if err != nil {
		return nil, err
	}
	return &Model{m: m}, nil
}

// WithOptions returns a copy of the model with other options for predictions. A model from [Train]
// has the options of its training run. Concurrent predictions call Progress and Warn concurrently.
// The copy doesn't share prepared state with m (see [Model.WarmUp]).
func (m *Model) WithOptions(o Options) *Model {
	if m.checkInitialized() != nil {
		return m
	}
	return &Model{m: m.m, o: o, withNovelty: m.withNovelty, training: m.training}
}

// WithNovelty returns a copy of the model whose predictions include [Predictions.NearestValues] and
// NearestRanks, which measure the novelty of documents. training holds the model's training
// documents. If training is nil, the documents that the model stores are used, such as support
// vectors. The first prediction compares up to 2,000 training documents with all training
// documents. Each prediction computes about twice as many kernel values as without novelty. The
// copy doesn't share prepared state with m.
func (m *Model) WithNovelty(training *corpus.Corpus) *Model {
	if m.checkInitialized() != nil {
		return m
	}
	return &Model{m: m.m, o: m.o, withNovelty: true, training: training}
}

func (m *Model) checkInitialized() error {
	if m == nil || m.m == nil {
		return errors.New("gram: Model is not initialized; use Train or Load")
	}
	return nil
}

// About returns the model's type, parameters, classes, terms and training report.
func (m *Model) About() About { return aboutOf(m.learnAbout()) }

func (m *Model) learnAbout() *learn.About {
	if m.checkInitialized() != nil {
		return &learn.About{}
	}
	m.once.Do(func() { m.about = m.m.About() }) // on demand, because 150 classes have 11,175 decision functions
	return &m.about
}

// WarmUp prepares the state that predictions share, so that the first prediction isn't slower than
// later predictions. The state contains an index of the words. For nonlinear kernels it also
// contains a dense copy of the support vectors, and for linear kernels the term weights. WarmUp
// doesn't prepare explanations: the first explanation with a linear kernel takes longer. WarmUp
// fails if the model can't predict, for example without its user-defined kernel, or if ctx is done.
func (m *Model) WarmUp(ctx context.Context) (err error) {
	defer convertError(&err)
	if err := m.checkInitialized(); err != nil {
		return err
	}
	p, err := m.predictor(ctx)
	if err != nil {
		return err
	}
	a := m.learnAbout()
	if a.Vocabulary == nil {
		return nil // vectors need no index of words
	}
	raw := corpus.Raw{Texts: []string{""}}
	if columns := a.Tokenizer.Columns(); columns != nil {
		raw = corpus.Raw{Columns: columns.Names(), Rows: [][]string{make([]string, len(columns))}}
	} else if len(a.Vocabulary) > 0 {
		raw.Texts[0] = a.Vocabulary[0]
	}
	docs, err := m.count(ctx, raw)
	for range 2 { // if the first prediction has few texts, the second builds the dense copy of the support vectors
		if err == nil {
			_, err = p.Predict(ctx, docs)
		}
	}
	return err
}

// Save writes the model to a file atomically: after an error or a crash the old file remains. When
// Save returns, the file is on the disk.
func (m *Model) Save(path string) (err error) {
	defer convertError(&err)
	if err := m.checkInitialized(); err != nil {
		return err
	}
	return save(path, func(w io.Writer) error { return m.m.Write(context.Background(), w) })
}

// Explain returns the n strongest terms for each class, and the n strongest terms against it.
// Linear models rank terms by weight. Support vector machines with nonlinear kernels rank terms by
// mean effect. Explain fails for other models, or if n is below 1.
func (m *Model) Explain(ctx context.Context, n int) (_ *Explanation, err error) {
	defer convertError(&err)
	if err := m.checkInitialized(); err != nil {
		return nil, err
	}
	o := m.o.learnOptions()
	if o.Predictor, err = m.predictor(ctx); err != nil {
		return nil, err
	}
	x, err := learn.Explain(ctx, m.m, n, "", o)
	if err != nil {
		return nil, err
	}
	return explanationOf(x), nil
}

// ExplainText explains the prediction of any model for a text. It returns the n terms whose removal
// changes the decision value most, with the change for each term. For SVMs, it also returns the n
// support vectors with the largest contributions. An explanation requires one prediction per term,
// or a single pass for linear models and linear kernels. ExplainText fails if n is below 1, or for
// the same reasons as [Model.PredictTexts].
func (m *Model) ExplainText(ctx context.Context, text string, n int) (_ *DocumentExplanation, err error) {
	defer convertError(&err)
	return m.explainRaw(ctx, corpus.Raw{Texts: []string{text}}, n)
}

// ExplainRow is like [Model.ExplainText], for a table row. columns names the fields of the row.
func (m *Model) ExplainRow(
	ctx context.Context, columns, row []string, n int,
) (_ *DocumentExplanation, err error) {
	defer convertError(&err)
	return m.explainRaw(ctx, corpus.Raw{Columns: columns, Rows: [][]string{row}}, n)
}

func (m *Model) explainRaw(ctx context.Context, raw corpus.Raw, n int) (*DocumentExplanation, error) {
	docs, err := m.count(ctx, raw)
	if err != nil {
		return nil, err
	}
	return m.explain(ctx, docs, raw, 0, n)
}

// ExplainDocument is like [Model.ExplainText], for document i of a corpus. It fails if i is out of
// range, if n is below 1, or for the same reasons as [Model.Predict].
func (m *Model) ExplainDocument(
	ctx context.Context, c *corpus.Corpus, i, n int,
) (_ *DocumentExplanation, err error) {
	defer convertError(&err)
	docs, err := m.mapDocuments(ctx, c)
	if err != nil {
		return nil, err
	}
	x, err := m.explain(ctx, docs, c.Raw, i, n)
	return x, c.DescribeError(err)
}

func (m *Model) explain(
	ctx context.Context, docs *sparse.CSR, raw corpus.Raw, i, n int,
) (_ *DocumentExplanation, err error) {
	o := m.o.learnOptions()
	if o.Predictor, err = m.predictor(ctx); err != nil {
		return nil, err
	}
	x, err := learn.ExplainDocument(ctx, m.m, docs, i, n, o)
	var columns []learn.ColumnEffect
	if err == nil && raw.Rows != nil {
		columns, err = learn.ExplainColumns(ctx, m.m, docs, raw, i, o)
	}
	return documentExplanationOf(x, columns), err
}

// Write writes the model to w in the format of [Model.Save]. [LoadFrom] reads this format.
func (m *Model) Write(ctx context.Context, w io.Writer) (err error) {
	defer convertError(&err)
	if err := m.checkInitialized(); err != nil {
		return err
	}
	return m.m.Write(ctx, w)
}

// Close frees the prepared state (see [Model.WarmUp]). A later prediction prepares the state again.
// Close must not be called during a prediction.
func (m *Model) Close() (err error) {
	defer convertError(&err)
	if err := m.checkInitialized(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	err = m.novelty.Close()
	if m.novelty = nil; m.sharedPredictor != nil {
		err = errors.Join(err, m.sharedPredictor.Close())
	}
	m.sharedPredictor = nil
	return err
}

func (m *Model) predictor(ctx context.Context) (learn.Predictor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.sharedPredictor == nil {
		if err := m.o.check(); err != nil {
			return nil, err
		}
		p, err := learn.NewPredictor(ctx, m.m, m.o.learnOptions())
		if err != nil {
			return nil, err
		}
		m.sharedPredictor = p
	}
	return m.sharedPredictor, nil
}

func (o *Options) learnOptions() learn.Options {
	return learn.Options{
		ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes, Kernels: o.Kernels,
		Progress: func(stage string, done, total int64, _ ...string) { o.reportProgress(stage, done, total) },
		Warn:     o.warn,
	}
}

// DecisionFunctions are the decision functions of a support vector machine, named by
// About().DecisionFunctions. The value of function m for a document x is
//
//	f(x) = Σ Coefficients[m][s] k(Support[s], x) − Offsets[m].
//
// In classification, a positive value favours the first of the function's two classes.
type DecisionFunctions struct {
	Support      []int       // index of each support vector among the training documents; nil if unknown
	Coefficients [][]float64 // Coefficients[m][s] of function m and support vector s
	Offsets      []float64
}

// DecisionFunctions returns the decision functions of an SVM, or the zero value for other models.
func (m *Model) DecisionFunctions() DecisionFunctions {
	if m.checkInitialized() != nil {
		return DecisionFunctions{}
	}
	own, _ := learn.KernelMachineOf(m.m)
	if own == nil {
		return DecisionFunctions{}
	}
	out := DecisionFunctions{Support: make([]int, len(own.SupportDocs))}
	for s, number := range own.SupportDocs {
		if out.Support != nil {
			out.Support[s] = int(number)
		}
		if number < 0 {
			out.Support = nil
		}
	}
	for _, q := range own.Classifier.Functions {
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

// Weights returns weights[f][j], the weight of columns[j] in decision function f, in the order of
// About().DecisionFunctions. columns are in ascending order. It returns nil for models without term
// weights, such as nonlinear kernels, landmark models and nearest neighbours.
func (m *Model) Weights() (weights [][]float64, columns []uint32) {
	if m.checkInitialized() != nil {
		return nil, nil
	}
	weights, columns, err := learn.WeightsOf(m.m)
	if err != nil {
		return nil, nil
	}
	return weights, columns
}
