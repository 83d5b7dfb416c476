package learn

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/linear"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

var linearLearner = &Learner{
	Name: "linear", Summary: "linear SVMs by dual coordinate descent, as in LIBLINEAR (default: -c 1)",
	SupportsWeights: true,
	FilePrefix:      linear.Format.Name, Read: ReadFunc(&linear.Format,
		func(m *linear.Model) Model { return linearModel{m} }),
	New: func() Trainer { return &linearTrainer{} },
}

type linearTrainer struct {
	params.Record
	linear.Settings
	Embedding Embedding `param:"embed" flag:""`
}

func (l *linearTrainer) settings(o Options) linear.Settings {
	s := l.Settings
	s.Seed = o.Seed
	return s
}

func linearEmbedding(c *corpus.Corpus, e Embedding, o Options) sparse.Embedding {
	switch {
	case e.Embedding != nil:
		return *e.Embedding
	case c.Tokenizer.HasValues():
		return sparse.Embedding{Weighting: sparse.StandardScaling}
	case c.Vocabulary != nil:
		return sparse.Embedding{Weighting: sparse.TFIDF, Norm: sparse.NormL2}
	case o.VectorDefaults != nil:
		return o.VectorDefaults.Embedding
	}
	return sparse.Embedding{Norm: sparse.NormL2}
}

func (l *linearTrainer) Check(o Options) error {
	if err := checkLinearEmbedding(l.Embedding); err != nil {
		return err
	}
	return l.settings(o).Validate()
}

func checkLinearEmbedding(e Embedding) error {
	if e.Embedding != nil && e.Pairing != sparse.Cosine {
		return flagtext.Errorf("-embed %s is not an embedding for dot products", e)
	}
	return nil
}

func (l *linearTrainer) Train(ctx context.Context, c *corpus.Corpus, o Options) (Model, error) {
	m, err := linear.Train(ctx, c, linearEmbedding(c, l.Embedding, o), l.settings(o), o.TaskOptions())
	if err != nil {
		return nil, err
	}
	return linearModel{m}, nil
}

func (l *linearTrainer) EstimateMemory(s corpus.Size, documents int64, count, _, workers int) int64 {
	return documents + linear.TrainBytes(s, count, workers)
}

func (l *linearTrainer) TrainAll(ctx context.Context, c *corpus.Corpus, o Options, all []Trainer) ([]Model, error) {
	models, err := linear.TrainPath(ctx, c, linearEmbedding(c, l.Embedding, o), l.settings(o), cValues(all),
		o.TaskOptions())
	return convertModels(models, func(m *linear.Model) Model { return linearModel{m} }), err
}

type linearModel struct{ *linear.Model }

func (m linearModel) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, o.TaskOptions())
}

func (m linearModel) Weights() (weights [][]float64, columns []uint32, of string) {
	n := len(m.Classes)
	weights = make([][]float64, n)
	for at, w := range m.Model.Weights {
		weights[at%n] = append(weights[at%n], w)
	}
	return weights, m.Embedder.Terms, ""
}

type linearRow struct {
	Class string `json:"class"`
	*linear.DecisionFunction
}

func (m linearModel) About() About {
	s := m.Settings
	a := About{
		Origin: m.Origin, Type: "linear" + params.Spec(s), Scheme: s.Scheme, DecisionNames: m.Classes,
		Regularization: solver.Regularization{C: s.C},
		Bytes:          8*int64(len(m.Model.Weights)) + 32*int64(m.Embedder.Cols()),
	}
	a.SetEmbedder(m.Embedder)
	var passes int
	var value, gap float64
	a.Convergence.PassesParameter = "linear:passes=N"
	for k, q := range m.Functions {
		passes, value, gap = passes+q.Passes, value+q.Objective, gap+q.Gap
		a.Convergence.addClassifier(q.Converged, q.Gap, q.Objective)
		a.ClassifierRows = append(a.ClassifierRows, linearRow{m.Classes[k], q})
	}
	a.Results = append(a.Results, fmt.Sprintf("%d passes, objective %.8g (duality gap at most %.2g)", passes, value, gap))
	return a
}
