package knn

import (
	"context"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
)

// Format is the format of model files. docs/formats.md explains its keys and arrays.
var Format = archive.Format[Model]{
	Package: "knn", Name: "gram knn ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	f.Parameters(&m.Settings)
	f.Origin(&m.Origin)
	n, labels, ids := f.Documents("votes", &m.Documents), &m.Labels, len(m.Labels.IDs)
	archive.Count(f, "labels", &ids, archive.MaxBytes)
	f.Offsets("labels", &labels.Offsets, n, int64(ids))
	archive.Array(f, "labels", &labels.IDs, ids)
}

// Write writes the model. The bytes are the same on every platform.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Format.Write(ctx, w, m) }
