package knn

import (
	"context"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Form describes a model's file. docs/formats.md explains its keys and arrays.
var Form = archive.Format[Model]{
	Package: "knn", Name: "gram knn ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	s := &m.Settings
	if f.Writing() {
		*s, _, _ = s.resolve()
	} else {
		m.Documents = &sparse.CSR{}
	}
	docs, labels := m.Documents, &m.Labels
	f.Key("k", &s.K)
	f.Key("kernel", &s.Kernel)
	f.Optional("uniform", &s.Uniform)
	archive.Named(f, "scheme", &s.Scheme, solver.OneVsRest, solver.Labels)
	f.Corpus(&m.Source, &m.Corpus)
	f.Names("classes", &m.Classes)
	f.Text(&m.Vocabulary, &m.Tokenizer, &m.Form)
	n, columns, values, ids := docs.Rows(), docs.Cols, len(docs.Values), len(labels.IDs)
	archive.Count(f, "documents", &n, 1<<32)
	archive.Count(f, "columns", &columns, 1<<32)
	archive.Count(f, "values", &values, 1<<40)
	archive.Count(f, "labels", &ids, 1<<40)
	if !f.Writing() {
		docs.Cols = columns
	}
	f.Offsets("labels", &labels.Offsets, n, int64(ids))
	archive.Array(f, "labels", &labels.IDs, ids)
	f.Offsets("documents", &docs.Offsets, n, int64(values))
	archive.Array(f, "documents", &docs.Terms, values)
	archive.Array(f, "documents", &docs.Values, values)
}

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same
// bytes on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors
// are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Form.Write(ctx, w, m) }
