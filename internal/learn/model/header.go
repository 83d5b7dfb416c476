package model

import (
	"maps"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Form describes the project's own form. The package documentation explains its keys and arrays.
var Form = archive.Format[Model]{
	Package: "model", Name: "gram model ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	const most = archive.MostBytes
	if !f.Writing() {
		m.Support = &sparse.CSR{}
	}
	kernel, classes := name(m.Kernel), archive.Names(m.Classes)
	f.Key("type", &m.Type)
	f.Key("kernel", &kernel)
	f.Object("settings", func() { describeSettings(f, &m.Settings) })
	m.Kernel = string(kernel)
	f.Corpus(&m.Source, &m.Corpus)
	archive.Count(f, "documents", &m.Documents, math.MaxInt)
	f.Optional("laplace", &m.Laplace)
	f.Optional("classes", &classes)
	m.Classes = archive.Strings(classes)
	c := &m.Classifier
	if c.Classes = len(classes); !m.Type.Classifies() {
		c.Classes = 1
	}
	archive.Named(f, "scheme", &c.Scheme, solver.OneVsOne, solver.OneVsRest, solver.Labels)
	f.Optional("at_least_one", &c.AtLeastOne)
	f.Optional("temperature", &c.Temperature)
	f.Optional("rejection", &c.Rejection)
	machines, coefficients := len(c.Machines), 0
	for _, machine := range c.Machines {
		if machine != nil {
			coefficients += len(machine.Coef)
		}
	}
	archive.Count(f, "machines", &machines, most)
	archive.Count(f, "coefficients", &coefficients, most)
	f.Text(&m.Vocabulary, &m.Tokenizer, &m.Form)
	f.Embedding(&m.Embedder)
	docs := m.Support
	vectors, columns, values := docs.Rows(), docs.Cols, len(docs.Values)
	archive.Count(f, "vectors", &vectors, most)
	archive.Count(f, "columns", &columns, math.MaxInt)
	archive.Count(f, "values", &values, most)
	if !f.Writing() {
		docs.Cols = columns
	}
	archive.Array(f, "support vectors", &docs.Offsets, vectors+1)
	archive.Array(f, "support vectors", &docs.Terms, values)
	archive.Array(f, "support vectors", &docs.Values, values)
	archive.Array(f, "support vectors", &m.SupportDoc, vectors)
	archive.Array(f, "support vectors", &m.SupportClass, vectors)
	describeMachines(f, &c.Machines, machines, coefficients)
}

func describeSettings(f *archive.File, s *Settings) {
	f.Optional("c", &s.C)
	f.Optional("nu", &s.Nu)
	f.Optional("epsilon", &s.Epsilon)
	f.Key("tolerance", &s.Tolerance)
	f.Optional("probabilities", &s.Probabilities)
	f.Optional("thresholds", &s.Thresholds)
	f.Optional("seed", &s.Seed)
	var weights []classWeight // a list, since names of classes needn't be UTF-8
	for _, class := range slices.Sorted(maps.Keys(s.Weights)) {
		weights = append(weights, classWeight{name(class), s.Weights[class]})
	}
	f.Optional("weights", &weights)
	if f.Writing() {
		return
	}
	for _, w := range weights {
		if s.Weights == nil {
			s.Weights = map[string]float64{}
		}
		s.Weights[string(w.Class)] = w.Weight
	}
}

type classWeight struct {
	Class  name    `json:"class"`
	Weight float64 `json:"weight"`
}

// name is a text that needn't be UTF-8.
type name = archive.Name
