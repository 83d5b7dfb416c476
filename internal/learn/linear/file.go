package linear

import (
	"context"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
)

// Form describes a model's file. docs/formats.md explains its keys and arrays.
var Form = archive.Format[Model]{
	Package: "linear", Name: "gram linear ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	s := &m.Settings
	if f.Writing() {
		*s, _ = s.resolve()
	}
	archive.Named(f, "loss", &s.Loss, SquaredHinge, Hinge)
	archive.Named(f, "scheme", &s.Scheme, solver.OneVsRest, solver.Labels)
	f.Key("c", &s.C)
	f.Optional("intercept", &s.Intercept)
	s.NoBias = s.Intercept == 0
	f.Key("tolerance", &s.Tolerance)
	f.Key("iterations", &s.Iterations)
	f.Optional("seed", &s.Seed)
	f.Corpus(&m.Source, &m.Corpus)
	archive.Count(f, "documents", &m.Documents, 1<<38)
	f.Names("classes", &m.Classes)
	f.Text(&m.Vocabulary, &m.Tokenizer, &m.Form)
	terms, k := f.Embedding(&m.Embedder), len(m.Classes)
	if !f.Writing() {
		m.Machines = make([]Machine, k)
	}
	archive.Records(f, "machines", k, func(i int) archive.Record {
		q := &m.Machines[i]
		return archive.Record{archive.Flags{&q.Converged}, &q.Passes, &q.Support, &q.Bias, &q.Value, &q.Gap}
	})
	archive.Array(f, "weights", &m.Weights, k, terms+1)
}

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same
// bytes on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors
// are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Form.Write(ctx, w, m) }
