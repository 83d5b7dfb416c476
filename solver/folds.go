package solver

import "math/rand/v2"

// Folds divides documents into k parts of nearly equal size in which classes are as frequent as in the whole, up to one document each: the documents of
// each class are shuffled and dealt out in turn. It returns the part, 0 … k-1, of each document, and -1 for those with class -1. The same seed gives the
// same parts on every platform.
func Folds(labels []int, k int, seed uint64) []int {
	classes := 0
	for _, c := range labels {
		classes = max(classes, c+1)
	}
	members := make([][]int, classes)
	fold := make([]int, len(labels))
	for i, c := range labels {
		fold[i] = -1
		if c >= 0 {
			members[c] = append(members[c], i)
		}
	}
	r := rand.New(rand.NewPCG(seed, uint64(k)))
	next := 0
	for _, docs := range members {
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		for _, i := range docs {
			fold[i] = next
			next = (next + 1) % k
		}
	}
	return fold
}
