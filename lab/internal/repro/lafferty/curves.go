package lafferty

import (
	"context"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

// plan describes the measurement of a kernel.
type plan struct {
	tasks  []*task
	splits int       // number of random splits of each task
	c      []float64 // values of C in ascending order
	folds  int       // number of folds for cross-validation on training documents
	seed   uint64
}

// counts holds the numbers of test errors and of cross-validation errors, indexed by task, split,
// size and C.
type counts struct {
	test, folds [][][][]int
	trainings   int64
}

// measure trains and tests classifiers for all splits, tasks and sizes. Splits and tasks run in
// parallel. It calls done after each split.
func (p *plan) measure(ctx context.Context, m matrix, workers int, loops *asm.Kernels, done func()) (counts, error) {
	var out counts
	for range p.tasks {
		out.test, out.folds = append(out.test, make([][][]int, p.splits)), append(out.folds, make([][][]int, p.splits))
	}
	scratch := make([]curveWorker, workers)
	err := run.Tasks(ctx, workers, len(p.tasks)*p.splits, func(ctx context.Context, worker, at int) (err error) {
		w := &scratch[worker]
		w.plan, w.m, w.loops = p, m, loops
		t, s := at%len(p.tasks), at/len(p.tasks)
		out.test[t][s], out.folds[t][s], err = w.split(ctx, p.tasks[t], s)
		done()
		return err
	})
	for _, w := range scratch {
		out.trainings += w.trainings
	}
	return out, err
}

// curveWorker measures one split at a time, in its own buffers.
type curveWorker struct {
	plan  *plan
	m     matrix
	loops *asm.Kernels

	part      []float32 // kernel matrix of the training documents
	trainings int64
}

// split measures one random split of a task, identified by number. It returns the numbers of test
// errors and of cross-validation errors for each size and C.
func (w *curveWorker) split(ctx context.Context, t *task, number int) (test, folds [][]int, err error) {
	s := newSplit(t, w.plan.seed, number)
	for _, size := range t.sizes {
		set := w.trainingSet(s, size)
		machines, wrong, err := w.train(ctx, set)
		if err != nil {
			return nil, nil, err
		}
		sign := make([]int8, w.m.n) // labels of test documents: 1 or -1; 0 for other documents
		own, others := s.test(size)
		for _, d := range own {
			sign[d] = 1
		}
		for _, d := range others {
			sign[d] = -1
		}
		count := make([]int, len(w.plan.c))
		for c, machine := range machines {
			row := func(s int) []float32 { return w.m.row(set.docs[machine.Support[s]]) }
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

// trainingSet is a training set: positive documents, then negative documents, each sorted by fold.
type trainingSet struct {
	docs   []int
	labels []int // labels: 0 for positive, 1 for negative
	parts  []int // folds, from 1
}

// trainingSet returns the training set of the given size. Folds are assigned cyclically within each
// class, because the documents are already in random order.
func (w *curveWorker) trainingSet(s *split, size int) *trainingSet {
	set, folds, positive := &trainingSet{}, w.plan.folds, s.train(size)
	for class, docs := range [][]int{s.positive[:positive], s.negative[:size-positive]} {
		for f := range folds {
			fold := (f + class*positive) % folds // the negative documents continue the cycle of folds
			for i := f; i < len(docs); i += folds {
				set.docs, set.labels = append(set.docs, docs[i]), append(set.labels, class)
				set.parts = append(set.parts, 1+fold)
			}
		}
	}
	return set
}

// train returns the classifier and the number of cross-validation errors for each C.
func (w *curveWorker) train(ctx context.Context, set *trainingSet) ([]*solver.DecisionFunction, []int, error) {
	p, n := w.plan, len(set.docs)
	w.part = gather(w.part, w.m, set.docs)
	dense, err := solver.NewDense(n, w.part)
	if err != nil {
		return nil, nil, err
	}
	var pars []solver.Parameters
	for _, c := range p.c {
		pars = append(pars, solver.Parameters{Regularization: solver.Regularization{C: c}})
	}
	// Folds are numbered from 1. Fold 0 is empty, so its classifier is trained on all documents.
	trial := solver.Trial{Labels: set.labels, Classes: 2, Folds: set.parts}
	validations, err := trial.Validate(ctx, dense, pars, nil, solver.Options{Workers: 1, Kernels: w.loops,
		RowBytes: 64 << 20})
	if err != nil {
		return nil, nil, err
	}
	var machines []*solver.DecisionFunction
	wrong := make([]int, len(p.c))
	for c, v := range validations {
		machines = append(machines, v.Fits[0].Functions[0])
		for i, class := range v.Predicted {
			if class != set.labels[i] {
				wrong[c]++
			}
		}
		w.trainings += int64(len(v.Fits))
	}
	return machines, wrong, nil
}

// gather copies the submatrix of the listed documents to dst, and grows dst if needed.
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
