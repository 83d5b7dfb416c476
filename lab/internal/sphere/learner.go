package sphere

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Learner is the learner that gramlab offers as sphere-logistic.
var Learner = &learn.Learner{
	Name: "sphere-logistic", Summary: "logistic regression on the positive sphere; C by cross-validation if -c is not set",
	SupportsWeights: true, FilePrefix: Format.Name, Read: learn.ReadFunc(&Format,
		func(m *Model) learn.Model { return sphereModel{m, nil} }),
	New: func() learn.Trainer { return &trainer{} },
}

type trainer struct {
	params.Record
	Settings
	Embedding learn.Embedding `param:"embed" flag:""`
}

func (t *trainer) embedding() sparse.Embedding {
	if t.Embedding.Embedding == nil {
		return sparse.SphereEmbedding
	}
	return *t.Embedding.Embedding
}

func (t *trainer) Check(learn.Options) error { return nil }

// Train implements learn.Trainer. If C isn't set, o.WorkBudget is positive, and there are at least
// 2·foldCount documents, Train selects C by cross-validation.
func (t *trainer) Train(ctx context.Context, c *corpus.Corpus, o learn.Options) (learn.Model, error) {
	s, tried := t.Settings, (*learn.SearchResult)(nil)
	if !t.IsSet("c") && o.WorkBudget > 0 && c.Documents.Rows() >= 2*foldCount {
		var err error
		if tried, err = t.chooseC(ctx, c, o); err != nil {
			return nil, err
		}
		s.C = tried.Points[tried.BestIndex].C
	}
	m, err := Train(ctx, c, t.embedding(), s, o.TaskOptions())
	if err != nil {
		return nil, err
	}
	return sphereModel{m, tried}, nil
}

const foldCount = 3

// chooseC selects C by cross-validation, with fewer iterations than in training.
func (t *trainer) chooseC(ctx context.Context, c *corpus.Corpus, o learn.Options) (*learn.SearchResult, error) {
	rough := *t
	rough.Iterations, rough.Tolerance = 100, max(t.Tolerance, 1e-3)
	own := o
	own.Progress = func(_ string, done, total int64, details ...string) {
		o.ReportProgress("choosing C", done, total, details...)
	}
	cValues := []float64{0.1, 1, 10, 100, 1000}
	points := []learn.Point{{Trainer: &rough, Spec: Learner.Name}}
	found, err := learn.Search(ctx, c, &learn.Grid{Points: points, C: cValues, Folds: foldCount}, own)
	if err != nil {
		return nil, err
	}
	found.FitCount = len(found.Points) * foldCount
	found.Rounds = []learn.Round{{
		DocumentCount: c.Documents.Rows(), Folds: foldCount, Parameter: "C", Points: found.Points, BestIndex: found.BestIndex,
	}}
	return found, nil
}

// TrainAll implements learn.JointTrainer.
func (t *trainer) TrainAll(
	ctx context.Context, c *corpus.Corpus, o learn.Options, all []learn.Trainer,
) (out []learn.Model, err error) {
	var cValues []float64
	for _, one := range all {
		cValues = append(cValues, params.Get(one, "c").(float64))
	}
	models, err := TrainPath(ctx, c, t.embedding(), t.Settings, cValues, o.TaskOptions())
	for _, m := range models {
		out = append(out, sphereModel{m, nil})
	}
	return out, err
}

type sphereModel struct {
	*Model
	searchResult *learn.SearchResult // result of the cross-validation; nil if C was set
}

func (m sphereModel) Predict(ctx context.Context, docs *sparse.CSR, o learn.Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, o.TaskOptions())
}

func (m sphereModel) Weights() (weights [][]float64, columns []uint32, of string) {
	for _, q := range m.Classifiers {
		weights = append(weights, q.Weights)
	}
	return weights, m.Embedder.Terms, "the unit vector"
}

type classifierRow struct {
	Class string `json:"class"`
	*Classifier
}

func (m sphereModel) About() learn.About {
	s := m.Settings
	a := learn.About{
		Origin: m.Origin, Type: "sphere-logistic" + params.Spec(s), Scheme: s.Scheme,
		Regularization: solver.Regularization{C: s.C}, DecisionNames: m.Classes, HasProbabilities: true,
		Bytes: int64(m.Embedder.Cols()) * int64(8*len(m.Classifiers)+32), Search: m.searchResult,
		Convergence: learn.Convergence{ClassifierCount: len(m.Classifiers)},
	}
	a.SetEmbedder(m.Embedder)
	var steps, passes, bounded int
	var value float64
	for k, q := range m.Classifiers {
		steps, passes, value = steps+q.Iterations, passes+q.Evaluations, value+q.Objective
		if !q.Converged {
			a.Convergence.UnfinishedCount++
		}
		if q.ThetaAtMax {
			bounded++
		}
		a.ClassifierRows = append(a.ClassifierRows, classifierRow{m.Classes[k], q})
	}
	a.Results = []string{fmt.Sprintf("%d steps, %d passes, objective %.8g", steps, passes, value)}
	if bounded > 0 {
		a.Results = append(a.Results,
			fmt.Sprintf("θ is at its maximum in %d of %d classifiers, because their classes are separable and "+
				"C is too large", bounded, len(m.Classifiers)))
	}
	return a
}
