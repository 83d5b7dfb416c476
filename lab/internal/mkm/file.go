package mkm

import (
	"context"
	"fmt"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/lab/internal/lmnn"
)

// Format describes the format of a model file. Layers, metrics and SVMs are nested files.
var Format = archive.Format[Model]{
	Package: "mkm", Name: "gram mkm ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	f.Object("settings", func() { describeSettings(f, &m.Settings) })
	f.Origin(&m.Origin)
	f.Key("choices", &m.Choices)
	columns := len(m.Columns)
	archive.Count(f, "columns", &columns, 1<<32)
	nestLayers := describeLayers(f, &m.Layers)
	var final nestedFile
	q, width := &KNN{}, 0
	switch {
	case m.LMNN != nil:
		final = newNestedFile(f, m.LMNN.Write)
	case m.SVM != nil:
		final = newNestedFile(f, m.SVM.Write)
	case m.KNN != nil:
		q, width = m.KNN, m.Width()
	}
	voters, k := len(q.Labels), q.K
	f.Key("final", &final)
	f.OptionalKey("voters", &voters)
	f.OptionalKey("width", &width)
	f.OptionalKey("k", &k)

	if columns > 0 {
		archive.Array(f, "columns", &m.Columns, columns)
	}
	nestLayers()
	describeNested(f, "classifier", &final, func(ctx context.Context, r io.Reader) (err error) {
		switch m.Settings.Classifier {
		case FinalLMNN:
			m.LMNN, err = lmnn.Format.Read(ctx, r)
		case FinalSVM:
			m.SVM, err = model.Read(ctx, r)
		case FinalKNN:
			q.K, m.KNN = k, q
		}
		return err
	})
	archive.Array(f, "voters", &q.Labels, voters)
	archive.Array(f, "voters", &q.Features, voters, width)
}

// describeLayers describes the headers of layers. It returns a function that describes the contents
// of the layers.
func describeLayers(f *archive.File, to *[]*Layer) (contents func()) {
	var layers []nestedFile
	for _, l := range *to {
		write := func(ctx context.Context, w io.Writer) error { return layerFormat.Write(ctx, w, l) }
		layers = append(layers, newNestedFile(f, write))
	}
	f.Key("layers", &layers)
	if len(layers) > MaxLayers {
		f.RecordError(fmt.Errorf("got %d layers; the maximum is %d", len(layers), MaxLayers))
	}
	return func() {
		for i := range layers {
			describeNested(f, fmt.Sprintf("layer %d", i+1), &layers[i], func(ctx context.Context, r io.Reader) error {
				l, err := layerFormat.Read(ctx, r)
				*to = append(*to, l)
				return err
			})
		}
	}
}

func describeSettings(f *archive.File, s *Settings) {
	if f.Writing() {
		*s, _, _ = s.resolve()
	}
	f.Key("layers", &s.Layers)
	f.OptionalKey("widths", &s.Widths)
	f.OptionalKey("whole", &s.KeepAllFeatures)
	f.Key("components", &s.MaxComponents)
	f.Key("base", &s.BaseSize)
	f.Key("bins", &s.Bins)
	f.Key("parts", &s.Folds)
	archive.Enum(f, "final", &s.Classifier, FinalLMNN, FinalKNN, FinalSVM)
	f.OptionalKey("steps", &s.Steps)
	f.OptionalKey("k", &s.K)
	f.Key("kernel", &s.Kernel)
	f.OptionalKey("c", &s.C)
	f.OptionalKey("seed", &s.Seed)
}

// layerFormat describes the format of a layer, which is a file nested in the model file.
var layerFormat = archive.Format[Layer]{
	Package: "mkm", Name: "gram mkm layer ",
	Validate: func(l *Layer) error { return l.validate(0) },
	Describe: func(f *archive.File, l *Layer) {
		f.Key("kernel", &l.Kernel)
		f.Key("explained", &l.ExplainedVarianceRatio)
		f.Embedding(&l.Embedder)
		n, width := f.Documents("base", &l.Base), l.Width()
		archive.Count(f, "width", &width, MaxWidth)
		archive.Array(f, "map", &l.Projection, n, width)
		archive.Array(f, "map", &l.Offsets, width)
		archive.Array(f, "map", &l.Components, width)
	},
}

// Write writes the model. Equal models give equal bytes on every platform. If [Model.Validate]
// fails, Write writes nothing.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Format.Write(ctx, w, m) }
