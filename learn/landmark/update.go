package landmark

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gramengine/gram/learn/internal/task"
	"github.com/gramengine/gram/sparse"
)

// Update is [Train] from where the training of a model ended: its landmarks are looked for among the documents by
// their terms and counts, and begin with the coefficients that they had; where some are missing, others are drawn.
// found counts them. The machines are the optimum for these landmarks, to the tolerance.
//
// Errors: those of Train, a model that [Model.Validate] refuses, a corpus that has less than half of the landmarks.
func Update(
	ctx context.Context, c *sparse.Corpus, s Settings, old *Model, opt Options,
) (m *Model, found int, err error) {
	if err := old.Validate(); err != nil {
		return nil, 0, err
	}
	if s.Landmarks == 0 {
		s.Landmarks = old.Landmarks.Rows()
	}
	opt.Resume = nil
	t, err := newTraining(ctx, c, s, nil, nil, opt)
	if err != nil {
		return nil, 0, err
	}
	at, found, err := task.Match(ctx,
		&task.Contents{Count: old.Landmarks.Rows(), Row: old.Landmarks.Row, Terms: task.Terms(old.Embedder),
			Vocabulary: old.Vocabulary},
		&task.Contents{Count: len(t.rows), Row: func(i int) ([]uint32, []float32) { return c.Documents.Row(t.rows[i]) },
			Terms: task.Terms(t.x.Embedder), Vocabulary: c.Vocabulary},
		"landmarks", c.Source)
	if err != nil {
		return nil, 0, fmt.Errorf("landmark: %w", err)
	}
	t.old, t.place = old, map[int]int{}
	for k, i := range at {
		if i >= 0 {
			t.place[i] = k
		}
	}
	out, err := t.train(ctx)
	if err != nil {
		return nil, 0, err
	}
	return out[0], found, nil
}

// chooseAgain returns the landmarks of the model that was, in their order, and others where there are too few.
func (t *training) chooseAgain(r *rand.Rand) (chosen []int) {
	for i := range t.place {
		chosen = append(chosen, i)
	}
	slices.SortFunc(chosen, func(a, b int) int { return t.place[a] - t.place[b] })
	for _, i := range r.Perm(len(t.rows)) {
		if _, there := t.place[i]; !there && len(chosen) < t.s.Landmarks {
			chosen = append(chosen, i)
		}
	}
	return chosen[:min(len(chosen), t.s.Landmarks)]
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
