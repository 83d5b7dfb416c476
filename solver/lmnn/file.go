package lmnn

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/solver/internal/archive"
)

// Form is how a model's file begins, less the version.
const Form = "gram lmnn "

var form = archive.Form{Name: Form, Version: "1"}

// header is the second line of a file. docs/formats.md explains its keys.
type header struct {
	K          int     `json:"k"`
	Push       float64 `json:"push"`
	Tolerance  float64 `json:"tolerance"`
	Most       int     `json:"most_iterations"`
	Value      float64 `json:"value"`
	Start      float64 `json:"start"`
	Iterations int     `json:"iterations"`
	archive.Origin
	Classes   []archive.Name `json:"classes"`
	Documents int64          `json:"documents"`
	Columns   int64          `json:"columns"`
}

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same bytes
// on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors are those
// of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error {
	if ctx == nil || w == nil {
		return errors.New("lmnn: a nil context or writer, expected both")
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("%w: the model can't be written", err)
	}
	s, _ := m.Settings.resolve()
	out, err := archive.NewWriter(ctx, w, form, &header{
		K: s.K, Push: s.Push, Tolerance: s.Tolerance, Most: s.Iterations, Value: m.Value, Start: m.Start,
		Iterations: m.Iterations, Origin: archive.OriginOf(m.Source, m.Corpus), Classes: archive.Names(m.Classes),
		Documents: int64(m.Rows()), Columns: int64(m.Columns),
	})
	if err != nil {
		return fmt.Errorf("lmnn: %w", err)
	}
	archive.Numbers(out, m.Transform)
	archive.Numbers(out, m.Labels)
	archive.Numbers(out, m.Targets)
	archive.Numbers(out, m.Documents)
	if err := out.Close(); err != nil {
		return fmt.Errorf("lmnn: writing: %w", err)
	}
	return nil
}

// Load reads a model from a file, see [Read].
func Load(ctx context.Context, path string) (*Model, error) {
	if ctx == nil {
		return nil, errors.New("lmnn: a nil context, expected one")
	}
	f, size, err := archive.Open(path)
	if err != nil {
		return nil, fmt.Errorf("lmnn: %w", err)
	}
	defer f.Close()
	m, err := archive.Read(ctx, f, size, form, &header{}, nil)
	if err != nil {
		return nil, fmt.Errorf("lmnn: %s: %w", path, err)
	}
	return m, nil
}

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r. Errors name the part that is damaged, or the
// version that isn't known; others are those of r and of ctx, within a second.
func Read(ctx context.Context, r io.Reader) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errors.New("lmnn: a nil context or reader, expected both")
	}
	m, err := archive.Read(ctx, r, -1, form, &header{}, nil)
	if err != nil {
		return nil, fmt.Errorf("lmnn: %w", err)
	}
	return m, nil
}

// Sections implements archive.Header.
func (h *header) Sections() ([]archive.Section, error) {
	err := archive.Limit(1<<31,
		archive.Count{Of: "documents", N: h.Documents}, archive.Count{Of: "columns", N: h.Columns},
	)
	if err == nil {
		err = archive.Limit(MostColumns, archive.Count{Of: "columns", N: h.Columns})
	}
	if err == nil && (h.K < 1 || h.K > 100) {
		err = fmt.Errorf("%d neighbours, expected from 1 to 100", h.K)
	}
	return []archive.Section{
		{Name: "metric", Bytes: 8 * h.Columns * h.Columns},
		{Name: "labels", Bytes: 4 * h.Documents},
		{Name: "targets", Bytes: 4 * h.Documents * int64(h.K)},
		{Name: "documents", Bytes: 4 * h.Documents * h.Columns},
	}, err
}

// Model implements archive.Header.
func (h *header) Model() (m *Model, err error) {
	m = &Model{
		Settings: Settings{K: h.K, Push: h.Push, Tolerance: h.Tolerance, Iterations: h.Most},
		Classes:  archive.Strings(h.Classes), Columns: int(h.Columns), Value: h.Value, Start: h.Start,
		Iterations: h.Iterations,
	}
	m.Source, m.Corpus, err = h.Origin.Parse()
	return m, err
}

// Take implements archive.Header.
func (h *header) Take(m *Model, d *archive.Arrays) error {
	m.Transform = archive.Array[float64](d, h.Columns*h.Columns)
	m.Labels = archive.Array[int32](d, h.Documents)
	m.Targets = archive.Array[int32](d, h.Documents*int64(h.K))
	m.Documents = archive.Array[float32](d, h.Documents*h.Columns)
	return m.Validate()
}
