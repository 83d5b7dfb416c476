package logistic

import (
	"context"
	"io"
	"math"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
)

// Form describes a model's file. docs/formats.md explains its keys and arrays.
var Form = archive.Format[Model]{
	Package: "logistic", Name: "gram logistic ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	s := &m.Settings
	if f.Writing() {
		*s, _ = s.resolve()
	}
	archive.Named(f, "scheme", &s.Scheme, solver.OneVsRest, solver.Labels)
	c := s.C
	if math.IsInf(c, 1) {
		c = 0 // no regularisation
	}
	f.Optional("c", &c)
	if s.C = c; c == 0 {
		s.C = math.Inf(1)
	}
	f.Optional("no_bias", &s.NoBias)
	f.Key("tolerance", &s.Tolerance)
	f.Key("iterations", &s.Iterations)
	f.Corpus(&m.Source, &m.Corpus)
	archive.Count(f, "documents", &m.Documents, 1<<38)
	f.Names("classes", &m.Classes)
	f.Text(&m.Vocabulary, &m.Tokenizer, &m.Form)
	terms, k := f.Embedding(&m.Embedder), len(m.Classes)
	if !f.Writing() {
		for range m.Classes {
			m.Machines = append(m.Machines, &Machine{})
		}
	}
	archive.Records(f, "machines", k, func(i int) archive.Record {
		q := m.Machines[i]
		return archive.Record{
			archive.Flags{&q.Converged}, &q.Iterations, &q.Evaluations, &q.Bias, &q.Value, &q.Gradient,
		}
	})
	archive.Table(f, "weights", k, terms+1, func(i int) *[]float64 { return &m.Machines[i].Weights })
}

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same
// bytes on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors
// are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Form.Write(ctx, w, m) }
