package lmnn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
)

// Choice is the result of [Choose].
type Choice struct {
	Iterations int
	Wrong      int // number of test documents misclassified after this number of iterations
	Documents  int // number of test documents
}

// enough returns the number of iterations after which Choose stops.
func (c *Choice) enough() int { return 3*c.Iterations + 20 }

// Choose returns the number of iterations of [Train] with the fewest errors on test documents. Ties
// go to the smallest number. With few documents and many columns, a fully trained metric overfits,
// and may have more errors than the Euclidean metric.
//
// Choose evaluates 1, 2, 3, 4, 5, 6, 8, 10, 13, … iterations. It stops if there are no errors, or
// after 3n + 20 iterations, where n is the best number so far. It needs the memory of Train plus
// the memory of Predict. Documents that don't have exactly one class are ignored. The result
// doesn't depend on the number of workers. Choose fails if Train fails, if there are no test
// documents, or if test and train differ in classes or number of columns.
func Choose(ctx context.Context, train, test *corpus.Corpus, s Settings, o Options) (Choice, error) {
	rows, labels := single(test)
	p, m, by, err := prepare(ctx, train, s, o, len(rows))
	if err != nil {
		return Choice{}, err
	}
	if len(rows) == 0 || test.Documents.Cols != m.Columns || !slices.Equal(test.Classes, m.Classes) {
		return Choice{}, fmt.Errorf("lmnn: validation has %d documents with one class, %d columns and %d classes, but "+
			"training has %d columns and %d classes", len(rows), test.Documents.Cols, len(test.Classes),
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
	next = 1 // also evaluate the last iteration
	if err := look(ctx, max(m.Iterations, 1), m.Transform); err != nil && !errors.Is(err, errEnough) {
		return Choice{}, err
	}
	return best, nil
}
