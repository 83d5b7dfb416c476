package linear

import (
	"context"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/sparse"
)

// Model is a trained linear classifier. It is immutable and may be used concurrently.
// [Model.Validate] checks its invariants.
type Model struct {
	archive.Origin
	Settings  Settings
	Embedder  *sparse.Embedder
	Functions []*DecisionFunction // decision functions, one per class
	Weights   []float64           // weight of a column for a class, at column·len(Classes) + class
}

// Validate checks the model after reading: embedding, vocabulary and class names, and that all
// numbers are finite.
func (m *Model) Validate() error { return m.Origin.ValidateWeights(m.Embedder, m.Weights) }

// Predict returns classes and decision values of documents. Unknown terms are ignored. For errors,
// see package task.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, opt Options) (*model.Prediction, error) {
	k, out := len(m.Classes), task.NewPrediction(docs.Rows(), m.Settings.Scheme)
	pass := task.PredictionRun{Options: opt, Name: "linear", Embedder: m.Embedder, BytesPerDocument: int64(16*k + 56)}
	err := pass.Run(ctx, docs, func(_ int, x *sparse.Embedded, first int) error {
		values := make([]float64, k*x.Rows())
		for i := range x.Rows() {
			f := values[k*i : k*i+k : k*i+k]
			m.decide(x, i, f)
			task.Decide(out, first+i, f)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (m *Model) decide(x *sparse.Embedded, i int, f []float64) {
	for k := range f {
		f[k] = m.Functions[k].Bias
	}
	task.AddProducts(f, m.Weights, x, i, x.Norms[i])
}
