package mkm

import (
	"context"
	"fmt"
	"io"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/lab/internal/lmnn"
)

// Form describes the format of a model file. Layers, metrics and SVMs are nested files.
var Form = archive.Format[Model]{
	Package: "mkm", Name: "gram mkm ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	f.Object("settings", func() { describeSettings(f, &m.Settings) })
	f.Origin(&m.Origin)
	f.Key("choices", &m.Choices)
	columns := len(m.Columns)
	archive.Count(f, "columns", &columns, 1<<32)
	nestLayers := describeLayers(f, &m.Layers)
	var final inner
	q, width := &Nearest{}, 0
	switch {
	case m.Metric != nil:
		final = innerOf(f, m.Metric.Write)
	case m.Machines != nil:
		final = innerOf(f, m.Machines.Write)
	case m.Nearest != nil:
		q, width = m.Nearest, m.Width()
	}
	voters, k := len(q.Labels), q.K
	f.Key("final", &final)
	f.Optional("voters", &voters)
	f.Optional("width", &width)
	f.Optional("k", &k)

	if columns > 0 {
		archive.Array(f, "columns", &m.Columns, columns)
	}
	nestLayers()
	nest(f, "classifier", &final, func(ctx context.Context, r io.Reader) (err error) {
		switch m.Settings.Final {
		case Metric:
			m.Metric, err = lmnn.Form.Read(ctx, r)
		case Machines:
			m.Machines, err = model.Read(ctx, r)
		case Neighbours:
			q.K, m.Nearest = k, q
		}
		return err
	})
	archive.Array(f, "voters", &q.Labels, voters)
	archive.Array(f, "voters", &q.Features, voters, width)
}

// describeLayers describes the headers of layers. It returns a function that describes the contents
// of the layers.
func describeLayers(f *archive.File, to *[]*Layer) (contents func()) {
	var layers []inner
	for _, l := range *to {
		write := func(ctx context.Context, w io.Writer) error { return layerForm.Write(ctx, w, l) }
		layers = append(layers, innerOf(f, write))
	}
	f.Key("layers", &layers)
	if len(layers) > MaxLayers {
		f.Check(fmt.Errorf("got %d layers; the maximum is %d", len(layers), MaxLayers))
	}
	return func() {
		for i := range layers {
			nest(f, fmt.Sprintf("layer %d", i+1), &layers[i], func(ctx context.Context, r io.Reader) error {
				l, err := layerForm.Read(ctx, r)
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
	f.Optional("widths", &s.Widths)
	f.Optional("whole", &s.Whole)
	f.Key("components", &s.Components)
	f.Key("base", &s.Base)
	f.Key("bins", &s.Bins)
	f.Key("parts", &s.Parts)
	archive.Named(f, "final", &s.Final, Metric, Neighbours, Machines)
	f.Optional("steps", &s.Steps)
	f.Optional("k", &s.K)
	f.Key("kernel", &s.Kernel)
	f.Optional("c", &s.C)
	f.Optional("seed", &s.Seed)
}

// layerForm describes the format of a layer, which is a file nested in the model file.
var layerForm = archive.Format[Layer]{
	Package: "mkm", Name: "gram mkm layer ",
	Validate: func(l *Layer) error { return l.validate(0) },
	Describe: func(f *archive.File, l *Layer) {
		f.Key("kernel", &l.Kernel)
		f.Key("explained", &l.Explained)
		f.Embedding(&l.Embedder)
		n, width := f.Documents("base", &l.Base), l.Width()
		archive.Count(f, "width", &width, MaxWidth)
		archive.Array(f, "map", &l.Map, n, width)
		archive.Array(f, "map", &l.Offsets, width)
		archive.Array(f, "map", &l.Components, width)
	},
}

// Write writes the model. Equal models give equal bytes on every platform. If [Model.Validate]
// fails, Write writes nothing.
func (m *Model) Write(ctx context.Context, w io.Writer) error { return Form.Write(ctx, w, m) }
