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
	SupportsWeights: true, FilePrefix: logistic.Format.Name,
	Read: ReadFunc(&logistic.Format, func(m *logistic.Model) Model { return &LogisticModel{m, nil} }),
	New:  func() Trainer { return &logisticTrainer{} },
}

type logisticTrainer struct {
	params.Record
	logistic.Settings
	Embedding Embedding `param:"embed" flag:""`
}

// If C isn't set, the values in logisticCs are compared by cross-validation on logisticFolds folds.
var (
	logisticCs    = []float64{0.1, 1, 10, 100, 1000}
	logisticFolds = 3
)

func (r *logisticTrainer) Check(Options) error { return checkLinearEmbedding(r.Embedding) }

// Train implements Trainer. If C isn't set, it may choose C by cross-validation.
func (r *logisticTrainer) Train(ctx context.Context, c *corpus.Corpus, o Options) (Model, error) {
	s := r.Settings
	var tried *SearchResult
	if !r.IsSet("c") && o.WorkBudget > 0 && c.Documents.Rows() >= 2*logisticFolds {
		var err error
		if tried, err = r.choose(ctx, c, o); err != nil {
			return nil, err
		}
		s.C = tried.Points[tried.BestIndex].C
	}
	m, err := logistic.Train(ctx, c, linearEmbedding(c, r.Embedding, o), s, o.TaskOptions())
	if err != nil {
		return nil, err
	}
	return &LogisticModel{m, tried}, nil
}

func (r *logisticTrainer) choose(ctx context.Context, c *corpus.Corpus, o Options) (*SearchResult, error) {
	rough := *r
	rough.SkipGap, rough.Iterations, rough.Tolerance = true, 100, max(r.Tolerance, 1e-3)
	tell := o.Progress
	o.Progress = func(_ string, done, total int64, details ...string) {
		if tell != nil {
			tell("choosing C", done, total, details...)
		}
	}
	points := []Point{{Trainer: &rough, Spec: logisticLearner.Name}}
	found, err := Search(ctx, c, &Grid{Points: points, C: logisticCs, Folds: logisticFolds}, o)
	if short := (*run.MemoryError)(nil); errors.As(err, &short) { // report at least the memory for the final training
		short.NeedBytes = max(short.NeedBytes, logistic.TrainBytes(c.Size(), 1, o.Workers))
	}
	if err != nil {
		return nil, err
	}
	found.FitCount = len(found.Points) * logisticFolds
	found.Rounds = []Round{{c.Documents.Rows(), logisticFolds, "C", found.Points, found.BestIndex}}
	return found, nil
}

func (r *logisticTrainer) EstimateMemory(s corpus.Size, documents int64, count, _, workers int) int64 {
	return documents + logistic.TrainBytes(s, count, workers)
}

func (r *logisticTrainer) TrainAll(ctx context.Context, c *corpus.Corpus, o Options, all []Trainer) ([]Model, error) {
	models, err := logistic.TrainPath(ctx, c, linearEmbedding(c, r.Embedding, o), r.Settings, cValues(all),
		o.TaskOptions())
	return convertModels(models, func(m *logistic.Model) Model { return &LogisticModel{m, nil} }), err
}

// LogisticModel implements [Model] for a [logistic.Model].
type LogisticModel struct {
	*logistic.Model
	search *SearchResult // values of C that were compared; nil if C was set
}

func (m *LogisticModel) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, o.TaskOptions())
}

func (m *LogisticModel) Weights() (weights [][]float64, columns []uint32, of string) {
	for _, q := range m.Functions {
		weights = append(weights, q.Weights)
	}
	return weights, m.Embedder.Terms, ""
}

type logisticRow struct {
	Class string `json:"class"`
	*logistic.DecisionFunction
}

func (m *LogisticModel) About() About {
	s := m.Settings
	a := About{
		Origin: m.Origin, Type: "logistic" + params.Spec(s), Scheme: s.Scheme, DecisionNames: m.Classes,
		Regularization: solver.Regularization{C: s.C}, HasProbabilities: true,
		Bytes: int64(m.Embedder.Cols()) * int64(8*len(m.Functions)+32), Search: m.search,
	}
	a.SetEmbedder(m.Embedder)
	var steps, passes int
	var value, gap float64
	for k, q := range m.Functions {
		steps, passes, value = steps+q.Iterations, passes+q.Evaluations, value+q.Objective
		gap += q.Gap
		a.Convergence.addClassifier(q.Converged, q.Gap, q.Objective)
		a.ClassifierRows = append(a.ClassifierRows, logisticRow{m.Classes[k], q})
	}
	line := fmt.Sprintf("%d steps, %d passes, objective %.8g", steps, passes, value)
	if gap > 0 {
		line += fmt.Sprintf(" (duality gap at most %.2g)", gap)
	}
	a.Results = append(a.Results, line)
	return a
}
