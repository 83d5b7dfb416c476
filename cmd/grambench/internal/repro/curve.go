package repro

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/solver"
)

// CurvePlan is what is measured with one kernel: tasks, random splits of each, sizes of the training set, and values of C.
type CurvePlan struct {
	Tasks  []*Task
	Splits int
	Sizes  []int     // increasing
	C      []float64 // increasing
	Folds  int       // of the cross-validation on the training documents; 0 for none
	Seed   uint64
}

// CurveResult counts what was decided wrongly, by task, split, size and C: documents of the test set, and training documents by machines that were trained
// without their fold.
type CurveResult struct {
	Test, Folds [][][][]int
	Trainings   int64
}

// matrix is a kernel matrix of all documents in memory.
type matrix struct {
	n int
	k []float32
}

// row returns row i.
func (m matrix) row(i int) []float32 { return m.k[i*m.n : (i+1)*m.n] }

// Measure trains and tests on all splits, tasks and sizes, in parallel over splits. done is called for each split of a task that is complete.
func (p *CurvePlan) Measure(ctx context.Context, m matrix, workers int, kernels *asm.Kernels, done func()) (*CurveResult, error) {
	if err := p.check(m); err != nil {
		return nil, err
	}
	if workers < 1 {
		return nil, fmt.Errorf("repro: %d workers, expected 1 or more", workers)
	}
	out := &CurveResult{}
	for _, counts := range []*[][][][]int{&out.Test, &out.Folds} {
		*counts = make([][][][]int, len(p.Tasks))
		for t := range *counts {
			(*counts)[t] = make([][][]int, p.Splits)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, trainings atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			w := &curveWorker{plan: p, m: m, decide: decider{kernels: kernels}}
			for ctx.Err() == nil {
				at := int(next.Add(1)) - 1
				if at >= len(p.Tasks)*p.Splits {
					break
				}
				t, s := at%len(p.Tasks), at/len(p.Tasks)
				test, folds, err := w.split(ctx, p.Tasks[t], s)
				if err != nil {
					cancel(err)
					break
				}
				out.Test[t][s], out.Folds[t][s] = test, folds
				done()
			}
			trainings.Add(w.trainings)
		})
	}
	all.Wait()
	out.Trainings = trainings.Load()
	return out, context.Cause(ctx)
}

// check reports a plan that can't be measured on a matrix.
func (p *CurvePlan) check(m matrix) error {
	if m.n < 0 || len(m.k) != m.n*m.n {
		return fmt.Errorf("repro: a matrix of %d values, expected %d for %d documents", len(m.k), m.n*m.n, m.n)
	}
	if len(p.Sizes) == 0 || len(p.C) == 0 || !increasing(p.Sizes) || !increasing(p.C) {
		return fmt.Errorf("repro: sizes %v and values of C %v, expected at least one of each, increasing", p.Sizes, p.C)
	}
	for _, t := range p.Tasks {
		if len(t.Positive) != len(t.Docs) {
			return fmt.Errorf("repro: task %s has %d documents and says of %d whether they are positive", t.Name, len(t.Docs), len(t.Positive))
		}
		if n := len(t.Docs); !increasing(t.Docs) || n > 0 && (t.Docs[0] < 0 || t.Docs[n-1] >= m.n) {
			return fmt.Errorf("repro: the documents of task %s, expected different ones from 0 to %d, increasing", t.Name, m.n-1)
		}
		for _, size := range p.Sizes {
			if err := t.Check(size); err != nil {
				return err
			}
		}
	}
	return nil
}

// increasing reports whether each number is above the one before it.
func increasing[T cmp.Ordered](list []T) bool {
	for i := 1; i < len(list); i++ {
		if !(list[i-1] < list[i]) {
			return false
		}
	}
	return true
}

// curveWorker does one split after the other.
type curveWorker struct {
	plan   *CurvePlan
	m      matrix
	decide decider

	whole, part []float32 // matrices of training documents
	trainings   int64
}

// split returns the wrong decisions for all sizes and C of one split of a task.
//
// The matrix of the greatest training set is gathered once; those of smaller ones are parts of it, since their documents are.
func (w *curveWorker) split(ctx context.Context, t *Task, number int) (test, folds [][]int, err error) {
	p := w.plan
	s := NewSplit(t, p.Seed, number)
	most := p.Sizes[len(p.Sizes)-1]
	positive := s.Train(most)
	docs := append(append([]int{}, s.Positive[:positive]...), s.Negative[:most-positive]...)
	w.whole = gather(w.whole, w.m, docs, docs)
	sign := make([]int8, w.m.n) // of the task's documents
	for i, d := range t.Docs {
		sign[d] = -1
		if t.Positive[i] {
			sign[d] = 1
		}
	}
	for _, size := range p.Sizes {
		set := w.trainingSet(s, size, positive)
		machines, wrong, err := w.train(ctx, set, most)
		if err != nil {
			return nil, nil, err
		}
		for _, d := range set.places {
			sign[docs[d]] *= 2 // not in the test set
		}
		count := make([]int, len(p.C))
		for c, machine := range machines {
			support := make([]int, len(machine.Support))
			for i, at := range machine.Support {
				support[i] = docs[set.places[at]]
			}
			count[c] = w.wrong(support, machine, sign)
		}
		for _, d := range set.places {
			sign[docs[d]] /= 2
		}
		test, folds = append(test, count), append(folds, wrong)
	}
	return test, folds, nil
}

// trainingSet is a training set: the places of its documents in the matrix of the greatest one, first the positive ones, in each class fold by fold.
type trainingSet struct {
	places   []int
	labels   []int // 0 for positive, 1 for others
	parts    []int // folds from 1 on
	folds    int
	positive int
}

// trainingSet returns the set of a size; others begin at place otherwise of the greatest one. Folds are dealt out in each class, so that both are in them as evenly as
// can be; the documents stand in random order already.
func (w *curveWorker) trainingSet(s *Split, size, otherwise int) *trainingSet {
	set := &trainingSet{folds: max(w.plan.Folds, 1)}
	set.positive = s.Train(size)
	for class, run := range [2][2]int{{0, set.positive}, {otherwise, size - set.positive}} {
		for f := range set.folds {
			for i := f; i < run[1]; i += set.folds {
				set.places, set.labels = append(set.places, run[0]+i), append(set.labels, class)
				fold := f
				if class == 1 { // deal on where the positive ones ended
					fold = (f + set.positive) % set.folds
				}
				set.parts = append(set.parts, 1+fold)
			}
		}
	}
	return set
}

// train returns the machines of all C, and for each C how many training documents were decided wrongly by those trained without their fold.
func (w *curveWorker) train(ctx context.Context, set *trainingSet, most int) ([]*solver.Machine, []int, error) {
	p := w.plan
	w.part = gather(w.part, matrix{most, w.whole}, set.places, set.places)
	dense, err := solver.NewDense(len(set.places), w.part)
	if err != nil {
		return nil, nil, err
	}
	opt := solver.Options{Workers: 1, Kernels: w.decide.kernels, RowBytes: 64 << 20}
	var pars []solver.Parameters
	for _, c := range p.C {
		pars = append(pars, solver.Parameters{C: c})
	}
	// Part 0 is nobody's: what is trained without it is trained on all. The machines of a part are trained one after the other by growing C, each from the one before.
	trial := solver.Trial{Labels: set.labels, Classes: 2, Parts: set.parts}
	if p.Folds == 0 {
		return w.trainAlone(ctx, dense, set, pars, opt)
	}
	results, err := trial.Validate(ctx, dense, pars, nil, opt)
	if err != nil {
		return nil, nil, err
	}
	var machines []*solver.Machine
	wrong := make([]int, len(results))
	for c, v := range results {
		machines = append(machines, v.Fits[0].Machines[0])
		for i, class := range v.Predicted {
			if class != set.labels[i] {
				wrong[c]++
			}
		}
		w.trainings += int64(len(v.Fits))
	}
	return machines, wrong, nil
}

// trainAlone trains without a cross-validation.
func (w *curveWorker) trainAlone(ctx context.Context, m solver.Matrix, set *trainingSet, pars []solver.Parameters, opt solver.Options) ([]*solver.Machine, []int, error) {
	docs, positive := make([]int, len(set.labels)), make([]bool, len(set.labels))
	for i, class := range set.labels {
		docs[i], positive[i] = i, class == 0
	}
	var machines []*solver.Machine
	var last *solver.Machine
	for _, par := range pars {
		machine, err := solver.TrainBinary(ctx, m, solver.BinaryTraining{Docs: docs, Positive: positive, Parameters: par, Start: last}, opt)
		if err != nil {
			return nil, nil, err
		}
		machines, last = append(machines, machine), machine
		w.trainings++
	}
	return machines, make([]int, len(pars)), nil
}

// wrong counts the documents of sign +1 and -1 that a machine decides otherwise; support[i] is the document that its support vector i is.
func (w *curveWorker) wrong(support []int, machine *solver.Machine, sign []int8) (count int) {
	w.decide.each(machine, len(sign), func(s int) []float32 { return w.m.row(support[s]) }, func(first int, values []float64) {
		for i, of := range sign[first : first+len(values)] {
			if of == 1 && !(values[i] > 0) || of == -1 && values[i] > 0 {
				count++
			}
		}
	})
	return count
}

// gather writes the part of a matrix with the given rows and columns to dst, which grows where it is too short.
func gather(dst []float32, m matrix, rows, columns []int) []float32 {
	n := len(columns)
	if cap(dst) < len(rows)*n {
		dst = make([]float32, len(rows)*n)
	}
	dst = dst[:len(rows)*n]
	for r, i := range rows {
		row, to := m.row(i), dst[r*n:(r+1)*n]
		for c, j := range columns {
			to[c] = row[j]
		}
	}
	return dst
}
