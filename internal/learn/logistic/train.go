package logistic

import (
	"context"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Train trains a model. For errors, see package task.
func Train(
	ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, opt Options,
) (*Model, error) {
	models, err := TrainPath(ctx, c, e, s, nil, opt)
	if err != nil {
		return nil, err
	}
	return models[0], nil
}

// TrainPath trains a model for each C in cValues, which must be ascending. Each model warm-starts
// from the previous model. If cValues is nil, C is Settings.C.
func TrainPath(
	ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, cValues []float64, opt Options,
) ([]*Model, error) {
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	t := &task.Training{Options: opt, Name: "logistic", StepUnit: "steps", Corpus: c, Scheme: s.Scheme, CValues: cValues}
	if err := t.Prepare(ctx, e, s.C, s.Weights, s.Balanced); err != nil {
		return nil, err
	}
	s.Weights, s.Balanced = nil, false
	err = run.CheckMemory(TrainBytes(c.Size(), len(t.CValues), opt.Workers), opt.MemoryBytes,
		"logistic: training on %d documents with %d values in total", c.Documents.Rows(), c.Documents.NNZ())
	if err != nil {
		return nil, err
	}
	x, err := e.Fit(c.Documents).TransformRows(ctx, c.Documents, nil, t.Workers)
	if err != nil {
		return nil, err
	}
	p := task.NewTrainingMatrix(x, t.Rows)
	p.Weights = t.DocumentWeights
	machines := make([][]*DecisionFunction, len(c.Classes))
	err = t.ForEachClass(ctx, func(ctx context.Context, k task.BinaryProblem) (err error) {
		machines[k.Index], err = train(ctx, p, x.Cols, k, t.CValues, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	origin := archive.OriginOf(c, c.Digest())
	var out []*Model
	for i, penalty := range t.CValues {
		m := &Model{Origin: origin, Settings: s, Embedder: x.Embedder}
		m.Settings.C = penalty
		for _, own := range machines {
			if own == nil { // see [task.Training.IsBinary]
				m.Functions = append(m.Functions, m.Functions[0].negated())
			} else {
				m.Functions = append(m.Functions, own[i])
			}
		}
		out = append(out, m)
	}
	return out, nil
}

// TrainBytes returns an upper bound in bytes on the memory that training needs in addition to the
// corpus: embedded documents, their copies by rows and by columns, a binary classifier per class
// and C, and the vectors of concurrent L-BFGS runs.
func TrainBytes(s corpus.Size, numC, workers int) int64 {
	const vectors = 2*lbfgs.HistorySize + 8
	rows, n := int64(s.Documents), int64(s.Terms+1)
	return sparse.EmbeddedBytes(s.Documents, s.Values+rows) + 16*s.Values + 16*n + 16*rows +
		8*n*int64(s.Classes*numC) + 8*(vectors*n+8*rows)*int64(min(run.NumWorkers(workers), s.Classes))
}

func (m *DecisionFunction) negated() *DecisionFunction {
	out := *m
	out.Bias = -m.Bias
	out.Weights = make([]float64, len(m.Weights))
	for j, w := range m.Weights {
		out.Weights[j] = -w
	}
	return &out
}
