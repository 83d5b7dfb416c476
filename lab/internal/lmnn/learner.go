package lmnn

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/holdout"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Learner is the learner that gramlab offers as lmnn.
var Learner = &learn.Learner{
	Name: "lmnn", Summary: "nearest neighbours with a learned metric, for vectors with few columns",
	FilePrefix: Format.Name, Read: learn.ReadFunc(&Format, func(m *Model) learn.Model { return metricModel{m} }),
	New: func() learn.Trainer { return &trainer{} },
}

type trainer struct {
	params.Record
	Settings
}

// Check implements learn.Trainer.
func (t *trainer) Check(learn.Options) error { return nil }

// Train implements learn.Trainer.
func (t *trainer) Train(ctx context.Context, c *corpus.Corpus, o learn.Options) (learn.Model, error) {
	if c.Vocabulary != nil {
		return nil, flagtext.Errorf("-type lmnn: %s is text; use vectors with few columns, such as the output of gram pca",
			c.Source)
	}
	opt := optionsOf(o)
	opt.Progress = func(iterations, most int, value float64, near int64) {
		o.ReportProgress("metric", int64(iterations), int64(most), fmt.Sprintf("loss %.6g", value),
			fmt.Sprintf("%d near", near))
	}
	s := t.Settings
	if s.Iterations < 0 {
		s.Iterations = 0
		fit, valid := splitDocuments(c, o.Seed)
		found, err := ChooseIterations(ctx, c.Select(fit), c.Select(valid), s, opt)
		if err != nil {
			return nil, fmt.Errorf("choosing the number of iterations: %w", err)
		}
		o.Infof("iterations: %d (%.2f%% errors on %d validation documents)", found.Iterations,
			100*float64(found.ErrorCount)/float64(found.DocumentCount), found.DocumentCount)
		s.Iterations = found.Iterations
	}
	m, err := Train(ctx, c, s, opt)
	if err != nil {
		return nil, err
	}
	return metricModel{m}, nil
}

// splitDocuments splits the documents with exactly one class into the training set fit and the
// validation set valid. valid contains about a sixth of each class.
func splitDocuments(c *corpus.Corpus, seed uint64) (fit, valid []int) {
	var rows, classes []int
	for i := range c.Documents.Rows() {
		if of := c.Labels.Classes(i); len(of) == 1 {
			rows, classes = append(rows, i), append(classes, int(of[0]))
		}
	}
	fit, valid = holdout.Split(classes, run.Select(c.Groups, rows), 6, seed)
	return run.Select(rows, fit), run.Select(rows, valid)
}

func optionsOf(o learn.Options) Options {
	return Options{Workers: o.Workers, MemoryBytes: o.MemoryBytes}
}

type metricModel struct{ *Model }

// Predict implements learn.Model.
func (m metricModel) Predict(ctx context.Context, docs *sparse.CSR, o learn.Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, optionsOf(o))
}

// usedColumnCount returns the number of columns with values. If a file numbers columns from 1,
// column 0 has no values.
func (m metricModel) usedColumnCount() int {
	has := make([]bool, m.Cols)
	count := 0
	for i, v := range m.Documents {
		if c := i % m.Cols; v != 0 && !has[c] {
			has[c] = true
			count++
		}
	}
	return count
}

// About implements learn.Model.
func (m metricModel) About() learn.About {
	s := m.Settings
	a := learn.About{
		Type: "lmnn" + params.Spec(s), Scheme: solver.OneVsRest, DecisionNames: m.Classes, TermCount: m.usedColumnCount(),
		ColumnCount: m.Cols,
		Bytes:       m.Bytes(), HasVotes: true,
	}
	a.Classes = m.Classes
	for c := range m.Cols {
		a.Columns = append(a.Columns, uint32(c))
	}
	a.Results = []string{fmt.Sprintf("%d documents, %d columns, loss %.6g (Euclidean metric: %.6g), %d iterations",
		m.Rows(), a.TermCount, m.Loss, m.InitialLoss, m.Iterations)}
	a.ClassifierRows = []any{struct {
		Loss       float64 `json:"loss"`
		Euclidean  float64 `json:"loss_of_euclidean"`
		Iterations int     `json:"iterations"`
	}{m.Loss, m.InitialLoss, m.Iterations}}
	return a
}
