package engine

import (
	"fmt"
	"math"
)

// Groups are disjoint sets of documents that grow together, such as those that the pairs of
// [Engine.PairsWithin] connect. It may not be used concurrently. Source: Galler and Fischer, Comm.
// ACM 7 (1964).
type Groups struct {
	of []int32 // parent of each document in the tree of its group; the root is the least, its own parent
}

// NewGroups makes n documents of a group each. It panics where n is above 2³¹-1.
func NewGroups(n int) *Groups {
	if n > math.MaxInt32 {
		panic(fmt.Sprintf("engine: NewGroups: %d documents, expected at most %d", n, math.MaxInt32))
	}
	g := &Groups{of: make([]int32, max(n, 0))}
	for i := range g.of {
		g.of[i] = int32(i)
	}
	return g
}

// least returns the least document of a group, and shortens the way to it.
func (g *Groups) least(i int32) int32 {
	for g.of[i] != i {
		g.of[i] = g.of[g.of[i]]
		i = g.of[i]
	}
	return i
}

// Join makes one group of those of documents i and j. It panics with an error where there is no such
// document.
func (g *Groups) Join(i, j int) {
	if n := len(g.of); uint(i) >= uint(n) || uint(j) >= uint(n) {
		panic(fmt.Errorf("engine: groups of documents %d and %d, expected from 0 to %d", i, j, n-1))
	}
	a, b := g.least(int32(i)), g.least(int32(j))
	g.of[max(a, b)] = min(a, b)
}

// All returns the groups of two documents or more, each increasing, in the order of their least.
func (g *Groups) All() [][]int32 {
	size := make([]int32, len(g.of))
	for i := range g.of {
		size[g.least(int32(i))]++
	}
	var out [][]int32
	at := map[int32]int{}
	for i := range g.of {
		least := g.least(int32(i))
		if size[least] < 2 {
			continue
		}
		k, ok := at[least]
		if !ok {
			k = len(out)
			at[least] = k
			out = append(out, make([]int32, 0, size[least]))
		}
		out[k] = append(out[k], int32(i))
	}
	return out
}
