package tune

import (
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/grouped"
	"github.com/gramengine/gram/sparse"
)

// DefaultFolds is the number of folds if none is given.
const DefaultFolds = 5

// Strata returns the first class of each of n documents. A document without one is of the class after the last if
// labels are separate, and else of class -1.
func Strata(labels sparse.Labels, n, classes int, separate bool) []int {
	out := make([]int, n)
	for i := range out {
		switch own := labels.Of(i); {
		case len(own) > 0:
			out[i] = int(own[0])
		case separate:
			out[i] = classes
		default:
			out[i] = -1
		}
	}
	return out
}

// Folds returns the fold of each of n documents, of which c has labels and groups. Each fold has a part of each class,
// in a regression of all documents. A document without a class is in fold -1 unless labels are separate. The documents
// of a group are in one fold.
func Folds(c *corpus.Corpus, n int, m Measure, folds int, seed uint64) ([]int, error) {
	classes := make([]int, n)
	if m != MeanSquaredError {
		classes = Strata(c.Labels, n, len(c.Classes), m == MicroF1)
	}
	usable, what, seen := 0, "labelled documents", map[int64]bool{}
	for i, class := range classes {
		switch {
		case class < 0:
		case c.Groups == nil:
			usable++
		case !seen[c.Groups[i]]:
			seen[c.Groups[i]] = true
			usable++
		}
	}
	if c.Groups != nil {
		what = "groups of labelled documents"
	}
	switch {
	case usable < 2:
		return nil, fmt.Errorf("tune: %s: %s: %d, expected at least 2, for as many folds", c.Source, what, usable)
	case folds < 2 || folds > usable:
		return nil, fmt.Errorf("tune: %s: %d folds of %d %s, expected 2 to %d", c.Source, folds, usable, what, usable)
	}
	return grouped.Folds(classes, c.Groups, folds, seed), nil
}
