// Package width implements k-nearest-neighbour classification on the first w features. A single
// pass covers many widths w, and all k up to a maximum.
//
// Features, such as principal components, are sorted by descending importance. The distance
//
//	D_w(x, y) = Σ_c<w (x_c - y_c)²
//
// is computed by extending the sum for a smaller width. The list of the k nearest documents begins
// with the lists for smaller k. The predicted class has the most votes; ties go to the class of the
// nearest document. Documents at equal distances are ordered by index.
//
// Sums are computed in float64 in ascending order of c, so that they equal the formula bit for bit.
//
// Source: Cho, Kernel methods for deep learning, UCSD thesis 2012, §5.2.3.
package width

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/run"
)

// Options configures a search. The zero value selects the defaults.
type Options struct {
	// Widths lists numbers of features in ascending order. Default: multiples of 10 up to 300; if
	// there are fewer features, their number is the last width.
	Widths  []int
	MaxK    int // maximum k; default: 15
	Workers int // number of goroutines, which doesn't affect results; default: number of CPUs

	// Progress, if not nil, is called with the number of pairs compared so far and the total.
	Progress func(done, all int64)
}

func (o Options) resolve(features int) Options {
	if o.MaxK == 0 {
		o.MaxK = 15
	}
	o.Workers = run.NumWorkers(o.Workers)
	if o.Widths == nil {
		most := min(features, 300)
		for w := 10; w < most; w += 10 {
			o.Widths = append(o.Widths, w)
		}
		o.Widths = append(o.Widths, most)
	}
	return o
}

// Dataset is a set of documents with classes. Each row of Features is a document. No function
// modifies a Dataset.
type Dataset struct {
	Features *mat.Dense
	Labels   []int32 // class of each document, from 0
}

// ErrorTable holds the number of errors on test documents for each width and k.
type ErrorTable struct {
	Widths      []int
	ErrorCounts [][]int // number of errors, indexed by width and k-1
	TestCount   int     // number of test documents
}

// Best returns the width and k with the fewest errors. Ties go to the smaller width, then to the
// smaller k.
func (t *ErrorTable) Best() (width, k, wrong int) {
	wrong = -1
	for at, row := range t.ErrorCounts {
		for before, n := range row {
			if wrong < 0 || n < wrong {
				width, k, wrong = t.Widths[at], before+1, n
			}
		}
	}
	return width, k, wrong
}

// Search classifies test documents by their k nearest training documents, and counts the errors for
// each width and each k from 1 to Options.MaxK. If there are fewer than k training documents, all
// training documents vote. Search takes about a nanosecond per pair of documents and feature.
// Results don't depend on the number of workers. Search may be called concurrently.
//
// Both sets must have the same number of features, and all values must be finite. Search fails
// within a second after ctx is done.
func Search(ctx context.Context, train, test Dataset, o Options) (*ErrorTable, error) {
	s := newSearch(train, test.Features, o)
	t := &ErrorTable{Widths: slices.Clone(s.o.Widths), TestCount: len(test.Labels)}
	for range t.Widths {
		t.ErrorCounts = append(t.ErrorCounts, make([]int, s.o.MaxK))
	}
	err := s.run(ctx, func(i, at int, classes []int32) {
		for k, class := range classes {
			if class != test.Labels[i] {
				t.ErrorCounts[at][k]++
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Classify predicts the class of each row of test from the k nearest training documents. Distances
// use the first width features. Classify fails if Search fails.
func Classify(
	ctx context.Context, train Dataset, test *mat.Dense, width, k int, o Options,
) ([]int32, error) {
	o.Widths, o.MaxK = []int{width}, k
	s := newSearch(train, test, o)
	out := make([]int32, s.testRows)
	err := s.run(ctx, func(i, _ int, classes []int32) { out[i] = classes[k-1] })
	if err != nil {
		return nil, err
	}
	return out, nil
}
