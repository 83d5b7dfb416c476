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

// Learner is the learner named sphere-logistic.
var Learner = &learn.Learner{
	Name: "sphere-logistic", Summary: "logistic regression on the positive sphere; C by cross-validation if -c is not set",
	Weighs: true, Form: Form.Name, Read: learn.Reads(&Form, func(m *Model) learn.Model { return regression{m, nil} }),
	New: func() learn.Trainer { return &trainer{} },
}

// trainer implements learn.JointTrainer.
type trainer struct {
	params.Record
	Settings
	Embedding learn.Embedding `param:"embed" flag:""`
}

func (t *trainer) embedding() sparse.Embedding {
	if t.Embedding.Embedding == nil {
		return sparse.Sphere
	}
	return *t.Embedding.Embedding
}

func (t *trainer) Check(learn.Options) error { return nil }

// Train implements learn.Trainer. If C isn't set, Train selects C by cross-validation.
func (t *trainer) Train(ctx context.Context, c *corpus.Corpus, o learn.Options) (learn.Model, error) {
	s, tried := t.Settings, (*learn.Found)(nil)
	if !t.Given("c") && o.Work > 0 && c.Documents.Rows() >= 2*folds {
		var err error
		if tried, err = t.choose(ctx, c, o); err != nil {
			return nil, err
		}
		s.C = tried.Points[tried.Best].C
	}
	m, err := Train(ctx, c, t.embedding(), s, o.Task())
	if err != nil {
		return nil, err
	}
	return regression{m, tried}, nil
}

const folds = 3

// choose selects C by cross-validation, with fewer iterations than in training.
func (t *trainer) choose(ctx context.Context, c *corpus.Corpus, o learn.Options) (*learn.Found, error) {
	rough := *t
	rough.Iterations, rough.Tolerance = 100, max(t.Tolerance, 1e-3)
	own := o
	own.Progress = func(_ string, done, total int64, details ...string) {
		o.Tell("choosing C", done, total, details...)
	}
	cValues := []float64{0.1, 1, 10, 100, 1000}
	points := []learn.Point{{Trainer: &rough, Spec: Learner.Name}}
	found, err := learn.Search(ctx, c, &learn.Grid{Points: points, C: cValues, Folds: folds}, own)
	if err != nil {
		return nil, err
	}
	found.Fits = len(found.Points) * folds
	found.Rounds = []learn.Round{{
		Documents: c.Documents.Rows(), Folds: folds, Compares: "C", Points: found.Points, Best: found.Best,
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
	models, err := TrainPath(ctx, c, t.embedding(), t.Settings, cValues, o.Task())
	for _, m := range models {
		out = append(out, regression{m, nil})
	}
	return out, err
}

// regression implements learn.Model and learn.Weighted.
type regression struct {
	*Model
	tried *learn.Found // result of the cross-validation; nil if C was set
}

func (m regression) Predict(ctx context.Context, docs *sparse.CSR, o learn.Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, o.Task())
}

func (m regression) Weights() (weights [][]float64, columns []uint32, of string) {
	for _, q := range m.Machines {
		weights = append(weights, q.Weights)
	}
	return weights, m.Embedder.Terms, "the unit vector"
}

type row struct {
	Class string `json:"class"`
	*Machine
}

func (m regression) About() learn.About {
	s := m.Settings
	a := learn.About{
		Origin: m.Origin, Type: "sphere-logistic" + params.Spec(s), Scheme: s.Scheme,
		Regularization: solver.Regularization{C: s.C}, DecisionFunctions: m.Classes, Probabilities: true,
		Bytes: int64(m.Embedder.Cols()) * int64(8*len(m.Machines)+32), Tried: m.tried,
		Ended: learn.Convergence{Functions: len(m.Machines)},
	}
	a.Embeds(m.Embedder)
	var steps, passes, bounded int
	var value float64
	for k, q := range m.Machines {
		steps, passes, value = steps+q.Iterations, passes+q.Evaluations, value+q.Value
		if !q.Converged {
			a.Ended.Unfinished++
		}
		if q.Bounded {
			bounded++
		}
		a.Rows = append(a.Rows, row{m.Classes[k], q})
	}
	a.Text = []string{fmt.Sprintf("%d steps, %d passes, objective %.8g", steps, passes, value)}
	if bounded > 0 {
		a.Text = append(a.Text, fmt.Sprintf("θ is at its maximum in %d of %d classifiers: their classes are separable, and "+
			"C is too large to bound it", bounded, len(m.Machines)))
	}
	return a
}
