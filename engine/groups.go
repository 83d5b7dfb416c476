package engine

import (
	"math"
	"slices"
)

// Deduplicator selects documents in ascending order, and drops each document that is near to an
// earlier selected document. [EachNearPair] finds pairs of near documents. A Deduplicator must not
// be used concurrently.
type Deduplicator struct {
	firstCopy []int32    // per document: the first identical document
	nearTo    []int32    // per document: first near document known to be selected, or the document itself
	pairs     [][2]int32 // pairs of documents whose selection is undecided

	// Maximum number of stored pairs. If more pairs are added, full is set, and all pairs must be
	// added again after settle.
	maxPairs int
	full     bool
	selected []bool // per document: true if known to be selected
	blocked  []bool // per document: true if near to an earlier undecided document
}

const pairsPerRow = 4

// NewDeduplicator returns a Deduplicator for n < 2³¹ documents, without pairs.
func NewDeduplicator(n int) *Deduplicator {
	k := &Deduplicator{firstCopy: make([]int32, n), nearTo: make([]int32, n), selected: make([]bool, n),
		blocked:  make([]bool, n),
		maxPairs: math.MaxInt}
	for i := range n {
		k.firstCopy[i], k.nearTo[i] = int32(i), int32(i)
	}
	return k
}

// AddCopy records that document j is a copy of document i < j. Copies are near to the same
// documents.
func (k *Deduplicator) AddCopy(i, j int) { k.firstCopy[j] = min(k.firstCopy[j], int32(i)) }

// AddNear records that documents i and j > i are near. Copies of i are then near to copies of j. i
// and j must not be copies of earlier documents.
func (k *Deduplicator) AddNear(i, j int) {
	switch pair := [2]int32{int32(i), int32(j)}; {
	case k.selected[i]:
		k.drop(pair)
	case k.nearTo[i] != pair[0]: // i was dropped, so it drops no other document
	case len(k.pairs) < k.maxPairs:
		k.pairs = append(k.pairs, pair)
		k.blocked[j] = true
	default:
		k.full, k.blocked[j] = true, true
	}
}

func (k *Deduplicator) drop(pair [2]int32) {
	if i, j := pair[0], pair[1]; k.nearTo[j] == j || i < k.nearTo[j] {
		k.nearTo[j] = i
	}
}

// settle does nothing if all pairs were stored. Otherwise it selects each document that is neither
// dropped nor blocked, and clears the stored pairs. Each call decides at least the first undecided
// document.
func (k *Deduplicator) settle() {
	if !k.full {
		return
	}
	for j := range k.nearTo {
		k.selected[j] = k.selected[j] || !k.blocked[j] && k.nearTo[j] == int32(j)
	}
	clear(k.blocked)
	k.pairs, k.full = k.pairs[:0], false
}

// Groups returns a group for each selected document with dropped documents. A group lists the
// selected document and its dropped documents, in ascending order. A dropped document belongs to
// the first selected document near to it.
func (k *Deduplicator) Groups() [][]int32 {
	for at, p := range k.pairs {
		i, j := k.firstCopy[p[0]], k.firstCopy[p[1]]
		k.pairs[at] = [2]int32{min(i, j), max(i, j)}
	}
	slices.SortFunc(k.pairs, func(a, b [2]int32) int { return int(a[0]) - int(b[0]) })
	for _, p := range k.pairs { // in this order, pairs that could drop p[0] come before p
		if p[0] != p[1] && k.nearTo[p[0]] == p[0] {
			k.drop(p)
		}
	}
	size := make([]int32, len(k.nearTo))
	for j, first := range k.firstCopy {
		if int(first) < j {
			k.nearTo[j] = k.nearTo[first]
		}
		size[k.nearTo[j]]++
	}
	var out [][]int32
	place := make([]int32, len(k.nearTo))
	for j, i := range k.nearTo {
		if size[i] < 2 {
			continue
		}
		if int(i) == j {
			place[i] = int32(len(out))
			out = append(out, make([]int32, 0, size[i]))
		}
		out[place[i]] = append(out[place[i]], int32(j))
	}
	return out
}
