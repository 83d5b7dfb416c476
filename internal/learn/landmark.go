package learn

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

var landmarkLearner = &Learner{
	Name: "landmark", Summary: "Nyström approximation with m landmarks, for up to millions of documents",
	SupportsWeights: true, FilePrefix: landmark.Format.Name,
	Read: ReadFunc(&landmark.Format, func(m *landmark.Model) Model { return landmarkModel{m} }),
	New:  func() Trainer { return &landmarkTrainer{} },
}

type landmarkTrainer struct {
	params.Record
	landmark.Settings
	Embedding Embedding          `param:"embed" flag:""`
	Weights   map[string]float64 `param:"weight" above:"0" wants:"CLASS=W, a number above 0" flag:""`
	Balanced  bool               `param:"balanced" flag:""`
}

func (t *landmarkTrainer) settings(o Options) (landmark.Settings, error) {
	s := t.Settings
	s.Seed = o.Seed
	var err error
	if s.Kernel, err = o.addEmbedding(s.Kernel, params.Default(&s, "kernel"), t.Embedding); err != nil {
		return s, err
	}
	return s, s.Validate()
}

func (t *landmarkTrainer) Check(o Options) error {
	_, err := t.settings(o)
	return err
}

func (o *Options) landmarkOptions() landmark.Options {
	return landmark.Options{
		ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes, Progress: o.reportRun,
	}
}

func (t *landmarkTrainer) Train(ctx context.Context, c *corpus.Corpus, o Options) (Model, error) {
	s, err := t.settings(o)
	if err == nil {
		c, err = t.weighted(c)
	}
	if err != nil {
		return nil, err
	}
	m, err := landmark.Train(ctx, c, s, o.landmarkOptions())
	return landmarkModel{m}, err
}

// weighted returns c with each document's weight multiplied by the weight of its class. All binary
// classifiers use these document weights.
func (t *landmarkTrainer) weighted(c *corpus.Corpus) (*corpus.Corpus, error) {
	if t.Weights == nil && !t.Balanced {
		return c, nil
	}
	if t.Scheme == solver.MultiLabel {
		return nil, flagtext.Errorf("-weight and -scheme labels cannot be combined for -type landmark")
	}
	var rows []int
	for i := range c.Documents.Rows() {
		if len(c.Labels.Classes(i)) > 0 {
			rows = append(rows, i)
		}
	}
	weights, err := task.ClassWeights(c, rows, t.Weights, t.Balanced, t.Scheme)
	if err != nil {
		return nil, err
	}
	own := *c
	if own.Weights = slices.Clone(c.Weights); own.Weights == nil {
		own.Weights = slices.Repeat([]float64{1}, c.Documents.Rows())
	}
	for _, i := range rows {
		own.Weights[i] *= weights[c.Labels.Classes(i)[0]]
	}
	return &own, nil
}

func (t *landmarkTrainer) EstimateMemory(s corpus.Size, documents int64, count, _, workers int) int64 {
	return documents + landmark.TrainBytes(s, t.Settings, count, workers)
}

func (t *landmarkTrainer) TrainAll(ctx context.Context, c *corpus.Corpus, o Options, all []Trainer) ([]Model, error) {
	s, err := t.settings(o)
	if err != nil {
		return nil, err
	}
	if c, err = t.weighted(c); err != nil {
		return nil, err
	}
	models, err := landmark.TrainPath(ctx, c, s, cValues(all), o.landmarkOptions())
	return convertModels(models, func(m *landmark.Model) Model { return landmarkModel{m} }), err
}

type landmarkModel struct{ *landmark.Model }

func (m landmarkModel) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, o.landmarkOptions())
}

type landmarkRow struct {
	Class string `json:"class"`
	*landmark.DecisionFunction
	Landmarks int     `json:"landmarks"`
	Passes    int     `json:"passes"`
	Residual  float64 `json:"residual_trace"`
}

func pluralize(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

func residual(share float64) string {
	if share < 1e-6 {
		return "less than 0.0001%"
	}
	return fmt.Sprintf("%.3g%%", 100*share)
}

func (m landmarkModel) About() About {
	s, n := m.Settings, m.Landmarks.Rows()
	a := About{
		Origin: m.Origin, Type: "landmark" + params.Spec(s), Scheme: s.Scheme, DecisionNames: m.Classes,
		Regularization: solver.Regularization{C: s.C}, HasProbabilities: s.Loss == landmark.Logistic, Bytes: m.Bytes(),
	}
	a.SetEmbedder(m.Embedder)
	value, gap := 0.0, 0.0
	a.Convergence.PassesParameter = "landmark:passes=N"
	for k, q := range m.Functions {
		value, gap = value+q.Objective, gap+q.Gap
		a.Convergence.addClassifier(q.Converged, q.Gap, q.Objective)
		a.ClassifierRows = append(a.ClassifierRows, landmarkRow{m.Classes[k], q, n, m.Passes, m.Residual})
	}
	leave := "leave"
	if n == 1 {
		leave = "leaves"
	}
	objective := fmt.Sprintf("objective %.8g (duality gap at most %.2g)", value, gap)
	a.Results = append(a.Results, fmt.Sprintf("%s, %s of %s, %s %s of the trace; %s", s.Kernel,
		pluralize(n, "landmark", "landmarks"), pluralize(m.NumDocuments, "document", "documents"), leave,
		residual(m.Residual),
		pluralize(m.Passes, "pass", "passes")), objective)
	return a
}
