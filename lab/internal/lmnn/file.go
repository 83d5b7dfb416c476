package lmnn

import (
	"context"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
)

// Format describes the format of a model file.
var Format = archive.Format[Model]{
	Package: "lmnn", Name: "gram lmnn ", Describe: describe, Validate: (*Model).Validate,
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
	f.Key("value", &m.Loss)
	f.Key("start", &m.InitialLoss)
	f.Key("iterations", &m.Iterations)
	f.Corpus(&m.Source, &m.CorpusDigest)
	f.Strings("classes", &m.Classes)
	n := m.Rows()
	archive.Count(f, "documents", &n, 1<<31)
	archive.Count(f, "columns", &m.Cols, MaxColumns)
	archive.Array(f, "metric", &m.Transform, m.Cols, m.Cols)
	archive.Array(f, "labels", &m.Labels, n)
	archive.Array(f, "targets", &m.Targets, n, s.K)
	archive.Array(f, "documents", &m.Documents, n, m.Cols)
}

// Write writes the model. Equal models give equal bytes on every platform. If [Model.Validate]
// fails, Write writes nothing.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Format.Write(ctx, w, m) }
