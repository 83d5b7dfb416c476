package logistic

import (
	"context"
	"math"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Model is a trained logistic regression. It is immutable and may be used concurrently.
// [Model.Validate] checks its invariants.
type Model struct {
	archive.Origin
	Settings  Settings
	Embedder  *sparse.Embedder
	Functions []*DecisionFunction // decision functions, one per class
}

// Validate checks the model after reading: embedding, vocabulary and class names, and that weights
// are finite.
func (m *Model) Validate() error {
	var weights [][]float64
	for _, q := range m.Functions {
		weights = append(weights, q.Weights)
	}
	return m.Origin.ValidateWeights(m.Embedder, weights...)
}

// Predict returns classes, decision values and probabilities of documents. Unknown terms are
// ignored. For errors, see package task.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, opt Options) (*model.Prediction, error) {
	s, _ := m.Settings.resolve()
	k, out := len(m.Classes), task.NewPrediction(docs.Rows(), s.Scheme)
	out.Probabilities = make([][]float64, docs.Rows())
	pass := task.PredictionRun{Options: opt, Name: "logistic", Embedder: m.Embedder, BytesPerDocument: int64(16*k + 80)}
	err := pass.Run(ctx, docs, func(_ int, x *sparse.Embedded, first int) error {
		values := make([]float64, 2*k*x.Rows())
		for i := range x.Rows() {
			f, p := values[2*k*i:2*k*i+k:2*k*i+k], values[2*k*i+k:2*k*i+2*k:2*k*i+2*k]
			for c, machine := range m.Functions {
				f[c] = machine.decide(x, i)
			}
			task.Decide(out, first+i, f)
			SetProbabilities(p, f, s.Scheme != solver.MultiLabel)
			out.Probabilities[first+i] = p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// SetProbabilities sets p to the probabilities for decision values f. If exclusive is set, each
// document has one class, and the probabilities sum to 1.
func SetProbabilities(p, f []float64, exclusive bool) {
	sum := 0.0
	for k, v := range f {
		p[k] = sigmoid(v)
		sum += p[k]
	}
	switch {
	case !exclusive:
	case sum > 0:
		for k := range p {
			p[k] /= sum
		}
	default: // the sum underflows to 0
		clear(p)
		p[task.ArgMax(f)] = 1
	}
}

func sigmoid(f float64) float64 {
	if f >= 0 {
		return 1 / (1 + math.Exp(-f))
	}
	e := math.Exp(f)
	return e / (1 + e)
}
