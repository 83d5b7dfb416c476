package mkm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/lab/internal/lmnn"
	"github.com/gramengine/gram/sparse"
)

// Model is a machine that was trained. It is immutable and may be used concurrently.
type Model struct {
	Settings Settings

	archive.Origin          // with the number of documents that were trained on
	Choices        []Choice // by level, len(Layers) + 1

	// Columns are the features of documents that pass, the most informative first; nil where all do and
	// there is a layer.
	Columns []uint32
	Layers  []*Layer

	Nearest  *Nearest     // of these one classifies
	Metric   *lmnn.Model  //
	Machines *model.Model //
}

// Width is the number of features that are classified.
func (m *Model) Width() int {
	if n := len(m.Layers); n > 0 {
		return m.Layers[n-1].Width()
	}
	return len(m.Columns)
}

// Bytes returns about what the model holds.
func (m *Model) Bytes() int64 {
	bytes := 4 * int64(len(m.Columns))
	for _, l := range m.Layers {
		bytes += l.Bytes()
	}
	if m.Nearest != nil {
		bytes += 4 * int64(len(m.Nearest.Features)+len(m.Nearest.Labels))
	}
	if m.Metric != nil {
		bytes += m.Metric.Bytes()
	}
	if m.Machines != nil {
		bytes += m.Machines.Support.Bytes()
	}
	return bytes
}

// Validate reports the first violation of what a model must be, or nil: settings in range, layers whose
// features are those that the next one takes, finite numbers, and the one classifier that the settings
// name, of as many features and with the same classes.
func (m *Model) Validate() error {
	s, _, err := m.Settings.resolve()
	if err != nil {
		return err
	}
	switch {
	case len(m.Layers) != len(s.Layers) || len(m.Choices) != len(s.Layers)+1:
		return fmt.Errorf("mkm: %d layers and %d choices for %d kernels, expected as many, and one more", len(m.Layers),
			len(m.Choices), len(s.Layers))
	case m.Columns == nil && (!s.Whole || len(m.Layers) == 0) || m.Documents < 1:
		return fmt.Errorf("mkm: %d documents and no columns of them, expected some", m.Documents)
	}
	if name, twice := archive.Repeated(m.Classes); twice || len(m.Classes) < 2 {
		return fmt.Errorf("mkm: %d classes, %q twice, expected two of different names at least", len(m.Classes), name)
	}
	seen := map[uint32]bool{}
	for _, c := range m.Columns {
		if seen[c] || m.Vocabulary != nil && int(c) >= len(m.Vocabulary) {
			return fmt.Errorf("mkm: column %d twice or of no term, of %d", c, len(m.Vocabulary))
		}
		seen[c] = true
	}
	if err := m.Tokenizer.Validate(); err != nil {
		return fmt.Errorf("mkm: %w", err)
	}
	for i, l := range m.Layers {
		below := 0 // of the documents any number
		if i > 0 {
			below = m.Layers[i-1].Width()
		}
		if err := l.validate(below); err != nil {
			return fmt.Errorf("mkm: layer %d: %w", i+1, err)
		}
	}
	if m.Width() > MostWidth {
		return fmt.Errorf("mkm: %d features are classified, expected at most %d", m.Width(), MostWidth)
	}
	return m.validateFinal(s)
}

// validateFinal checks the classifier.
func (m *Model) validateFinal(s Settings) error {
	w := m.Width()
	found := []bool{m.Metric != nil, m.Nearest != nil, m.Machines != nil} // by Final
	for f, there := range found {
		if there != (Final(f) == s.Final) {
			return fmt.Errorf("mkm: a classifier %s is %t, expected %s alone", Final(f), there, s.Final)
		}
	}
	classes, columns := m.Classes, w
	switch s.Final {
	case Metric:
		if err := m.Metric.Validate(); err != nil {
			return fmt.Errorf("mkm: %w", err)
		}
		classes, columns = m.Metric.Classes, m.Metric.Columns
	case Machines:
		if err := m.Machines.Validate(); err != nil {
			return fmt.Errorf("mkm: %w", err)
		}
		classes, columns = m.Machines.Classes, m.Machines.Support.Cols
	case Neighbours:
		q := m.Nearest
		if q.K < 1 || q.K > mostNeighbours || len(q.Labels) == 0 || len(q.Features) != w*len(q.Labels) {
			return fmt.Errorf("mkm: %d neighbours of %d documents with %d numbers, expected from 1 to %d, and %d numbers",
				q.K, len(q.Labels), len(q.Features), mostNeighbours, w*len(q.Labels))
		}
		for i, y := range q.Labels {
			if y < 0 || int(y) >= len(m.Classes) {
				return fmt.Errorf("mkm: document %d is of class %d, of %d", i, y, len(m.Classes))
			}
		}
		for _, v := range q.Features {
			if v-v != 0 {
				return fmt.Errorf("mkm: the features hold %v, expected a finite number", v)
			}
		}
	}
	if columns != w {
		return fmt.Errorf("mkm: a classifier of %d features, expected %d", columns, w)
	}
	for _, name := range classes {
		if m.class(name) < 0 {
			return fmt.Errorf("mkm: a classifier with the class %q, expected one of the model's", name)
		}
	}
	return nil
}

// class is the number of a class, -1 for none.
func (m *Model) class(name string) int {
	for c, own := range m.Classes {
		if own == name {
			return c
		}
	}
	return -1
}

// validate checks a layer on so many features; 0 stands for any number.
func (l *Layer) validate(below int) error {
	if l == nil || l.Base == nil || l.Embedder == nil {
		return errors.New("it isn't there")
	}
	k, err := kernel.Parse(l.Kernel)
	if err != nil {
		return err
	}
	if err := l.Embedder.Validate(); err != nil {
		return err
	}
	if l.Embedder.Embedding != k.Embedding() {
		return fmt.Errorf("embedding %s, expected %s, that of kernel %s", l.Embedder, k.Embedding(), k)
	}
	if err := l.Base.Validate(); err != nil {
		return err
	}
	n, w := l.Base.Rows(), l.Width()
	if n < 1 || w < 1 || w > MostWidth || len(l.Map)/w != n || len(l.Map)%w != 0 || len(l.Components) != w ||
		below > 0 && l.Base.Cols != below {
		return fmt.Errorf("%d documents of %d columns, %d numbers for %d features of %d components", n, l.Base.Cols,
			len(l.Map), w, len(l.Components))
	}
	for _, values := range [][]float64{l.Map, l.Offsets, {l.Explained}} {
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("its map holds %v, expected finite numbers", v)
			}
		}
	}
	for _, c := range l.Components {
		if c < 0 {
			return fmt.Errorf("component %d, expected one from 0", c)
		}
	}
	return nil
}

// Predict classifies documents. Decisions are what decides, the greatest for the class: energies with
// their sign turned of a metric, decision values of machines, of neighbours 1 for the class. Terms of
// documents are numbered as in the training corpus. It has the same bits from any number of workers.
// m and docs must be valid. Errors: values that an embedding refuses, more memory than was allowed, the
// end of ctx, by which it stops within a second.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	found, err := PredictAll(ctx, []*Model{m}, docs, o)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}
