package holdout

import (
	"slices"
	"testing"
)

// Held-out documents share no group with other documents. They are about a sixth of the documents,
// even with a large group.
func TestSplit(t *testing.T) {
	labels, groups := make([]int, 60), make([]int64, 60)
	for i := range labels {
		labels[i], groups[i] = i%2, int64(max(i-30, 0)/3)
	}
	labels[59] = -1
	for name, c := range map[string]struct {
		groups    []int64
		fit, held int
	}{
		"no groups":                         {nil, 49, 10},
		"a large group and nine small ones": {groups, 53, 6},
		"one group":                         {make([]int64, 60), 49, 10},
	} {
		fit, held := Split(labels, c.groups, 6, 1)
		if len(fit) != c.fit || len(held) != c.held || slices.Contains(append(fit, held...), 59) {
			t.Errorf("%s: %d and %d documents, expected %d and %d", name, len(fit), len(held), c.fit, c.held)
		}
		for _, i := range held {
			if name[0] == 'a' && slices.ContainsFunc(fit, func(j int) bool { return groups[j] == groups[i] }) {
				t.Errorf("group %d is in both parts", groups[i])
			}
		}
	}
}
