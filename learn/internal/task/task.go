// Package task is what learners with one machine per class have in common: which documents of a
// corpus they learn from, what each machine tells apart, and what follows from decision values.
package task

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gramengine/gram/learn/internal/archive"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Check returns the documents of a corpus to learn from: those with a class, or all for separate
// labels. Errors: a nil context, a corpus that [sparse.Corpus.Validate] refuses or that has no
// such documents, classes of one name, fewer of them than can be told apart, an embedding that
// isn't compared by dot products.
func Check(ctx context.Context, c *sparse.Corpus, e sparse.Embedding, scheme solver.Scheme) ([]int, error) {
	if ctx == nil {
		return nil, errors.New("a nil context, expected one")
	}
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if c == nil || c.Documents == nil || c.Documents.Rows() == 0 {
		return nil, errors.New("the corpus has no documents, expected at least one")
	}
	if err := c.Validate(); err != nil {
		return nil, fmt.Errorf("the corpus: %w", err)
	}
	if name, twice := archive.Repeated(c.Classes); twice {
		return nil, fmt.Errorf("two classes of %s are called %q, expected different names", c.Source, name)
	}
	least := 2
	if scheme == solver.Labels {
		least = 1
	}
	if len(c.Classes) < least {
		return nil, fmt.Errorf("%s has %d classes, expected at least %d", c.Source, len(c.Classes), least)
	}
	if e.Pairing != sparse.Dot {
		return nil, fmt.Errorf("embedding %s, expected one whose documents are compared by their dot product", e)
	}
	var rows []int
	for i := range c.Documents.Rows() {
		if len(c.Labels.Of(i)) > 0 || scheme == solver.Labels {
			rows = append(rows, i)
		}
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s has no labelled documents, expected at least one", c.Source)
	}
	return rows, nil
}

// Of says which of some documents are of class k.
func Of(c *sparse.Corpus, k int, rows []int) []bool {
	positive := make([]bool, len(rows))
	for at, i := range rows {
		positive[at] = slices.Contains(c.Labels.Of(i), int32(k))
	}
	return positive
}

// CheckPrices checks values of C.
func CheckPrices(prices []float64) error {
	for i, c := range prices {
		if !(c > 0) || i > 0 && !(c > prices[i-1]) {
			return fmt.Errorf("prices %v, expected numbers above 0 that ascend", prices)
		}
	}
	return nil
}

// Greatest returns the place of the greatest value, the first of equals.
func Greatest(f []float64) int {
	top := 0
	for k, v := range f {
		if v > f[top] {
			top = k
		}
	}
	return top
}

// Positive returns the places of values above 0, increasing.
func Positive(f []float64) []int {
	found := []int{}
	for k, v := range f {
		if v > 0 {
			found = append(found, k)
		}
	}
	return found
}
