package learn

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/knn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

var neighboursLearner = &Learner{
	Name: "knn", Summary: "k nearest neighbours, weighted by kernel value (default: -kernel bhattacharyya)",
	Holds: true,
	Form:  knn.Form.Name, Read: Reads(&knn.Form, func(m *knn.Model) Model { return neighboursModel{m} }),
	New: func() Trainer { return &nearest{} },
}

type nearest struct {
	params.Record
	knn.Settings
	Embedding Embedding `param:"embed" flag:""`
}

func (t *nearest) settings(o Options) (knn.Settings, error) {
	s := t.Settings
	var err error
	if s.Kernel, err = o.kernelIn(s.Kernel, params.Default(&s, "kernel"), t.Embedding); err != nil {
		return s, err
	}
	return s, s.Validate()
}

func (t *nearest) Check(o Options) error {
	_, err := t.settings(o)
	return err
}

func (t *nearest) Train(_ context.Context, c *corpus.Corpus, o Options) (Model, error) {
	s, err := t.settings(o)
	if err != nil {
		return nil, err
	}
	m, err := knn.Train(c, s)
	if err != nil {
		return nil, err
	}
	return neighboursModel{m}, nil
}

type neighboursModel struct{ *knn.Model }

func (m neighboursModel) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, o.Task())
}

func (m neighboursModel) About() About {
	s := m.Settings
	a := About{
		Origin: m.Origin, Type: "knn" + params.Spec(s), Scheme: s.Scheme, DecisionFunctions: m.Classes,
		Probabilities: s.Scheme != solver.Labels, Votes: true,
		Width: m.Documents.Cols, Bytes: m.Bytes(),
	}
	if k, err := kernel.Parse(s.Kernel); err == nil {
		a.Embedding = k.Embedding().String()
	}
	a.Columns, _ = m.Documents.TermFrequencies()
	a.Terms = len(a.Columns)
	a.Text = []string{fmt.Sprintf("%s, %d documents", s.Kernel, m.Documents.Rows())}
	return a
}
