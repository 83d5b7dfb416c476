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

var knnLearner = &Learner{
	Name: "knn", Summary: "k nearest neighbours, weighted by kernel value (default: -kernel bhattacharyya)",
	KeepsDocuments: true,
	FilePrefix:     knn.Format.Name, Read: ReadFunc(&knn.Format, func(m *knn.Model) Model { return knnModel{m} }),
	New: func() Trainer { return &knnTrainer{} },
}

type knnTrainer struct {
	params.Record
	knn.Settings
	Embedding Embedding `param:"embed" flag:""`
}

func (t *knnTrainer) settings(o Options) (knn.Settings, error) {
	s := t.Settings
	var err error
	if s.Kernel, err = o.addEmbedding(s.Kernel, params.Default(&s, "kernel"), t.Embedding); err != nil {
		return s, err
	}
	return s, s.Validate()
}

func (t *knnTrainer) Check(o Options) error {
	_, err := t.settings(o)
	return err
}

func (t *knnTrainer) Train(_ context.Context, c *corpus.Corpus, o Options) (Model, error) {
	s, err := t.settings(o)
	if err != nil {
		return nil, err
	}
	m, err := knn.Train(c, s)
	if err != nil {
		return nil, err
	}
	return knnModel{m}, nil
}

type knnModel struct{ *knn.Model }

func (m knnModel) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, o.TaskOptions())
}

func (m knnModel) About() About {
	s := m.Settings
	a := About{
		Origin: m.Origin, Type: "knn" + params.Spec(s), Scheme: s.Scheme, DecisionNames: m.Classes,
		HasProbabilities: s.Scheme != solver.MultiLabel, HasVotes: true,
		ColumnCount: m.Documents.Cols, Bytes: m.Bytes(),
	}
	if k, err := kernel.Parse(s.Kernel); err == nil {
		a.Embedding = k.Embedding().String()
	}
	a.Columns, _ = m.Documents.TermFrequencies()
	a.TermCount = len(a.Columns)
	a.Results = []string{fmt.Sprintf("%s, %d documents", s.Kernel, m.Documents.Rows())}
	return a
}
