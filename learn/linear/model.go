package linear

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

	Classes  []string  // names
	Machines []Machine // one for each class
	Weights  []float64 // by column of the embedding, one for each class: column·len(Classes) + class
}

// Validate reports the first violation of what a model must be, or nil: settings in range, an
// embedding as [sparse.RestoreEmbedder] asks for, a vocabulary that holds all its terms, each once,
// names of classes that differ, a machine for each and a weight for each column and class, all of
// finite numbers. It takes one pass.
func (m *Model) Validate() error {
	if m == nil {
		return errors.New("linear: no model, expected one")
	}
	if _, err := m.Settings.resolve(); err != nil {
		return err
	}
	if m.Documents < 0 {
		return fmt.Errorf("linear: %d training documents", m.Documents)
	}
	if err := archive.Validate(m.Vocabulary, m.Tokenizer, m.Embedder); err != nil {
		return fmt.Errorf("linear: %w", err)
	}
	if m.Embedder.Pairing != sparse.Dot {
		return fmt.Errorf("linear: embedding %s, expected one of dot products", m.Embedder)
	}
	k := len(m.Classes)
	if k == 0 || len(m.Machines) != k || len(m.Weights) != k*m.Embedder.Cols() {
		return fmt.Errorf("linear: %d machines and %d weights for %d classes and %d columns, expected one of each",
			len(m.Machines), len(m.Weights), k, m.Embedder.Cols())
	}
	if name, twice := archive.Repeated(m.Classes); twice {
		return fmt.Errorf("linear: two classes are called %q", name)
	}
	for k, q := range m.Machines {
		if !finite(q.Bias) || !finite(q.Value) || !(q.Gap >= 0) || !finite(q.Gap) || q.Passes < 0 || q.Support < 0 {
			return fmt.Errorf("linear: machine of %q: bias %v, objective %v, gap %v, %d passes, %d support vectors, "+
				"expected finite numbers, counts and a gap of at least 0", m.Classes[k], q.Bias, q.Value, q.Gap, q.Passes,
				q.Support)
		}
	}
	for at, w := range m.Weights {
		if !finite(w) {
			return fmt.Errorf("linear: weight %v of column %d of %q, expected a finite number", w, at/k, m.Classes[at%k])
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Prediction is what a model says of documents.
type Prediction struct {
	Decisions [][]float64 // by document, by class: f
	Class     []int       // of one class per document: that of the greatest f, the first of equals
	Labels    [][]int     // of separate labels: those whose f is above 0, increasing
}

// Predict predicts documents, whose terms are numbered as in the training corpus. Other terms are
// left out. Values have the same bits from any number of workers. Errors: a model that
// [Model.Validate] refuses, documents that [sparse.CSR.Validate] refuses, values that the embedding
// refuses, options out of range, more memory than was allowed, the end of ctx, within a second.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, opt Options) (out *Prediction, err error) {
	if err := run.Given(ctx, "linear"); err != nil {
		return nil, err
	}
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := run.CheckBounds(opt.Workers, opt.MemoryBytes); err != nil {
		return nil, fmt.Errorf("linear: %w", err)
	}
	if docs == nil {
		return nil, errors.New("linear: no documents to predict, expected a matrix of them")
	}
	if err := docs.Validate(); err != nil {
		return nil, fmt.Errorf("linear: documents to predict: %w", err)
	}
	n, k, workers := docs.Rows(), len(m.Classes), run.Workers(opt.Workers)
	longest := int64(docs.LongestRow() + m.Embedder.Filled())
	need := int64(n)*int64(16*k+56) + int64(workers)*sparse.EmbeddedBytes(chunk, chunk*longest)
	if err := run.Fits(need, opt.MemoryBytes, "linear: predicting %d documents", n); err != nil {
		return nil, err
	}
	out = &Prediction{Decisions: make([][]float64, n)}
	if m.Settings.Scheme == solver.Labels {
		out.Labels = make([][]int, n)
	} else {
		out.Class = make([]int, n)
	}
	var report func(int64)
	if opt.Progress != nil {
		report = func(done int64) { opt.Progress(run.Progress{Stage: "predicting", Done: done, Total: int64(n)}) }
	}
	ctx, r := run.StartReporter(ctx, "linear: Options.Progress", report)
	defer func() {
		if r.Finish(&err); err != nil {
			out = nil
		}
	}()
	err = run.Tasks(ctx, workers, (n+chunk-1)/chunk, func(ctx context.Context, _, part int) error {
		rows := make([]int, min(chunk, n-part*chunk))
		for at := range rows {
			rows[at] = part*chunk + at
		}
		x, err := m.Embedder.TransformRows(ctx, docs, rows, 1)
		if err != nil {
			return err
		}
		values := make([]float64, k*len(rows))
		for at, i := range rows {
			f := values[k*at : k*at+k : k*at+k]
			m.decide(x, at, f)
			if out.Decisions[i] = f; out.Labels != nil {
				out.Labels[i] = task.Positive(f)
			} else {
				out.Class[i] = task.Greatest(f)
			}
		}
		r.Add(int64(len(rows)))
		return nil
	})
	return out, err
}

// decide computes f of a row for each class.
func (m *Model) decide(x *sparse.Embedded, i int, f []float64) {
	for k := range f {
		f[k] = m.Machines[k].Bias
	}
	terms, unit := x.Row(i)
	for at, t := range terms {
		v := float64(unit[at]) * x.Norms[i]
		w := m.Weights[int(t)*len(f):][:len(f)]
		for k := range f {
			f[k] += float64(v * w[k])
		}
	}
}
