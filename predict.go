package gram

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/sparse"
)

// Predictions are what a model predicts for documents.
type Predictions struct {
	// Labels are, by document, the names of its classes: one, or any number where the model learnt
	// labels each for itself; "1" or "-1" of a model of one class. Nil where the model estimates numbers.
	Labels [][]string

	Values        []float64   // by document, the estimates of a regression, else nil
	Scores        [][]float64 // by document, by machine: decision values, votes or energies
	Machines      []string    // names the columns of Scores
	Probabilities [][]float64 // by document, by class of About().Classes, where the model has them, else nil

	// Margins are, by document, the decision values by which the label leads the class that comes second, and
	// Seconds these classes, as [Model.ExplainText] has both: Value and Against. Of a rejected document Seconds has the
	// class that it would be. Nil where there is one class.
	Margins []float64
	Seconds []string

	// Rejected says of each document that its greatest probability is below the model's threshold
	// ([TrainOptions.Reject]): its label is "?". Nil where the model has none.
	Rejected []bool

	// Nearest are, by document, the greatest kernel value to a training document, and Ranks the ranks among these
	// documents' own: small is new. NaN and 0 without a known term. Nil but for models
	// of [Model.WithNovelty] that have documents to compare with.
	Nearest, Ranks []float64

	// Known is, by document, how many of its different words the model knows. Words are n-grams of words of
	// the least length, or n-grams of characters of the greatest and shorter words, where About().Tokenizer
	// cuts into these; terms of [Terms]; or columns, of those that documents of training had. Words of several
	// views are added up, where numbers don't count beside others.
	Known []int

	// Empty says of each document that the model knows none of its terms, of any view: what it says is what it does of
	// an empty document.
	Empty []bool

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
// are matched by name, columns of vectors by number. It warns of values in columns that training never had.
//
// Errors: text for a model of vectors or the reverse, text that was cut in another way and not kept, values
// that the embedding refuses, more memory than is allowed.
func (m *Model) Predict(ctx context.Context, c *corpus.Corpus) (_ *Predictions, err error) {
	defer facade(&err)
	if c != nil && c.Texts != nil && c.Vocabulary != nil && m.is().Vocabulary != nil {
		return m.PredictTexts(ctx, c.Texts)
	}
	docs, err := m.documents(ctx, c)
	if err != nil {
		return nil, err
	}
	var words *corpus.Counter
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
	a := m.is()
	return ReadOptions{Options: m.o, Vocabulary: a.Vocabulary, Tokenizer: a.Tokenizer, Signed: true, like: a.Form}
}

// documents returns documents with the model's columns.
func (m *Model) documents(ctx context.Context, c *corpus.Corpus) (*sparse.CSR, error) {
	if err := errors.Join(m.made(), checked(ctx, c)); err != nil {
		return nil, err
	}
	a := m.is()
	switch {
	case (c.Vocabulary == nil) != (a.Vocabulary == nil):
		return nil, mixed(c.Source, "the model", c.Vocabulary != nil)
	case c.Vocabulary == nil:
		a.WarnUnknown(c, m.o.warn)
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
// It warns if most terms of the model can't be words of a text: use [Model.PredictTerms] then. It also warns if the
// model knows no term of any text.
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
func (m *Model) counts() (*corpus.Counter, error) {
	if err := m.made(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counter == nil {
		a := m.is()
		if a.Vocabulary == nil {
			return nil, errors.New("gram: texts for a model that learnt from vectors, and knows no words")
		}
		if term, err := notWord(a.Tokenizer, a.Vocabulary); err != nil {
			return nil, err
		} else if term != "" {
			m.o.warn("most terms of the model aren't words of texts, such as %q: PredictTerms takes terms", term)
		}
		counter, err := corpus.NewCounter(a.Tokenizer, a.Vocabulary)
		if err != nil {
			return nil, err
		}
		m.counter = counter
	}
	return m.counter, nil
}

// notWord returns a term of a vocabulary that can't be a word of a text, if most can't and text is cut into words by
// default, else "". Models don't say that they are of [Terms].
func notWord(t corpus.Tokenizer, vocabulary []string) (term string, err error) {
	if t.Canonical() != (corpus.Tokenizer{}) {
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

// PredictTerms predicts documents given as terms, as for [Terms].
func (m *Model) PredictTerms(ctx context.Context, documents [][]string) (_ *Predictions, err error) {
	defer facade(&err)
	if err := m.made(); err != nil {
		return nil, err
	}
	vocabulary := m.is().Vocabulary
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

// predict predicts documents with the model's columns. words knows which are words; nil where all are.
func (m *Model) predict(ctx context.Context, docs *sparse.CSR, words *corpus.Counter) (*Predictions, error) {
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
	a := m.is()
	out := predictionsOf(a, found, docs, words)
	for i := range out.Known {
		f, second, err := a.Margin(m.m, found, i)
		if err != nil {
			break // a model of one class has none
		}
		if out.Rejected != nil && out.Rejected[i] {
			second = a.Classes[found.Class[i]]
		}
		out.Margins, out.Seconds = append(out.Margins, f), append(out.Seconds, second)
	}
	if len(out.Empty) > 0 && a.Vocabulary != nil && !slices.Contains(out.Empty, false) {
		m.o.warn("%s in any of the documents (%d), which are predicted as an empty document is", learn.NoKnownWord,
			len(out.Empty))
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
func predictionsOf(a *learn.About, p *model.Prediction, docs *sparse.CSR, words *corpus.Counter) *Predictions {
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
		out.Known, out.Empty = append(out.Known, known), append(out.Empty, a.Known(terms) == 0)
		if !a.Numbers {
			out.Labels = append(out.Labels, a.Labels(p, i))
		}
	}
	return out
}

// EvaluateOptions say what an evaluation finds in addition to scores. The zero value works.
type EvaluateOptions struct {
	Mistakes int            // number of worst mistakes to explain; default 20, below 0 none
	Terms    int            // number of terms to name, of each and of each class; default 10
	Training *corpus.Corpus // training documents: near copies of these are named; default none
}

// Evaluate predicts labelled documents and compares the predictions with their labels: scores, confusion, what is
// right by confidence, the worst mistakes and the words that decided them. If texts were kept, they are cut as those
// of training were.
//
// Errors: those of [Model.Predict], no labels that the model knows.
func (m *Model) Evaluate(ctx context.Context, c *corpus.Corpus, o EvaluateOptions) (_ *Evaluation, err error) {
	defer facade(&err)
	own, err := m.corpus(ctx, c)
	if err != nil {
		return nil, err
	}
	e := learn.EvaluateOptions{Mistakes: o.Mistakes, Terms: o.Terms}
	if o.Training != nil {
		if e.Training, err = m.corpus(ctx, o.Training); err != nil {
			return nil, err
		}
	}
	if e.Ready, err = m.predictor(ctx); err != nil {
		return nil, err
	}
	p, err := e.Ready.Predict(ctx, own.Documents)
	if err != nil {
		return nil, c.NameValue(err)
	}
	v, err := learn.Evaluate(ctx, m.m, p, own, m.o.learn(), e)
	if err != nil {
		return nil, c.NameValue(err)
	}
	return evaluationOf(v), nil
}

// corpus returns a corpus with the model's columns.
func (m *Model) corpus(ctx context.Context, c *corpus.Corpus) (*corpus.Corpus, error) {
	docs, err := m.documents(ctx, c)
	if err != nil {
		return nil, c.NameValue(err)
	}
	a, own := m.is(), *c
	own.Documents, own.Vocabulary, own.Tokenizer = docs, a.Vocabulary, a.Tokenizer
	return &own, nil
}
