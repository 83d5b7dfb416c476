package logistic

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Model is a trained model. It is immutable and may be used concurrently. [Model.Validate] checks
// its invariants.
type Model struct {
	archive.Origin
	Settings  Settings
	Embedder  *sparse.Embedder
	Functions []*DecisionFunction // one per class
}

// Validate checks the model after reading: embedding, vocabulary and class names, and that weights
// are finite.
func (m *Model) Validate() error {
	if err := m.Origin.Validate(m.Embedder); err != nil {
		return err
	}
	if m.Embedder.Pairing != sparse.Dot || len(m.Classes) == 0 {
		return fmt.Errorf("embedding %s and %d classes, expected dot products and some classes", m.Embedder, len(m.Classes))
	}
	for k, q := range m.Functions {
		if j := slices.IndexFunc(q.Weights, func(v float64) bool { return !finite(v) }); j >= 0 {
			return fmt.Errorf("weight %v of column %d of %q, expected a finite number", q.Weights[j], j, m.Classes[k])
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Predict predicts documents, whose terms are numbered as in the training corpus. Other terms are
// ignored. Results are bit-identical for any number of workers. m and docs must be valid.
//
// Predict fails if the embedding refuses a value, if it needs more memory than allowed, and within
// a second after ctx is done.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, opt Options) (*model.Prediction, error) {
	s, _ := m.Settings.resolve()
	k, out := len(m.Classes), task.NewPrediction(docs.Rows(), s.Scheme)
	out.Probabilities = make([][]float64, docs.Rows())
	pass := task.Pass{Options: opt, Name: "logistic", Embedder: m.Embedder, Bytes: int64(16*k + 80)}
	err := pass.Run(ctx, docs, func(_ int, x *sparse.Embedded, first int) error {
		values := make([]float64, 2*k*x.Rows())
		for i := range x.Rows() {
			f, p := values[2*k*i:2*k*i+k:2*k*i+k], values[2*k*i+k:2*k*i+2*k:2*k*i+2*k]
			for c, machine := range m.Functions {
				f[c] = machine.decide(x, i)
			}
			task.Decide(out, first+i, f)
			Probabilities(p, f, s.Scheme != solver.Labels)
			out.Probabilities[first+i] = p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Probabilities sets p to the probabilities for decision values f. If one is set, because each
// document has one class, they sum to 1.
func Probabilities(p, f []float64, one bool) {
	sum := 0.0
	for k, v := range f {
		p[k] = probability(v)
		sum += p[k]
	}
	switch {
	case !one:
	case sum > 0:
		for k := range p {
			p[k] /= sum
		}
	default: // the sum underflows to 0
		clear(p)
		p[task.ArgMax(f)] = 1
	}
}

// probability returns 1 / (1 + e^-f).
func probability(f float64) float64 {
	if f >= 0 {
		return 1 / (1 + math.Exp(-f))
	}
	e := math.Exp(f)
	return e / (1 + e)
}
