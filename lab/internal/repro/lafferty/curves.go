package lafferty

import (
	"context"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

type plan struct {
	tasks      []*task
	splitCount int       // number of random splits of each task
	cValues    []float64 // values of C in ascending order
	foldCount  int       // number of folds for cross-validation on training documents
	seed       uint64
}

// errorCounts holds the numbers of test errors and of cross-validation errors, indexed by task,
// split, size and C.
type errorCounts struct {
	test, crossValidation [][][][]int
	classifierCount       int64
}

// measure trains and tests classifiers for all splits, tasks and sizes. Splits and tasks run in
// parallel. It calls done after each split.
func (p *plan) measure(
	ctx context.Context, m matrix, workers int, loops *asm.Kernels, done func(),
) (errorCounts, error) {
	var out errorCounts
	for range p.tasks {
		out.test, out.crossValidation = append(out.test, make([][][]int, p.splitCount)),
			append(out.crossValidation, make([][][]int, p.splitCount))
	}
	scratch := make([]curveWorker, workers)
	err := run.Tasks(ctx, workers, len(p.tasks)*p.splitCount, func(ctx context.Context, worker, at int) (err error) {
		w := &scratch[worker]
		w.plan, w.m, w.asmKernels = p, m, loops
		t, s := at%len(p.tasks), at/len(p.tasks)
		out.test[t][s], out.crossValidation[t][s], err = w.measureSplit(ctx, p.tasks[t], s)
		done()
		return err
	})
	for _, w := range scratch {
		out.classifierCount += w.classifierCount
	}
	return out, err
}

// curveWorker measures one split at a time, in its own buffers.
type curveWorker struct {
	plan       *plan
	m          matrix
	asmKernels *asm.Kernels

	kernelMatrix    []float32 // kernel matrix of the training documents
	classifierCount int64
}

// measureSplit measures random split number of task t. It returns the numbers of test errors and of
// cross-validation errors for each size and C.
func (w *curveWorker) measureSplit(ctx context.Context, t *task, number int) (test, folds [][]int, err error) {
	s := newSplit(t, w.plan.seed, number)
	for _, size := range t.sizes {
		set := w.newTrainingSet(s, size)
		machines, wrong, err := w.train(ctx, set)
		if err != nil {
			return nil, nil, err
		}
		sign := make([]int8, w.m.n) // labels of documents: 1 or -1 for test documents, 0 for other documents
		own, others := s.testDocuments(size)
		for _, d := range own {
			sign[d] = 1
		}
		for _, d := range others {
			sign[d] = -1
		}
		count := make([]int, len(w.plan.cValues))
		for c, machine := range machines {
			row := func(s int) []float32 { return w.m.row(set.docs[machine.Support[s]]) }
			forEachDecision(w.asmKernels, machine, w.m.n, row, func(j int, value float64) {
				if sign[j] == 1 && !(value > 0) || sign[j] == -1 && value > 0 {
					count[c]++
				}
			})
		}
		test, folds = append(test, count), append(folds, wrong)
	}
	return test, folds, nil
}

// trainingSet holds positive documents, then negative documents. Both are grouped by fold.
type trainingSet struct {
	docs   []int
	labels []int // class of each document: 0 for positive, 1 for negative
	folds  []int // fold of each document, from 1
}

// newTrainingSet returns the training set of the given size. Folds are assigned cyclically within
// each class, because the documents are already in random order.
func (w *curveWorker) newTrainingSet(s *split, size int) *trainingSet {
	set, folds, positive := &trainingSet{}, w.plan.foldCount, s.trainPositiveCount(size)
	for class, docs := range [][]int{s.positive[:positive], s.negative[:size-positive]} {
		for f := range folds {
			fold := (f + class*positive) % folds // the negative documents continue the cycle of folds
			for i := f; i < len(docs); i += folds {
				set.docs, set.labels = append(set.docs, docs[i]), append(set.labels, class)
				set.folds = append(set.folds, 1+fold)
			}
		}
	}
	return set
}

// train returns a classifier for each C, and its number of cross-validation errors.
func (w *curveWorker) train(ctx context.Context, set *trainingSet) ([]*solver.DecisionFunction, []int, error) {
	p, n := w.plan, len(set.docs)
	w.kernelMatrix = copySubmatrix(w.kernelMatrix, w.m, set.docs)
	dense, err := solver.NewDense(n, w.kernelMatrix)
	if err != nil {
		return nil, nil, err
	}
	var pars []solver.Parameters
	for _, c := range p.cValues {
		pars = append(pars, solver.Parameters{Regularization: solver.Regularization{C: c}})
	}
	// Folds are numbered from 1. Fold 0 is empty, so its classifier is trained on all documents.
	trial := solver.CrossValidation{Labels: set.labels, Classes: 2, Folds: set.folds}
	validations, err := trial.Run(ctx, dense, pars, nil, solver.Options{Workers: 1, Kernels: w.asmKernels,
		RowBytes: 64 << 20})
	if err != nil {
		return nil, nil, err
	}
	var machines []*solver.DecisionFunction
	wrong := make([]int, len(p.cValues))
	for c, v := range validations {
		machines = append(machines, v.Classifiers[0].Functions[0])
		for i, class := range v.PredictedClasses {
			if class != set.labels[i] {
				wrong[c]++
			}
		}
		w.classifierCount += int64(len(v.Classifiers))
	}
	return machines, wrong, nil
}

// copySubmatrix copies the submatrix of the listed documents to dst, and grows dst if needed.
func copySubmatrix(dst []float32, m matrix, docs []int) []float32 {
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
