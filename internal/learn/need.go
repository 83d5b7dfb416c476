package learn

import (
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
)

// MemoryEstimator is a Trainer that estimates the memory needed for training.
type MemoryEstimator interface {
	Trainer

	// EstimateMemory implements [Learner.EstimateMemory]. documents is the size of the documents in
	// bytes.
	EstimateMemory(s corpus.Size, documents int64, count, folds, workers int) int64
}

// EstimateMemory estimates the memory in bytes to train with count values of C, including
// documents. If folds isn't 0, it estimates the memory of cross-validation. Call EstimateMemory
// before documents are read. During training, learners check the memory limit themselves.
func (l *Learner) EstimateMemory(t Trainer, s corpus.Size, count, folds, workers int) int64 {
	documents := s.Bytes()
	if folds > 0 && l.Type == "" {
		documents *= 2 // a fold's training documents are a copy
	}
	if own, ok := t.(MemoryEstimator); ok {
		return own.EstimateMemory(s, documents, max(count, 1), folds, workers)
	}
	return 2*documents + engine.MaxEngineBytes(s.Documents, s.Terms+1, s.Values) // as for nearest neighbours
}
