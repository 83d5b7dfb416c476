// Package width searches the number of features and of neighbours that classify best: the k nearest
// documents by the first w features, for all k up to some number and many w at a time.
//
// Features stand in an order, the most useful first: principal components, or a selection. With
//
//	D_w(x, y) = Σ_c<w (x_c - y_c)²
//
// each distance goes on from the one before, so that one pass over the pairs of documents serves all
// widths, and the k nearest of a width begin the list for a greater k. The class with the most of k
// votes wins, of equal ones that of the nearest document; of documents at equal distances the first is
// the nearest.
//
// Sums are float64, one feature after the other, so distances and with them all results are to the bit
// those of the formula as it stands. What doesn't live here: the order of features (packages pca and
// selection), kernels and votes by weight (package knn), a metric that is learnt (package lmnn).
//
// Source: Cho, Kernel methods for deep learning, UCSD thesis 2012, §5.2.3.
package width

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/run"
)

// Options say what is searched, and how. The zero value works.
type Options struct {
	// Widths are numbers of features, ascending; default 10, 20, … up to 300 and to the features there
	// are, of which the last is one.
	Widths     []int
	Neighbours int // the greatest k; default 15
	Workers    int // goroutines; default one a processor. Results don't depend on it

	// Progress, if not nil, is called now and then with the pairs of documents so far and of all.
	Progress func(done, all int64)
}

// resolve fills in defaults.
func (o Options) resolve(features int) Options {
	if o.Neighbours == 0 {
		o.Neighbours = 15
	}
	o.Workers = run.Workers(o.Workers)
	if o.Widths == nil {
		most := min(features, 300)
		for w := 10; w < most; w += 10 {
			o.Widths = append(o.Widths, w)
		}
		o.Widths = append(o.Widths, most)
	}
	return o
}

// Set is documents with their classes: a row of features for each. Rows and labels aren't altered.
type Set struct {
	Features *mat.Dense
	Labels   []int32 // classes, from 0 on
}

// Table are the errors on test documents.
type Table struct {
	Widths []int
	Wrong  [][]int // by width, by k-1: documents that are classified wrongly
	Test   int     // documents
}

// Best returns the width and k with the fewest errors, of equal ones the fewest features, then the
// fewest neighbours.
func (t *Table) Best() (width, k, wrong int) {
	wrong = -1
	for at, row := range t.Wrong {
		for before, n := range row {
			if wrong < 0 || n < wrong {
				width, k, wrong = t.Widths[at], before+1, n
			}
		}
	}
	return width, k, wrong
}

// Search counts the test documents that their nearest training documents classify wrongly, for each
// width and each k from 1 to Options.Neighbours; with fewer training documents than k all vote. It
// takes about a nanosecond for each pair and feature, and memory for a few thousand lists of neighbours
// on each worker. Results have the same bits from any number of workers. It may be called concurrently.
//
// Both sets have documents of the same features, which are finite, and a class for each; widths ascend. It ends within
// a second after ctx is done, with its error.
func Search(ctx context.Context, train, test Set, o Options) (*Table, error) {
	s := newSearch(train, test.Features, o)
	t := &Table{Widths: slices.Clone(s.o.Widths), Test: len(test.Labels)}
	for range t.Widths {
		t.Wrong = append(t.Wrong, make([]int, s.o.Neighbours))
	}
	err := s.run(ctx, func(i, at int, classes []int32) {
		for k, class := range classes {
			if class != test.Labels[i] {
				t.Wrong[at][k]++
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Classify returns the class of each row of test by its k nearest training documents in the first
// width features: what [Search] counts. Errors are those of Search.
func Classify(
	ctx context.Context, train Set, test *mat.Dense, width, k int, o Options,
) ([]int32, error) {
	o.Widths, o.Neighbours = []int{width}, k
	s := newSearch(train, test, o)
	out := make([]int32, s.rows)
	err := s.run(ctx, func(i, _ int, classes []int32) { out[i] = classes[k-1] })
	if err != nil {
		return nil, err
	}
	return out, nil
}
