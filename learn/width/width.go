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
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/run"
)

// MostNeighbours bounds Options.Neighbours.
const MostNeighbours = 1 << 10

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

// resolve fills in defaults and checks what is there.
func (o Options) resolve(features int) (Options, error) {
	if o.Neighbours == 0 {
		o.Neighbours = 15
	}
	o.Workers = run.Workers(o.Workers)
	if o.Neighbours < 1 || o.Neighbours > MostNeighbours || o.Workers < 1 {
		return o, fmt.Errorf("width: %d neighbours on %d workers, expected from 1 to %d, and no workers below 0",
			o.Neighbours, o.Workers, MostNeighbours)
	}
	if o.Widths == nil {
		most := min(features, 300)
		for w := 10; w < most; w += 10 {
			o.Widths = append(o.Widths, w)
		}
		o.Widths = append(o.Widths, most)
	}
	before := 0
	for _, w := range o.Widths {
		if w <= before || w > features {
			return o, fmt.Errorf("width: %d features after %d, expected widths that ascend from 1 to %d", w, before, features)
		}
		before = w
	}
	if before == 0 {
		return o, errors.New("width: no widths, expected some")
	}
	return o, nil
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
// Errors: sets without documents, of different features, with labels that don't fit or features that
// aren't finite or beyond 10¹⁵⁰, options out of range, the end of ctx, by which it stops within a second.
func Search(ctx context.Context, train, test Set, o Options) (*Table, error) {
	if err := test.check("test"); err != nil {
		return nil, err
	}
	s, err := newSearch(train, test.Features, &o)
	if err != nil {
		return nil, err
	}
	t := &Table{Widths: slices.Clone(o.Widths), Test: len(test.Labels)}
	for range o.Widths {
		t.Wrong = append(t.Wrong, make([]int, o.Neighbours))
	}
	err = s.run(ctx, func(i, at int, classes []int32) {
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
	if k < 1 {
		return nil, fmt.Errorf("width: %d neighbours, expected 1 at least", k)
	}
	s, err := newSearch(train, test, &o)
	if err != nil {
		return nil, err
	}
	out := make([]int32, s.rows)
	err = s.run(ctx, func(i, _ int, classes []int32) { out[i] = classes[k-1] })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// mostClasses bounds labels: a worker has a count for each.
const mostClasses = 1 << 20

// check checks a set: a label for each row, in range.
func (s Set) check(what string) error {
	if s.Features == nil || s.Features.IsEmpty() {
		return fmt.Errorf("width: no %s documents, expected one at least", what)
	}
	if rows, _ := s.Features.Dims(); len(s.Labels) != rows {
		return fmt.Errorf("width: %d labels of %d %s documents", len(s.Labels), rows, what)
	}
	for i, class := range s.Labels {
		if class < 0 || class >= mostClasses {
			return fmt.Errorf("width: %s document %d is of class %d, expected one from 0 to %d", what, i, class, mostClasses-1)
		}
	}
	return nil
}

// greatest bounds features, so that distances don't overflow.
const greatest = 1e150

// inRange checks the features of a set.
func inRange(what string, features *mat.Dense) error {
	rows, _ := features.Dims()
	for i := range rows {
		for c, v := range features.RawRowView(i) {
			if !(math.Abs(v) <= greatest) {
				return fmt.Errorf("width: feature %d of %s document %d is %v, expected a number from -%g to %g", c, what, i, v,
					greatest, greatest)
			}
		}
	}
	return nil
}
