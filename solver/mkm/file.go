package mkm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/solver/lmnn"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/sparse"
)

// Form is how a model's file begins, less the version.
const Form = "gram mkm "

var form = archive.Form{Name: Form, Version: "1"}

// header is the second line of a file. docs/formats.md explains its keys. Layers and a classifier that is
// a model of its own are files within the file.
type header struct {
	Settings settings `json:"settings"`
	archive.Origin
	Documents int64          `json:"documents"`
	Classes   []archive.Name `json:"classes"`
	archive.Text
	Choices []Choice `json:"choices"`
	Columns int64    `json:"columns"`
	Layers  []int64  `json:"layers"` // bytes of each
	Final   int64    `json:"final"`  // bytes
	Voters  int64    `json:"voters,omitempty"`
	Width   int64    `json:"width,omitempty"` // of voters
	K       int      `json:"k,omitempty"`     // that vote
}

// settings are Settings with names.
type settings struct {
	Layers     []string `json:"layers"`
	Widths     []int    `json:"widths,omitempty"`
	Whole      bool     `json:"whole,omitempty"`
	Components int      `json:"components"`
	Base       int      `json:"base"`
	Bins       int      `json:"bins"`
	Parts      int      `json:"parts"`
	Final      string   `json:"final"`
	K          int      `json:"k,omitempty"`
	Kernel     string   `json:"kernel"`
	C          float64  `json:"c,omitempty"`
	Seed       uint64   `json:"seed,omitempty"`
}

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same bytes
// on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors are those
// of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error {
	if ctx == nil || w == nil {
		return errors.New("mkm: a nil context or writer, expected both")
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("%w: the model can't be written", err)
	}
	s, _, _ := m.Settings.resolve()
	h := &header{
		Settings: settings{
			s.Layers, s.Widths, s.Whole, s.Components, s.Base, s.Bins, s.Parts, s.Final.String(), s.K, s.Kernel, s.C, s.Seed,
		},
		Origin: archive.OriginOf(m.Source, m.Corpus), Documents: int64(m.Documents), Classes: archive.Names(m.Classes),
		Text: archive.TextOf(m.Vocabulary, m.Tokenizer), Choices: m.Choices, Columns: int64(len(m.Columns)),
	}
	var files []*bytes.Buffer
	for _, l := range m.Layers {
		b := &bytes.Buffer{}
		if err := l.write(ctx, b); err != nil {
			return fmt.Errorf("mkm: %w", err)
		}
		h.Layers, files = append(h.Layers, int64(b.Len())), append(files, b)
	}
	final, err := &bytes.Buffer{}, error(nil)
	switch {
	case m.Metric != nil:
		err = m.Metric.Write(ctx, final)
	case m.Machines != nil:
		err = m.Machines.Write(ctx, final)
	default:
		h.Voters, h.Width, h.K = int64(len(m.Nearest.Labels)), int64(m.Width()), m.Nearest.K
	}
	if err != nil {
		return fmt.Errorf("mkm: %w", err)
	}
	h.Final = int64(final.Len())
	out, err := archive.NewWriter(ctx, w, form, h)
	if err != nil {
		return fmt.Errorf("mkm: %w", err)
	}
	archive.WriteVocabulary(out, m.Vocabulary)
	archive.Numbers(out, m.Columns)
	for _, b := range append(files, final) {
		out.Write(b.Bytes())
	}
	if m.Nearest != nil {
		archive.Numbers(out, m.Nearest.Labels)
		archive.Numbers(out, m.Nearest.Features)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("mkm: writing: %w", err)
	}
	return nil
}

// Load reads a model from a file, see [Read]. It calls early, if not nil, with the model's tokenizer
// as soon as that is known; it may fail after that.
func Load(ctx context.Context, path string, early func(sparse.Tokenizer)) (*Model, error) {
	if ctx == nil {
		return nil, errors.New("mkm: a nil context, expected one")
	}
	f, size, err := archive.Open(path)
	if err != nil {
		return nil, fmt.Errorf("mkm: %w", err)
	}
	defer f.Close()
	m, err := archive.Read(ctx, f, size, form, &header{}, func(m *Model) {
		if early != nil {
			early(m.Tokenizer)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("mkm: %s: %w", path, err)
	}
	return m, nil
}

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r. Errors name the part that is damaged, or the
// version that isn't known; others are those of r and of ctx, within a second.
func Read(ctx context.Context, r io.Reader) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errors.New("mkm: a nil context or reader, expected both")
	}
	m, err := archive.Read(ctx, r, -1, form, &header{}, nil)
	if err != nil {
		return nil, fmt.Errorf("mkm: %w", err)
	}
	return m, nil
}

// Sections implements archive.Header.
func (h *header) Sections() ([]archive.Section, error) {
	const most = 1 << 40 // no product here overflows
	vocabulary, err := h.Text.Section(most)
	if err == nil {
		err = archive.Limit(1<<32, archive.Count{Of: "columns", N: h.Columns}, archive.Count{Of: "voters", N: h.Voters})
	}
	if err == nil {
		err = archive.Limit(MostWidth, archive.Count{Of: "features", N: h.Width})
	}
	if err == nil {
		err = archive.Limit(most, archive.Count{Of: "documents", N: h.Documents}, archive.Count{Of: "bytes", N: h.Final})
	}
	if err == nil {
		err = archive.Limit(MostLayers, archive.Count{Of: "layers", N: int64(len(h.Layers))})
	}
	parts := []archive.Section{vocabulary, {Name: "columns", Bytes: 4 * h.Columns}}
	for l, n := range h.Layers {
		if err == nil {
			err = archive.Limit(most, archive.Count{Of: "bytes", N: n})
		}
		parts = append(parts, archive.Section{Name: fmt.Sprintf("layer %d", l+1), Bytes: n})
	}
	return append(parts, archive.Section{Name: "classifier", Bytes: h.Final},
		archive.Section{Name: "voters", Bytes: 4*h.Voters + 4*h.Voters*h.Width}), err
}

// Model implements archive.Header.
func (h *header) Model() (m *Model, err error) {
	s := h.Settings
	m = &Model{
		Settings: Settings{
			Layers: s.Layers, Widths: s.Widths, Whole: s.Whole, Components: s.Components, Base: s.Base, Bins: s.Bins,
			Parts: s.Parts, K: s.K, Kernel: s.Kernel, C: s.C, Seed: s.Seed,
		},
		Documents: int(h.Documents), Classes: archive.Strings(h.Classes), Choices: h.Choices,
	}
	if m.Settings.Final, err = archive.Named("final", s.Final, Metric, Neighbours, Machines); err != nil {
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
	if h.Columns > 0 {
		m.Columns = archive.Array[uint32](d, h.Columns)
	}
	ctx := context.Background() // it is read already
	for l, n := range h.Layers {
		layer, err := archive.Read(ctx, bytes.NewReader(d.Bytes(n)), n, layerForm, &layerHeader{}, nil)
		if err != nil {
			return fmt.Errorf("layer %d: %w", l+1, err)
		}
		m.Layers = append(m.Layers, layer)
	}
	switch final := bytes.NewReader(d.Bytes(h.Final)); m.Settings.Final {
	case Metric:
		m.Metric, err = lmnn.Read(ctx, final)
	case Machines:
		m.Machines, err = model.Read(ctx, final)
	case Neighbours:
		m.Nearest = &Nearest{
			K: h.K, Labels: archive.Array[int32](d, h.Voters), Features: archive.Array[float32](d, h.Voters*h.Width),
		}
	}
	if err != nil {
		return err
	}
	return m.Validate()
}
