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

// Model is a trained model. It is immutable and may be used concurrently.
type Model struct {
	Settings Settings

	archive.Origin
	Choices []LevelChoice // indexed by level; len(Layers) + 1 entries

	// Columns lists the selected features of the documents, the most informative feature first. It
	// is nil if there is a layer and all features are selected.
	Columns []uint32
	Layers  []*Layer

	// Exactly one of these classifiers is set.
	KNN  *KNN
	LMNN *lmnn.Model
	SVM  *model.Model
}

// Width returns the number of features that the classifier uses.
func (m *Model) Width() int {
	if n := len(m.Layers); n > 0 {
		return m.Layers[n-1].Width()
	}
	return len(m.Columns)
}

// Bytes returns the approximate size of the model in memory.
func (m *Model) Bytes() int64 {
	bytes := 4 * int64(len(m.Columns))
	for _, l := range m.Layers {
		bytes += l.Bytes()
	}
	if m.KNN != nil {
		bytes += 4 * int64(len(m.KNN.Features)+len(m.KNN.Labels))
	}
	if m.LMNN != nil {
		bytes += m.LMNN.Bytes()
	}
	if m.SVM != nil {
		bytes += m.SVM.Support.Bytes()
	}
	return bytes
}

// Validate returns an error if settings are out of range, numbers of features are inconsistent,
// values are infinite or NaN, or the classifier doesn't match the settings, features or classes.
func (m *Model) Validate() error {
	s, _, err := m.Settings.resolve()
	if err != nil {
		return err
	}
	switch {
	case len(m.Layers) != len(s.Layers) || len(m.Choices) != len(s.Layers)+1:
		return fmt.Errorf("mkm: the model has %d layers and %d choices, but needs %d and %d", len(m.Layers), len(m.Choices),
			len(s.Layers), len(s.Layers)+1)
	case m.Columns == nil && (!s.KeepAllFeatures || len(m.Layers) == 0) || m.NumDocuments < 1:
		return fmt.Errorf("mkm: model must have columns and at least one document, got %d documents", m.NumDocuments)
	}
	if len(m.Classes) < 2 {
		return fmt.Errorf("mkm: at least two classes are required, got %d", len(m.Classes))
	}
	if name, twice := archive.FindDuplicate(m.Classes); twice {
		return fmt.Errorf("mkm: class names must be unique, but %q is repeated", name)
	}
	seen := map[uint32]bool{}
	for _, c := range m.Columns {
		if seen[c] || m.Vocabulary != nil && int(c) >= len(m.Vocabulary) {
			return fmt.Errorf("mkm: column %d occurs twice or exceeds the vocabulary of %d terms", c, len(m.Vocabulary))
		}
		seen[c] = true
	}
	if err := m.Tokenizer.Validate(); err != nil {
		return fmt.Errorf("mkm: %w", err)
	}
	for i, l := range m.Layers {
		below := 0
		if i > 0 {
			below = m.Layers[i-1].Width()
		}
		if err := l.validate(below); err != nil {
			return fmt.Errorf("mkm: layer %d: %w", i+1, err)
		}
	}
	if m.Width() > MaxWidth {
		return fmt.Errorf("mkm: the final classifier has %d features; the maximum is %d", m.Width(), MaxWidth)
	}
	return m.validateClassifier(s)
}

func (m *Model) validateClassifier(s Settings) error {
	w := m.Width()
	found := []bool{m.LMNN != nil, m.KNN != nil, m.SVM != nil} // indexed by FinalClassifier
	for f, there := range found {
		if final := FinalClassifier(f); !there && final == s.Classifier {
			return fmt.Errorf("mkm: the model has no classifier %s, which its settings require", final)
		} else if there && final != s.Classifier {
			return fmt.Errorf("mkm: the model has a classifier %s, but its settings require only %s", final, s.Classifier)
		}
	}
	classes, columns := m.Classes, w
	switch s.Classifier {
	case FinalLMNN:
		if err := m.LMNN.Validate(); err != nil {
			return fmt.Errorf("mkm: %w", err)
		}
		classes, columns = m.LMNN.Classes, m.LMNN.Cols
	case FinalSVM:
		if err := m.SVM.Validate(); err != nil {
			return fmt.Errorf("mkm: %w", err)
		}
		classes, columns = m.SVM.Classes, m.SVM.Support.Cols
	case FinalKNN:
		q := m.KNN
		if q.K < 1 || q.K > maxNeighbours {
			return fmt.Errorf("mkm: number of neighbours must be between 1 and %d, got %d", maxNeighbours, q.K)
		}
		if len(q.Labels) == 0 || len(q.Features) != w*len(q.Labels) {
			return fmt.Errorf("mkm: got %d values for %d documents with %d features", len(q.Features), len(q.Labels), w)
		}
		for i, y := range q.Labels {
			if y < 0 || int(y) >= len(m.Classes) {
				return fmt.Errorf("mkm: document %d has class %d, but there are only %d classes", i, y, len(m.Classes))
			}
		}
		for _, v := range q.Features {
			if v-v != 0 {
				return fmt.Errorf("mkm: features must be finite, got %v", v)
			}
		}
	}
	if columns != w {
		return fmt.Errorf("mkm: the final classifier has %d features, but the last layer has %d", columns, w)
	}
	for _, name := range classes {
		if m.classIndex(name) < 0 {
			return fmt.Errorf("mkm: the final classifier has class %q, but the model does not", name)
		}
	}
	return nil
}

func (m *Model) classIndex(name string) int {
	for c, own := range m.Classes {
		if own == name {
			return c
		}
	}
	return -1
}

// validate checks a layer. below is the number of input features; 0 allows any number.
func (l *Layer) validate(below int) error {
	if l == nil || l.Base == nil || l.Embedder == nil {
		return errors.New("the layer is missing")
	}
	k, err := kernel.Parse(l.Kernel)
	if err != nil {
		return err
	}
	if err := l.Embedder.Validate(); err != nil {
		return err
	}
	if l.Embedder.Embedding != k.Embedding() {
		return fmt.Errorf("embedding is %s, but kernel %s needs %s", l.Embedder, k, k.Embedding())
	}
	if err := l.Base.Validate(); err != nil {
		return err
	}
	n, w := l.Base.Rows(), l.Width()
	if n < 1 || w < 1 || w > MaxWidth || len(l.Projection)/w != n || len(l.Projection)%w != 0 || len(l.Components) != w ||
		below > 0 && l.Base.Cols != below {
		return fmt.Errorf("sizes do not match: %d documents, %d columns, %d map values, %d features, %d components", n,
			l.Base.Cols, len(l.Projection), w, len(l.Components))
	}
	for _, values := range [][]float64{l.Projection, l.Offsets, {l.ExplainedVarianceRatio}} {
		for _, v := range values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("values of the map must be finite, got %v", v)
			}
		}
	}
	for _, c := range l.Components {
		if c < 0 {
			return fmt.Errorf("index of a component must be nonnegative, got %d", c)
		}
	}
	return nil
}

// Predict classifies documents. The predicted class has the largest decision value. A metric's
// decision values are negated energies. Nearest neighbours give 1 to the class with the most votes.
// Columns must be numbered as in the training corpus. Results are bit-identical for any number of
// workers. Predict fails if an embedding doesn't support a value, if memory is insufficient, and
// soon after ctx is done.
func (m *Model) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	found, err := PredictAll(ctx, []*Model{m}, docs, o)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}
