// Package holdout divides documents for parameter selection on held-out documents.
package holdout

import "github.com/gramengine/gram/internal/learn/tune"

// Split divides documents into parts, and returns one part in held and the others in fit. Without
// groups, held is the first part. With groups, the first part may be large, so held is a part of
// about average size. If there is only one group, Split divides its documents.
func Split(labels []int, groups []int64, parts int, seed uint64) (fit, held []int) {
	fold := tune.Grouped(labels, groups, parts, seed)
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
		return Split(labels, nil, parts, seed)
	}
	return fit, held
}
