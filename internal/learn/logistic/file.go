package logistic

import (
	"context"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
)

// Format is the format of model files. docs/formats.md explains its keys and arrays.
var Format = archive.Format[Model]{
	Package: "logistic", Name: "gram logistic ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	f.Parameters(&m.Settings)
	f.Origin(&m.Origin)
	terms, k := f.Embedding(&m.Embedder), len(m.Classes)
	archive.DecisionFunctions(f, &m.Functions, k)
	archive.Table(f, "weights", k, terms+1, func(i int) *[]float64 { return &m.Functions[i].Weights })
}

// Write writes the model. The bytes are the same on every platform.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Format.Write(ctx, w, m) }
