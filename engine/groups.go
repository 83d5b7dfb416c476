package engine

import (
	"math"
	"slices"
)

// NonDuplicates selects documents in order and drops each document near an earlier selected one.
// Pairs come from [EachNear], for example. It may not be used concurrently.
type NonDuplicates struct {
	first []int32    // the first copy of each document
	by    []int32    // by document, the first kept one that is known to drop it; its own number if none
	pairs [][2]int32 // of documents that aren't known to be kept or dropped

	// Pairs beyond room are lost, and full says so: after settle they must come again.
	room    int
	full    bool
	sure    []bool // known to be kept
	blocked []bool // by a document before it, of which it isn't known whether it is kept
}

// pairsPerRow is how many pairs a search holds per document.
const pairsPerRow = 4

// NewNonDuplicates returns n < 2³¹ documents, none near to another.
func NewNonDuplicates(n int) *NonDuplicates {
	k := &NonDuplicates{first: make([]int32, n), by: make([]int32, n), sure: make([]bool, n), blocked: make([]bool, n),
		room: math.MaxInt}
	for i := range n {
		k.first[i], k.by[i] = int32(i), int32(i)
	}
	return k
}

// Copy records that document j is a copy of document i < j and so near to the same documents.
func (k *NonDuplicates) Copy(i, j int) { k.first[j] = min(k.first[j], int32(i)) }

// Near records that documents i < j are near to each other, and so are their copies if they are the first ones.
func (k *NonDuplicates) Near(i, j int) {
	switch pair := [2]int32{int32(i), int32(j)}; {
	case k.sure[i]:
		k.drop(pair)
	case k.by[i] != pair[0]: // i is dropped, and drops none
	case len(k.pairs) < k.room:
		k.pairs = append(k.pairs, pair)
		k.blocked[j] = true
	default:
		k.full, k.blocked[j] = true, true
	}
}

// drop drops the second document of a pair, whose first is kept.
func (k *NonDuplicates) drop(pair [2]int32) {
	if i, j := pair[0], pair[1]; k.by[j] == j || i < k.by[j] {
		k.by[j] = i
	}
}

// settle makes room after pairs were lost. Documents that nothing blocks are kept; at least the first that wasn't known
// to be kept or dropped is among those that are known then.
func (k *NonDuplicates) settle() {
	if !k.full {
		return
	}
	for j := range k.by {
		k.sure[j] = k.sure[j] || !k.blocked[j] && k.by[j] == int32(j)
	}
	clear(k.blocked)
	k.pairs, k.full = k.pairs[:0], false
}

// Groups returns the kept documents that stand for others, each followed by those that are dropped for it, ascending.
// Of several kept documents that are near to one, the first stands for it.
func (k *NonDuplicates) Groups() [][]int32 {
	for at, p := range k.pairs {
		i, j := k.first[p[0]], k.first[p[1]]
		k.pairs[at] = [2]int32{min(i, j), max(i, j)}
	}
	slices.SortFunc(k.pairs, func(a, b [2]int32) int { return int(a[0]) - int(b[0]) })
	for _, p := range k.pairs { // in this order all earlier documents of p[0] are decided before p
		if p[0] != p[1] && k.by[p[0]] == p[0] {
			k.drop(p)
		}
	}
	size := make([]int32, len(k.by))
	for j, first := range k.first {
		if int(first) < j {
			k.by[j] = k.by[first]
		}
		size[k.by[j]]++
	}
	var out [][]int32
	place := make([]int32, len(k.by))
	for j, i := range k.by {
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
