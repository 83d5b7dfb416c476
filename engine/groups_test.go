package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Groups are the parts that pairs connect, by their first document, in whatever order pairs come.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for pairs := range 300 {
		const n = 200
		s, part := NewGroups(n), make([]int, n)
		for i := range part {
			part[i] = i
		}
		for range pairs {
			i, j := r.IntN(n), r.IntN(n)
			s.Join(i, j)
			old := part[j]
			for k, p := range part {
				if p == old {
					part[k] = part[i]
				}
			}
		}
		var want [][]int32
		for i := range n {
			if slices.Index(part, part[i]) < i {
				continue
			}
			var group []int32
			for j, p := range part {
				if p == part[i] {
					group = append(group, int32(j))
				}
			}
			if len(group) > 1 {
				want = append(want, group)
			}
		}
		if got := s.All(); !slices.EqualFunc(got, want, slices.Equal) {
			t.Fatalf("%d pairs: groups %v, expected %v", pairs, got, want)
		}
	}
}
