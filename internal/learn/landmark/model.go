package landmark

import (
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
	"gonum.org/v1/gonum/mat"
)

// DecisionFunction is the binary classifier of a class: f(x) = Σⱼ Coefficients[j] k(x, zⱼ) + Bias.
type DecisionFunction struct {
	Coefficients []float64 `json:"-"`
	Objective    float64   `json:"objective"` // objective P, see the package documentation
	Gap          float64   `json:"gap"`       // upper bound on Objective minus its minimum
	GradientNorm float64   `json:"gradient"`  // gradient norm, relative to the norm at f = 0
	Steps        int       `json:"steps"`     // number of Newton steps
	Converged    bool      `json:"converged"` // true if Gap is at most Settings.Tolerance times Objective
	Bias         float64   `json:"bias"`      // sum of the coefficients
}

func (m *DecisionFunction) negated() *DecisionFunction {
	out := *m
	out.Bias, out.Coefficients = -m.Bias, make([]float64, len(m.Coefficients))
	for j, a := range m.Coefficients {
		out.Coefficients[j] = -a
	}
	return &out
}

// Model is a trained model: landmarks and their coefficients. It is immutable and may be used
// concurrently. [Model.Validate] checks its invariants.
type Model struct {
	archive.Origin // NumDocuments is the number of training documents
	Settings       Settings
	Passes         int     // number of passes over the training documents
	Residual       float64 // fraction of the trace of k + 1 that the landmarks don't explain, on a sample
	Embedder       *sparse.Embedder
	Functions      []*DecisionFunction // decision functions, one per class
	Landmarks      *sparse.CSR         // documents that serve as landmarks
}

// Validate checks the model after reading: kernel, embedding, vocabulary, class names, landmarks,
// and that coefficients are finite.
func (m *Model) Validate() error {
	_, k, err := m.Settings.resolve()
	if err != nil {
		return err
	}
	if err := m.Origin.Validate(m.Embedder); err != nil {
		return err
	}
	if want := k.Embedding(); m.Embedder.Embedding != want {
		return fmt.Errorf("embedding must be %s for kernel %s, got %s", want, k, m.Embedder)
	}
	if err := m.Landmarks.Validate(); err != nil {
		return fmt.Errorf("landmarks: %w", err)
	}
	n := m.Landmarks.Rows()
	if n == 0 || len(m.Classes) == 0 {
		return fmt.Errorf("model requires landmarks and classes, got %d and %d", n, len(m.Classes))
	}
	if m.Vocabulary != nil && m.Landmarks.Cols > len(m.Vocabulary) {
		return fmt.Errorf("landmarks have %d columns, but the vocabulary has %d terms", m.Landmarks.Cols, len(m.Vocabulary))
	}
	for c, machine := range m.Functions {
		if err := archive.CheckFinite(machine.Coefficients); err != nil {
			return fmt.Errorf("coefficients of %q: %w", m.Classes[c], err)
		}
	}
	return nil
}

// Bytes estimates the model's size in memory, in bytes.
func (m *Model) Bytes() int64 {
	return m.Landmarks.Bytes() + 8*int64(m.Landmarks.Rows())*int64(len(m.Functions)) + 32*int64(m.Embedder.Cols())
}

const chunkRows = 8192

// Predict returns classes, decision values and, for the logistic loss, probabilities of documents.
// Unknown terms only affect kernels that depend on the distance, see [kernel.OpenEmbedder]. For
// errors, see package task.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, opt Options) (*model.Prediction, error) {
	do, err := opt.config()
	if err != nil {
		return nil, err
	}
	s, k, _ := m.Settings.resolve()
	n, classes := docs.Rows(), len(m.Classes)
	some := min(n, chunkRows)
	values := int64(some) * int64(docs.MaxRowLen()+m.Embedder.FilledCount())
	need := int64(n)*int64(16*classes+80) + sparse.EmbeddedBytes(some, values) +
		engine.MaxEngineBytes(m.Landmarks.Rows(), m.Embedder.Cols(), m.Landmarks.NNZ())
	if err := run.CheckMemory(need, opt.memoryLimit(), "landmark: predicting %d documents", n); err != nil {
		return nil, err
	}
	z, err := m.Embedder.TransformRows(ctx, m.Landmarks, nil, do.Workers)
	if err != nil {
		return nil, err
	}
	e, err := engine.NewContext(ctx, z, engine.Options{ISA: opt.ISA, Workers: do.Workers})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	k = kernel.Resolve(k, len(m.Embedder.Terms))
	alpha := mat.NewDense(m.Landmarks.Rows(), classes, nil)
	for c, machine := range m.Functions {
		alpha.SetCol(c, machine.Coefficients)
	}
	out := task.NewPrediction(n, s.Scheme)
	if s.Loss == Logistic {
		out.Probabilities = make([][]float64, n)
	}
	for lo := 0; lo < n; lo += chunkRows {
		rows := run.Range(lo, min(lo+chunkRows, n))
		x, err := m.Embedder.TransformRows(ctx, docs, rows, do.Workers)
		if err != nil {
			return nil, err
		}
		w := mat.NewDense(len(rows), classes, nil)
		if err := e.Multiply(ctx, k, x, alpha, w); err != nil {
			return nil, err
		}
		for i := range rows {
			f := w.RawRowView(i)
			for c, machine := range m.Functions {
				f[c] += machine.Bias
			}
			if task.Decide(out, lo+i, f); s.Loss == Logistic {
				out.Probabilities[lo+i] = probabilities(f, s.Scheme != solver.MultiLabel)
			}
		}
		if err := opt.reportProgress(run.Progress{Stage: "predicting", Done: int64(lo + len(rows)),
			Total: int64(n)}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// probabilities returns 1/(1 + e^-f) for each class. If exclusive is set, each document has one
// class, and the probabilities are scaled to sum to 1. If all probabilities are 0, they are set to
// equal values.
func probabilities(f []float64, exclusive bool) []float64 {
	p, sum := make([]float64, len(f)), 0.0
	for c, v := range f {
		p[c] = 1 / (1 + math.Exp(-v))
		sum += p[c]
	}
	for c := range p {
		switch {
		case !exclusive:
		case sum > 0:
			p[c] /= sum
		default:
			p[c] = 1 / float64(len(p))
		}
	}
	return p
}
