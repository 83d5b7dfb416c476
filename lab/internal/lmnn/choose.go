package lmnn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
)

// Choice is how many iterations [Choose] found best.
type Choice struct {
	Iterations int
	Wrong      int // test documents that are classified wrongly by energies then
	Documents  int // that were tested
}

// enough is how many iterations end the search, if no more are better.
func (c *Choice) enough() int { return 3*c.Iterations + 20 }

// Choose returns how many iterations of [Train] on some documents classify others with the fewest
// errors; of equal ones the fewest. Of few documents with many columns ε can be made small by what
// chance tells apart: a metric that was learnt to the end errs more than the Euclidean one then.
//
// It looks after 1, 2, 3, 4, 5, 6, 8, 10, 13, … iterations, each a third further, and ends where three
// times as many, and 20, found no fewer errors. Memory is that of Train and of Predict. Both corpora
// must have the same classes and columns; documents that don't have one class are left out. It has the
// same result from any number of workers. Errors are those of Train, and test documents of other
// classes or columns, or none.
func Choose(ctx context.Context, train, test *corpus.Corpus, s Settings, o Options) (Choice, error) {
	rows, labels := single(test)
	p, m, by, err := prepare(ctx, train, s, o, len(rows))
	if err != nil {
		return Choice{}, err
	}
	if len(rows) == 0 || test.Documents.Cols != m.Columns || !slices.Equal(test.Classes, m.Classes) {
		return Choice{}, fmt.Errorf("lmnn: %d documents with one class to choose by, of %d columns and %d classes, expected "+
			"some, and the %d columns and %d classes of training", len(rows), test.Documents.Cols, len(test.Classes),
			m.Columns, len(m.Classes))
	}
	docs := test.Documents.SelectRows(rows)
	best, next := Choice{Documents: len(rows)}, 1
	errEnough := errors.New("enough iterations")
	look := func(ctx context.Context, iterations int, l []float64) error {
		if iterations < next {
			return nil
		}
		for next <= iterations {
			next += max(1, next/3)
		}
		at := *m
		at.Transform = scaled(l, by)
		found, err := at.Predict(ctx, docs, Options{Workers: o.Workers})
		if err != nil {
			return err
		}
		wrong := 0
		for i, class := range found.Class {
			if int32(class) != labels[i] {
				wrong++
			}
		}
		if best.Iterations == 0 || wrong < best.Wrong {
			best.Iterations, best.Wrong = iterations, wrong
		}
		if best.Wrong == 0 || iterations >= best.enough() {
			return errEnough
		}
		return nil
	}
	p.look = look
	if tell := o.Progress; tell != nil {
		o.Progress = func(iterations, most int, value float64, near int64) {
			tell(iterations, min(most, best.enough()), value, near)
		}
	}
	switch err := p.learn(ctx, m, o); {
	case errors.Is(err, errEnough):
		return best, nil
	case err != nil:
		return Choice{}, err
	}
	next = 1 // the end is looked at, too
	if err := look(ctx, max(m.Iterations, 1), m.Transform); err != nil && !errors.Is(err, errEnough) {
		return Choice{}, err
	}
	return best, nil
}
