package model

import (
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/sparse"
)

// header is the second line of a file. The package documentation explains its keys.
type header struct {
	Type         Type            `json:"type"`
	Kernel       name            `json:"kernel"`
	Settings     headerSettings  `json:"settings"`
	Source       name            `json:"source"`
	Corpus       string          `json:"corpus"`
	Documents    int64           `json:"documents"`
	Laplace      float64         `json:"laplace,omitempty"`
	Classes      []name          `json:"classes,omitempty"`
	Scheme       string          `json:"scheme"`
	AtLeastOne   bool            `json:"at_least_one,omitempty"`
	Machines     int64           `json:"machines"`
	Coefficients int64           `json:"coefficients"`
	Vocabulary   *vocabularySize `json:"vocabulary,omitempty"`
	Tokenizer    string          `json:"tokenizer,omitempty"`
	Embedding    string          `json:"embedding"`
	Open         bool            `json:"open,omitempty"`
	Fitted       int64           `json:"fitted"`
	Terms        int64           `json:"terms"`
	Vectors      int64           `json:"vectors"`
	Columns      int64           `json:"columns"`
	Values       int64           `json:"values"`
}

type vocabularySize struct {
	Terms int64 `json:"terms"`
	Bytes int64 `json:"bytes"`
}

// headerSettings are Settings with the weights as a list, since their names need not be UTF-8.
type headerSettings struct {
	Settings
	Weights []classWeight `json:"weights,omitempty"` // hides the map of the same name
}

type classWeight struct {
	Class  name    `json:"class"`
	Weight float64 `json:"weight"`
}

// name is a text that needn't be UTF-8.
type name = archive.Name

func toNames(texts []string) []name {
	out := make([]name, len(texts))
	for i, s := range texts {
		out[i] = name(s)
	}
	return out
}

func toStrings(names []name) []string {
	if len(names) == 0 {
		return nil
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = string(n)
	}
	return out
}

// headerOf describes a valid model.
func headerOf(m *Model) *header {
	h := &header{
		Type: m.Type, Kernel: name(m.Kernel), Settings: headerSettings{Settings: m.Settings},
		Source: name(m.Source), Corpus: hex.EncodeToString(m.Corpus[:]), Documents: int64(m.Documents),
		Laplace: m.Laplace,
		Classes: toNames(m.Classes), Scheme: m.Classifier.Scheme.String(), AtLeastOne: m.Classifier.AtLeastOne,
		Machines:  int64(len(m.Classifier.Machines)),
		Embedding: m.Embedder.String(), Open: m.Embedder.Open, Fitted: int64(m.Embedder.Documents),
		Terms:   int64(len(m.Embedder.Terms)),
		Vectors: int64(m.Support.Rows()), Columns: int64(m.Support.Cols), Values: m.Support.NNZ(),
	}
	for _, class := range slices.Sorted(maps.Keys(m.Settings.Weights)) {
		h.Settings.Weights = append(h.Settings.Weights, classWeight{name(class), m.Settings.Weights[class]})
	}
	h.Settings.Settings.Weights = nil
	for _, machine := range m.Classifier.Machines {
		if machine != nil {
			h.Coefficients += int64(len(machine.Coef))
		}
	}
	if t := m.Tokenizer.Canonical(); t != (sparse.Tokenizer{}) {
		h.Tokenizer = t.String()
	}
	if m.Vocabulary != nil {
		h.Vocabulary = &vocabularySize{Terms: int64(len(m.Vocabulary))}
		for _, term := range m.Vocabulary {
			h.Vocabulary.Bytes += int64(len(term))
		}
	}
	return h
}

// parseHeader reads the second line of a file, without its end.
func parseHeader(line []byte) (*header, error) {
	h := &header{}
	return h, archive.ParseHeader(line, h)
}

// record is a machine without its support vectors and coefficients, as a file has it; all of it is 0
// where the machine isn't there.
type record struct {
	Coefficients, Flags uint64
	Rho, Objective, Gap float64
	Iterations, Bounded uint64
	Sigmoid             solver.Sigmoid
}

// recordBytes is the size of a record.
const recordBytes = 72

// sections returns the parts between header and checksum, and the sum of their sizes. A number
// below 0 or above limit is an error, so for limits below 2⁵⁰ no product here overflows.
func (h *header) sections(limit int64) ([]archive.Section, int64, error) {
	var vocabulary vocabularySize
	if h.Vocabulary != nil {
		vocabulary = *h.Vocabulary
	}
	for _, count := range []struct {
		key string
		n   int64
	}{
		{"machines", h.Machines}, {"coefficients", h.Coefficients}, {"terms", h.Terms}, {"vectors", h.Vectors},
		{"values", h.Values},
		{"vocabulary terms", vocabulary.Terms}, {"vocabulary bytes", vocabulary.Bytes},
	} {
		if count.n < 0 || count.n > limit {
			return nil, 0, fmt.Errorf("%d %s, expected 0 to %d", count.n, count.key, limit)
		}
	}
	term := int64(8)
	if embedding, err := sparse.ParseEmbedding(h.Embedding); err != nil {
		return nil, 0, err
	} else if embedding.Weighting.IDF() {
		term = 16
	}
	parts := []archive.Section{
		{Name: "vocabulary", Bytes: 4*vocabulary.Terms + vocabulary.Bytes},
		{Name: "embedding", Bytes: term * h.Terms},
		{Name: "support vectors", Bytes: 8*(h.Vectors+1) + 8*h.Values + 12*h.Vectors},
		{Name: "machines", Bytes: recordBytes * h.Machines},
		{Name: "coefficients", Bytes: 12 * h.Coefficients},
	}
	var sum int64
	for _, p := range parts {
		sum += p.Bytes
	}
	return parts, sum, nil
}

// model returns the model that the header describes, without its arrays.
func (h *header) model() (*Model, error) {
	m := &Model{
		Type: h.Type, Kernel: string(h.Kernel), Settings: h.Settings.Settings, Source: string(h.Source),
		Documents: int(h.Documents), Laplace: h.Laplace,
		Classes:    toStrings(h.Classes),
		Classifier: solver.Classifier{Classes: len(h.Classes), AtLeastOne: h.AtLeastOne},
	}
	if !m.Type.Classifies() {
		m.Classifier.Classes = 1
	}
	for _, n := range []int64{h.Documents, h.Fitted, h.Columns} {
		if n < 0 || n > math.MaxInt {
			return nil, fmt.Errorf("%d documents or columns, expected 0 to %d", n, math.MaxInt)
		}
	}
	digest, err := hex.DecodeString(h.Corpus)
	if err != nil || len(digest) != len(m.Corpus) {
		return nil, fmt.Errorf("corpus %q, expected %d hexadecimal digits", h.Corpus, 2*len(m.Corpus))
	}
	m.Corpus = [32]byte(digest)
	if m.Tokenizer, err = sparse.ParseTokenizer(h.Tokenizer); err != nil {
		return nil, err
	}
	for _, w := range h.Settings.Weights {
		if m.Settings.Weights == nil {
			m.Settings.Weights = map[string]float64{}
		}
		m.Settings.Weights[string(w.Class)] = w.Weight
	}
	for _, s := range []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.Labels} {
		if s.String() == h.Scheme {
			m.Classifier.Scheme = s
			return m, nil
		}
	}
	return nil, fmt.Errorf("scheme %q is unknown", h.Scheme)
}
