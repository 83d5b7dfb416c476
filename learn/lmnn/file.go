package lmnn

import (
	"context"
	"io"

	"github.com/gramengine/gram/learn/internal/archive"
)

// Form is how a model's file begins, less the version.
const Form = "gram lmnn "

// form describes a model's file. docs/formats.md explains its keys and arrays.
var form = archive.Format[Model]{
	Package: "lmnn", Name: Form, Version: "1", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	s := &m.Settings
	if f.Writing() {
		*s, _ = s.resolve()
	}
	f.Key("k", &s.K)
	f.Key("push", &s.Push)
	f.Key("tolerance", &s.Tolerance)
	f.Key("most_iterations", &s.Iterations)
	f.Key("value", &m.Value)
	f.Key("start", &m.Start)
	f.Key("iterations", &m.Iterations)
	f.Corpus(&m.Source, &m.Corpus)
	f.Names("classes", &m.Classes)
	n := m.Rows()
	archive.Count(f, "documents", &n, 1<<31)
	archive.Count(f, "columns", &m.Columns, MostColumns)
	archive.Array(f, "metric", &m.Transform, m.Columns, m.Columns)
	archive.Array(f, "labels", &m.Labels, n)
	archive.Array(f, "targets", &m.Targets, n, s.K)
	archive.Array(f, "documents", &m.Documents, n, m.Columns)
}

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same
// bytes on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors
// are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return form.Write(ctx, w, m) }

// Load reads a model from a file, see [Read].
func Load(ctx context.Context, path string) (*Model, error) { return form.Load(ctx, path, nil) }

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r. Errors name the part that is damaged, or the
// version that isn't known; others are those of r and of ctx, within a second.
func Read(ctx context.Context, r io.Reader) (*Model, error) { return form.Read(ctx, r) }
