package solver

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Folds divides documents into k parts of nearly equal size in which classes are as frequent as in
// the whole, up to one document each: the documents of each class are shuffled and dealt out in
// turn. It returns the part, 0 … k-1, of each document, and -1 for those whose class is negative.
// Where there are fewer documents than parts, the last parts are empty. The same seed gives the
// same parts on every platform. It panics unless k is at least 1.
func Folds(labels []int, k int, seed uint64) []int {
	if k < 1 {
		panic(fmt.Sprintf("solver: Folds: %d parts, expected at least 1", k))
	}
	fold := make([]int, len(labels))
	var docs []int // by class, however great their numbers are
	for i, c := range labels {
		if fold[i] = -1; c >= 0 {
			docs = append(docs, i)
		}
	}
	slices.SortStableFunc(docs, func(a, b int) int { return cmp.Compare(labels[a], labels[b]) })
	r := rand.New(rand.NewPCG(seed, uint64(k)))
	next := 0
	for len(docs) > 0 {
		n := 1
		for n < len(docs) && labels[docs[n]] == labels[docs[0]] {
			n++
		}
		class := docs[:n]
		r.Shuffle(n, func(i, j int) { class[i], class[j] = class[j], class[i] })
		for _, i := range class {
			fold[i] = next
			next = (next + 1) % k
		}
		docs = docs[n:]
	}
	return fold
}
