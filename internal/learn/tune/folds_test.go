package tune

import (
	"slices"
	"testing"

	"github.com/gramengine/gram/solver"
)

func TestFolds(t *testing.T) {
	labels, groups := make([]int, 400), make([]int64, 400)
	for i := range labels {
		labels[i], groups[i] = i%3, int64(i/4*(i/4)%37)
		if i%10 == 9 {
			labels[i] = -1
		}
	}
	parts := GroupedFolds(labels, groups, 5, 1)
	if !slices.Equal(parts, GroupedFolds(labels, groups, 5, 1)) ||
		slices.Equal(parts, GroupedFolds(labels, groups, 5, 2)) {
		t.Error("the parts don't follow the seed")
	}
	if !slices.Equal(GroupedFolds(labels, nil, 5, 1), solver.StratifiedFolds(labels, 5, 1)) {
		t.Error("without groups the parts aren't those of Folds")
	}
	of, size := map[int64]int{}, [5]int{}
	for i, part := range parts {
		if (part < 0) != (labels[i] < 0) {
			t.Fatalf("document %d of class %d is in part %d", i, labels[i], part)
		}
		if part < 0 {
			continue
		}
		if other, seen := of[groups[i]]; seen && other != part {
			t.Fatalf("group %d is in the parts %d and %d", groups[i], other, part)
		}
		of[groups[i]] = part
		size[part]++
	}
	if slices.Max(size[:])-slices.Min(size[:]) > 20 {
		t.Errorf("sizes %v", size)
	}
}

// Groups of one class each are spread evenly over the folds.
func TestFoldsOfClasses(t *testing.T) {
	labels, groups := make([]int, 300), make([]int64, 300)
	for i := range labels {
		labels[i], groups[i] = i/5%3, int64(i/5)
	}
	var count [5][3]int
	for i, part := range GroupedFolds(labels, groups, 5, 1) {
		count[part][labels[i]]++
	}
	for part, have := range count {
		if have != [3]int{20, 20, 20} {
			t.Errorf("part %d has %v documents of the classes, expected 20 of each", part, have)
		}
	}
}
