package linear

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
const Form = "gram linear "

var form = archive.Form{Name: Form, Version: "1"}

// header is the second line of a file. docs/formats.md explains its keys.
type header struct {
	Loss       string  `json:"loss"`
	Scheme     string  `json:"scheme"`
	C          float64 `json:"c"`
	Intercept  float64 `json:"intercept,omitempty"` // not there without a bias
	Tolerance  float64 `json:"tolerance"`
	Iterations int     `json:"iterations"`
	Seed       uint64  `json:"seed,omitempty"`
	archive.Origin
	Documents int64          `json:"documents"`
	Classes   []archive.Name `json:"classes"`
	archive.Text
	archive.Embedding
}

// record is a machine without its weights.
type record struct {
	Flags, Passes, Support uint64
	Bias, Value, Gap       float64
}

const recordBytes = 48

// flagConverged is the only flag of a record.
const flagConverged = 1

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same
// bytes on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors
// are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error {
	if ctx == nil || w == nil {
		return errors.New("linear: a nil context or writer, expected both")
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("%w: the model can't be written", err)
	}
	s, _ := m.Settings.resolve()
	out, err := archive.NewWriter(ctx, w, form, &header{
		Loss: s.Loss.String(), Scheme: s.Scheme.String(), C: s.C, Intercept: s.Intercept, Tolerance: s.Tolerance,
		Iterations: s.Iterations, Seed: s.Seed, Origin: archive.OriginOf(m.Source, m.Corpus),
		Documents: int64(m.Documents), Text: archive.TextOf(m.Vocabulary, m.Tokenizer),
		Embedding: archive.EmbeddingOf(m.Embedder), Classes: archive.Names(m.Classes),
	})
	if err != nil {
		return fmt.Errorf("linear: %w", err)
	}
	archive.WriteVocabulary(out, m.Vocabulary)
	archive.WriteEmbedding(out, m.Embedder)
	for _, q := range m.Machines {
		r := record{Passes: uint64(q.Passes), Support: uint64(q.Support), Bias: q.Bias, Value: q.Value, Gap: q.Gap}
		if q.Converged {
			r.Flags = flagConverged
		}
		_ = binary.Write(out, binary.LittleEndian, r) // Close tells what went wrong
	}
	archive.Numbers(out, m.Weights)
	if err := out.Close(); err != nil {
		return fmt.Errorf("linear: writing: %w", err)
	}
	return nil
}

// Load reads a model from a file, see [Read]. It calls early, if not nil, with the model's tokenizer
// as soon as that is known; it may fail after that.
func Load(ctx context.Context, path string, early func(sparse.Tokenizer)) (*Model, error) {
	if ctx == nil {
		return nil, errors.New("linear: a nil context, expected one")
	}
	f, size, err := archive.Open(path)
	if err != nil {
		return nil, fmt.Errorf("linear: %w", err)
	}
	defer f.Close()
	m, err := archive.Read(ctx, f, size, form, &header{}, func(m *Model) {
		if early != nil {
			early(m.Tokenizer)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("linear: %s: %w", path, err)
	}
	return m, nil
}

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r. Errors name the part that is damaged, or the
// version that isn't known; others are those of r and of ctx, within a second.
func Read(ctx context.Context, r io.Reader) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errors.New("linear: a nil context or reader, expected both")
	}
	m, err := archive.Read(ctx, r, -1, form, &header{}, nil)
	if err != nil {
		return nil, fmt.Errorf("linear: %w", err)
	}
	return m, nil
}

// Sections implements archive.Header.
func (h *header) Sections() ([]archive.Section, error) {
	// Limits that no product here overflows.
	const most, mostClasses = 1 << 38, 1 << 20
	classes := int64(len(h.Classes))
	parts, err := h.Embedding.Sections(h.Text, most)
	if err == nil {
		err = archive.Limit(mostClasses, archive.Count{Of: "classes", N: classes})
	}
	if err == nil {
		err = archive.Limit(most, archive.Count{Of: "documents", N: h.Documents})
	}
	return append(parts,
		archive.Section{Name: "machines", Bytes: recordBytes * classes},
		archive.Section{Name: "weights", Bytes: 8 * classes * (h.Terms + 1)},
	), err
}

// Model implements archive.Header.
func (h *header) Model() (*Model, error) {
	m := &Model{
		Settings: Settings{
			C: h.C, Intercept: h.Intercept, NoBias: h.Intercept == 0, Tolerance: h.Tolerance, Iterations: h.Iterations,
			Seed: h.Seed,
		},
		Documents: int(h.Documents), Classes: archive.Strings(h.Classes),
	}
	s := &m.Settings
	var err error
	if s.Loss, err = archive.Named("loss", h.Loss, SquaredHinge, Hinge); err != nil {
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
		if r.Flags&^flagConverged != 0 || r.Passes > math.MaxInt || r.Support > math.MaxInt {
			return fmt.Errorf("machine %d: flags %#x, %d passes, %d support vectors", k, r.Flags, r.Passes, r.Support)
		}
		m.Machines = append(m.Machines, Machine{
			Bias: r.Bias, Value: r.Value, Gap: r.Gap, Passes: int(r.Passes), Support: int(r.Support),
			Converged: r.Flags == flagConverged,
		})
	}
	m.Weights = archive.Array[float64](d, int64(len(h.Classes))*(h.Terms+1))
	return m.Validate()
}
