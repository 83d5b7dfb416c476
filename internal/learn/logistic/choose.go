package logistic

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/grouped"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Choice is what a cross-validation found for one C.
type Choice struct {
	model.Regularization
	Right  float64 // share of documents whose class was found; of labels the micro F1
	Losses float64 // mean log loss of a decision
}

// Choose cross-validates each C of prices, ascending, on folds, and returns what it found, in their
// order, and which is best: the one with the greatest Right, the least Losses of equals. Embeddings
// learn from all documents. Errors are those of [Train], and fewer than 2 folds or more than
// documents.
func Choose(
	ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, prices []float64, folds int, seed uint64,
	opt Options,
) (choices []Choice, best int, err error) {
	t, err := newTraining(ctx, c, e, s, prices, opt)
	if err != nil {
		return nil, 0, err
	}
	if folds < 2 || folds > len(t.rows) {
		return nil, 0, fmt.Errorf("logistic: %d folds of %d documents of %s, expected 2 to %d", folds, len(t.rows),
			c.Source, len(t.rows))
	}
	strata := make([]int, len(t.rows))
	for at, i := range t.rows {
		if strata[at] = len(c.Classes); len(c.Labels.Of(i)) > 0 {
			strata[at] = int(c.Labels.Of(i)[0])
		}
	}
	part := grouped.Folds(strata, run.Pick(c.Groups, t.rows), folds, seed)
	tallies := make([]tally, len(t.prices))
	for fold := range folds {
		var rows, held []int
		for at, f := range part {
			if f == fold {
				held = append(held, t.rows[at])
			} else {
				rows = append(rows, t.rows[at])
			}
		}
		p := t.problem(rows)
		p.loose = true
		machines, err := t.trainAll(ctx, p, rows, "choosing C", fold, folds)
		if err != nil {
			return nil, 0, err
		}
		for i := range t.prices {
			deciders := make([]*decider, len(machines))
			for k := range machines {
				deciders[k] = newDecider(machines[k][i], &t.s)
			}
			for _, row := range held {
				tallies[i].add(t, deciders, row)
			}
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
		}
	}
	for i, price := range t.prices {
		choice := Choice{Regularization: model.Regularization{C: price}}
		choice.Right, choice.Losses = tallies[i].figures(t.s.Scheme)
		choices = append(choices, choice)
		b := choices[best]
		if choice.Right > b.Right || choice.Right == b.Right && choice.Losses < b.Losses {
			best = i
		}
	}
	return choices, best, nil
}

// tally counts what was decided of documents that were held out.
type tally struct {
	documents, right int // of one class per document
	of, given, both  int // labels
	decisions        int
	losses           float64
}

// add decides on a document.
func (y *tally) add(t *training, deciders []*decider, row int) {
	top, greatest := 0, 0.0
	own := t.c.Labels.Of(row)
	for k, d := range deciders {
		f := d.decide(t.docs, row)
		is, m := slices.Contains(own, int32(k)), f
		if !is {
			m = -f
		}
		l, _ := loss(m)
		y.losses += l
		y.decisions++
		if k == 0 || f > greatest {
			top, greatest = k, f
		}
		if is {
			y.of++
		}
		if f > 0 {
			y.given++
			if is {
				y.both++
			}
		}
	}
	y.documents++
	if slices.Contains(own, int32(top)) {
		y.right++
	}
}

func (y *tally) figures(scheme solver.Scheme) (right, losses float64) {
	losses = y.losses / float64(max(y.decisions, 1))
	if scheme == solver.Labels {
		return 2 * float64(y.both) / float64(max(y.of+y.given, 1)), losses
	}
	return float64(y.right) / float64(max(y.documents, 1)), losses
}
