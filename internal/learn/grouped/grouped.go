// Package grouped divides documents into parts, with those of a group in one part.
package grouped

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gramengine/gram/solver"
)

// Folds is [solver.Folds] with all documents of a group in one part. Groups are taken by size, the largest first. The
// seed orders groups of one size. Each group goes to the part with the smallest share of the group's classes. Ties go
// to the part with the fewest documents.
func Folds(labels []int, groups []int64, k int, seed uint64) []int {
	if groups == nil {
		return solver.Folds(labels, k, seed)
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
	size, count := make([]int, k), make([]map[int]float64, k) // documents by part, and by class
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

// HoldOut divides documents by one of the parts of [Folds]: held are its documents, fit the others. Without groups
// it is the first part; with groups, the first of which may be large, the part whose size is nearest to the mean. If
// there is one group only, its documents are divided.
func HoldOut(labels []int, groups []int64, parts int, seed uint64) (fit, held []int) {
	fold := Folds(labels, groups, parts, seed)
	part, size, total := 0, make([]int, parts), 0
	for _, p := range fold {
		if p >= 0 {
			size[p]++
			total++
		}
	}
	off := func(p int) int { return max(size[p]*parts-total, total-size[p]*parts) }
	for p := range size {
		if groups != nil && size[p] > 0 && off(p) < off(part) {
			part = p
		}
	}
	for i, p := range fold {
		switch {
		case p == part:
			held = append(held, i)
		case p >= 0:
			fit = append(fit, i)
		}
	}
	if fit == nil && groups != nil {
		return HoldOut(labels, nil, parts, seed)
	}
	return fit, held
}
