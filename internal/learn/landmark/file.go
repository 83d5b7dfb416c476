package landmark

import (
	"context"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
)

// Format is the format of model files. docs/formats.md explains its keys and arrays.
var Format = archive.Format[Model]{
	Package: "landmark", Name: "gram landmark ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	f.Parameters(&m.Settings)
	f.OptionalKey("seed", &m.Settings.Seed)
	f.Origin(&m.Origin)
	archive.Count(f, "passes", &m.Passes, 1<<38)
	f.Key("residual", &m.Residual)
	f.Embedding(&m.Embedder)
	n, k := f.Documents("landmarks", &m.Landmarks), len(m.Classes)
	archive.DecisionFunctions(f, &m.Functions, k)
	archive.Table(f, "coefficients", k, n, func(i int) *[]float64 { return &m.Functions[i].Coefficients })
}

// Write writes the model. The bytes are the same on every platform.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Format.Write(ctx, w, m) }
