package lafferty

import (
	"fmt"
	"math/rand/v2"

	"github.com/gramengine/gram/lab/internal/repro"
)

// task is a problem of two classes on documents of a corpus.
type task struct {
	Name     string
	Docs     []int  // documents, increasing
	Positive []bool // by place in Docs
	Sizes    []int  // of the training set, increasing
	Balanced bool   // whether half of a training set is positive, or their share in the task
	Equal    bool   // whether that is so of a test set, too
}

// split is a random order of the positive documents of a task and one of the others. A training set
// of any size is the first of both, so that a smaller one is part of a larger one. What isn't in it
// is the test set.
type split struct {
	Positive, Negative []int
	balanced, equal    bool
}

// classes returns the documents of a task by class, in order.
func (t *task) classes() *split {
	s := &split{balanced: t.Balanced, equal: t.Equal}
	for i, d := range t.Docs {
		if t.Positive[i] {
			s.Positive = append(s.Positive, d)
		} else {
			s.Negative = append(s.Negative, d)
		}
	}
	return s
}

// newSplit draws split number n of a task. The same seed, name and number give the same split on
// every platform, whatever else is drawn.
func newSplit(t *task, seed uint64, n int) *split {
	r := rand.New(rand.NewPCG(seed, repro.Hash(fmt.Sprintf("%s/%d", t.Name, n))))
	s := t.classes()
	for _, docs := range [][]int{s.Positive, s.Negative} {
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	}
	return s
}

// train returns how many of a training set of a number of documents are positive: half of them,
// rounded down, or their share in the task, rounded to the nearest, but at least two of each class,
// so that a cross-validation has both.
func (s *split) train(size int) (positive int) {
	if s.balanced {
		return size / 2
	}
	p, n := len(s.Positive), len(s.Negative)
	return min(max((size*p+(p+n)/2)/(p+n), 2), size-2)
}

// test returns the test documents for a training set of a size, in which the classes have the
// proportion of the task, or are equally many: all that are left of one class, and of the other as
// many as belong to them, rounded to the nearest. For training sets of the task's proportion it is
// all that are left.
func (s *split) test(size int) (positive, negative []int) {
	train := s.train(size)
	positive, negative = s.Positive[train:], s.Negative[size-train:]
	if s.balanced {
		p, n := len(s.Positive), len(s.Negative)
		if s.equal {
			p, n = 1, 1
		}
		if l := len(positive); l*n <= len(negative)*p {
			negative = negative[:(l*n+p/2)/p]
		} else {
			positive = positive[:(len(negative)*p+n/2)/n]
		}
	}
	return positive, negative
}

// check reports a size that a task hasn't enough documents for: both the training and the test set
// have at least two documents of each class.
func (t *task) check(size int) error {
	s := t.classes()
	p, n := len(s.Positive), len(s.Negative)
	if size < 4 || p < 4 || n < 4 {
		return fmt.Errorf("%s: %d documents of the class, %d others, training sets of %d; expected at least 4 of each",
			t.Name, p, n, size)
	}
	if train := s.train(size); train > p-2 || size-train > n-2 {
		return fmt.Errorf("%s: training sets of %d documents are too large for %d documents of the class and %d others",
			t.Name, size, p, n)
	}
	return nil
}
