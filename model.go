package gram

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles/atomicfile"
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
	counter *sparse.Counter
	columns map[string]uint32

	novel    bool // predictions have Nearest and Ranks
	training *sparse.Corpus
	novelty  *learn.Novelty // made at the first prediction
}

// Load reads a model of any kind that this program, an earlier version of it, grambench or LIBSVM's
// svm-train wrote; columns of the latter are LIBSVM's indices, from 1. The model needs a kernel of the program's
// own at its first prediction only, by [Model.With].
//
// Errors: a file that isn't a model, is damaged, or is of a later version.
func Load(path string) (_ *Model, err error) {
	defer facade(&err)
	m, err := learn.Load(context.Background(), path, nil)
	if err != nil {
		return nil, err
	}
	return &Model{m: m}, nil
}

// LoadFrom reads a model as [Load] does, to the end of r. It doesn't know LIBSVM's form.
func LoadFrom(ctx context.Context, r io.Reader) (_ *Model, err error) {
	defer facade(&err)
	m, err := learn.Read(ctx, r)
	if err != nil {
		return nil, err
	}
	return &Model{m: m}, nil
}

// With returns a copy of the model with other options for predictions. The copy shares no prepared state with m.
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
func (m *Model) WithNovelty(training *sparse.Corpus) *Model {
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

// About says what the model is: its type and kernel, classes, vocabulary, and how training went.
func (m *Model) About() learn.About {
	if m.made() != nil {
		return learn.About{}
	}
	m.once.Do(func() { m.about = m.m.About() }) // 150 classes have 11,175 machines with names
	return m.about
}

// Warm makes ready what predictions share, so that the first one isn't slower than those that follow: an
// index of the words and, of machines with kernels, a dense copy of the support vectors. Errors: a model
// that can't predict, such as one of a program's own kernel without it, or the end of ctx.
func (m *Model) Warm(ctx context.Context) (err error) {
	defer facade(&err)
	p, err := m.predictor(ctx)
	if err != nil {
		return err
	}
	a := m.About()
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
	f, err := atomicfile.Create(path, "")
	if err != nil {
		return fmt.Errorf("gram: %w", err)
	}
	defer f.Abort()
	if err := m.m.Write(context.Background(), f); err != nil {
		return fmt.Errorf("gram: %s: %w", path, err)
	}
	return f.Commit()
}

// Explain returns the n terms that speak most for each class or pair of classes, and as many against
// it. Errors: n below 1, a model without weights by term: those of kernels other than linear.
func (m *Model) Explain(n int) (_ *learn.Explanation, err error) {
	defer facade(&err)
	if err := m.made(); err != nil {
		return nil, err
	}
	x, err := learn.Explain(m.m, n, nil)
	return x, err
}

// ExplainText says why the model, of any kind, predicts what it does of a text: the n terms without which
// its decision value changes most, each with that change, and the n support vectors with the greatest
// share of it. It takes a prediction per term. Errors: n below 1, those of [Model.PredictTexts].
func (m *Model) ExplainText(ctx context.Context, text string, n int) (_ *learn.DocumentExplanation, err error) {
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
	ctx context.Context, c *sparse.Corpus, i, n int,
) (_ *learn.DocumentExplanation, err error) {
	defer facade(&err)
	docs, err := m.documents(ctx, c)
	if err != nil {
		return nil, err
	}
	x, err := m.explain(ctx, docs, i, n)
	return x, c.NameValue(err)
}

func (m *Model) explain(ctx context.Context, docs *sparse.CSR, i, n int) (_ *learn.DocumentExplanation, err error) {
	o := m.o.learn()
	if o.Ready, err = m.predictor(ctx); err != nil {
		return nil, err
	}
	return learn.ExplainDocument(ctx, m.m, docs, i, n, o)
}

// Write writes the model, as it stands in a file. [LoadFrom] reads it.
func (m *Model) Write(ctx context.Context, w io.Writer) (err error) {
	defer facade(&err)
	if err := m.made(); err != nil {
		return err
	}
	return m.m.Write(ctx, w)
}

// Predictions are what a model says of documents.
type Predictions struct {
	// Labels are, by document, the names of its classes: one, or any number where the model learnt
	// labels each for itself; "1" or "-1" of a model of one class. Nil where the model estimates numbers.
	Labels [][]string

	Values        []float64   // by document, the estimates of a regression, else nil
	Scores        [][]float64 // by document, by machine: decision values, votes or energies
	Machines      []string    // names the columns of Scores
	Probabilities [][]float64 // by document, by class of About().Classes, where the model has them, else nil

	// Margins are, by document, the decision values by which the label leads the class that comes second, and
	// Seconds these classes, as [Model.ExplainText] has both: Value and Against. Nil where there is one class.
	Margins []float64
	Seconds []string

	// Rejected says of each document that its greatest probability is below the model's threshold
	// ([TrainOptions.Reject]): its label is "?". Nil where the model has none.
	Rejected []bool

	// Nearest are, by document, the greatest kernel value to a training document, and Ranks the ranks among these
	// documents' own ([learn.Novelty]): small is new. NaN and 0 without a known term. Nil but for models
	// of [Model.WithNovelty] that have documents to compare with.
	Nearest, Ranks []float64

	// Known is, by document, how many of its different words the model knows. Words are n-grams of words of
	// the least length, or n-grams of characters of the greatest and shorter words, where About().Tokenizer
	// cuts into these; terms of [Terms]; or
	// columns, of those that documents of training had. Of several views the first counts.
	Known []int

	// Words is, by document, how many different words it has, known or not; nil unless the model has cut
	// texts. A model says little of a text of which it knows less than half: of short parts of 20 Newsgroups,
	// a model of the others knows 96 %, of a language that it didn't learn 20 %. Without a known word it
	// says what it does of an empty text.
	Words []int
}

// Label returns the label of document i, the first of several; "" for none.
func (p *Predictions) Label(i int) string {
	if i < 0 || i >= len(p.Labels) || len(p.Labels[i]) == 0 {
		return ""
	}
	return p.Labels[i][0]
}

// Predict predicts documents. The texts of a corpus that keeps them are cut as those of training were, as by
// [Model.PredictTexts]; otherwise the corpus must have been read with [Model.ReadOptions]. Terms of [Terms]
// are matched by name, columns of vectors by number.
//
// Errors: text for a model of vectors or the reverse, text that was cut in another way and not kept, values
// that the embedding refuses, more memory than is allowed.
func (m *Model) Predict(ctx context.Context, c *sparse.Corpus) (_ *Predictions, err error) {
	defer facade(&err)
	if err := errors.Join(m.made(), checked(ctx, c)); err != nil {
		return nil, err
	}
	if c.Texts != nil && c.Vocabulary != nil && m.About().Vocabulary != nil {
		return m.PredictTexts(ctx, c.Texts)
	}
	docs, err := m.documents(ctx, c)
	if err != nil {
		return nil, err
	}
	var words *sparse.Counter
	if c.Vocabulary != nil {
		if words, err = m.counts(); err != nil {
			return nil, err
		}
	}
	p, err := m.predict(ctx, docs, words)
	return p, c.NameValue(err)
}

// ReadOptions returns options that read documents for [Model.Predict], cut into the terms of the model and, from a file
// whose name ends as that of training did, in the format, encoding and columns that this was read by. Without
// them [Read] keeps texts up to a bound, and Predict cuts these again.
func (m *Model) ReadOptions() ReadOptions {
	if m.made() != nil {
		return ReadOptions{}
	}
	a := m.About()
	return ReadOptions{Options: m.o, Vocabulary: a.Vocabulary, Tokenizer: a.Tokenizer, Signed: true, like: a.Form}
}

// documents returns documents with the model's columns.
func (m *Model) documents(ctx context.Context, c *sparse.Corpus) (*sparse.CSR, error) {
	if err := errors.Join(m.made(), checked(ctx, c)); err != nil {
		return nil, err
	}
	a := m.About()
	switch {
	case (c.Vocabulary == nil) != (a.Vocabulary == nil):
		return nil, mixed(c.Source, "the model", c.Vocabulary != nil)
	case c.Vocabulary == nil:
		return c.Documents, nil
	case c.Texts != nil:
		return m.count(ctx, c.Texts)
	case !c.Tokenizer.SameCut(a.Tokenizer):
		return nil, fmt.Errorf("gram: the text of %s was cut by %s and that of training by %s, expected the same: read it "+
			"with Model.ReadOptions", c.Source, c.Tokenizer, a.Tokenizer)
	}
	return reordered(c, m.columnsOf(a.Vocabulary), len(a.Vocabulary))
}

// PredictTexts predicts texts, which are cut as those of training were; into words for a model of [Terms].
//
// A model of terms of which most can't be words of a text is a warning: [Model.PredictTerms] predicts these.
//
// Errors: a model that learnt from vectors, and those of Predict.
func (m *Model) PredictTexts(ctx context.Context, texts []string) (_ *Predictions, err error) {
	defer facade(&err)
	counter, err := m.counts()
	if err != nil {
		return nil, err
	}
	docs, unknown, err := counter.CountUnknown(ctx, texts)
	if err != nil {
		return nil, err
	}
	p, err := m.predict(ctx, docs, counter)
	if err != nil {
		return nil, err
	}
	for i, n := range unknown {
		p.Words = append(p.Words, p.Known[i]+n)
	}
	return p, nil
}

// count counts the words of texts that the model knows.
func (m *Model) count(ctx context.Context, texts []string) (*sparse.CSR, error) {
	counter, err := m.counts()
	if err != nil {
		return nil, err
	}
	return counter.Count(ctx, texts)
}

// counts returns what counts the words of texts.
func (m *Model) counts() (*sparse.Counter, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counter == nil {
		a := m.About()
		if a.Vocabulary == nil {
			return nil, errors.New("gram: texts for a model that learnt from vectors, and knows no words")
		}
		if term, err := notWord(a.Tokenizer, a.Vocabulary); err != nil {
			return nil, err
		} else if term != "" {
			m.o.warn("most terms of the model aren't words of texts, such as %q: PredictTerms takes terms", term)
		}
		counter, err := sparse.NewCounter(a.Tokenizer, a.Vocabulary)
		if err != nil {
			return nil, err
		}
		m.counter = counter
	}
	return m.counter, nil
}

// notWord returns a term of a vocabulary that can't be a word of a text, if most can't and text is cut into words by
// default, else "". Models don't say that they are of [Terms].
func notWord(t sparse.Tokenizer, vocabulary []string) (term string, err error) {
	if t.Canonical() != (sparse.Tokenizer{}) {
		return "", nil
	}
	scan, err := t.NewScanner()
	if err != nil {
		return "", err
	}
	n := 0
	for _, v := range vocabulary {
		scan.Feed([]byte(v))
		if string(scan.Next()) != v {
			term, n = v, n+1
		}
		scan.End()
	}
	if 2*n <= len(vocabulary) {
		return "", nil
	}
	return term, nil
}

// PredictTerms predicts documents of terms that the program has found, as for [Terms].
func (m *Model) PredictTerms(ctx context.Context, documents [][]string) (_ *Predictions, err error) {
	defer facade(&err)
	if err := m.made(); err != nil {
		return nil, err
	}
	vocabulary := m.About().Vocabulary
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
	return m.predict(ctx, r.Corpus().Documents, nil)
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
		p, err := learn.Ready(ctx, m.m, m.o.learn())
		if err != nil {
			return nil, err
		}
		m.ready = p
	}
	return m.ready, nil
}

// predict predicts documents with the model's columns. words knows which are words; nil where all are.
func (m *Model) predict(ctx context.Context, docs *sparse.CSR, words *sparse.Counter) (*Predictions, error) {
	p, err := m.predictor(ctx)
	if err != nil {
		return nil, err
	}
	found, err := p.Predict(ctx, docs)
	if err != nil {
		return nil, err
	}
	if m.novel {
		if err := m.addNovelty(ctx, p, found, docs); err != nil {
			return nil, err
		}
	}
	a := m.About()
	out := predictionsOf(a, found, docs, words)
	for i := range out.Known {
		f, second, err := a.Margin(m.m, found, i)
		if err != nil {
			break // a model of one class has none
		}
		out.Margins, out.Seconds = append(out.Margins, f), append(out.Seconds, second)
	}
	return out, nil
}

// addNovelty adds how near documents are to those of training.
func (m *Model) addNovelty(ctx context.Context, by learn.Predictor, p *model.Prediction, docs *sparse.CSR) error {
	m.mu.Lock()
	n := m.novelty
	m.mu.Unlock()
	if n == nil {
		var training *sparse.CSR
		var err error
		if m.training != nil {
			if training, err = m.documents(ctx, m.training); err != nil {
				return err
			}
		}
		if n, err = learn.NewNovelty(ctx, m.m, by, training, m.o.learn()); err != nil || n == nil {
			return err
		}
		m.mu.Lock()
		m.novelty = n
		m.mu.Unlock()
	}
	return n.Add(ctx, p, docs)
}

// predictionsOf names what was predicted.
func predictionsOf(a learn.About, p *model.Prediction, docs *sparse.CSR, words *sparse.Counter) *Predictions {
	out := &Predictions{Scores: p.Decisions, Machines: a.Machines, Probabilities: p.Probabilities,
		Rejected: p.Rejected, Nearest: p.Nearest, Ranks: p.Rank}
	if a.Numbers {
		out.Values = p.Value
	}
	for i := range docs.Rows() {
		terms, _ := docs.Row(i)
		known := a.Known(terms)
		if words != nil {
			known = words.Known(terms)
		}
		out.Known = append(out.Known, known)
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
