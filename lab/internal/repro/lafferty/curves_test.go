package lafferty

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
)

// points draws points of two clusters in the plane, and computes the matrix of a Gaussian kernel.
func points(n int) (matrix, *task) {
	r := rand.New(rand.NewPCG(3, 4))
	task := &task{seedName: "clouds", sizes: []int{30, 90}}
	at := make([][2]float64, n)
	for i := range at {
		positive := i%3 == 0
		at[i] = [2]float64{r.NormFloat64(), r.NormFloat64()}
		if positive {
			at[i][0] += 1.5
		}
		if i%10 != 9 { // not all documents belong to the task
			task.docs, task.positive = append(task.docs, i), append(task.positive, positive)
		}
	}
	m := matrix{n, make([]float32, n*n)}
	for i := range n {
		for j := range n {
			dx, dy := at[i][0]-at[j][0], at[i][1]-at[j][1]
			m.k[i*n+j] = float32(math.Exp(-(dx*dx + dy*dy)))
		}
	}
	return m, task
}

// measure agrees with separate training runs on the matrix of all documents, with documents
// classified one by one. Optimisations from different starting points end at different points
// within the tolerance. So a document whose decision value is within several thousandths of 0 may
// change class. Such values are rare, so counts may differ by one.
func TestMeasure(t *testing.T) {
	const n = 300
	m, clouds := points(n)
	p := &plan{tasks: []*task{clouds}, splitCount: 2, cValues: []float64{1, 10}, foldCount: 3, seed: 7}
	got := musttest.Get(p.measure(context.Background(), m, 2, asm.BestKernels(), func() {}))(t)
	if want := int64(2 * 2 * 2 * (1 + 3)); got.classifierCount != want {
		t.Errorf("%d machines, expected %d", got.classifierCount, want)
	}
	dense := musttest.Get(solver.NewDense(n, m.k))(t)
	positive := map[int]bool{}
	for i, d := range clouds.docs {
		positive[d] = clouds.positive[i]
	}
	wrong := func(train, test []int, c float64) (count int) {
		training := solver.Training{
			Labels: slices.Repeat([]int{-1}, n), Classes: 2,
			Parameters: solver.Parameters{Regularization: solver.Regularization{C: c}},
		}
		for _, d := range train {
			if training.Labels[d] = 1; positive[d] {
				training.Labels[d] = 0
			}
		}
		machine := musttest.Get(solver.Train(context.Background(), dense, training, solver.Options{}))(t).Functions[0]
		for _, d := range test {
			sum := -machine.Rho
			for k, s := range machine.Support {
				sum += machine.Coef[k] * float64(m.row(d)[s])
			}
			if sum > 0 != positive[d] {
				count++
			}
		}
		return count
	}
	for number := range p.splitCount {
		s := newSplit(clouds, p.seed, number)
		for i, size := range clouds.sizes {
			positives := s.trainPositiveCount(size)
			folds := make([][]int, p.foldCount)
			at := 0
			for _, d := range slices.Concat(s.positive[:positives], s.negative[:size-positives]) { // cyclic folds
				folds[at%p.foldCount] = append(folds[at%p.foldCount], d)
				at++
			}
			train := slices.Concat(folds...)
			var test []int
			for _, d := range clouds.docs {
				if !slices.Contains(train, d) {
					test = append(test, d)
				}
			}
			for j, c := range p.cValues {
				if want := wrong(train, test, c); math.Abs(float64(got.test[0][number][i][j]-want)) > 1 {
					t.Errorf("split %d, %d documents, C %v: %d of the test set wrong, expected %d", number, size, c,
						got.test[0][number][i][j], want)
				}
				held := 0
				for f := range folds {
					held += wrong(slices.Concat(slices.Concat(folds[:f]...), slices.Concat(folds[f+1:]...)), folds[f],
						c)
				}
				if math.Abs(float64(got.crossValidation[0][number][i][j]-held)) > 1 {
					t.Errorf("split %d, %d documents, C %v: %d wrong by folds, expected %d", number, size, c,
						got.crossValidation[0][number][i][j], held)
				}
			}
		}
	}
}

func TestSplits(t *testing.T) {
	_, task := points(300)
	p, n := 90, 180
	a, b := newSplit(task, 1, 0), newSplit(task, 1, 1)
	if !slices.Equal(newSplit(task, 1, 0).positive, a.positive) || slices.Equal(a.positive, b.positive) ||
		slices.Equal(newSplit(task, 2, 0).negative, a.negative) {
		t.Error("splits of the same seed and number are to be equal, others different")
	}
	for _, s := range []*split{a, b} {
		all := slices.Sorted(slices.Values(slices.Concat(s.positive, s.negative)))
		if !slices.Equal(all, task.docs) || len(s.positive) != p || len(s.negative) != n {
			t.Error("a split isn't a permutation of the task's documents")
		}
	}
	// A third of the documents, 90 of 270, is positive. So is a third of each training set, rounded
	// to the nearest integer.
	for size, want := range map[int]int{4: 2, 40: 13, 41: 14, 90: 30, 200: 67} {
		if got := a.trainPositiveCount(size); got != want {
			t.Errorf("%d of %d are positive, expected %d", got, size, want)
		}
	}
	if task.check(260) != nil || task.check(266) == nil {
		t.Error("training sets leave two documents of each class or are refused")
	}
}

// Balanced training sets are drawn from 90 positive and 180 other documents. Half of each set is
// positive, and smaller sets are subsets of larger sets. The test set is disjoint, with two other
// documents per positive document. Seeds and split numbers give different draws.
func TestBalanced(t *testing.T) {
	_, task := points(300)
	task.balancedTraining = true
	for number := range 3 {
		s := newSplit(task, 1, number)
		if again := newSplit(task, 1, number); !slices.Equal(again.positive, s.positive) ||
			slices.Equal(newSplit(task, 2, number).positive, s.positive) ||
			slices.Equal(newSplit(task, 1, number+1).negative, s.negative) {
			t.Error("splits of the same seed and number are to be equal, others different")
		}
		var smaller []int
		for _, c := range []struct{ size, positive, testPositive, testNegative int }{
			{4, 2, 88, 176}, {41, 20, 70, 140}, {60, 30, 60, 120}, {176, 88, 2, 4},
		} {
			train := slices.Concat(s.positive[:s.trainPositiveCount(c.size)], s.negative[:c.size-s.trainPositiveCount(c.size)])
			positive, negative := s.testDocuments(c.size)
			if s.trainPositiveCount(c.size) != c.positive || len(positive) != c.testPositive || len(negative) != c.testNegative {
				t.Errorf("%d documents: %d positive, tested on %d and %d, expected %+v", c.size, s.trainPositiveCount(c.size),
					len(positive), len(negative), c)
			}
			all := slices.Sorted(slices.Values(slices.Concat(train, positive, negative)))
			if len(slices.Compact(all)) != c.size+c.testPositive+c.testNegative {
				t.Errorf("%d documents: training and test set overlap", c.size)
			}
			for _, d := range all {
				if !slices.Contains(task.docs, d) {
					t.Errorf("%d documents: %d isn't the task's", c.size, d)
				}
			}
			for _, d := range smaller {
				if !slices.Contains(train, d) {
					t.Errorf("%d documents: %d is in a smaller training set alone", c.size, d)
				}
			}
			smaller = train
		}
	}
	if task.check(176) != nil || task.check(178) == nil {
		t.Error("training sets leave two documents of each class or are refused")
	}
	// If the class is in the majority, the negative documents limit the test set: 6 of 8 remain,
	// and 12 positive documents are in proportion.
	s := &split{positive: make([]int, 16), negative: make([]int, 8), balancedTraining: true}
	if positive, negative := s.testDocuments(4); len(positive) != 12 || len(negative) != 6 {
		t.Errorf("tested on %d and %d, expected 12 and 6", len(positive), len(negative))
	}
	s.balancedTest = true // all remaining documents of the smaller class, and as many of the other
	if positive, negative := s.testDocuments(4); len(positive) != 6 || len(negative) != 6 {
		t.Errorf("equal: tested on %d and %d, expected 6 of each", len(positive), len(negative))
	}
	s.balancedTraining = false // all remaining documents
	if positive, negative := s.testDocuments(6); len(positive) != 12 || len(negative) != 6 {
		t.Errorf("natural: tested on %d and %d, expected 12 and 6", len(positive), len(negative))
	}
}
