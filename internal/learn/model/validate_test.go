package model

import (
	"math"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Each case breaks a different rule.
func TestValidate(t *testing.T) {
	regression := func() *Model { return small()[3] }
	for _, c := range []struct {
		want  string
		model func() *Model
		spoil func(m *Model)
	}{
		{`"epsilon_svr" "nu_svr"], got "svc"`, tiny, func(m *Model) { m.Type = "svc" }},
		{"kernel is missing", tiny, func(m *Model) { m.Kernel = "" }},
		{"AtLeastOneLabel requires scheme labels", tiny, func(m *Model) { m.Classifier.AtLeastOneLabel = true }},

		{
			"got 0 of one-vs-rest, 1 classes and 0 names", regression,
			func(m *Model) { m.Classifier.Functions = nil },
		},
		{
			"got 1 of one-vs-rest, 1 classes", regression,
			func(m *Model) { m.Classifier.Functions = []*solver.DecisionFunction{nil} },
		},
		{"and 1 names", regression, func(m *Model) { m.Classes = []string{"a"} }},
		{"of one-vs-one, 1 classes", regression, func(m *Model) { m.Classifier.Scheme = solver.OneVsOne }},
		{"one-vs-rest, 2 classes", regression, func(m *Model) { m.Classifier.Classes = 2 }},
		{"got 3 classes and 2 names", tiny, func(m *Model) { m.Classes = m.Classes[:2] }},
		{"got 0 classes and 0 names", tiny, func(m *Model) { m.Classes, m.Classifier = nil, solver.Classifier{} }},
		{`class names must be unique, but "a" occurs twice`, tiny, func(m *Model) { m.Classes[1] = "a" }},
		{
			"one-vs-one with 3 classes needs 3 decision functions, got 2", tiny,
			func(m *Model) { m.Classifier.Functions = m.Classifier.Functions[:2] },
		},
		{"one-vs-rest with 4 classes needs 4 decision functions, got 3", tiny, func(m *Model) {
			m.Classifier.Scheme, m.Classifier.Classes, m.Classes = solver.OneVsRest, 4, append(m.Classes, "d")
		}},
		{"decision function 0 of labels is missing", tiny, func(m *Model) { m.Classifier.Scheme = solver.MultiLabel }},
		{"unknown scheme 3", tiny, func(m *Model) { m.Classifier.Scheme = 3 }},
		{
			`for classes 0 and 1 is missing, but both classes`, tiny,
			func(m *Model) { m.Classifier.Functions[2] = &solver.DecisionFunction{} },
		},
		{"all decision functions are missing for 3", tiny,
			func(m *Model) { m.Classifier.Functions = make([]*solver.DecisionFunction, 3) }},

		{"were set directly", tiny, func(m *Model) {
			e := *m.Embedder
			e.Terms = []uint32{3, 2}
			m.Embedder = &e
		}},
		{`term "one" occurs twice in the vocabulary`, tiny, func(m *Model) { m.Vocabulary[1] = "one" }},
		{"has term 2, but the vocabulary has 2 terms", tiny, func(m *Model) { m.Vocabulary = m.Vocabulary[:2] }},

		{"Cols must be between 0", tiny, func(m *Model) { m.Support = &sparse.CSR{Cols: -1, Offsets: []int64{0}} }},
		{"4 columns, but the vocabulary has 3", tiny, func(m *Model) { m.Support.Cols = 4 }},
		{"document index 9, but there are only 9 documents", tiny, func(m *Model) { m.SupportDocs[1] = 9 }},
		{"support vector 1 has document index -2", tiny, func(m *Model) { m.SupportDocs[1] = -2 }},
		{"support vector 2 has class index 3, but", tiny, func(m *Model) { m.SupportClasses[2] = 3 }},
		{"support vector 2 has class index -2", tiny, func(m *Model) { m.SupportClasses[2] = -2 }},
		{"support vector 0 has class index 0, but", regression, func(m *Model) { m.SupportClasses[0] = 0 }},

		{
			"decision function 1: solver: 2 support vectors, but 1 coef", tiny,
			func(m *Model) { m.Classifier.Functions[1].Coef = []float64{1} },
		},
		{"must increase and be below 3, got 0 after 0", tiny, func(m *Model) { m.Classifier.Functions[1].Support[1] = 0 }},
		{"must increase and be below 3, got -1 after -1", tiny, func(m *Model) { m.Classifier.Functions[1].Support[0] = -1 }},
		{"must be finite, got NaN, -12.5 and", tiny, func(m *Model) { m.Classifier.Functions[1].Rho = math.NaN() }},
		{"must be finite, got -0, NaN and", tiny, func(m *Model) { m.Classifier.Functions[1].Objective = math.NaN() }},
		{"-12.5 and +Inf", tiny, func(m *Model) { m.Classifier.Functions[1].Gap = math.Inf(1) }},
		{"must not be negative, got -1", tiny, func(m *Model) { m.Classifier.Functions[1].Iterations = -1 }},
		{"must not be negative, got 1073741824 and -1", tiny, func(m *Model) { m.Classifier.Functions[1].Bounded = -1 }},
		{"sigmoid must be finite, got NaN", tiny, func(m *Model) { m.Classifier.Functions[1].Sigmoid.A = math.NaN() }},
		{"sigmoid must be finite, got -2 and NaN", tiny, func(m *Model) { m.Classifier.Functions[1].Sigmoid.B = math.NaN() }},
	} {
		m := c.model()
		musttest.NoError(t, m.Validate())
		c.spoil(m)
		musttest.WantError(m.Validate())(t, "a spoiled model", c.want)
	}
}
