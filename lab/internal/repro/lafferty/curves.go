package lafferty

import (
	"context"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

// plan is what is measured with one kernel. Its tasks have enough documents for all sizes, see
// [task.check].
type plan struct {
	Tasks  []*task
	Splits int       // random splits of each task
	C      []float64 // increasing
	Folds  int       // of the cross-validation on the training documents; 0 for none
	Seed   uint64
}

// result counts wrong decisions by task, split, size and C: on the test set, and on training
// documents by machines trained without their fold.
type result struct {
	Test, Folds [][][][]int
	Trainings   int64
}

// counts returns room for results by task and split.
func (p *plan) counts() [][][][]int {
	counts := make([][][][]int, len(p.Tasks))
	for t := range counts {
		counts[t] = make([][][]int, p.Splits)
	}
	return counts
}

// measure trains and tests on all splits, tasks and sizes, in parallel over splits of tasks. It
// calls done for each of them that is complete, from any goroutine.
func (p *plan) measure(ctx context.Context, m matrix, workers int, loops *asm.Kernels, done func()) (result, error) {
	out := result{Test: p.counts(), Folds: p.counts()}
	scratch := make([]curveWorker, workers)
	err := run.Tasks(ctx, workers, len(p.Tasks)*p.Splits, func(ctx context.Context, worker, at int) (err error) {
		w := &scratch[worker]
		w.plan, w.m, w.loops = p, m, loops
		t, s := at%len(p.Tasks), at/len(p.Tasks)
		if out.Test[t][s], out.Folds[t][s], err = w.split(ctx, p.Tasks[t], s); err == nil {
			done()
		}
		return err
	})
	for _, w := range scratch {
		out.Trainings += w.trainings
	}
	return out, err
}

// curveWorker measures one split after the other.
type curveWorker struct {
	plan  *plan
	m     matrix
	loops *asm.Kernels

	whole, part []float32 // matrices of training documents
	trainings   int64
}

// split returns the wrong decisions for all sizes and C of one split of a task.
//
// It gathers the matrix of the greatest training set once. Those of smaller ones are parts of it,
// since their documents are.
func (w *curveWorker) split(ctx context.Context, t *task, number int) (test, folds [][]int, err error) {
	p := w.plan
	s := newSplit(t, p.Seed, number)
	most := t.Sizes[len(t.Sizes)-1]
	positive := s.train(most)
	docs := slices.Concat(s.Positive[:positive], s.Negative[:most-positive])
	w.whole = gather(w.whole, w.m, docs)
	for _, size := range t.Sizes {
		set := w.trainingSet(s, size, positive)
		machines, wrong, err := w.train(ctx, set, most)
		if err != nil {
			return nil, nil, err
		}
		sign := make([]int8, w.m.n) // of the test documents
		own, others := s.test(size)
		for _, d := range own {
			sign[d] = 1
		}
		for _, d := range others {
			sign[d] = -1
		}
		count := make([]int, len(p.C))
		for c, machine := range machines {
			row := func(s int) []float32 { return w.m.row(docs[set.places[machine.Support[s]]]) }
			decide(w.loops, machine, w.m.n, row, func(j int, value float64) {
				if sign[j] == 1 && !(value > 0) || sign[j] == -1 && value > 0 {
					count[c]++
				}
			})
		}
		test, folds = append(test, count), append(folds, wrong)
	}
	return test, folds, nil
}

// trainingSet is a training set: the places of its documents in the matrix of the greatest one,
// first the positive ones, in each class fold by fold.
type trainingSet struct {
	places []int
	labels []int // 0 for positive, 1 for others
	parts  []int // folds from 1 on
}

// trainingSet returns the set of a size. others is the place of the first negative document of the
// greatest set. Folds are dealt out in each class, so that both are in them as evenly as can be;
// the documents are in random order already.
func (w *curveWorker) trainingSet(s *split, size, others int) *trainingSet {
	set, folds, positive := &trainingSet{}, max(w.plan.Folds, 1), s.train(size)
	for class, run := range [2][2]int{{0, positive}, {others, size - positive}} {
		for f := range folds {
			fold := (f + class*positive) % folds // the second class deals on where the first ended
			for i := f; i < run[1]; i += folds {
				set.places, set.labels = append(set.places, run[0]+i), append(set.labels, class)
				set.parts = append(set.parts, 1+fold)
			}
		}
	}
	return set
}

// train returns the machines of all C and, for each C, how many training documents were decided
// wrongly by machines trained without their fold. Machines are trained one after the other by
// growing C, each from the one before.
func (w *curveWorker) train(ctx context.Context, set *trainingSet, most int) ([]*solver.Machine, []int, error) {
	p, n := w.plan, len(set.places)
	w.part = gather(w.part, matrix{most, w.whole}, set.places)
	dense, err := solver.NewDense(n, w.part)
	if err != nil {
		return nil, nil, err
	}
	opt := solver.Options{Workers: 1, Kernels: w.loops, RowBytes: 64 << 20}
	machines, wrong := make([]*solver.Machine, len(p.C)), make([]int, len(p.C))
	if p.Folds == 0 {
		training := solver.Training{Labels: set.labels, Classes: 2}
		for c, price := range p.C {
			training.C = price
			if training.Start, err = solver.Train(ctx, dense, training, opt); err != nil {
				return nil, nil, err
			}
			machines[c] = training.Start.Machines[0]
			w.trainings++
		}
		return machines, wrong, nil
	}
	var pars []solver.Parameters
	for _, c := range p.C {
		pars = append(pars, solver.Parameters{C: c})
	}
	// Part 0 has no documents: what is trained without it is trained on all.
	trial := solver.Trial{Labels: set.labels, Classes: 2, Parts: set.parts}
	validations, err := trial.Validate(ctx, dense, pars, nil, opt)
	for c, v := range validations {
		machines[c] = v.Fits[0].Machines[0]
		for i, class := range v.Predicted {
			if class != set.labels[i] {
				wrong[c]++
			}
		}
		w.trainings += int64(len(v.Fits))
	}
	return machines, wrong, err
}

// gather writes the part of a symmetric matrix with the given rows and columns to dst, which grows
// where it is too short.
func gather(dst []float32, m matrix, docs []int) []float32 {
	n := len(docs)
	dst = slices.Grow(dst[:0], n*n)[:n*n]
	for r, i := range docs {
		row, to := m.row(i), dst[r*n:(r+1)*n]
		for c, j := range docs {
			to[c] = row[j]
		}
	}
	return dst
}
