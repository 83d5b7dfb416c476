package logistic

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/internal/archive"
	"github.com/gramengine/gram/learn/internal/task"
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
	Tokenizer  sparse.Tokenizer
	Embedder   *sparse.Embedder

	Classes  []string   // names
	Machines []*Machine // one for each class
}

// Validate reports the first violation of what a model must be, or nil: settings in range, an
// embedding as [sparse.RestoreEmbedder] asks for, a vocabulary that holds all its terms, each once,
// names of classes that differ and a machine for each, with finite numbers, as many weights as the
// embedding has columns, and, of spherical margins, a unit vector for û. It takes one pass.
func (m *Model) Validate() error {
	if m == nil {
		return errors.New("logistic: no model, expected one")
	}
	s, err := m.Settings.resolve()
	if err != nil {
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
		if err := machine.validate(m.Embedder.Cols(), s.Margin); err != nil {
			return fmt.Errorf("logistic: machine of %q: %w", m.Classes[k], err)
		}
	}
	return nil
}

// validate checks a machine.
func (m *Machine) validate(cols int, margin Margin) error {
	if m == nil {
		return errors.New("it isn't there")
	}
	if len(m.Weights) != cols {
		return fmt.Errorf("%d weights, expected %d", len(m.Weights), cols)
	}
	for _, v := range append([]float64{m.Bias, m.Theta, m.Value, m.Gradient, m.MostApart}, m.Starts...) {
		if !finite(v) {
			return fmt.Errorf("a number that is %v, expected a finite one", v)
		}
	}
	length := 0.0
	for j, v := range m.Weights {
		if !finite(v) {
			return fmt.Errorf("weight %v of column %d, expected a finite number", v, j)
		}
		length += float64(v * v)
	}
	if m.Iterations < 0 || m.Evaluations < 0 || m.Differ < 0 || m.Theta < 0 || m.MostApart < 0 {
		return fmt.Errorf("%d iterations, %d evaluations, %d documents that differ by %v, θ %v, expected at least 0",
			m.Iterations, m.Evaluations, m.Differ, m.MostApart, m.Theta)
	}
	if margin == Spherical && m.Theta > 0 && !(math.Abs(length-1) <= 1e-9) {
		return fmt.Errorf("û of squared length %v, expected 1", length)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Prediction is what a model says of documents.
type Prediction struct {
	Decisions     [][]float64 // by document, by class: f
	Probabilities [][]float64 // by document, by class: of one class per document they sum to 1
	Class         []int       // of one class per document: that of the greatest f, the first of equals
	Labels        [][]int     // of separate labels: those whose f is above 0, increasing
}

// chunk is how many documents are embedded at a time.
const chunk = 512

// Predict predicts documents, whose terms are numbered as in the training corpus. Other terms are
// left out. Values have the same bits from any number of workers. Errors: a model that
// [Model.Validate] refuses, documents that [sparse.CSR.Validate] refuses, values that the embedding
// refuses, options out of range, more memory than was allowed, the end of ctx, within a second.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, opt Options) (out *Prediction, err error) {
	if err := run.Given(ctx, "logistic"); err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := run.CheckBounds(opt.Workers, opt.MemoryBytes); err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	if docs == nil {
		return nil, errors.New("logistic: no documents to predict, expected a matrix of them")
	}
	if err := docs.Validate(); err != nil {
		return nil, fmt.Errorf("logistic: documents to predict: %w", err)
	}
	s, _ := m.Settings.resolve()
	n, k, workers := docs.Rows(), len(m.Classes), run.Workers(opt.Workers)
	longest := int64(docs.LongestRow() + m.Embedder.Filled())
	need := int64(n)*int64(16*k+80) + int64(workers)*sparse.EmbeddedBytes(chunk, chunk*longest)
	if err := run.Fits(need, opt.MemoryBytes, "logistic: predicting %d documents", n); err != nil {
		return nil, err
	}
	out = &Prediction{Decisions: make([][]float64, n), Probabilities: make([][]float64, n)}
	if s.Scheme == solver.Labels {
		out.Labels = make([][]int, n)
	} else {
		out.Class = make([]int, n)
	}
	deciders := make([][]*decider, workers)
	var report func(int64)
	if opt.Progress != nil {
		report = func(done int64) { opt.Progress(run.Progress{Stage: "predicting", Done: done, Total: int64(n)}) }
	}
	ctx, r := run.StartReporter(ctx, "logistic: Options.Progress", report)
	defer func() {
		if r.Finish(&err); err != nil {
			out = nil
		}
	}()
	err = run.Tasks(ctx, workers, (n+chunk-1)/chunk, func(ctx context.Context, worker, part int) error {
		if deciders[worker] == nil {
			for _, machine := range m.Machines {
				deciders[worker] = append(deciders[worker], newDecider(machine, &s))
			}
		}
		var rows []int
		for i := part * chunk; i < min(n, (part+1)*chunk); i++ {
			rows = append(rows, i)
		}
		x, err := m.Embedder.TransformRows(ctx, docs, rows, 1)
		if err != nil {
			return err
		}
		own := newDocuments(x)
		if err := own.check(s.Margin, part*chunk); err != nil {
			return err
		}
		values := make([]float64, 2*k*len(rows))
		for at, i := range rows {
			f := values[2*k*at : 2*k*at+k : 2*k*at+k]
			for c, d := range deciders[worker] {
				f[c] = d.decide(own, at)
			}
			out.Decisions[i] = f
			out.decide(i, values[2*k*at+k:2*k*at+2*k:2*k*at+2*k])
		}
		r.Add(int64(len(rows)))
		return nil
	})
	return out, err
}

// decide fills in what follows from the decision values of document i; p is room.
func (out *Prediction) decide(i int, p []float64) {
	f := out.Decisions[i]
	top, sum := task.Greatest(f), 0.0
	for k, v := range f {
		p[k] = probability(v)
		sum += p[k]
	}
	out.Probabilities[i] = p
	if out.Labels != nil {
		out.Labels[i] = task.Positive(f)
		return
	}
	out.Class[i] = top
	for k := range p {
		if sum > 0 {
			p[k] /= sum
		} else if p[k] = 0; k == top { // all of them are too small for float64
			p[k] = 1
		}
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
