package solver

import (
	"context"
	"math/rand/v2"
)

// Folds divides documents into k parts of nearly equal size in which classes are as frequent as in the whole, up to one document each: the documents of
// each class are shuffled and dealt out in turn. It returns the part, 0 … k-1, of each document, and -1 for those with class -1. The same seed gives the
// same parts on every platform.
func Folds(labels []int, k int, seed uint64) []int {
	classes := 0
	for _, c := range labels {
		classes = max(classes, c+1)
	}
	members := make([][]int, classes)
	fold := make([]int, len(labels))
	for i, c := range labels {
		fold[i] = -1
		if c >= 0 {
			members[c] = append(members[c], i)
		}
	}
	r := rand.New(rand.NewPCG(seed, uint64(k)))
	next := 0
	for _, docs := range members {
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		for _, i := range docs {
			fold[i] = next
			next = (next + 1) % k
		}
	}
	return fold
}

// Validation is the result of a cross-validation.
type Validation struct {
	Predicted []int         // by document: its class by the classifier that was trained without its part; -1 where it has no part
	Fits      []*Classifier // by part: the classifier that was trained without it
}

// Right returns how many of the documents that have a part were given their own class, and how many there are.
func (v *Validation) Right(labels []int) (right, of int) {
	for i, c := range v.Predicted {
		if c >= 0 {
			of++
			if c == labels[i] {
				right++
			}
		}
	}
	return right, of
}

// CrossValidate trains, for each part f that folds names, a classifier on the labelled documents of all other parts, and predicts those of f. start, if not nil, is the
// validation of the same parts for another C, from whose coefficients the searches begin. Otherwise it is as [Train].
func CrossValidate(ctx context.Context, m Matrix, labels []int, classes int, scheme Scheme, par Parameters, folds []int, start *Validation, opt Options) (*Validation, error) {
	if len(folds) != len(labels) {
		return nil, errUser("parts of %d documents with %d labels", len(folds), len(labels))
	}
	full, err := opt.resolve()
	if err != nil {
		return nil, err
	}
	parts := 0
	for _, f := range folds {
		parts = max(parts, f+1)
	}
	if parts < 2 {
		return nil, errUser("%d part of the documents, expected two or more", parts)
	}
	if start != nil && len(start.Fits) != parts {
		return nil, errUser("a start of %d parts, expected %d", len(start.Fits), parts)
	}
	v := &Validation{Predicted: make([]int, len(labels))}
	rest := make([]int, len(labels))
	for f := range parts {
		var held []int
		for i, c := range labels {
			rest[i] = c
			if folds[i] == f || folds[i] < 0 {
				rest[i] = -1
			}
			switch {
			case folds[i] < 0 || c < 0:
				v.Predicted[i] = -1
			case folds[i] == f:
				held = append(held, i)
			}
		}
		var from *Classifier
		if start != nil {
			from = start.Fits[f]
		}
		fit, err := Train(ctx, m, rest, classes, scheme, par, from, opt)
		if err != nil {
			return nil, err
		}
		v.Fits = append(v.Fits, fit)
		if err := fit.predictRows(ctx, m, held, &full, func(i int, decisions []float64) { v.Predicted[i] = fit.Decide(decisions) }); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// predictBytes bounds the rows that are predicted from at a time.
const predictBytes = 64 << 20

// predictRows calls each with the decision values of documents of the matrix, one after the other.
func (c *Classifier) predictRows(ctx context.Context, m Matrix, docs []int, opt *Options, each func(i int, decisions []float64)) error {
	support := c.Support()
	if len(support) == 0 {
		for _, i := range docs {
			decisions := make([]float64, len(c.Machines))
			for j, machine := range c.Machines {
				if machine != nil {
					decisions[j] = -machine.Rho
				}
			}
			each(i, decisions)
		}
		return nil
	}
	p, err := c.NewPredictor(support, opt.Kernels)
	if err != nil {
		return err
	}
	rows := newRowStore(m, support, 0, nil)
	some := max(min(len(docs), int(min(opt.RowBytes, predictBytes)/(4*int64(len(support))))), 1)
	panel, out := make([][]float32, some), make([][]float64, some)
	for r := range panel {
		panel[r], out[r] = make([]float32, len(support)), make([]float64, len(c.Machines))
	}
	for len(docs) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(some, len(docs))
		if err := rows.read(ctx, docs[:n], panel[:n]); err != nil {
			return err
		}
		if err := p.Decide(panel[:n], out[:n], opt.Workers); err != nil {
			return err
		}
		for r, i := range docs[:n] {
			each(i, out[r])
		}
		docs = docs[n:]
	}
	return nil
}
