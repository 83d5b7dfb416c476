package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Model is what was trained on a corpus. It is immutable and may be used concurrently.
// [Model.Validate] says what must hold.
type Model struct {
	Settings Settings

	Source    string   // the training corpus, as the user named it
	Corpus    [32]byte // its digest
	Documents int      // its documents

	Vocabulary []string // text of each term of the corpus; nil where it had indices only
	Tokenizer  corpus.Tokenizer
	Form       corpus.Form // how documents were read
	Embedder   *sparse.Embedder

	Classes  []string   // names
	Machines []*Machine // one for each class
}

// Validate reports the first violation of what a model must be, or nil: settings in range, an
// embedding as [sparse.RestoreEmbedder] asks for, a vocabulary that holds all its terms, each once,
// names of classes that differ and a machine for each, with finite numbers and as many weights as
// the embedding has columns. It takes one pass.
func (m *Model) Validate() error {
	if _, err := m.Settings.resolve(); err != nil {
		return err
	}
	if m.Documents < 0 {
		return fmt.Errorf("logistic: %d training documents", m.Documents)
	}
	if err := archive.Validate(m.Vocabulary, m.Tokenizer, m.Embedder); err != nil {
		return fmt.Errorf("logistic: %w", err)
	}
	if m.Embedder.Pairing != sparse.Dot {
		return fmt.Errorf("logistic: embedding %s, expected one of dot products", m.Embedder)
	}
	if len(m.Classes) == 0 || len(m.Machines) != len(m.Classes) {
		return fmt.Errorf("logistic: %d machines for %d classes, expected one for each", len(m.Machines), len(m.Classes))
	}
	if name, twice := archive.Repeated(m.Classes); twice {
		return fmt.Errorf("logistic: two classes are called %q", name)
	}
	for k, machine := range m.Machines {
		if err := machine.validate(m.Embedder.Cols()); err != nil {
			return fmt.Errorf("logistic: machine of %q: %w", m.Classes[k], err)
		}
	}
	return nil
}

// validate checks a machine.
func (m *Machine) validate(cols int) error {
	if m == nil {
		return errors.New("it isn't there")
	}
	if len(m.Weights) != cols {
		return fmt.Errorf("%d weights, expected %d", len(m.Weights), cols)
	}
	for _, v := range []float64{m.Bias, m.Value, m.Gradient} {
		if !finite(v) {
			return fmt.Errorf("a number that is %v, expected a finite one", v)
		}
	}
	for j, v := range m.Weights {
		if !finite(v) {
			return fmt.Errorf("weight %v of column %d, expected a finite number", v, j)
		}
	}
	if m.Iterations < 0 || m.Evaluations < 0 {
		return fmt.Errorf("%d iterations, %d evaluations, expected at least 0", m.Iterations, m.Evaluations)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Predict predicts documents. Terms have the numbers of the training corpus.
// Other terms are ignored.
// Values don't depend on the number of workers, bit for bit. m and docs must be valid.
//
// Predict fails if the embedding refuses a value, if it needs more memory than allowed, and within
// a second after ctx is done.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, opt Options) (*model.Prediction, error) {
	s, _ := m.Settings.resolve()
	k, out := len(m.Classes), task.NewPrediction(docs.Rows(), s.Scheme)
	out.Probabilities = make([][]float64, docs.Rows())
	pass := task.Pass{
		Name: "logistic", Embedder: m.Embedder, Bytes: int64(16*k + 80),
		Most: opt.Workers, MemoryBytes: opt.MemoryBytes, Progress: opt.Progress,
	}
	err := pass.Run(ctx, docs, func(_ int, x *sparse.Embedded, first int) error {
		values := make([]float64, 2*k*x.Rows())
		for i := range x.Rows() {
			f, p := values[2*k*i:2*k*i+k:2*k*i+k], values[2*k*i+k:2*k*i+2*k:2*k*i+2*k]
			for c, machine := range m.Machines {
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

// Probabilities sets p to the probabilities of decision values f. If a document has one class, they
// sum to 1.
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
	default: // all of them are too small for float64
		clear(p)
		p[task.Greatest(f)] = 1
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
