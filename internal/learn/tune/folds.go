package tune

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// DefaultFolds is the default number of folds.
const DefaultFolds = 5

// FirstClasses returns the first class of each of n documents. A document without a class gets -1,
// or the value of classes if separate is set (independent labels).
func FirstClasses(labels sparse.Labels, n, classes int, separate bool) []int {
	out := make([]int, n)
	for i := range out {
		switch own := labels.Classes(i); {
		case len(own) > 0:
			out[i] = int(own[0])
		case separate:
			out[i] = classes
		default:
			out[i] = -1
		}
	}
	return out
}

// Division defines how documents are divided into folds.
type Division struct {
	Folds       int
	Seed        uint64
	Consecutive bool // true if folds consist of consecutive documents of each class, false for random documents
}

// AssignFolds returns the fold of each of n documents, and the number of folds. c has the labels
// and groups. Folds are stratified by class, except in regression. In classification with one class
// per document, a document without a class is in fold -1. The documents of a group are in one fold.
// If Consecutive is set, groups are ignored, and there are fewer than Folds folds if every class
// has fewer than Folds documents.
func (d Division) AssignFolds(c *corpus.Corpus, n int, m Measure) (fold []int, folds int, err error) {
	classes := make([]int, n)
	if m != MeanSquaredError {
		classes = FirstClasses(c.Labels, n, len(c.Classes), m == MicroF1)
	}
	if d.Consecutive {
		fold, folds = consecutiveFolds(classes, d.Folds)
		return fold, folds, nil
	}
	usable, what, seen := 0, "labelled documents", map[int64]bool{}
	for i, class := range classes {
		switch {
		case class < 0:
		case c.Groups == nil:
			usable++
		case !seen[c.Groups[i]]:
			seen[c.Groups[i]] = true
			usable++
		}
	}
	if c.Groups != nil {
		what = "groups of labelled documents"
	}
	switch {
	case usable < 2:
		err = fmt.Errorf("tune: %s: number of %s must be at least 2, got %d", c.Source, what, usable)
	case d.Folds < 2 || d.Folds > usable:
		err = fmt.Errorf("tune: %s: number of folds must be between 2 and %d, the number of %s, got %d", c.Source,
			usable, what, d.Folds)
	default:
		fold = GroupedFolds(classes, c.Groups, d.Folds, d.Seed)
	}
	return fold, d.Folds, err
}

// consecutiveFolds divides the documents of each class into runs of consecutive documents. No run
// of the largest class is empty.
func consecutiveFolds(classes []int, folds int) ([]int, int) {
	count, at, fold := map[int]int{}, map[int]int{}, make([]int, len(classes))
	most := 1
	for _, k := range classes {
		if k >= 0 {
			count[k]++
			most = max(most, count[k])
		}
	}
	folds = min(folds, most)
	for i, k := range classes {
		if fold[i] = -1; k >= 0 {
			fold[i] = at[k] * folds / count[k]
			at[k]++
		}
	}
	return fold, folds
}

// GroupedFolds is like [solver.StratifiedFolds], but puts all documents of a group into one fold.
// It assigns groups in order of decreasing size. The seed orders groups of equal size. Each group
// goes to the fold that has the smallest fraction of the documents of the group's classes so far.
// Ties go to the fold with the fewest documents.
func GroupedFolds(labels []int, groups []int64, k int, seed uint64) []int {
	if groups == nil {
		return solver.StratifiedFolds(labels, k, seed)
	}
	fold, members := slices.Repeat([]int{-1}, len(labels)), map[int64][]int{}
	var order []int64
	total := map[int]float64{}
	for i, c := range labels {
		if c >= 0 {
			if members[groups[i]] == nil {
				order = append(order, groups[i])
			}
			members[groups[i]] = append(members[groups[i]], i)
			total[c]++
		}
	}
	r := rand.New(rand.NewPCG(seed, uint64(k)))
	r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b int64) int { return cmp.Compare(len(members[b]), len(members[a])) })
	size, count := make([]int, k), make([]map[int]float64, k) // number of documents per fold, in total and per class
	for part := range count {
		count[part] = map[int]float64{}
	}
	for _, g := range order {
		best, least := 0, math.Inf(1)
		for part := range k {
			var share float64
			for _, i := range members[g] {
				share += count[part][labels[i]] / total[labels[i]]
			}
			if share < least || share == least && size[part] < size[best] {
				best, least = part, share
			}
		}
		for _, i := range members[g] {
			fold[i] = best
			count[best][labels[i]]++
		}
		size[best] += len(members[g])
	}
	return fold
}
