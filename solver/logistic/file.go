package logistic

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
const Form = "gram logistic "

var form = archive.Form{Name: Form, Version: "1"}

// header is the second line of a file. docs/formats.md explains its keys.
type header struct {
	Margin     string  `json:"margin"`
	Boundary   string  `json:"boundary,omitempty"` // of spherical margins
	Scheme     string  `json:"scheme"`
	C          float64 `json:"c,omitempty"` // not there without regularisation
	NoBias     bool    `json:"no_bias,omitempty"`
	Pull       float64 `json:"pull,omitempty"`
	Tolerance  float64 `json:"tolerance"`
	Iterations int     `json:"iterations"`
	Ascent     bool    `json:"ascent,omitempty"`
	Starts     int     `json:"starts"`
	Seed       uint64  `json:"seed,omitempty"`
	archive.Origin
	Documents int64          `json:"documents"`
	Classes   []archive.Name `json:"classes"`
	archive.Text
	archive.Embedding
	Values int64 `json:"values,omitempty"` // of all starts of all machines
}

// record is a machine without its weights.
type record struct {
	Flags, Iterations, Evaluations, Differ, Starts uint64
	Bias, Theta, Value, Gradient, MostApart        float64
}

const recordBytes = 80

// Flags of a record.
const (
	flagConverged = 1 << iota
	flagBounded
	flagsKnown = flagConverged | flagBounded
)

// Write writes the model in a form of its own, see docs/formats.md. The same model has the same
// bytes on every platform. It writes nothing of a model that [Model.Validate] refuses. Other errors
// are those of w and of ctx.
func (m *Model) Write(ctx context.Context, w io.Writer) error {
	if ctx == nil || w == nil {
		return errors.New("logistic: a nil context or writer, expected both")
	}
	if err := m.Validate(); err != nil {
		return fmt.Errorf("%w: the model can't be written", err)
	}
	s, _ := m.Settings.resolve()
	h := &header{
		Margin: s.Margin.String(), Scheme: s.Scheme.String(), C: s.C, NoBias: s.NoBias, Pull: s.Pull,
		Tolerance: s.Tolerance, Iterations: s.Iterations, Ascent: s.Ascent, Starts: s.Starts, Seed: s.Seed,
		Origin: archive.OriginOf(m.Source, m.Corpus), Documents: int64(m.Documents),
		Text: archive.TextOf(m.Vocabulary, m.Tokenizer), Embedding: archive.EmbeddingOf(m.Embedder),
		Classes: archive.Names(m.Classes),
	}
	if math.IsInf(s.C, 1) {
		h.C = 0
	}
	if s.Margin == Spherical {
		h.Boundary = s.Boundary.String()
	}
	for k := range m.Machines {
		h.Values += int64(len(m.Machines[k].Starts))
	}
	out, err := archive.NewWriter(ctx, w, form, h)
	if err != nil {
		return fmt.Errorf("logistic: %w", err)
	}
	archive.WriteVocabulary(out, m.Vocabulary)
	archive.WriteEmbedding(out, m.Embedder)
	for _, machine := range m.Machines {
		_ = binary.Write(out, binary.LittleEndian, recordOf(machine)) // Close tells what went wrong
	}
	for _, machine := range m.Machines {
		archive.Numbers(out, machine.Starts)
	}
	for _, machine := range m.Machines {
		archive.Numbers(out, machine.Weights)
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("logistic: writing: %w", err)
	}
	return nil
}

func recordOf(m *Machine) record {
	r := record{
		Iterations: uint64(m.Iterations), Evaluations: uint64(m.Evaluations), Differ: uint64(m.Differ),
		Starts: uint64(len(m.Starts)), Bias: m.Bias, Theta: m.Theta, Value: m.Value, Gradient: m.Gradient,
		MostApart: m.MostApart,
	}
	if m.Converged {
		r.Flags |= flagConverged
	}
	if m.Bounded {
		r.Flags |= flagBounded
	}
	return r
}

// Load reads a model from a file, see [Read]. It calls early, if not nil, with the model's tokenizer
// as soon as that is known; it may fail after that.
func Load(ctx context.Context, path string, early func(sparse.Tokenizer)) (*Model, error) {
	if ctx == nil {
		return nil, errors.New("logistic: a nil context, expected one")
	}
	f, size, err := archive.Open(path)
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	defer f.Close()
	m, err := archive.Read(ctx, f, size, form, &header{}, func(m *Model) {
		if early != nil {
			early(m.Tokenizer)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("logistic: %s: %w", path, err)
	}
	return m, nil
}

// Read reads a model that [Model.Write] wrote, to the bit, and checks its checksum and all that
// [Model.Validate] asks for. It reads to the end of r. Errors name the part that is damaged, or the
// version that isn't known; others are those of r and of ctx, within a second.
func Read(ctx context.Context, r io.Reader) (*Model, error) {
	if ctx == nil || r == nil {
		return nil, errors.New("logistic: a nil context or reader, expected both")
	}
	m, err := archive.Read(ctx, r, -1, form, &header{}, nil)
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
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
		err = archive.Limit(most, archive.Count{Of: "values", N: h.Values}, archive.Count{Of: "documents", N: h.Documents})
	}
	return append(parts,
		archive.Section{Name: "machines", Bytes: recordBytes * machines},
		archive.Section{Name: "starts", Bytes: 8 * h.Values},
		archive.Section{Name: "weights", Bytes: 8 * machines * (h.Terms + 1)},
	), err
}

// Model implements archive.Header.
func (h *header) Model() (*Model, error) {
	m := &Model{
		Settings: Settings{
			C: h.C, NoBias: h.NoBias, Pull: h.Pull, Tolerance: h.Tolerance, Iterations: h.Iterations, Ascent: h.Ascent,
			Starts: h.Starts, Seed: h.Seed,
		},
		Documents: int(h.Documents), Classes: archive.Strings(h.Classes),
	}
	s := &m.Settings
	if h.C == 0 {
		s.C = math.Inf(1)
	}
	if h.Boundary == "" {
		h.Boundary = Exact.String()
	}
	var err error
	if s.Margin, err = archive.Named("margin", h.Margin, Euclidean, Spherical); err != nil {
		return nil, err
	}
	if s.Boundary, err = archive.Named("boundary", h.Boundary, Exact, Paper); err != nil {
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
	left := h.Values
	var starts []int64
	for k := range h.Classes {
		var r record
		if err := binary.Read(bytes.NewReader(d.Bytes(recordBytes)), binary.LittleEndian, &r); err != nil {
			return err
		}
		if r.Flags&^flagsKnown != 0 || r.Iterations > math.MaxInt || r.Evaluations > math.MaxInt ||
			r.Differ > math.MaxInt || r.Starts > uint64(left) {
			return fmt.Errorf("machine %d: flags %#x, %d iterations, %d evaluations, %d documents that differ, %d starts of "+
				"%d that are left", k, r.Flags, r.Iterations, r.Evaluations, r.Differ, r.Starts, left)
		}
		left -= int64(r.Starts)
		starts = append(starts, int64(r.Starts))
		m.Machines = append(m.Machines, &Machine{
			Bias: r.Bias, Theta: r.Theta, Value: r.Value, Gradient: r.Gradient, Iterations: int(r.Iterations),
			Evaluations: int(r.Evaluations), Converged: r.Flags&flagConverged != 0, Bounded: r.Flags&flagBounded != 0,
			Differ: int(r.Differ), MostApart: r.MostApart,
		})
	}
	if left != 0 {
		return fmt.Errorf("%d of %d values belong to no start", left, h.Values)
	}
	for k, n := range starts {
		if n > 0 {
			m.Machines[k].Starts = archive.Array[float64](d, n)
		}
	}
	for _, machine := range m.Machines {
		machine.Weights = archive.Array[float64](d, h.Terms+1)
	}
	return m.Validate()
}
