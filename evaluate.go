package gram

import (
	"context"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/learn"
)

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
func (m *Model) Evaluate(ctx context.Context, c *corpus.Corpus, o EvaluateOptions) (_ *learn.Evaluation, err error) {
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
	return v, c.NameValue(err)
}

// corpus returns a corpus with the model's columns.
func (m *Model) corpus(ctx context.Context, c *corpus.Corpus) (*corpus.Corpus, error) {
	docs, err := m.documents(ctx, c)
	if err != nil {
		return nil, c.NameValue(err)
	}
	a, own := m.m.About(), *c
	own.Documents, own.Vocabulary, own.Tokenizer = docs, a.Vocabulary, a.Tokenizer
	return &own, nil
}
