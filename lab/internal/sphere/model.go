package sphere

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/logistic"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Model is a trained model. It is immutable and may be used concurrently.
type Model struct {
	archive.Origin
	Settings    Settings
	Embedder    *sparse.Embedder
	Classifiers []*Classifier // one classifier per class
}

// Validate returns an error unless settings are in range, the vocabulary contains all terms of the
// embedding, classes have different names and one classifier each, numbers are finite, and each û
// is a unit vector.
func (m *Model) Validate() error {
	if _, err := m.Settings.resolve(); err != nil {
		return err
	}
	if err := m.Origin.Validate(m.Embedder); err != nil {
		return err
	}
	if len(m.Classes) == 0 || m.Embedder.Pairing != sparse.Cosine {
		return fmt.Errorf("at least one class and an embedding for dot products are required, got %d classes and %s",
			len(m.Classes), m.Embedder)
	}
	for k, machine := range m.Classifiers {
		length, numbers := 0.0, []float64{machine.Bias, machine.Theta, machine.Objective, machine.GradientNorm}
		for _, v := range machine.Weights {
			length += float64(v * v)
		}
		for _, v := range append(numbers, length) {
			if v-v != 0 {
				return fmt.Errorf("classifier of %q: weights must be finite, got %v", m.Classes[k], v)
			}
		}
		if len(machine.Weights) != m.Embedder.Cols() || machine.Theta < 0 || machine.Iterations < 0 ||
			machine.Evaluations < 0 || machine.Theta > 0 && !(math.Abs(length-1) <= 1e-9) {
			return fmt.Errorf("classifier of %q must have %d weights with norm 1, got %d with squared norm %v and θ = %v",
				m.Classes[k], m.Embedder.Cols(), len(machine.Weights), length, machine.Theta)
		}
	}
	return nil
}

// Predict classifies documents. Columns must be numbered as in the training corpus; other columns
// are ignored. Results are bit-identical for any number of workers.
//
// Predict fails if a value is negative, if memory is insufficient, and within a second after ctx is
// done.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, opt Options) (*model.Prediction, error) {
	s, _ := m.Settings.resolve()
	k, out := len(m.Classes), task.NewPrediction(docs.Rows(), s.Scheme)
	out.Probabilities = make([][]float64, docs.Rows())
	pass := task.PredictionRun{Options: opt, Name: "sphere", Embedder: m.Embedder, BytesPerDocument: int64(16*k + 80)}
	planes := make([]*Hyperplane, k)
	for c, machine := range m.Classifiers {
		planes[c] = NewHyperplane(machine.Weights)
	}
	scratch := make([]Scratch, pass.NumWorkers(docs.Rows()))
	err := pass.Run(ctx, docs, func(worker int, x *sparse.Embedded, first int) error {
		if err := checkNonnegative(x, first); err != nil {
			return err
		}
		values := make([]float64, 2*k*x.Rows())
		for i := range x.Rows() {
			f, p := values[2*k*i:2*k*i+k:2*k*i+k], values[2*k*i+k:2*k*i+2*k:2*k*i+2*k]
			terms, row := x.Row(i)
			point := Point{Terms: terms, Values: row, SquaredNorm: squaredNorm(row)}
			for c, machine := range m.Classifiers {
				f[c] = machine.decide(planes[c], point, &scratch[worker])
			}
			task.Decide(out, first+i, f)
			logistic.SetProbabilities(p, f, s.Scheme != solver.MultiLabel)
			out.Probabilities[first+i] = p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// decide returns the decision value of document x. plane is the hyperplane of classifier m.
func (m *Classifier) decide(plane *Hyperplane, x Point, s *Scratch) float64 {
	if m.Theta == 0 {
		return m.Bias
	}
	return 2 * m.Theta * plane.Project(x, s).Margin
}

// Decisions returns the decision values of the listed rows of x. Columns must be numbered as in the
// training documents.
func (m *Classifier) Decisions(x *sparse.Embedded, rows []int) []float64 {
	plane, out := NewHyperplane(m.Weights), make([]float64, len(rows))
	var s Scratch
	for k, i := range rows {
		terms, values := x.Row(i)
		out[k] = m.decide(plane, Point{Terms: terms, Values: values, SquaredNorm: squaredNorm(values)}, &s)
	}
	return out
}

// Format describes the format of a model file.
var Format = archive.Format[Model]{
	Package: "sphere", Name: "gram sphere-logistic ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	f.Parameters(&m.Settings)
	f.Origin(&m.Origin)
	terms, k := f.Embedding(&m.Embedder), len(m.Classes)
	archive.DecisionFunctions(f, &m.Classifiers, k)
	archive.Table(f, "weights", k, terms+1, func(i int) *[]float64 { return &m.Classifiers[i].Weights })
}

// Write writes the model in gram's format. Equal models give equal bytes on every platform.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Format.Write(ctx, w, m) }
