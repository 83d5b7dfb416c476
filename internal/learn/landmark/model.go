package landmark

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/corpus"
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

// Machine tells a class from all others: f(x) = Σⱼ Coefficients[j] k(x, zⱼ) + Bias.
type Machine struct {
	Coefficients []float64
	Bias         float64 // their sum
	Objective    float64 // ½‖f‖² + C Σℓ
	Gap          float64 // what that is above its minimum, at most; files don't keep it: 0
	Gradient     float64 // its length, as a part of that at f = 0
	Steps        int     // of Newton's method
	Converged    bool    // whether the gap was at most Settings.Tolerance of the objective
}

// mirrored returns the machine of the other class of two.
func (m *Machine) mirrored() *Machine {
	out := *m
	out.Bias, out.Coefficients = -m.Bias, make([]float64, len(m.Coefficients))
	for j, a := range m.Coefficients {
		out.Coefficients[j] = -a
	}
	return &out
}

// Model is what was trained on a corpus: landmarks and their coefficients. It is immutable and may be
// used concurrently. [Model.Validate] says what must hold.
type Model struct {
	Settings Settings

	Source    string   // the training corpus, as the user named it
	Corpus    [32]byte // its digest
	Documents int      // that were trained on
	Passes    int      // over them
	Residual  float64  // share of the trace of k + 1 that the landmarks leave, on a sample

	Vocabulary []string // text of each term of the corpus; nil where it had indices only
	Tokenizer  corpus.Tokenizer
	Form       corpus.Form // how documents were read
	Embedder   *sparse.Embedder

	Classes   []string    // names
	Machines  []*Machine  // one for each class
	Landmarks *sparse.CSR // documents
}

// Validate reports the first violation of what a model must be, or nil: settings in range, an
// embedding as [sparse.RestoreEmbedder] asks for and that is the kernel's, a vocabulary that holds all
// terms, each once, a valid matrix of landmarks, names of classes that differ and a machine for each,
// with a finite coefficient for each landmark. It takes one pass.
func (m *Model) Validate() error {
	_, k, err := m.Settings.resolve()
	if err != nil {
		return err
	}
	if m.Documents < 0 || m.Passes < 0 || !(m.Residual >= 0 && m.Residual <= 1) {
		return fmt.Errorf("landmark: %d documents, %d passes, a residual of %v, expected numbers from 0, the last up to 1",
			m.Documents, m.Passes, m.Residual)
	}
	if err := archive.Validate(m.Vocabulary, m.Tokenizer, m.Embedder); err != nil {
		return fmt.Errorf("landmark: %w", err)
	}
	if want := k.Embedding(); m.Embedder.Embedding != want {
		return fmt.Errorf("landmark: embedding %s, expected %s, that of kernel %s", m.Embedder, want, k)
	}
	if err := m.Landmarks.Validate(); err != nil {
		return fmt.Errorf("landmark: landmarks: %w", err)
	}
	n := m.Landmarks.Rows()
	if n == 0 || m.Vocabulary != nil && m.Landmarks.Cols > len(m.Vocabulary) {
		return fmt.Errorf("landmark: %d landmarks of %d columns for %d terms, expected some, of no more columns",
			n, m.Landmarks.Cols, len(m.Vocabulary))
	}
	if len(m.Classes) == 0 || len(m.Machines) != len(m.Classes) {
		return fmt.Errorf("landmark: %d machines for %d classes, expected one for each", len(m.Machines), len(m.Classes))
	}
	if name, twice := archive.Repeated(m.Classes); twice {
		return fmt.Errorf("landmark: two classes are called %q", name)
	}
	for c, machine := range m.Machines {
		if err := machine.validate(n); err != nil {
			return fmt.Errorf("landmark: machine of %q: %w", m.Classes[c], err)
		}
	}
	return nil
}

func (m *Machine) validate(landmarks int) error {
	if m == nil {
		return errors.New("it isn't there")
	}
	if len(m.Coefficients) != landmarks || m.Steps < 0 {
		return fmt.Errorf("%d coefficients and %d steps, expected %d, and at least 0", len(m.Coefficients), m.Steps,
			landmarks)
	}
	if !finite(m.Bias) || !finite(m.Objective) || !finite(m.Gradient) {
		return fmt.Errorf("bias %v, objective %v, gradient %v, expected finite numbers", m.Bias, m.Objective, m.Gradient)
	}
	for j, a := range m.Coefficients {
		if !finite(a) {
			return fmt.Errorf("coefficient %v of landmark %d, expected a finite number", a, j)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Bytes returns about what the model holds.
func (m *Model) Bytes() int64 {
	return m.Landmarks.Bytes() + 8*int64(m.Landmarks.Rows())*int64(len(m.Machines)) + 32*int64(m.Embedder.Cols())
}

// chunk is how many documents are embedded at a time.
const chunk = 8192

// Predict predicts documents. Terms have the numbers of the training corpus.
// Columns that training never had count only for kernels of the distance, see [kernel.Opened].
// Values don't depend on the number of workers, bit for bit. m and docs must be valid.
//
// Predict fails if the embedding refuses a value, if it needs more memory than allowed, and within a second after ctx
// is done.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, opt Options) (*model.Prediction, error) {
	do, err := opt.do()
	if err != nil {
		return nil, err
	}
	s, k, _ := m.Settings.resolve()
	n, classes := docs.Rows(), len(m.Classes)
	some := min(n, chunk)
	values := int64(some) * int64(docs.LongestRow()+m.Embedder.Filled())
	need := int64(n)*int64(16*classes+80) + sparse.EmbeddedBytes(some, values) +
		engine.NewBytes(m.Landmarks.Rows(), m.Embedder.Cols(), m.Landmarks.NNZ())
	if err := run.Fits(need, opt.limit(), "landmark: predicting %d documents", n); err != nil {
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
	for c, machine := range m.Machines {
		alpha.SetCol(c, machine.Coefficients)
	}
	out := task.NewPrediction(n, s.Scheme)
	if s.Loss == Logistic {
		out.Probabilities = make([][]float64, n)
	}
	for lo := 0; lo < n; lo += chunk {
		rows := run.Numbers(lo, min(lo+chunk, n))
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
			for c, machine := range m.Machines {
				f[c] += machine.Bias
			}
			if task.Decide(out, lo+i, f); s.Loss == Logistic {
				out.Probabilities[lo+i] = probabilities(f, s.Scheme != solver.Labels)
			}
		}
		if err := opt.tell(run.Progress{Stage: "predicting", Done: int64(lo + len(rows)), Total: int64(n)}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// probabilities returns 1/(1 + e^-f) of each class, of one class per document divided by their sum.
// Where all are 0 they are equal.
func probabilities(f []float64, together bool) []float64 {
	p, sum := make([]float64, len(f)), 0.0
	for c, v := range f {
		p[c] = 1 / (1 + math.Exp(-v))
		sum += p[c]
	}
	for c := range p {
		switch {
		case !together:
		case sum > 0:
			p[c] /= sum
		default:
			p[c] = 1 / float64(len(p))
		}
	}
	return p
}
