package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/solver"
)

// Validate checks the model. The number of binary classifiers must match the classes. Class names
// and terms must be unique, and numbers finite. The vocabulary must have all terms of the embedding
// and support vectors. Support vector indices must increase strictly.
func (m *Model) Validate() error {
	if !slices.Contains(Types, m.Type) {
		return fmt.Errorf("type must be one of %q, got %q", Types, m.Type)
	}
	if m.Kernel == "" {
		return fmt.Errorf("kernel is missing")
	}
	if err := m.validateClasses(); err != nil {
		return err
	}
	if err := m.Origin.Validate(m.Embedder); err != nil {
		return err
	}
	if err := m.validateSupport(); err != nil {
		return err
	}
	for i, machine := range m.Classifier.Functions {
		if machine == nil {
			continue
		}
		if err := machine.Validate(m.Support.Rows()); err != nil {
			return fmt.Errorf("decision function %d: %w", i, err)
		}
	}
	return nil
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (m *Model) validateClasses() error {
	c := &m.Classifier
	k, have := c.Classes, len(c.Functions)
	if !m.Type.Classifies() {
		if c.Scheme != solver.OneVsRest || k != 1 || have != 1 || c.Functions[0] == nil || len(m.Classes) != 0 {
			return fmt.Errorf("%s requires one decision function of scheme %s and no class names, got %d of %s, %d classes and "+
				"%d names", m.Type, solver.OneVsRest, have, c.Scheme, k, len(m.Classes))
		}
		return nil
	}
	if len(m.Classes) != k || k < 1 {
		return fmt.Errorf("model must have classes with a name each, got %d classes and %d names", k, len(m.Classes))
	}
	if c.AtLeastOneLabel && c.Scheme != solver.MultiLabel {
		return fmt.Errorf("AtLeastOneLabel requires scheme %s, got %s", solver.MultiLabel, c.Scheme)
	}
	return c.Validate()
}

// numPairs returns the number of pairs of k classes, or -1 if k is above 2³¹-1.
func numPairs(k int) int {
	if k > math.MaxInt32 {
		return -1
	}
	return int(int64(k) * int64(k-1) / 2)
}

func (m *Model) validateSupport() error {
	if m.Vocabulary != nil && m.Support.Cols > len(m.Vocabulary) {
		return fmt.Errorf("support vectors have %d columns, but the vocabulary has %d "+
			"terms", m.Support.Cols, len(m.Vocabulary))
	}
	if err := m.Support.Validate(); err != nil {
		return fmt.Errorf("support vectors: %w", err)
	}
	for s, doc := range m.SupportDocs {
		if doc < -1 || m.NumDocuments > 0 && doc >= int64(m.NumDocuments) {
			return fmt.Errorf("support vector %d has document index %d, but there are only %d documents", s, doc, m.NumDocuments)
		}
	}
	for s, class := range m.SupportClasses {
		if class < -1 || int64(class) >= int64(len(m.Classes)) {
			return fmt.Errorf("support vector %d has class index %d, but there are only %d classes", s, class, len(m.Classes))
		}
	}
	return nil
}
