// Package knn classifies documents by their nearest neighbours: the k training documents with the
// largest kernel values vote for their classes, weighted by these values. A model consists of the
// training documents. Package engine finds the neighbours by comparing all pairs.
//
// The classifier is a baseline for comparing metrics.
//
// Source: Cover and Hart, IEEE Trans. Inf. Theory 13 (1967); weighted votes: Dudani, IEEE Trans.
// SMC 6 (1976).
package knn

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Settings are the parameters of the classifier.
type Settings struct {
	K      int    `param:"k" default:"5" min:"1" max:"1048576" help:"number of neighbours"`
	Kernel string `param:"kernel" default:"bhattacharyya" flag:""` // specification for kernel.Parse

	// Uniform gives each neighbour one vote instead of its kernel value. Kernels such as ngd need
	// Uniform, because their values are negative or 0, and only positive values are counted as
	// votes.
	Uniform bool `param:"uniform" help:"weight all neighbours equally"`

	// Scheme is solver.MultiLabel for independent labels: a document gets all labels with more than
	// half of the votes. Otherwise it gets the class with the most votes. Ties are broken by the
	// nearest neighbour.
	Scheme solver.Scheme `param:"scheme" default:"one-vs-rest" min:"1" max:"2" flag:""`
}

func (s Settings) resolve() (Settings, kernel.Kernel, error) {
	if err := params.Resolve(&s); err != nil {
		return s, nil, fmt.Errorf("knn: %w", err)
	}
	k, err := kernel.Parse(s.Kernel)
	if err != nil {
		return s, nil, fmt.Errorf("knn: kernel: %w", err)
	}
	if s.Kernel = k.String(); !s.Uniform && !hasPositiveValues(k) {
		return s, nil, noVotesError(k, "")
	}
	return s, k, nil
}

func noVotesError(k kernel.Kernel, where string) error {
	return fmt.Errorf("knn: kernel %s has no positive values%s, so all neighbours have zero weight; use another kernel "+
		"or equal weights (Uniform)", k, where)
}

// hasPositiveValues reports whether k can have positive values. A kernel that decreases with c has
// its maximum at c = 0, so only this value is computed.
func hasPositiveValues(k kernel.Kernel) bool {
	switch p := kernel.PropertiesOf(k); {
	case p.NonPositive:
		return false
	case p.PositiveDiagonal || !kernel.DecreasesWithC(k):
		return true
	}
	table, err := asm.KernelsFor(asm.Generic)
	if err != nil {
		return true
	}
	value := []float32{0}
	err = kernel.Apply(kernel.Resolve(k, 2), table, value, value, nil, nil)
	return err != nil || value[0] > 0
}

func (s Settings) Validate() error {
	_, _, err := s.resolve()
	return err
}

// Options controls predictions, see package task.
type Options = task.Options

// Model is a nearest-neighbour classifier. It is immutable and may be used concurrently.
type Model struct {
	archive.Origin
	Settings  Settings
	Documents *sparse.CSR   // training documents: all documents if labels are independent, else documents with a class
	Labels    sparse.Labels // classes of Documents
}

// Train makes a model from a corpus. The model shares the documents of c, which must not be
// changed. Documents without a class are left out, unless labels are independent. Train fails if
// the settings are invalid, if the embedding or checkDocuments rejects a document, if no documents
// are left, or if a document has several classes but labels aren't independent.
func Train(c *corpus.Corpus, s Settings) (*Model, error) {
	s, k, err := s.resolve()
	if err != nil {
		return nil, err
	}
	m := &Model{Origin: archive.OriginOf(c, c.Digest()), Settings: s}
	if err := checkDocuments(k, c.Documents, s.Uniform); err != nil {
		return nil, err
	}
	if c = selectLabelled(c, s.Scheme); c.Documents.Rows() == 0 {
		return nil, fmt.Errorf("knn: %s has no labelled documents", c.Source)
	}
	m.Documents, m.Labels = c.Documents, c.Labels
	for i := range m.Documents.Rows() {
		if n := len(m.Labels.Classes(i)); n > 1 && s.Scheme != solver.MultiLabel {
			return nil, fmt.Errorf("knn: %s has %d classes, but the scheme allows only one", c.DocumentName(i), n)
		}
	}
	return m, nil
}

// checkDocuments checks that the kernel's embedding accepts all values, and that k(x, x) is finite
// for all documents. If the kernel is largest at x = y and uniform isn't set, some k(x, x) must be
// positive, because otherwise no neighbour has a vote. It embeds 4,096 documents at a time to save
// memory.
func checkDocuments(k kernel.Kernel, docs *sparse.CSR, uniform bool) error {
	const some = 4096
	fitted := k.Embedding().Fit(docs)
	table, err := asm.KernelsFor(asm.Generic)
	if err != nil {
		return err
	}
	k = kernel.Resolve(k, len(fitted.Terms))
	above := uniform || docs.Rows() == 0 || !kernel.PropertiesOf(k).Decreasing
	for lo := 0; lo < docs.Rows(); lo += some {
		rows := run.Range(lo, min(lo+some, docs.Rows()))
		x, err := fitted.TransformRows(context.Background(), docs, rows, 0)
		if err != nil {
			return err
		}
		for i := range rows {
			own, norm := []float32{0}, []float32{0}
			if kernel.UsesNorms(k) {
				norm[0] = float32(x.Norms[i])
			}
			if err := kernel.Apply(k, table, own, own, norm, norm); err != nil {
				return err
			}
			if own[0]-own[0] != 0 {
				return &kernel.PairError{Kernel: k.String(), Row: lo + i, Column: lo + i, Value: own[0]}
			}
			above = above || own[0] > 0
		}
	}
	if !above {
		return noVotesError(k, " on these documents")
	}
	return nil
}

func selectLabelled(c *corpus.Corpus, scheme solver.Scheme) *corpus.Corpus {
	var have []int
	for i := range c.Documents.Rows() {
		if scheme == solver.MultiLabel || len(c.Labels.Classes(i)) > 0 {
			have = append(have, i)
		}
	}
	if len(have) == c.Documents.Rows() {
		return c
	}
	return c.Select(have)
}

// Validate checks the model after reading: settings, documents, vocabulary, labels and class names.
func (m *Model) Validate() error {
	s, _, err := m.Settings.resolve()
	if err != nil {
		return err
	}
	if err := m.Tokenizer.Validate(); err != nil {
		return err
	}
	c := &corpus.Corpus{Documents: m.Documents, Vocabulary: m.Vocabulary, Classes: m.Classes, Labels: m.Labels}
	if err := c.Validate(); err != nil {
		return err
	}
	if m.Documents.Rows() == 0 || len(m.Classes) == 0 {
		return errors.New("model has no documents or no classes")
	}
	if name, twice := archive.FindDuplicate(m.Classes); twice {
		return fmt.Errorf("class names must be unique, but %q is repeated", name)
	}
	for i := range m.Documents.Rows() {
		if n := len(m.Labels.Classes(i)); n != 1 && s.Scheme != solver.MultiLabel {
			return fmt.Errorf("document %d has %d classes, but the scheme requires one", i, n)
		}
	}
	return nil
}

// Bytes estimates the model's size in memory, in bytes.
func (m *Model) Bytes() int64 { return m.Documents.Bytes() + 16*int64(m.Documents.Rows()) }
