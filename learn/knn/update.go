package knn

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/learn/internal/task"
	"github.com/gramengine/gram/sparse"
)

// Found counts the documents of a model that a corpus has, too, by their terms and counts. Errors: a corpus that has
// less than half of them, one that [sparse.Corpus.Validate] refuses, a model that [Model.Validate] refuses.
func Found(ctx context.Context, m *Model, c *sparse.Corpus) (int, error) {
	if err := m.Validate(); err != nil {
		return 0, err
	}
	if _, err := task.Check(ctx, c, sparse.Embedding{}, m.Settings.Scheme); err != nil {
		return 0, fmt.Errorf("knn: %w", err)
	}
	old, _ := m.Documents.TermFrequencies()
	all, _ := c.Documents.TermFrequencies()
	_, found, err := task.Match(ctx,
		&task.Contents{Count: m.Documents.Rows(), Row: m.Documents.Row, Terms: old, Vocabulary: m.Vocabulary},
		&task.Contents{Count: c.Documents.Rows(), Row: c.Documents.Row, Terms: all, Vocabulary: c.Vocabulary},
		"documents", c.Source)
	if err != nil {
		err = fmt.Errorf("knn: %w", err)
	}
	return found, err
}
