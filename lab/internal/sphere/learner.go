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

// Learner is the learner sphere-logistic.
var Learner = &learn.Learner{
	Name: "sphere-logistic", Summary: "logistic regression with margins on the positive sphere; -c is 10 by default",
	Weighs: true, Form: Form.Name, Read: learn.Reads(&Form, func(m *Model) learn.Model { return regression{m} }),
	New: func() learn.Trainer { return &trainer{} },
}

// trainer implements learn.PathTrainer.
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

func (t *trainer) Train(ctx context.Context, c *corpus.Corpus, o learn.Options) (learn.Model, error) {
	m, err := Train(ctx, c, t.embedding(), t.Settings, o.Task())
	if err != nil {
		return nil, err
	}
	return regression{m}, nil
}

func (t *trainer) TrainPath(
	ctx context.Context, c *corpus.Corpus, o learn.Options, prices []float64,
) (out []learn.Model, err error) {
	models, err := TrainPath(ctx, c, t.embedding(), t.Settings, prices, o.Task())
	for _, m := range models {
		out = append(out, regression{m})
	}
	return out, err
}

// regression implements learn.Model and learn.Weighted.
type regression struct{ *Model }

func (m regression) Predict(ctx context.Context, docs *sparse.CSR, o learn.Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, o.Task())
}

func (m regression) Weights() (weights [][]float64, columns []uint32, of string) {
	for _, q := range m.Machines {
		weights = append(weights, q.Weights)
	}
	return weights, m.Embedder.Terms, "the unit vector"
}

// row is a machine in a report.
type row struct {
	Class string `json:"class"`
	*Machine
}

func (m regression) About() learn.About {
	s := m.Settings
	a := learn.About{
		Origin: m.Origin, Type: "sphere-logistic" + params.Spec(s), Scheme: s.Scheme,
		Regularization: solver.Regularization{C: s.C}, Machines: m.Classes, Probabilities: true,
		Bytes: int64(m.Embedder.Cols()) * int64(8*len(m.Machines)+32), Ended: learn.Ended{Machines: len(m.Machines)},
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
		a.Text = append(a.Text, fmt.Sprintf("θ is at its maximum in %d of %d machines: their classes are separable, and "+
			"C is too large to bound it", bounded, len(m.Machines)))
	}
	return a
}
