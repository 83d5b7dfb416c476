package lmnn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
)

// IterationChoice is the result of [ChooseIterations].
type IterationChoice struct {
	Iterations    int
	ErrorCount    int // number of test documents misclassified after this number of iterations
	DocumentCount int // number of test documents
}

func (c *IterationChoice) maxIterations() int { return 3*c.Iterations + 20 }

// ChooseIterations returns the number of iterations of [Train] with the fewest errors on test. Ties
// go to the smallest number. With few documents and many columns, a fully trained metric may
// overfit and have more errors than the Euclidean metric.
//
// ChooseIterations evaluates 1, 2, 3, 4, 5, 6, 8, 10, 13, … iterations. It stops if there are no
// errors, or after 3n + 20 iterations, where n is the best number so far. It needs the memory of
// Train plus the memory of Predict. Documents that don't have exactly one class are ignored. The
// result doesn't depend on the number of workers. ChooseIterations fails if Train fails, if there
// are no test documents, or if test and train differ in classes or number of columns.
func ChooseIterations(ctx context.Context, train, test *corpus.Corpus, s Settings, o Options) (IterationChoice, error) {
	rows, labels := singleLabel(test)
	p, m, by, err := prepare(ctx, train, s, o, len(rows))
	if err != nil {
		return IterationChoice{}, err
	}
	if len(rows) == 0 || test.Documents.Cols != m.Cols || !slices.Equal(test.Classes, m.Classes) {
		return IterationChoice{}, fmt.Errorf(
			"lmnn: validation has %d documents with one class, %d columns and %d classes, but "+
				"training has %d columns and %d classes", len(rows), test.Documents.Cols, len(test.Classes),
			m.Cols, len(m.Classes))
	}
	docs := test.Documents.SelectRows(rows)
	best, next := IterationChoice{DocumentCount: len(rows)}, 1
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
		for i, class := range found.ClassIndices {
			if int32(class) != labels[i] {
				wrong++
			}
		}
		if best.Iterations == 0 || wrong < best.ErrorCount {
			best.Iterations, best.ErrorCount = iterations, wrong
		}
		if best.ErrorCount == 0 || iterations >= best.maxIterations() {
			return errEnough
		}
		return nil
	}
	p.onIteration = look
	if tell := o.Progress; tell != nil {
		o.Progress = func(iterations, most int, value float64, near int64) {
			tell(iterations, min(most, best.maxIterations()), value, near)
		}
	}
	switch err := p.minimise(ctx, m, o); {
	case errors.Is(err, errEnough):
		return best, nil
	case err != nil:
		return IterationChoice{}, err
	}
	next = 1 // also evaluate the last iteration
	if err := look(ctx, max(m.Iterations, 1), m.Transform); err != nil && !errors.Is(err, errEnough) {
		return IterationChoice{}, err
	}
	return best, nil
}
