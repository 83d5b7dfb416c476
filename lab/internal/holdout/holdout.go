// Package holdout splits documents into training and validation sets for parameter selection.
package holdout

import "github.com/gramengine/gram/internal/learn/tune"

// Split divides documents into parts folds. It returns one fold in held, and the documents of the
// other folds in fit. Without groups, held is the first fold. With groups, folds differ in size, so
// held is the fold whose size is closest to the average. If there is only one group, Split ignores
// groups.
func Split(labels []int, groups []int64, parts int, seed uint64) (fit, held []int) {
	fold := tune.GroupedFolds(labels, groups, parts, seed)
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
