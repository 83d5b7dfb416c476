package model

import (
	"fmt"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
)

// Format is the project's own format. docs/formats.md explains its keys and arrays.
var Format = archive.Format[Model]{
	Package: "model", Name: "gram model ", Describe: describe, Validate: (*Model).Validate,
}

func describe(f *archive.File, m *Model) {
	kernel := archive.RawString(m.Kernel)
	f.Key("type", &m.Type)
	f.Key("kernel", &kernel)
	m.Kernel = string(kernel)
	f.StringLists("parameters", &m.Parameters)
	f.Origin(&m.Origin)
	c := &m.Classifier
	if c.Classes = len(m.Classes); !m.Type.Classifies() {
		c.Classes = 1
	}
	archive.Enum(f, "scheme", &c.Scheme, solver.OneVsOne, solver.OneVsRest, solver.MultiLabel)
	f.OptionalKey("at_least_one", &c.AtLeastOneLabel)
	f.OptionalKey("temperature", &c.Temperature)
	f.OptionalKey("rejection", &c.Rejection)
	f.OptionalKey("target_mean", &m.TargetMean)
	f.Embedding(&m.Embedder)
	n := f.Documents("support", &m.Support)
	archive.Array(f, "support", &m.SupportDocs, n)
	archive.Array(f, "support", &m.SupportClasses, n)
	describeFunctions(f, &c.Functions)
}

func describeFunctions(f *archive.File, machines *[]*solver.DecisionFunction) {
	// The JSON lacks support vectors and coefficients, because they are stored as arrays.
	heads, offsets := []*solver.DecisionFunction{}, []int64{0}
	var support []uint32
	var coef []float64
	for _, m := range *machines {
		if m != nil {
			own := *m
			own.Support, own.Coef, m = nil, nil, &own
			for i, s := range (*machines)[len(heads)].Support {
				support, coef = append(support, uint32(s)), append(coef, (*machines)[len(heads)].Coef[i])
			}
		}
		heads, offsets = append(heads, m), append(offsets, int64(len(coef)))
	}
	f.Key("machines", &heads)
	n := len(coef)
	archive.Count(f, "coefficients", &n, archive.MaxBytes)
	f.Offsets("machines", &offsets, len(heads), int64(n))
	archive.Array(f, "coefficients", &support, n)
	archive.Array(f, "coefficients", &coef, n)
	f.AfterRead("coefficients", func() error {
		all := make([]int, n)
		for k, s := range support {
			all[k] = int(s)
		}
		for i, m := range heads {
			first, end := offsets[i], offsets[i+1]
			switch {
			case m == nil && first < end:
				return fmt.Errorf("binary classifier %d is null, but has %d coefficients", i, end-first)
			case m != nil:
				m.Support, m.Coef = all[first:end:end], coef[first:end:end]
			}
		}
		*machines = heads
		return nil
	})
}
