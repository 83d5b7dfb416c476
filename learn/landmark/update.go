package landmark

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gramengine/gram/sparse"
)

// Update is [Train] from where the training of a model ended: document at[k] of the corpus is landmark k, which begins
// with its coefficients; below 0 it isn't there, and others are drawn. The machines are the optimum for these
// landmarks, to the tolerance.
//
// Errors: those of Train, a model that [Model.Validate] refuses, documents that the corpus doesn't have.
func Update(
	ctx context.Context, c *sparse.Corpus, s Settings, old *Model, at []int, opt Options,
) (*Model, error) {
	if err := old.Validate(); err != nil {
		return nil, err
	}
	if s.Landmarks == 0 {
		s.Landmarks = old.Landmarks.Rows()
	}
	opt.Resume = nil
	t, err := newTraining(ctx, c, s, nil, nil, opt)
	if err != nil {
		return nil, err
	}
	t.old, t.place = old, map[int]int{}
	for k, d := range at {
		if k >= old.Landmarks.Rows() || d >= c.Documents.Rows() {
			return nil, fmt.Errorf("landmark: document %d for landmark %d, expected one of %d for each of %d", d, k,
				c.Documents.Rows(), old.Landmarks.Rows())
		}
		if row, there := slices.BinarySearch(t.rows, d); there {
			t.place[row] = k
		}
	}
	models, err := t.train(ctx)
	if err != nil {
		return nil, err
	}
	return models[0], nil
}

// chooseAgain returns the landmarks of the model that are there, in their order, and others where there are too few.
func (t *training) chooseAgain(r *rand.Rand) (chosen []int) {
	for i := range t.place {
		chosen = append(chosen, i)
	}
	slices.SortFunc(chosen, func(a, b int) int { return t.place[a] - t.place[b] })
	for _, i := range r.Perm(len(t.rows)) {
		if _, there := t.place[i]; !there {
			chosen = append(chosen, i)
		}
	}
	return chosen[:t.s.Landmarks]
}

// beginAgain puts columns where the machines of the model were, and takes a pass for their gradients at f = 0, by
// which it is measured how small those at the end are.
func (t *training) beginAgain(ctx context.Context) error {
	gradients, err := t.gradients(ctx, t.all, nil, 0)
	if err != nil {
		return err
	}
	for i, c := range t.all {
		c.zero = gradients[i]
		floats.Scale(1/c.price, c.zero)
		class := slices.Index(t.old.Classes, t.c.Classes[c.class])
		if class < 0 {
			continue
		}
		alpha := make([]float64, len(t.chosen))
		for j, at := range t.chosen {
			if k, there := t.place[at]; there {
				alpha[j] = t.old.Machines[class].Coefficients[k]
			}
		}
		if c.u, err = t.factor.Times(ctx, t.do, alpha, false); err != nil {
			return err
		}
	}
	return nil
}
