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

// Predictions are a model's predictions for documents.
type Predictions struct {
	// Labels holds the predicted classes of each document: a single class, or any number of labels
	// if the model was trained on label sets. One-class models predict "1" or "-1". Labels is nil
	// for regression.
	Labels [][]string

	Values            []float64   // estimate for each document in regression; nil for classification
	Scores            [][]float64 // decision values, votes or energies, by document and decision function
	DecisionFunctions []string    // names of the columns of Scores
	Probabilities     [][]float64 // probabilities by document and class of About().Classes, or nil

	// Margins and SecondClasses hold Value and SecondClass of each document's
	// [DocumentExplanation], with two exceptions. For a rejected document, the second class is the
	// most probable class. For a one-class model, the margin isn't negated if the prediction is -1.
	// Margins and SecondClasses are nil for classifiers with a single class.
	Margins       []float64
	SecondClasses []string

	// Rejected reports for each document whether the largest probability is below the model's
	// threshold ([TrainOptions.Reject]), so that the label is "?". Rejected is nil without a
	// threshold.
	Rejected []bool

	// NearestValues holds each document's largest kernel value with a training document.
	// NearestRanks holds the rank of this value, from 0 to 1, among the values of the training
	// documents. The value of a training document is its largest kernel value with another training
	// document. A small rank means that the document is novel. A document without known terms has
	// the value NaN and the rank 0. NearestValues and NearestRanks are nil unless the model is from
	// [Model.WithNovelty] and has documents to compare with.
	NearestValues, NearestRanks []float64

	// Remarks lists, for each table row, the values that didn't occur in training, such as "age
	// (missing)" and "price = 9 (outside of training, 1 to 5)". Remarks is nil for texts.
	Remarks [][]string

	// KnownWordCounts holds each document's number of distinct known words. If About().Tokenizer
	// produces word n-grams, words are the n-grams of the smallest length. If it produces character
	// n-grams, words are the longest n-grams and shorter words. For [FromTerms], words are terms.
	// For vectors, words are columns with values in training documents. Words of all views are
	// counted, but terms of number views are counted only if all views are number views.
	KnownWordCounts []int

	// Empty reports for each document whether the model knows none of the document's terms, in any
	// view. Such a document gets the prediction of an empty document.
	Empty []bool

	// WordCounts holds each document's number of distinct words, known or not. WordCounts is nil
	// unless the prediction tokenised texts or table rows. A prediction is unreliable if fewer than
	// half of the document's words are known. A model trained on part of 20 Newsgroups knows 96% of
	// the words in the other texts of 20 Newsgroups, and 20% of the words in a foreign language. A
	// text without known words gets the prediction of an empty text.
	WordCounts []int
}

// Label returns the first label of document i, or "" if the document has no label.
func (p *Predictions) Label(i int) string {
	if i < 0 || i >= len(p.Labels) || len(p.Labels[i]) == 0 {
		return ""
	}
	return p.Labels[i][0]
}

// Predict predicts documents. If the corpus keeps its texts or rows, they are tokenised as in
// training, see [Model.PredictTexts]; otherwise the corpus must have been read with
// [Model.ReadOptions]. Terms of [FromTerms] are matched by name, columns of vectors by number.
// Predict warns about columns that have values in c but had no values in training.
//
// It fails if text is passed to a model of vectors or vice versa, if text was tokenised differently
// and not kept, if the embedding rejects a value, or if the memory doesn't suffice.
func (m *Model) Predict(ctx context.Context, c *corpus.Corpus) (_ *Predictions, err error) {
	defer convertError(&err)
	if c != nil && c.HasRawDocuments() && c.Vocabulary != nil && m.learnAbout().Vocabulary != nil {
		return m.predictRaw(ctx, c.Raw)
	}
	docs, err := m.mapDocuments(ctx, c)
	if err != nil {
		return nil, err
	}
	var words *corpus.Counter
	if c.Vocabulary != nil {
		if words, err = m.termCounter(); err != nil {
			return nil, err
		}
	}
	p, err := m.predict(ctx, docs, words)
	return p, c.DescribeError(err)
}

// ReadOptions returns options for reading documents for [Model.Predict]. Text is tokenised as in
// training. If the file has the same extension as the training file, it is read in the same format,
// with the same encoding and columns. Without these options, [Read] keeps texts up to a size limit,
// and Predict tokenises the texts again.
func (m *Model) ReadOptions() ReadOptions {
	if m.checkInitialized() != nil {
		return ReadOptions{}
	}
	a := m.learnAbout()
	return ReadOptions{Options: m.o, Vocabulary: a.Vocabulary, Tokenizer: a.Tokenizer, Signed: true,
		trainingFormat: a.Form}
}

func (m *Model) mapDocuments(ctx context.Context, c *corpus.Corpus) (*sparse.CSR, error) {
	if err := errors.Join(m.checkInitialized(), checkCorpus(ctx, c)); err != nil {
		return nil, err
	}
	a := m.learnAbout()
	switch {
	case (c.Vocabulary == nil) != (a.Vocabulary == nil):
		return nil, mixedError(c.Source, "the model", c.Vocabulary != nil)
	case c.Vocabulary == nil:
		a.WarnUnknown(c, m.o.warn)
		return c.Documents, nil
	case c.HasRawDocuments():
		return m.count(ctx, c.Raw)
	case !c.Tokenizer.SameTerms(a.Tokenizer):
		return nil, fmt.Errorf("gram: the text of %s was tokenised by %s, but the training text by %s; "+
			"read it with Model.ReadOptions", c.Source, c.Tokenizer, a.Tokenizer)
	}
	return reorderColumns(c, m.columnsOf(a.Vocabulary), len(a.Vocabulary))
}

// PredictTexts predicts texts, which are tokenised as in training. For a model trained on
// [FromTerms], texts are split into words.
//
// It warns if most terms of the model can't be words of a text. For such a model use
// [Model.PredictTerms]. It also warns if none of the texts has a known term.
//
// It fails if the model was trained on vectors, or for the same reasons as [Model.Predict].
func (m *Model) PredictTexts(ctx context.Context, texts []string) (_ *Predictions, err error) {
	defer convertError(&err)
	return m.predictRaw(ctx, corpus.Raw{Texts: texts})
}

// PredictRows predicts rows of a table. columns holds the names of the rows' fields, in any order.
// Numeric and category columns, and their values, may be missing. A missing value is the same as an
// empty field. Columns that aren't in About().Tokenizer.Columns() are ignored.
//
// It fails if a text column is missing, if a field of a numeric column isn't a number, or for the
// same reasons as [Model.PredictTexts].
func (m *Model) PredictRows(ctx context.Context, columns []string, rows [][]string) (_ *Predictions, err error) {
	defer convertError(&err)
	return m.predictRaw(ctx, corpus.Raw{Columns: columns, Rows: rows})
}

func (m *Model) predictRaw(ctx context.Context, raw corpus.Raw) (*Predictions, error) {
	counter, err := m.termCounter()
	if err != nil {
		return nil, err
	}
	docs, unknown, err := counter.CountUnknown(ctx, raw)
	if err != nil {
		return nil, err
	}
	p, err := m.predict(ctx, docs, counter)
	if err != nil {
		return nil, err
	}
	for i, n := range unknown {
		p.WordCounts = append(p.WordCounts, p.KnownWordCounts[i]+n)
	}
	if raw.Rows != nil {
		p.Remarks, err = m.learnAbout().Remarks(docs, raw)
	}
	return p, err
}

func (m *Model) count(ctx context.Context, raw corpus.Raw) (*sparse.CSR, error) {
	counter, err := m.termCounter()
	if err != nil {
		return nil, err
	}
	docs, _, err := counter.CountUnknown(ctx, raw)
	return docs, err
}

func (m *Model) termCounter() (*corpus.Counter, error) {
	if err := m.checkInitialized(); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.counter == nil {
		a := m.learnAbout()
		if a.Vocabulary == nil {
			return nil, errors.New("gram: the model was trained on vectors, so it cannot predict texts")
		}
		if term, err := findNonWord(a.Tokenizer, a.Vocabulary); err != nil {
			return nil, err
		} else if term != "" {
			m.o.warn("most terms of the model, such as %q, cannot occur in a text; use PredictTerms for terms", term)
		}
		counter, err := corpus.NewCounter(a.Tokenizer, a.Vocabulary)
		if err != nil {
			return nil, err
		}
		m.counter = counter
	}
	return m.counter, nil
}

// findNonWord returns a term that can't be a word of a text. It returns "" unless most terms of the
// vocabulary can't be words and the tokenizer is the default. It is a heuristic, because models
// don't store whether they were trained on [FromTerms].
func findNonWord(t corpus.Tokenizer, vocabulary []string) (term string, err error) {
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

// PredictTerms predicts documents that are lists of terms, as for [FromTerms].
func (m *Model) PredictTerms(ctx context.Context, documents [][]string) (_ *Predictions, err error) {
	defer convertError(&err)
	if err := m.checkInitialized(); err != nil {
		return nil, err
	}
	vocabulary := m.learnAbout().Vocabulary
	if vocabulary == nil {
		return nil, errors.New("gram: the model was trained on vectors, so it cannot predict terms")
	}
	column := m.columnsOf(vocabulary)
	r := NewCorpusBuilder(len(vocabulary))
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

// predict predicts documents with the model's columns. words.KnownWords counts known words; if
// words is nil, all known columns are counted.
func (m *Model) predict(ctx context.Context, docs *sparse.CSR, words *corpus.Counter) (*Predictions, error) {
	p, err := m.predictor(ctx)
	if err != nil {
		return nil, err
	}
	found, err := p.Predict(ctx, docs)
	if err != nil {
		return nil, err
	}
	if m.withNovelty {
		if err := m.addNovelty(ctx, p, found, docs); err != nil {
			return nil, err
		}
	}
	a := m.learnAbout()
	out := predictionsOf(a, found, docs, words)
	for i := range out.KnownWordCounts {
		f, second, err := a.Margin(m.m, found, i)
		if err != nil {
			break // the classifier has only one class
		}
		if out.Rejected != nil && out.Rejected[i] {
			second = a.Classes[found.ClassIndices[i]]
		}
		out.Margins, out.SecondClasses = append(out.Margins, f), append(out.SecondClasses, second)
	}
	if len(out.Empty) > 0 && a.Vocabulary != nil && !slices.Contains(out.Empty, false) {
		m.o.warn("%s in any of the %[2]d documents, so all are predicted as empty documents", learn.NoKnownTerm,
			len(out.Empty))
	}
	return out, nil
}

func (m *Model) addNovelty(ctx context.Context, by learn.Predictor, p *model.Prediction, docs *sparse.CSR) error {
	m.mu.Lock()
	n := m.novelty
	m.mu.Unlock()
	if n == nil {
		var training *sparse.CSR
		var err error
		if m.training != nil {
			if training, err = m.mapDocuments(ctx, m.training); err != nil {
				return err
			}
		}
		if n, err = learn.NewNoveltyScorer(ctx, m.m, by, training, m.o.learnOptions()); err != nil || n == nil {
			return err
		}
		m.mu.Lock()
		m.novelty = n
		m.mu.Unlock()
	}
	return n.Annotate(ctx, p, docs)
}

func predictionsOf(a *learn.About, p *model.Prediction, docs *sparse.CSR, words *corpus.Counter) *Predictions {
	out := &Predictions{Scores: p.DecisionValues, DecisionFunctions: a.DecisionNames, Probabilities: p.Probabilities,
		Rejected: p.Rejected, NearestValues: p.NearestValues, NearestRanks: p.Ranks}
	if a.IsRegression {
		out.Values = p.Values
	}
	for i := range docs.Rows() {
		terms, _ := docs.Row(i)
		known := a.CountKnown(terms)
		if words != nil {
			known = words.KnownWords(terms)
		}
		out.KnownWordCounts, out.Empty = append(out.KnownWordCounts, known), append(out.Empty, a.CountKnown(terms) == 0)
		if !a.IsRegression {
			out.Labels = append(out.Labels, a.Labels(p, i))
		}
	}
	return out
}

// EvaluateOptions select results of [Model.Evaluate] in addition to scores. The zero value works.
type EvaluateOptions struct {
	Mistakes int            // number of most confident mistakes to explain; default 20; none if negative
	Terms    int            // number of terms per mistake and per class; default 10
	Training *corpus.Corpus // training documents, whose near copies are reported; default none

	// Permutations is the number of times that each table column is permuted to measure its
	// importance; default 5; none if negative.
	Permutations int
}

// Evaluate predicts labelled documents and compares the predictions with the labels. The result
// holds scores, the confusion matrix, accuracy by confidence, and the most confident mistakes with
// the words that caused them. If the corpus keeps its texts, they are tokenised as in training.
//
// It fails if the model knows none of the labels, or for the same reasons as [Model.Predict].
func (m *Model) Evaluate(ctx context.Context, c *corpus.Corpus, o EvaluateOptions) (_ *Evaluation, err error) {
	defer convertError(&err)
	own, err := m.mapCorpus(ctx, c)
	if err != nil {
		return nil, err
	}
	e := learn.EvaluateOptions{MistakeCount: o.Mistakes, TermCount: o.Terms, Permutations: o.Permutations}
	if o.Training != nil {
		if e.Training, err = m.mapCorpus(ctx, o.Training); err != nil {
			return nil, err
		}
	}
	with := m.o.learnOptions()
	if with.Predictor, err = m.predictor(ctx); err != nil {
		return nil, err
	}
	p, err := with.Predictor.Predict(ctx, own.Documents)
	if err != nil {
		return nil, c.DescribeError(err)
	}
	v, err := learn.Evaluate(ctx, m.m, p, own, with, e)
	if err != nil {
		return nil, c.DescribeError(err)
	}
	return evaluationOf(v), nil
}

func (m *Model) mapCorpus(ctx context.Context, c *corpus.Corpus) (*corpus.Corpus, error) {
	docs, err := m.mapDocuments(ctx, c)
	if err != nil {
		return nil, c.DescribeError(err)
	}
	a, own := m.learnAbout(), *c
	own.Documents, own.Vocabulary, own.Tokenizer = docs, a.Vocabulary, a.Tokenizer
	return &own, nil
}
