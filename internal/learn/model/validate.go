package model

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/solver"
)

// Validate reports the first violation of what a model must be, or nil:
//
//   - a type and a kernel; finite settings;
//   - as many machines as scheme and classes ask for; in one-vs-one one for each pair of classes
//     that have any, no other is missing;
//   - in each machine support vectors that ascend, a coefficient each, finite numbers;
//   - names of classes that differ, as many as the machines tell apart, and none for types without
//     classes;
//   - an embedding as [sparse.RestoreEmbedder] asks for, a vocabulary of different terms that holds
//     all its terms and those of the support vectors, and a tokenizer that exists;
//   - support vectors as [sparse.CSR] has them, a number below Documents and a class, or -1, each.
//
// It takes one pass.
func (m *Model) Validate() error {
	if m == nil {
		return fmt.Errorf("no model")
	}
	if !slices.Contains(Types, m.Type) {
		return fmt.Errorf("type %q, expected one of %q", m.Type, Types)
	}
	if m.Kernel == "" {
		return fmt.Errorf("no kernel")
	}
	if m.Documents < 0 {
		return fmt.Errorf("%d training documents", m.Documents)
	}
	if s := &m.Settings; !finite(s.C) || !finite(s.Nu) || !finite(s.Epsilon) || !finite(s.Tolerance) {
		return fmt.Errorf(
			"settings C %v, ν %v, ε %v, tolerance %v, expected finite numbers", s.C, s.Nu, s.Epsilon, s.Tolerance,
		)
	}
	for _, class := range slices.Sorted(maps.Keys(m.Settings.Weights)) {
		if w := m.Settings.Weights[class]; !finite(w) {
			return fmt.Errorf("weight %v of class %q is not finite", w, class)
		}
	}
	if !finite(m.Laplace) || m.Laplace < 0 {
		return fmt.Errorf("scale %v of the Laplace distribution, expected a number of at least 0", m.Laplace)
	}
	if err := m.validateClasses(); err != nil {
		return err
	}
	if err := archive.Validate(m.Vocabulary, m.Tokenizer, m.Embedder); err != nil {
		return err
	}
	if err := m.validateSupport(); err != nil {
		return err
	}
	for i, machine := range m.Classifier.Machines {
		if machine == nil {
			continue
		}
		if err := machine.Validate(m.Support.Rows()); err != nil {
			return fmt.Errorf("machine %d: %w", i, err)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// validateClasses checks that classes, scheme and machines fit.
func (m *Model) validateClasses() error {
	c := &m.Classifier
	k, have := c.Classes, len(c.Machines)
	if !m.Type.Classifies() {
		if c.Scheme != solver.OneVsRest || k != 1 || have != 1 || c.Machines[0] == nil || len(m.Classes) != 0 {
			return fmt.Errorf("%d machines (%s) for %d classes with %d names, expected for %s one machine (%s) for "+
				"1 without names",
				have, c.Scheme, k, len(m.Classes), m.Type, solver.OneVsRest)
		}
		return nil
	}
	if len(m.Classes) != k || k < 1 {
		return fmt.Errorf("%d classes with %d names", k, len(m.Classes))
	}
	if name, twice := archive.Repeated(m.Classes); twice {
		return fmt.Errorf("two classes are called %q", name)
	}
	if c.AtLeastOne && c.Scheme != solver.Labels {
		return fmt.Errorf("at least one label for %s, expected %s", c.Scheme, solver.Labels)
	}
	return c.Validate()
}

// pairs returns the number of pairs of k classes, -1 where there are more than can be.
func pairs(k int) int {
	if k > math.MaxInt32 {
		return -1
	}
	return int(int64(k) * int64(k-1) / 2)
}

// validateSupport checks the support vectors.
func (m *Model) validateSupport() error {
	if m.Support == nil {
		return fmt.Errorf("no support vectors")
	}
	if m.Support.Cols < 0 || int64(m.Support.Cols) > math.MaxUint32+1 {
		return fmt.Errorf("support vectors: %d columns", m.Support.Cols)
	}
	if m.Vocabulary != nil && m.Support.Cols > len(m.Vocabulary) {
		return fmt.Errorf("support vectors: %d columns, the vocabulary has %d terms", m.Support.Cols, len(m.Vocabulary))
	}
	if err := m.Support.Validate(); err != nil {
		return fmt.Errorf("support vectors: %w", err)
	}
	n := m.Support.Rows()
	if len(m.SupportDoc) != n || len(m.SupportClass) != n {
		return fmt.Errorf(
			"%d support vectors with %d numbers of documents and %d classes", n, len(m.SupportDoc), len(m.SupportClass),
		)
	}
	for s, doc := range m.SupportDoc {
		if doc < -1 || m.Documents > 0 && doc >= int64(m.Documents) {
			return fmt.Errorf("support vector %d is document %d of %d", s, doc, m.Documents)
		}
	}
	for s, class := range m.SupportClass {
		if class < -1 || int64(class) >= int64(len(m.Classes)) {
			return fmt.Errorf("support vector %d is of class %d of %d", s, class, len(m.Classes))
		}
	}
	return nil
}
