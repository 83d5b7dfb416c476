package knn

import (
	"context"
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
const Form = "gram knn "

var form = archive.Form{Name: Form, Version: "1"}

// header is the second line of a file. docs/formats.md explains its keys.
type header struct {
	K          int             `json:"k"`
	Kernel     string          `json:"kernel"`
	Uniform    bool            `json:"uniform,omitempty"`
	Scheme     string          `json:"scheme"`
	Source     archive.Name    `json:"source"`
	Corpus     string          `json:"corpus"` // its digest in hexadecimal
	Classes    []archive.Name  `json:"classes"`
	Vocabulary *vocabularySize `json:"vocabulary,omitempty"`
	Tokenizer  string          `json:"tokenizer,omitempty"`
	Documents  int64           `json:"documents"`
	Columns    int64           `json:"columns"`
	Values     int64           `json:"values"`
	Labels     int64           `json:"labels"`
}

type vocabularySize struct {
	Terms int64 `json:"terms"`
	Bytes int64 `json:"bytes"`
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
	s, _, _ := m.Settings.resolve()
	h := &header{
		K: s.K, Kernel: s.Kernel, Uniform: s.Uniform, Scheme: s.Scheme.String(), Source: archive.Name(m.Source),
		Corpus: hex.EncodeToString(m.Corpus[:]), Documents: int64(m.Documents.Rows()), Columns: int64(m.Documents.Cols),
		Values: m.Documents.NNZ(), Labels: int64(len(m.Labels.IDs)),
	}
	for _, name := range m.Classes {
		h.Classes = append(h.Classes, archive.Name(name))
	}
	if t := m.Tokenizer.Canonical(); t != (sparse.Tokenizer{}) {
		h.Tokenizer = t.String()
	}
	if m.Vocabulary != nil {
		h.Vocabulary = &vocabularySize{Terms: int64(len(m.Vocabulary))}
		for t, term := range m.Vocabulary {
			if int64(len(term)) > math.MaxUint32 {
				return fmt.Errorf("knn: term %d has %d bytes: the model can't be written", t, len(term))
			}
			h.Vocabulary.Bytes += int64(len(term))
		}
	}
	out, err := archive.NewWriter(ctx, w, form, h)
	if err != nil {
		return fmt.Errorf("knn: %w", err)
	}
	archive.Texts(out, m.Vocabulary)
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
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("knn: %w", err)
	}
	defer f.Close()
	size := int64(-1)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	m, err := read(ctx, f, size, early)
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
	m, err := read(ctx, r, -1, nil)
	if err != nil {
		return nil, fmt.Errorf("knn: %w", err)
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
	const most = 1 << 40 // no product here overflows
	for _, count := range []struct {
		key     string
		n, most int64
	}{
		{"vocabulary terms", vocabulary.Terms, most}, {"vocabulary bytes", vocabulary.Bytes, most},
		{"documents", h.Documents, 1 << 32}, {"columns", h.Columns, 1 << 32}, {"values", h.Values, most},
		{"labels", h.Labels, most},
	} {
		if count.n < 0 || count.n > count.most || count.n > math.MaxInt {
			return nil, fmt.Errorf("%d %s, expected 0 to %d", count.n, count.key, count.most)
		}
	}
	return []archive.Section{
		{Name: "vocabulary", Bytes: 4*vocabulary.Terms + vocabulary.Bytes},
		{Name: "labels", Bytes: 8*h.Documents + 4*h.Labels},
		{Name: "documents", Bytes: 8*h.Documents + 8*h.Values},
	}, nil
}

// model returns the model that the header describes, without its arrays.
func (h *header) model() (*Model, error) {
	m := &Model{Settings: Settings{K: h.K, Kernel: h.Kernel, Uniform: h.Uniform}, Source: string(h.Source)}
	for _, scheme := range []solver.Scheme{solver.OneVsRest, solver.Labels} {
		if h.Scheme == scheme.String() {
			m.Settings.Scheme = scheme
		}
	}
	if m.Settings.Scheme.String() != h.Scheme {
		return nil, fmt.Errorf("scheme %q is unknown", h.Scheme)
	}
	for _, name := range h.Classes {
		m.Classes = append(m.Classes, string(name))
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
