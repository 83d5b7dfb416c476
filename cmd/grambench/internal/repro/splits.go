package repro

import (
	"fmt"
	"math/rand/v2"
)

// Task is a problem of two classes on documents of a corpus.
type Task struct {
	Name     string
	Docs     []int  // documents, increasing
	Positive []bool // by place in Docs
}

// counts returns how many documents are positive, and how many aren't.
func (t *Task) counts() (positive, negative int) {
	for _, p := range t.Positive {
		if p {
			positive++
		}
	}
	return positive, len(t.Docs) - positive
}

// Split is a random order of the positive documents of a task and one of the others. A training set of any size is made of the first of both, so that a smaller one
// is part of a larger one; what isn't in it is the test set.
type Split struct{ Positive, Negative []int }

// NewSplit draws split number s of a task. The same seed, name and number give the same split on every platform, whatever else is drawn.
func NewSplit(t *Task, seed uint64, s int) *Split {
	r := rand.New(rand.NewPCG(seed, hashOf(fmt.Sprintf("%s/%d", t.Name, s))))
	split := &Split{}
	for i, d := range t.Docs {
		if t.Positive[i] {
			split.Positive = append(split.Positive, d)
		} else {
			split.Negative = append(split.Negative, d)
		}
	}
	for _, docs := range [][]int{split.Positive, split.Negative} {
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	}
	return split
}

// Train returns how many of a training set of a number of documents are positive: their share in the task, rounded to the nearest, but two of each class at
// least, so that a cross-validation has both.
func (s *Split) Train(size int) (positive int) {
	p, n := len(s.Positive), len(s.Negative)
	positive = (size*p + (p+n)/2) / (p + n)
	return min(max(positive, 2), size-2)
}

// Check reports a size that a task hasn't enough documents for: both the training and the test set hold two documents of each class at least.
func (t *Task) Check(size int) error {
	p, n := t.counts()
	if size < 4 || p < 4 || n < 4 {
		return fmt.Errorf("%s: %d documents of the class against %d others, training sets of %d; expected at least 4 of each", t.Name, p, n, size)
	}
	s := Split{make([]int, p), make([]int, n)}
	if train := s.Train(size); train > p-2 || size-train > n-2 {
		return fmt.Errorf("%s: training sets of %d documents are too large for %d documents of the class against %d others", t.Name, size, p, n)
	}
	return nil
}
