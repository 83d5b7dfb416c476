package logistic

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/sparse"
)

// Form is how a model's file begins, less the version.
const Form = "gram logistic "

var form = archive.Form{Name: Form, Version: "1"}

// header is the second line of a file. docs/formats.md explains its keys.
type header struct {
	Margin     string          `json:"margin"`
	Boundary   string          `json:"boundary,omitempty"` // of spherical margins
	Scheme     string          `json:"scheme"`
	C          float64         `json:"c,omitempty"` // not there without regularisation
	Pull       float64         `json:"pull,omitempty"`
	Tolerance  float64         `json:"tolerance"`
	Iterations int             `json:"iterations"`
	Ascent     bool            `json:"ascent,omitempty"`
	Starts     int             `json:"starts"`
	Seed       uint64          `json:"seed,omitempty"`
	Source     archive.Name    `json:"source"`
	Corpus     string          `json:"corpus"` // its digest in hexadecimal
	Documents  int64           `json:"documents"`
	Classes    []archive.Name  `json:"classes"`
	Vocabulary *vocabularySize `json:"vocabulary,omitempty"`
	Tokenizer  string          `json:"tokenizer,omitempty"`
	Embedding  string          `json:"embedding"`
	Open       bool            `json:"open,omitempty"`
	Fitted     int64           `json:"fitted"`
	Terms      int64           `json:"terms"`
	Values     int64           `json:"values,omitempty"` // of all starts of all machines
}

type vocabularySize struct {
	Terms int64 `json:"terms"`
	Bytes int64 `json:"bytes"`
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
		Margin: s.Margin.String(), Scheme: s.Scheme.String(), C: s.C, Pull: s.Pull, Tolerance: s.Tolerance,
		Iterations: s.Iterations, Ascent: s.Ascent, Starts: s.Starts, Seed: s.Seed,
		Source: archive.Name(m.Source), Corpus: hex.EncodeToString(m.Corpus[:]), Documents: int64(m.Documents),
		Embedding: m.Embedder.String(), Open: m.Embedder.Open, Fitted: int64(m.Embedder.Documents),
		Terms: int64(len(m.Embedder.Terms)),
	}
	if math.IsInf(s.C, 1) {
		h.C = 0
	}
	if s.Margin == Spherical {
		h.Boundary = s.Boundary.String()
	}
	for k, name := range m.Classes {
		h.Classes = append(h.Classes, archive.Name(name))
		h.Values += int64(len(m.Machines[k].Starts))
	}
	if t := m.Tokenizer.Canonical(); t != (sparse.Tokenizer{}) {
		h.Tokenizer = t.String()
	}
	if m.Vocabulary != nil {
		h.Vocabulary = &vocabularySize{Terms: int64(len(m.Vocabulary))}
		for t, term := range m.Vocabulary {
			if int64(len(term)) > math.MaxUint32 {
				return fmt.Errorf("logistic: term %d has %d bytes: the model can't be written", t, len(term))
			}
			h.Vocabulary.Bytes += int64(len(term))
		}
	}
	out, err := archive.NewWriter(ctx, w, form, h)
	if err != nil {
		return fmt.Errorf("logistic: %w", err)
	}
	archive.Texts(out, m.Vocabulary)
	archive.Numbers(out, m.Embedder.Terms)
	archive.Numbers(out, m.Embedder.DF)
	archive.Numbers(out, m.Embedder.Weights)
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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	defer f.Close()
	size := int64(-1)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	m, err := read(ctx, f, size, early)
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
	m, err := read(ctx, r, -1, nil)
	if err != nil {
		return nil, fmt.Errorf("logistic: %w", err)
	}
	return m, nil
}

func read(ctx context.Context, r io.Reader, size int64, early func(sparse.Tokenizer)) (*Model, error) {
	h := &header{}
	var m *Model
	arrays, err := archive.Read(ctx, r, size, form, func(line []byte) (parts []archive.Section, err error) {
		if err = archive.ParseHeader(line, h); err == nil {
			if m, err = h.model(); err == nil {
				parts, err = h.sections()
			}
		}
		if err != nil {
			return nil, archive.Damaged("header: %v", err)
		}
		if early != nil {
			early(m.Tokenizer)
		}
		return parts, nil
	})
	if err != nil {
		return nil, err
	}
	if err := h.decode(m, arrays); err != nil {
		return nil, archive.Damaged("%v", err)
	}
	return m, nil
}

// sections returns the parts behind the header.
func (h *header) sections() ([]archive.Section, error) {
	var vocabulary vocabularySize
	if h.Vocabulary != nil {
		vocabulary = *h.Vocabulary
	}
	// Limits that no product here overflows.
	const most, mostClasses = 1 << 40, 1 << 20
	for _, count := range []struct {
		key     string
		n, most int64
	}{
		{"vocabulary terms", vocabulary.Terms, most}, {"vocabulary bytes", vocabulary.Bytes, most},
		{"terms", h.Terms, 1 << 32}, {"classes", int64(len(h.Classes)), mostClasses}, {"values", h.Values, most},
	} {
		if count.n < 0 || count.n > count.most {
			return nil, fmt.Errorf("%d %s, expected 0 to %d", count.n, count.key, count.most)
		}
	}
	term, machines := int64(8), int64(len(h.Classes))
	if e, err := sparse.ParseEmbedding(h.Embedding); err != nil {
		return nil, err
	} else if e.Weighting.IDF() {
		term = 16
	}
	return []archive.Section{
		{Name: "vocabulary", Bytes: 4*vocabulary.Terms + vocabulary.Bytes},
		{Name: "embedding", Bytes: term * h.Terms},
		{Name: "machines", Bytes: recordBytes * machines},
		{Name: "starts", Bytes: 8 * h.Values},
		{Name: "weights", Bytes: 8 * machines * (h.Terms + 1)},
	}, nil
}

// model returns the model that the header describes, without its arrays.
func (h *header) model() (*Model, error) {
	m := &Model{
		Settings: Settings{
			C: h.C, Pull: h.Pull, Tolerance: h.Tolerance, Iterations: h.Iterations, Ascent: h.Ascent, Starts: h.Starts,
			Seed: h.Seed,
		},
		Source: string(h.Source), Documents: int(h.Documents),
	}
	s := &m.Settings
	if h.C == 0 {
		s.C = math.Inf(1)
	}
	switch h.Margin {
	case Euclidean.String():
	case Spherical.String():
		s.Margin = Spherical
	default:
		return nil, fmt.Errorf("margin %q is unknown", h.Margin)
	}
	switch h.Boundary {
	case "", Exact.String():
	case Paper.String():
		s.Boundary = Paper
	default:
		return nil, fmt.Errorf("boundary %q is unknown", h.Boundary)
	}
	switch h.Scheme {
	case solver.OneVsRest.String():
		s.Scheme = solver.OneVsRest
	case solver.Labels.String():
		s.Scheme = solver.Labels
	default:
		return nil, fmt.Errorf("scheme %q is unknown", h.Scheme)
	}
	for _, n := range []int64{h.Documents, h.Fitted} {
		if n < 0 || n > math.MaxInt {
			return nil, fmt.Errorf("%d documents, expected 0 to %d", n, math.MaxInt)
		}
	}
	digest, err := hex.DecodeString(h.Corpus)
	if err != nil || len(digest) != len(m.Corpus) {
		return nil, fmt.Errorf("corpus %q, expected %d hexadecimal digits", h.Corpus, 2*len(m.Corpus))
	}
	m.Corpus = [32]byte(digest)
	m.Tokenizer, err = sparse.ParseTokenizer(h.Tokenizer)
	return m, err
}

// decode fills in the arrays, whose sizes were checked.
func (h *header) decode(m *Model, d *archive.Arrays) error {
	var err error
	if h.Vocabulary != nil {
		if m.Vocabulary, err = d.Texts(h.Vocabulary.Terms, h.Vocabulary.Bytes); err != nil {
			return fmt.Errorf("vocabulary: %w", err)
		}
	}
	e, err := sparse.ParseEmbedding(h.Embedding)
	if err != nil {
		return err
	}
	fitted := sparse.Embedder{
		Embedding: e, Documents: int(h.Fitted), Open: h.Open, Terms: archive.Array[uint32](d, h.Terms),
		DF: archive.Array[int32](d, h.Terms),
	}
	if e.Weighting.IDF() {
		fitted.Weights = archive.Array[float64](d, h.Terms)
	}
	if m.Embedder, err = sparse.RestoreEmbedder(fitted); err != nil {
		return fmt.Errorf("embedding: %w", err)
	}
	left := h.Values
	var starts []int64
	for k, name := range h.Classes {
		m.Classes = append(m.Classes, string(name))
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
