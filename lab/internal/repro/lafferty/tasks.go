package lafferty

import (
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/lab/internal/repro"
)

// task is a binary classification task in Tables 1 to 4, which have one row per training set size.
// A class is compared with the rest, or with the most frequent class.
type task struct {
	table, class, otherClass string
	seedName                 string // name that determines the random splits
	docs                     []int  // indices of the documents, ascending
	positive                 []bool // true if docs[i] is in the class
	sizes                    []int  // sizes of the training sets, ascending
	balancedTraining         bool   // true if half of each training set is positive; false for the task's proportion
	balancedTest             bool   // true if half of each test set is also positive
}

var reutersTopics = []string{"earn", "acq", "money-fx", "grain", "crude"}

// pairTables describes the two tables of each corpus. One table compares each class with the rest.
// The other table compares each remaining class with the most frequent class.
var pairTables = map[string]struct {
	rest, pairs, frequent string
	classes               []string
}{
	"webkb":   {"1", "2", "student", []string{"course", "faculty", "project", "student"}},
	"reuters": {"3", "4", "earn", reutersTopics},
}

const restName = "the rest"

func storiesWithTopic(c *corpus.Corpus) (docs []int) {
	for i := range c.Documents.Rows() {
		if len(c.Labels.Classes(i)) > 0 {
			docs = append(docs, i)
		}
	}
	return docs
}

// tasks returns a corpus's tasks for the selected tables. Tasks for a pair of classes exclude
// documents with both classes or neither.
func (p *settings) tasks(name string, c *corpus.Corpus) (tasks []*task, err error) {
	of := pairTables[name]
	for _, table := range []string{of.rest, of.pairs} {
		against := restName
		if table == of.pairs {
			against = of.frequent
		}
		for _, class := range of.classes {
			if !p.Tables.Has(table) || class == against {
				continue
			}
			// The paper writes moneyFx.
			shown := class
			if class == "money-fx" {
				shown = "moneyFx"
			}
			t := &task{
				table: table, class: shown, otherClass: against, seedName: name + "/" + shown + "/" + against,
				sizes: p.sizesOf(table), balancedTraining: p.ClassBalance != "natural", balancedTest: p.ClassBalance == "equal",
			}
			for i := range c.Documents.Rows() {
				own := repro.HasClass(c, i, class)
				if against == restName || own != repro.HasClass(c, i, against) {
					t.docs, t.positive = append(t.docs, i), append(t.positive, own)
				}
			}
			for _, size := range t.sizes {
				if err := t.check(size); err != nil {
					return nil, err
				}
			}
			tasks = append(tasks, t)
		}
	}
	return tasks, nil
}

func (p *settings) sizesOf(table string) []int {
	sizes := []int{40, 80, 120, 200, 400, 600}
	switch {
	case p.Sizes != nil:
		return p.Sizes
	case table == "3":
		return sizes[1:]
	case table == "4":
		return sizes[:5]
	}
	return sizes
}

// split holds the positive and the negative documents of a task in random order. The first
// documents of both lists form a training set, and the other documents form the test set.
type split struct {
	positive, negative             []int
	balancedTraining, balancedTest bool
}

func newSplit(t *task, seed uint64, n int) *split {
	own, others := repro.SplitByClass(seed, fmt.Sprintf("%s/%d", t.seedName, n), t.docs, t.positive)
	return &split{own, others, t.balancedTraining, t.balancedTest}
}

// trainPositiveCount returns the number of positive documents in a training set: half if
// balancedTraining is set, otherwise the task's proportion with at least two documents per class.
func (s *split) trainPositiveCount(size int) (positive int) {
	if s.balancedTraining {
		return size / 2
	}
	p, n := len(s.positive), len(s.negative)
	return min(max((size*p+(p+n)/2)/(p+n), 2), size-2)
}

// testDocuments returns the test documents for a given training set size. If balancedTraining is
// set, some documents are omitted so that the classes have the task's proportion or, if
// balancedTest is set, the same size. All remaining documents of one class are used.
func (s *split) testDocuments(size int) (positive, negative []int) {
	train := s.trainPositiveCount(size)
	positive, negative = s.positive[train:], s.negative[size-train:]
	if s.balancedTraining {
		p, n := len(s.positive), len(s.negative)
		if s.balancedTest {
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

// check fails if, for training sets of the given size, a training set or test set has fewer than
// two documents of a class.
func (t *task) check(size int) error {
	s := newSplit(t, 0, 0)
	p, n := len(s.positive), len(s.negative)
	if p < 4 || n < 4 || s.trainPositiveCount(size) > p-2 || size-s.trainPositiveCount(size) > n-2 {
		return fmt.Errorf("%s: training sets of %d documents are too large for %d documents of the class and %d others",
			t.seedName, size, p, n)
	}
	return nil
}
