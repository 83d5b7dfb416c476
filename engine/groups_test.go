package engine

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// greedily returns the groups of n documents from the definition.
func greedily(n int, pairs []pair) (groups [][]int32) {
	near, by := map[[2]int]bool{}, make([]int, n)
	for _, p := range pairs {
		near[[2]int{min(p.i, p.j), max(p.i, p.j)}] = true
	}
	own := make([][]int32, n)
	for j := range n {
		for by[j] = 0; by[j] < j && !(by[by[j]] == by[j] && near[[2]int{by[j], j}]); by[j]++ {
		}
		own[by[j]] = append(own[by[j]], int32(j))
	}
	return slices.DeleteFunc(own, func(group []int32) bool { return len(group) < 2 })
}

// Groups agree with the definition for any order of pairs, any number of stored pairs, and with or
// without copies.
func TestKept(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for size := range 300 {
		const n = 60
		var pairs []pair // including pairs of copies
		first, near := make([]int, n), map[[2]int]bool{}
		for j := range first {
			if first[j] = j; j > 0 && r.IntN(4) == 0 {
				first[j] = first[r.IntN(j)]
			}
		}
		for range size {
			i, j := first[r.IntN(n)], first[r.IntN(n)]
			if i > j {
				i, j = j, i
			}
			near[[2]int{i, j}] = i < j
		}
		for i := range n {
			for j := i + 1; j < n; j++ {
				a, b := min(first[i], first[j]), max(first[i], first[j])
				if a == b || near[[2]int{a, b}] {
					pairs = append(pairs, pair{i: i, j: j})
				}
			}
		}
		want := greedily(n, pairs)
		for _, room := range []int{math.MaxInt, 20, 1, 0} {
			plain, copied := NewDeduplicator(n), NewDeduplicator(n)
			plain.maxPairs, copied.maxPairs = room, room
			rounds := 0
			for ; rounds == 0 || plain.full || copied.full; rounds++ {
				plain.settle()
				copied.settle()
				for _, at := range r.Perm(len(pairs)) {
					p := pairs[at]
					plain.AddNear(p.i, p.j)
					switch {
					case first[p.i] == first[p.j]:
						copied.AddCopy(first[p.i], p.j)
					case first[p.i] == p.i && first[p.j] == p.j:
						copied.AddNear(p.i, p.j)
					}
				}
			}
			for _, k := range []*Deduplicator{plain, copied} {
				if got := k.Groups(); !slices.EqualFunc(got, want, slices.Equal) {
					t.Fatalf("%d pairs, room for %d: groups %v, expected %v", len(pairs), room, got, want)
				}
			}
			if room == math.MaxInt && rounds > 1 || rounds > n+1 {
				t.Fatalf("%d pairs, room for %d: %d rounds", len(pairs), room, rounds)
			}
		}
	}
}
