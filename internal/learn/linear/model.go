package linear

import (
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/task"
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

	Classes  []string  // names
	Machines []Machine // one for each class
	Weights  []float64 // by column of the embedding, one for each class: column·len(Classes) + class
}

// Validate reports the first violation of what a model must be, or nil: settings in range, an
// embedding as [sparse.RestoreEmbedder] asks for, a vocabulary that holds all its terms, each once,
// names of classes that differ, a machine for each and a weight for each column and class, all of
// finite numbers. It takes one pass.
func (m *Model) Validate() error {
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

// Predict predicts documents. Terms have the numbers of the training corpus.
// Other terms are ignored.
// Values don't depend on the number of workers, bit for bit. m and docs must be valid.
//
// Predict fails if the embedding refuses a value, if it needs more memory than allowed, and within a second after ctx
// is done.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, opt Options) (*model.Prediction, error) {
	k, out := len(m.Classes), task.NewPrediction(docs.Rows(), m.Settings.Scheme)
	pass := task.Pass{
		Name: "linear", Embedder: m.Embedder, Bytes: int64(16*k + 56),
		Most: opt.Workers, MemoryBytes: opt.MemoryBytes, Progress: opt.Progress,
	}
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

// decide computes f of a row for each class.
func (m *Model) decide(x *sparse.Embedded, i int, f []float64) {
	for k := range f {
		f[k] = m.Machines[k].Bias
	}
	task.AddProducts(f, m.Weights, x, i, x.Norms[i])
}
