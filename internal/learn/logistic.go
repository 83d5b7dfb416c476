package learn

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/logistic"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

var logisticLearner = &Learner{
	Name: "logistic", Summary: "logistic regression; train selects -c by cross-validation by default",
	Weighs: true, Form: logistic.Form.Name,
	Read: Reads(&logistic.Form, func(m *logistic.Model) Model { return &Regression{m, nil} }),
	New:  func() Trainer { return &regression{} },
}

type regression struct {
	params.Record
	logistic.Settings
	Embedding Embedding `param:"embed" flag:""`
}

// If C isn't set, the values in triedC are compared by cross-validation on triedOn folds.
var (
	triedC  = []float64{0.1, 1, 10, 100, 1000}
	triedOn = 3
)

func (r *regression) Check(Options) error { return checkLine(r.Embedding) }

// Train implements Trainer. If C isn't set, it may choose C by cross-validation.
func (r *regression) Train(ctx context.Context, c *corpus.Corpus, o Options) (Model, error) {
	s := r.Settings
	var tried *Found
	if !r.Given("c") && o.Work > 0 && c.Documents.Rows() >= 2*triedOn {
		var err error
		if tried, err = r.choose(ctx, c, o); err != nil {
			return nil, err
		}
		s.C = tried.Points[tried.Best].C
	}
	m, err := logistic.Train(ctx, c, lineEmbedding(c, r.Embedding, o), s, o.Task())
	if err != nil {
		return nil, err
	}
	return &Regression{m, tried}, nil
}

// choose cross-validates the values of triedC, with few iterations.
func (r *regression) choose(ctx context.Context, c *corpus.Corpus, o Options) (*Found, error) {
	rough := *r
	rough.Loose, rough.Iterations, rough.Tolerance = true, 100, max(r.Tolerance, 1e-3)
	tell := o.Progress
	o.Progress = func(_ string, done, total int64, details ...string) {
		if tell != nil {
			tell("choosing C", done, total, details...)
		}
	}
	points := []Point{{Trainer: &rough, Spec: logisticLearner.Name}}
	found, err := Search(ctx, c, &Grid{Points: points, C: triedC, Folds: triedOn}, o)
	if short := (*run.MemoryError)(nil); errors.As(err, &short) { // at least the need of the final training
		short.Need = max(short.Need, logistic.TrainBytes(c.Size(), 1, o.Workers))
	}
	if err != nil {
		return nil, err
	}
	found.Fits = len(found.Points) * triedOn
	found.Rounds = []Round{{c.Documents.Rows(), triedOn, "C", found.Points, found.Best}}
	return found, nil
}

func (r *regression) Need(s corpus.Size, documents int64, count, _, workers int) int64 {
	return documents + logistic.TrainBytes(s, count, workers)
}

func (r *regression) TrainAll(ctx context.Context, c *corpus.Corpus, o Options, all []Trainer) ([]Model, error) {
	models, err := logistic.TrainPath(ctx, c, lineEmbedding(c, r.Embedding, o), r.Settings, cValues(all), o.Task())
	return each(models, func(m *logistic.Model) Model { return &Regression{m, nil} }), err
}

// Regression is a logistic regression model.
type Regression struct {
	*logistic.Model
	tried *Found // comparison of values of C; nil if C was set
}

// Predict implements Model.
func (m *Regression) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, o.Task())
}

// Weights implements Weighted.
func (m *Regression) Weights() (weights [][]float64, columns []uint32, of string) {
	for _, q := range m.Functions {
		weights = append(weights, q.Weights)
	}
	return weights, m.Embedder.Terms, ""
}

type regressionRow struct {
	Class string `json:"class"`
	*logistic.DecisionFunction
}

// About implements Model.
func (m *Regression) About() About {
	s := m.Settings
	a := About{
		Origin: m.Origin, Type: "logistic" + params.Spec(s), Scheme: s.Scheme, DecisionFunctions: m.Classes,
		Regularization: solver.Regularization{C: s.C}, Probabilities: true,
		Bytes: int64(m.Embedder.Cols()) * int64(8*len(m.Functions)+32), Tried: m.tried,
	}
	a.Embeds(m.Embedder)
	var steps, passes int
	var value, gap float64
	for k, q := range m.Functions {
		steps, passes, value = steps+q.Iterations, passes+q.Evaluations, value+q.Value
		gap += q.Gap
		a.Ended.count(q.Converged, q.Gap, q.Value)
		a.Rows = append(a.Rows, regressionRow{m.Classes[k], q})
	}
	line := fmt.Sprintf("%d steps, %d passes, objective %.8g", steps, passes, value)
	if gap > 0 {
		line += fmt.Sprintf(" (duality gap at most %.2g)", gap)
	}
	a.Text = append(a.Text, line)
	return a
}
