package bench

import (
	"cmp"
	"slices"
	"testing"

	"github.com/gramengine/gram/engine"
)

func TestThin(t *testing.T) {
	for n := 1; n < 60; n++ {
		heads := make([]engine.Head, n)
		for i := range heads {
			heads[i].TermCount = 10 * i
		}
		for chosen := range n {
			got := thinHeads(heads, chosen, 12)
			// The result has the ends, the chosen head and its neighbours, and up to 12 others at
			// even steps.
			for _, want := range []int{0, chosen - 1, chosen, chosen + 1, n - 1} {
				if want >= 0 && want < n && !slices.Contains(got, heads[want]) {
					t.Errorf("%d of %d chosen: choice %d is left out", chosen, n, want)
				}
			}
			if len(got) > 14 ||
				!slices.IsSortedFunc(got, func(a, b engine.Head) int { return cmp.Compare(a.TermCount, b.TermCount) }) {
				t.Errorf("%d of %d chosen: %v", chosen, n, got)
			}
		}
	}
}
