package landmark

import (
	"context"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Form describes a model's file. docs/formats.md explains its keys and arrays.
var Form = archive.Format[Model]{
	Package: "landmark", Name: "gram landmark ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	s := &m.Settings
	if f.Writing() {
		*s, _, _ = s.resolve()
	} else {
		m.Landmarks = &sparse.CSR{}
	}
	archive.Named(f, "loss", &s.Loss, Square, Logistic, Hinge2)
	f.Key("kernel", &s.Kernel)
	f.Key("c", &s.C)
	archive.Named(f, "scheme", &s.Scheme, solver.OneVsRest, solver.Labels)
	f.Key("asked", &s.Landmarks)
	f.Key("tolerance", &s.Tolerance)
	f.Key("iterations", &s.Iterations)
	f.Optional("seed", &s.Seed)
	f.Corpus(&m.Source, &m.Corpus)
	archive.Count(f, "documents", &m.Documents, 1<<38)
	archive.Count(f, "passes", &m.Passes, 1<<38)
	f.Key("residual", &m.Residual)
	f.Names("classes", &m.Classes)
	f.Text(&m.Vocabulary, &m.Tokenizer, &m.Form)
	f.Embedding(&m.Embedder)
	z := m.Landmarks
	n, columns, values := z.Rows(), z.Cols, len(z.Values)
	archive.Count(f, "landmarks", &n, 1<<32)
	archive.Count(f, "columns", &columns, 1<<32)
	archive.Count(f, "values", &values, 1<<38)
	if !f.Writing() {
		z.Cols = columns
		for range m.Classes {
			m.Machines = append(m.Machines, &Machine{})
		}
	}
	archive.Records(f, "machines", len(m.Classes), func(i int) archive.Record {
		q := m.Machines[i]
		return archive.Record{archive.Flags{&q.Converged}, &q.Steps, &q.Bias, &q.Objective, &q.Gradient}
	})
	archive.Table(f, "coefficients", len(m.Classes), n, func(i int) *[]float64 { return &m.Machines[i].Coefficients })
	archive.Array(f, "landmarks", &z.Offsets, n+1)
	archive.Array(f, "landmarks", &z.Terms, values)
	archive.Array(f, "landmarks", &z.Values, values)
}

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same
// bytes on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors
// are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Form.Write(ctx, w, m) }
