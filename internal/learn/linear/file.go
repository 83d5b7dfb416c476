package linear

import (
	"context"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
)

// Format is the format of model files. docs/formats.md explains its keys and arrays.
var Format = archive.Format[Model]{
	Package: "linear", Name: "gram linear ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	f.Parameters(&m.Settings)
	f.OptionalKey("seed", &m.Settings.Seed)
	f.Origin(&m.Origin)
	terms, k := f.Embedding(&m.Embedder), len(m.Classes)
	archive.DecisionFunctions(f, &m.Functions, k)
	archive.Array(f, "weights", &m.Weights, k, terms+1)
}

// Write writes the model. The bytes are the same on every platform.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Format.Write(ctx, w, m) }
