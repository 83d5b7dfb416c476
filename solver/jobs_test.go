package solver

import (
	"cmp"
	"slices"
	"testing"
)

// In Z-order, an aligned sequence of 4^k jobs has 2^k first classes and 2^k second classes.
func TestZOrder(t *testing.T) {
	const side = 16
	var at [][2]int
	for a := range side {
		for b := range side {
			at = append(at, [2]int{a - 1, b - 1}) // -1 is the class of all other documents
		}
	}
	slices.SortFunc(at, func(a, b [2]int) int { return cmp.Compare(zOrder(a), zOrder(b)) })
	for size := 1; size <= side; size *= 2 {
		for from := 0; from < len(at); from += size * size {
			var seen [2]map[int]bool
			for i := range seen {
				seen[i] = map[int]bool{}
				for _, p := range at[from : from+size*size] {
					seen[i][p[i]] = true
				}
			}
			if len(seen[0]) != size || len(seen[1]) != size {
				t.Errorf("jobs %d to %d are of %d and %d classes, expected %d", from, from+size*size-1, len(seen[0]),
					len(seen[1]), size)
			}
		}
	}
	if zOrder([2]int{1 << 20, 3}) == zOrder([2]int{1 << 20, 4}) || zOrder([2]int{-1, 0}) >= zOrder([2]int{0, 0}) {
		t.Error("numbers run together")
	}
}
