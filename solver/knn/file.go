package knn

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/sparse"
)

// Form is how a model's file begins, less the version.
const Form = "gram knn "

var form = archive.Form{Name: Form, Version: "1"}

// header is the second line of a file. docs/formats.md explains its keys.
type header struct {
	K       int    `json:"k"`
	Kernel  string `json:"kernel"`
	Uniform bool   `json:"uniform,omitempty"`
	Scheme  string `json:"scheme"`
	archive.Origin
	Classes []archive.Name `json:"classes"`
	archive.Text
	Documents int64 `json:"documents"`
	Columns   int64 `json:"columns"`
	Values    int64 `json:"values"`
	Labels    int64 `json:"labels"`
}

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same
// bytes on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors
// are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error {
	if ctx == nil || w == nil {
		return errors.New("knn: a nil context or writer, expected both")
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("%w: the model can't be written", err)
	}
	if err := archive.CheckLengths(m.Vocabulary); err != nil {
		return fmt.Errorf("knn: %w: the model can't be written", err)
	}
	s, _, _ := m.Settings.resolve()
	h := &header{
		K: s.K, Kernel: s.Kernel, Uniform: s.Uniform, Scheme: s.Scheme.String(),
		Origin: archive.OriginOf(m.Source, m.Corpus), Classes: archive.Names(m.Classes),
		Text: archive.TextOf(m.Vocabulary, m.Tokenizer), Documents: int64(m.Documents.Rows()),
		Columns: int64(m.Documents.Cols), Values: m.Documents.NNZ(), Labels: int64(len(m.Labels.IDs)),
	}
	out, err := archive.NewWriter(ctx, w, form, h)
	if err != nil {
		return fmt.Errorf("knn: %w", err)
	}
	archive.WriteVocabulary(out, m.Vocabulary)
	counts := func(offsets []int64) {
		n := make([]int64, h.Documents) // none has any where there are no offsets
		for i := range max(len(offsets)-1, 0) {
			n[i] = offsets[i+1] - offsets[i]
		}
		archive.Numbers(out, n)
	}
	counts(m.Labels.Offsets)
	archive.Numbers(out, m.Labels.IDs)
	counts(m.Documents.Offsets)
	archive.Numbers(out, m.Documents.Terms)
	archive.Numbers(out, m.Documents.Values)
	if err := out.Close(); err != nil {
		return fmt.Errorf("knn: writing: %w", err)
	}
	return nil
}

// Load reads a model from a file, see [Read]. It calls early, if not nil, with the model's tokenizer
// as soon as that is known; it may fail after that.
func Load(ctx context.Context, path string, early func(sparse.Tokenizer)) (*Model, error) {
	if ctx == nil {
		return nil, errors.New("knn: a nil context, expected one")
	}
	f, size, err := archive.Open(path)
	if err != nil {
		return nil, fmt.Errorf("knn: %w", err)
	}
	defer f.Close()
	m, err := archive.Read(ctx, f, size, form, &header{}, func(m *Model) {
		if early != nil {
			early(m.Tokenizer)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("knn: %s: %w", path, err)
	}
	return m, nil
}

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r. Errors name the part that is damaged, or the
// version that isn't known; others are those of r and of ctx, within a second.
func Read(ctx context.Context, r io.Reader) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errors.New("knn: a nil context or reader, expected both")
	}
	m, err := archive.Read(ctx, r, -1, form, &header{}, nil)
	if err != nil {
		return nil, fmt.Errorf("knn: %w", err)
	}
	return m, nil
}

// Sections implements archive.Header.
func (h *header) Sections() ([]archive.Section, error) {
	const most = 1 << 40 // no product here overflows
	vocabulary, err := h.Text.Section(most)
	if err == nil {
		err = archive.Limit(1<<32,
			archive.Count{Of: "documents", N: h.Documents}, archive.Count{Of: "columns", N: h.Columns},
		)
	}
	if err == nil {
		err = archive.Limit(most, archive.Count{Of: "values", N: h.Values}, archive.Count{Of: "labels", N: h.Labels})
	}
	return []archive.Section{
		vocabulary,
		{Name: "labels", Bytes: 8*h.Documents + 4*h.Labels},
		{Name: "documents", Bytes: 8*h.Documents + 8*h.Values},
	}, err
}

// Model implements archive.Header.
func (h *header) Model() (*Model, error) {
	m := &Model{
		Settings: Settings{K: h.K, Kernel: h.Kernel, Uniform: h.Uniform}, Classes: archive.Strings(h.Classes),
	}
	var err error
	if m.Settings.Scheme, err = archive.Named("scheme", h.Scheme, solver.OneVsRest, solver.Labels); err != nil {
		return nil, err
	}
	if m.Source, m.Corpus, err = h.Origin.Parse(); err != nil {
		return nil, err
	}
	m.Tokenizer, err = sparse.ParseTokenizer(h.Tokenizer)
	return m, err
}

// Take implements archive.Header.
func (h *header) Take(m *Model, d *archive.Arrays) (err error) {
	if m.Vocabulary, err = h.TakeVocabulary(d); err != nil {
		return err
	}
	offsets := func(what string, total int64) ([]int64, error) {
		out, end := []int64{0}, int64(0)
		for i, n := range archive.Array[int64](d, h.Documents) {
			if n < 0 || n > total-end {
				return nil, fmt.Errorf("document %d has %d %s, and %d are left of %d", i, n, what, total-end, total)
			}
			end += n
			out = append(out, end)
		}
		if end != total {
			return nil, fmt.Errorf("%d of %d %s belong to no document", total-end, total, what)
		}
		return out, nil
	}
	if m.Labels.Offsets, err = offsets("labels", h.Labels); err != nil {
		return err
	}
	m.Labels.IDs = archive.Array[int32](d, h.Labels)
	m.Documents = &sparse.CSR{Cols: int(h.Columns)}
	if m.Documents.Offsets, err = offsets("values", h.Values); err != nil {
		return err
	}
	m.Documents.Terms = archive.Array[uint32](d, h.Values)
	m.Documents.Values = archive.Array[float32](d, h.Values)
	return m.Validate()
}
