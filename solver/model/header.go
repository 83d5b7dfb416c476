package model

import (
	"maps"
	"math"
	"slices"

	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/internal/archive"
	"github.com/gramengine/gram/sparse"
)

// header is the second line of a file. The package documentation explains its keys.
type header struct {
	Type     Type           `json:"type"`
	Kernel   name           `json:"kernel"`
	Settings headerSettings `json:"settings"`
	archive.Origin
	Documents    int64   `json:"documents"`
	Laplace      float64 `json:"laplace,omitempty"`
	Classes      []name  `json:"classes,omitempty"`
	Scheme       string  `json:"scheme"`
	AtLeastOne   bool    `json:"at_least_one,omitempty"`
	Machines     int64   `json:"machines"`
	Coefficients int64   `json:"coefficients"`
	archive.Text
	archive.Embedding
	Vectors int64 `json:"vectors"`
	Columns int64 `json:"columns"`
	Values  int64 `json:"values"`
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

// headerOf describes a valid model.
func headerOf(m *Model) *header {
	h := &header{
		Type: m.Type, Kernel: name(m.Kernel), Settings: headerSettings{Settings: m.Settings},
		Origin: archive.OriginOf(m.Source, m.Corpus), Documents: int64(m.Documents),
		Laplace: m.Laplace,
		Classes: archive.Names(m.Classes), Scheme: m.Classifier.Scheme.String(), AtLeastOne: m.Classifier.AtLeastOne,
		Machines: int64(len(m.Classifier.Machines)), Text: archive.TextOf(m.Vocabulary, m.Tokenizer),
		Embedding: archive.EmbeddingOf(m.Embedder),
		Vectors:   int64(m.Support.Rows()), Columns: int64(m.Support.Cols), Values: m.Support.NNZ(),
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
	return h
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

// Sections implements archive.Header.
func (h *header) Sections() ([]archive.Section, error) {
	const most = archive.MostBytes // so that no product here overflows
	parts, err := h.Embedding.Sections(h.Text, most)
	if err != nil {
		return nil, err
	}
	return append(parts,
			archive.Section{Name: "support vectors", Bytes: 8*(h.Vectors+1) + 8*h.Values + 12*h.Vectors},
			archive.Section{Name: "machines", Bytes: recordBytes * h.Machines},
			archive.Section{Name: "coefficients", Bytes: 12 * h.Coefficients},
		), archive.Limit(most,
			archive.Count{Of: "machines", N: h.Machines}, archive.Count{Of: "coefficients", N: h.Coefficients},
			archive.Count{Of: "vectors", N: h.Vectors}, archive.Count{Of: "values", N: h.Values},
		)
}

// Model implements archive.Header.
func (h *header) Model() (*Model, error) {
	m := &Model{
		Type: h.Type, Kernel: string(h.Kernel), Settings: h.Settings.Settings, Documents: int(h.Documents),
		Laplace: h.Laplace, Classes: archive.Strings(h.Classes),
		Classifier: solver.Classifier{Classes: len(h.Classes), AtLeastOne: h.AtLeastOne},
	}
	if !m.Type.Classifies() {
		m.Classifier.Classes = 1
	}
	var err error
	if m.Source, m.Corpus, err = h.Origin.Parse(); err != nil {
		return nil, err
	}
	if err = archive.Limit(math.MaxInt,
		archive.Count{Of: "documents", N: h.Documents}, archive.Count{Of: "columns", N: h.Columns},
	); err != nil {
		return nil, err
	}
	if m.Tokenizer, err = sparse.ParseTokenizer(h.Tokenizer); err != nil {
		return nil, err
	}
	for _, w := range h.Settings.Weights {
		if m.Settings.Weights == nil {
			m.Settings.Weights = map[string]float64{}
		}
		m.Settings.Weights[string(w.Class)] = w.Weight
	}
	m.Classifier.Scheme, err = archive.Named("scheme", h.Scheme, solver.OneVsOne, solver.OneVsRest, solver.Labels)
	return m, err
}
