package mkm

import (
	"context"
	"io"

	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/sparse"
)

var layerForm = archive.Form{Name: Form + "layer ", Version: "1"}

// layerHeader is the second line of a layer's file.
type layerHeader struct {
	Kernel    string  `json:"kernel"`
	Explained float64 `json:"explained"`
	archive.Text
	archive.Embedding
	Documents int64 `json:"documents"`
	Columns   int64 `json:"columns"`
	Values    int64 `json:"values"`
	Width     int64 `json:"width"`
}

// write writes the layer of a valid model.
func (l *Layer) write(ctx context.Context, w io.Writer) error {
	out, err := archive.NewWriter(ctx, w, layerForm, &layerHeader{
		Kernel: l.Kernel, Explained: l.Explained, Embedding: archive.EmbeddingOf(l.Embedder),
		Documents: int64(l.Base.Rows()), Columns: int64(l.Base.Cols), Values: l.Base.NNZ(), Width: int64(l.Width()),
	})
	if err != nil {
		return err
	}
	archive.WriteEmbedding(out, l.Embedder)
	archive.Numbers(out, l.Base.Offsets)
	archive.Numbers(out, l.Base.Terms)
	archive.Numbers(out, l.Base.Values)
	archive.Numbers(out, l.Map)
	archive.Numbers(out, l.Offsets)
	archive.Numbers(out, l.Components)
	return out.Close()
}

// Sections implements archive.Header.
func (h *layerHeader) Sections() ([]archive.Section, error) {
	const most = 1 << 38 // no product here overflows
	parts, err := h.Embedding.Sections(h.Text, most)
	if err == nil {
		err = archive.Limit(1<<32, archive.Count{Of: "documents", N: h.Documents}, archive.Count{Of: "columns", N: h.Columns})
	}
	if err == nil {
		err = archive.Limit(most, archive.Count{Of: "values", N: h.Values})
	}
	if err == nil {
		err = archive.Limit(MostWidth, archive.Count{Of: "features", N: h.Width})
	}
	return append(parts,
		archive.Section{Name: "base", Bytes: 8*(h.Documents+1) + 8*h.Values},
		archive.Section{Name: "map", Bytes: 8*h.Documents*h.Width + 12*h.Width},
	), err
}

// Model implements archive.Header.
func (h *layerHeader) Model() (*Layer, error) {
	return &Layer{Kernel: h.Kernel, Explained: h.Explained}, nil
}

// Take implements archive.Header.
func (h *layerHeader) Take(l *Layer, d *archive.Arrays) (err error) {
	if _, err = h.TakeVocabulary(d); err != nil {
		return err
	}
	if l.Embedder, err = h.TakeEmbedding(d); err != nil {
		return err
	}
	l.Base = &sparse.CSR{
		Cols: int(h.Columns), Offsets: archive.Array[int64](d, h.Documents+1),
		Terms: archive.Array[uint32](d, h.Values), Values: archive.Array[float32](d, h.Values),
	}
	l.Map = archive.Array[float64](d, h.Documents*h.Width)
	l.Offsets, l.Components = archive.Array[float64](d, h.Width), archive.Array[int32](d, h.Width)
	return l.validate(0)
}
