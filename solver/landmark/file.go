package landmark

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/sparse"
)

// Form is how a model's file begins, less the version.
const Form = "gram landmark "

var form = archive.Form{Name: Form, Version: "1"}

// header is the second line of a file. docs/formats.md explains its keys.
type header struct {
	Loss       string  `json:"loss"`
	Kernel     string  `json:"kernel"`
	C          float64 `json:"c"`
	Scheme     string  `json:"scheme"`
	Asked      int     `json:"asked"` // landmarks
	Choice     string  `json:"choice"`
	Tolerance  float64 `json:"tolerance"`
	Iterations int     `json:"iterations"`
	Seed       uint64  `json:"seed,omitempty"`
	archive.Origin
	Documents int64          `json:"documents"`
	Passes    int64          `json:"passes"`
	Residual  float64        `json:"residual"`
	Classes   []archive.Name `json:"classes"`
	archive.Text
	archive.Embedding
	Landmarks int64 `json:"landmarks"`
	Columns   int64 `json:"columns"`
	Values    int64 `json:"values"`
}

// record is a machine without its coefficients.
type record struct {
	Flags, Steps              uint64
	Bias, Objective, Gradient float64
}

const (
	recordBytes   = 40
	flagConverged = 1
)

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same
// bytes on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors
// are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error {
	if ctx == nil || w == nil {
		return errors.New("landmark: a nil context or writer, expected both")
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("%w: the model can't be written", err)
	}
	s, _, _ := m.Settings.resolve()
	h := &header{
		Loss: s.Loss.String(), Kernel: s.Kernel, C: s.C, Scheme: s.Scheme.String(), Asked: s.Landmarks,
		Choice: s.Choice.String(), Tolerance: s.Tolerance, Iterations: s.Iterations, Seed: s.Seed,
		Origin: archive.OriginOf(m.Source, m.Corpus), Documents: int64(m.Documents), Passes: int64(m.Passes),
		Residual: m.Residual, Classes: archive.Names(m.Classes), Text: archive.TextOf(m.Vocabulary, m.Tokenizer),
		Embedding: archive.EmbeddingOf(m.Embedder), Landmarks: int64(m.Landmarks.Rows()),
		Columns: int64(m.Landmarks.Cols), Values: m.Landmarks.NNZ(),
	}
	out, err := archive.NewWriter(ctx, w, form, h)
	if err != nil {
		return fmt.Errorf("landmark: %w", err)
	}
	archive.WriteVocabulary(out, m.Vocabulary)
	archive.WriteEmbedding(out, m.Embedder)
	for _, machine := range m.Machines {
		r := record{
			Steps: uint64(machine.Steps), Bias: machine.Bias, Objective: machine.Objective, Gradient: machine.Gradient,
		}
		if machine.Converged {
			r.Flags = flagConverged
		}
		_ = binary.Write(out, binary.LittleEndian, r) // Close tells what went wrong
	}
	for _, machine := range m.Machines {
		archive.Numbers(out, machine.Coefficients)
	}
	archive.Numbers(out, m.Landmarks.Offsets)
	archive.Numbers(out, m.Landmarks.Terms)
	archive.Numbers(out, m.Landmarks.Values)
	if err := out.Close(); err != nil {
		return fmt.Errorf("landmark: writing: %w", err)
	}
	return nil
}

// Load reads a model from a file, see [Read]. It calls early, if not nil, with the model's tokenizer
// as soon as that is known; it may fail after that.
func Load(ctx context.Context, path string, early func(sparse.Tokenizer)) (*Model, error) {
	if ctx == nil {
		return nil, errors.New("landmark: a nil context, expected one")
	}
	f, size, err := archive.Open(path)
	if err != nil {
		return nil, fmt.Errorf("landmark: %w", err)
	}
	defer f.Close()
	m, err := archive.Read(ctx, f, size, form, &header{}, func(m *Model) {
		if early != nil {
			early(m.Tokenizer)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("landmark: %s: %w", path, err)
	}
	return m, nil
}

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r. Errors name the part that is damaged, or the
// version that isn't known; others are those of r and of ctx, within a second.
func Read(ctx context.Context, r io.Reader) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errors.New("landmark: a nil context or reader, expected both")
	}
	m, err := archive.Read(ctx, r, -1, form, &header{}, nil)
	if err != nil {
		return nil, fmt.Errorf("landmark: %w", err)
	}
	return m, nil
}

// Sections implements archive.Header.
func (h *header) Sections() ([]archive.Section, error) {
	// Limits that no product here overflows.
	const most, mostClasses = 1 << 38, 1 << 20
	machines := int64(len(h.Classes))
	parts, err := h.Embedding.Sections(h.Text, most)
	if err == nil {
		err = archive.Limit(mostClasses, archive.Count{Of: "classes", N: machines})
	}
	if err == nil {
		err = archive.Limit(1<<32, archive.Count{Of: "landmarks", N: h.Landmarks}, archive.Count{Of: "columns", N: h.Columns})
	}
	if err == nil {
		err = archive.Limit(most, archive.Count{Of: "values", N: h.Values}, archive.Count{Of: "documents", N: h.Documents},
			archive.Count{Of: "passes", N: h.Passes})
	}
	return append(parts,
		archive.Section{Name: "machines", Bytes: recordBytes * machines},
		archive.Section{Name: "coefficients", Bytes: 8 * machines * h.Landmarks},
		archive.Section{Name: "landmarks", Bytes: 8*(h.Landmarks+1) + 8*h.Values},
	), err
}

// Model implements archive.Header.
func (h *header) Model() (*Model, error) {
	m := &Model{
		Settings: Settings{
			Landmarks: h.Asked, Kernel: h.Kernel, C: h.C, Tolerance: h.Tolerance, Iterations: h.Iterations, Seed: h.Seed,
		},
		Documents: int(h.Documents), Passes: int(h.Passes), Residual: h.Residual, Classes: archive.Strings(h.Classes),
	}
	s := &m.Settings
	var err error
	if s.Loss, err = archive.Named("loss", h.Loss, Square, Logistic, Hinge2); err != nil {
		return nil, err
	}
	if s.Choice, err = archive.Named("choice", h.Choice, Uniform, Stratified, Pivoted); err != nil {
		return nil, err
	}
	if s.Scheme, err = archive.Named("scheme", h.Scheme, solver.OneVsRest, solver.Labels); err != nil {
		return nil, err
	}
	if m.Source, m.Corpus, err = h.Origin.Parse(); err != nil {
		return nil, err
	}
	m.Tokenizer, err = sparse.ParseTokenizer(h.Tokenizer)
	return m, err
}

// Take implements archive.Header.
func (h *header) Take(m *Model, d *archive.Arrays) error {
	var err error
	if m.Vocabulary, err = h.TakeVocabulary(d); err != nil {
		return err
	}
	if m.Embedder, err = h.TakeEmbedding(d); err != nil {
		return err
	}
	for k := range h.Classes {
		var r record
		if err := binary.Read(bytes.NewReader(d.Bytes(recordBytes)), binary.LittleEndian, &r); err != nil {
			return err
		}
		if r.Flags&^flagConverged != 0 || r.Steps > math.MaxInt {
			return fmt.Errorf("machine %d: flags %#x, %d steps", k, r.Flags, r.Steps)
		}
		m.Machines = append(m.Machines, &Machine{
			Bias: r.Bias, Objective: r.Objective, Gradient: r.Gradient, Steps: int(r.Steps),
			Converged: r.Flags&flagConverged != 0,
		})
	}
	for _, machine := range m.Machines {
		machine.Coefficients = archive.Array[float64](d, h.Landmarks)
	}
	m.Landmarks = &sparse.CSR{
		Cols: int(h.Columns), Offsets: archive.Array[int64](d, h.Landmarks+1),
		Terms: archive.Array[uint32](d, h.Values), Values: archive.Array[float32](d, h.Values),
	}
	return m.Validate()
}
