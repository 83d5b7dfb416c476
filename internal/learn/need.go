package learn

import (
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/learn/linear"
	"github.com/gramengine/gram/internal/learn/logistic"
	"github.com/gramengine/gram/internal/learn/svm"
)

// Need estimates the memory of a training on documents, these included: with so many values of C at a time, or of a
// cross-validation if folds isn't 0. It names an amount before the documents are read; learners check what they take.
func (l *Learner) Need(t Trainer, s corpus.Size, prices, folds, workers int) int64 {
	documents := s.Bytes()
	if folds > 0 && l.Type == "" {
		documents *= 2 // a fold's training documents are a copy
	}
	prices = max(prices, 1)
	switch t := t.(type) {
	case *machines:
		return svm.Need(s, workers, svm.Task{Settings: svm.Settings{Type: l.Type}, Folds: folds, Cells: prices})
	case *regression:
		return documents + logistic.Need(s, prices, workers)
	case *lines:
		return documents + linear.Need(s, prices, workers)
	case *landmarks:
		return documents + landmark.Need(s, t.Settings, prices, workers)
	}
	return 2*documents + engine.NewBytes(s.Documents, s.Terms+1, s.Values) // an engine for neighbours
}
