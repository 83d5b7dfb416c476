// Package nearest selects small values from tiles. [Lists] holds the nearest neighbours of each
// document. [Search] selects all values within a limit. A kernel of package asm compares the values
// of a part of a tile with the limits of its rows and columns. The compared values are keys: c, or
// negated kernel values.
package nearest

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"sync"
	"unsafe"

	"github.com/gramengine/gram/internal/run"
)

// Neighbour holds the index of a document, and its key or kernel value.
type Neighbour struct {
	Document uint32
	Value    float32
}

// entry packs a key and a document, so that entries sort by key, then by document. Entries of a
// list are distinct, so the order of insertion doesn't matter.
type entry uint64

const signBit = 1 << 31

func newEntry(key float32, document uint32) entry {
	b := math.Float32bits(key)
	return entry(b^(uint32(int32(b)>>31)|signBit))<<32 | entry(document)
}

func (e entry) key() float32 {
	b := uint32(e >> 32)
	return math.Float32frombits(b ^ (uint32(int32(^b)>>31) | signBit))
}

// lockDocs is the number of documents whose lists share a lock.
const lockDocs = 64

// Lists holds, for each of n documents, up to k neighbours with the smallest keys.
type Lists struct {
	k       int
	unused  entry   // value of unused entries, larger than any valid entry
	entries []entry // k entries per document
	counts  []int32 // number of neighbours per document, set by Sort
	limits  []float32
	groups  []int32 // group of each document, or nil; documents of the same group aren't neighbours
	locks   []sync.Mutex

	columns int  // number of candidates if keys of 1 are added by Sort, else 0; see AddDisjoint
	square  bool // true if a document isn't its own neighbour; see AddDisjoint
}

// Bytes returns the size in bytes of lists of k neighbours for n documents.
func Bytes(n, k int) int64 {
	return int64(n)*(8*int64(k)+8) + 8*int64(n/lockDocs+1)
}

// NewLists makes empty lists. Neighbours with keys above most aren't inserted. If groups isn't nil,
// documents of the same group don't enter each other's lists.
func NewLists(n, k int, most float32, groups []int32) *Lists {
	l := &Lists{
		k: k, unused: newEntry(most, math.MaxUint32), entries: make([]entry, n*k), counts: make([]int32, n),
		limits: make([]float32, n), groups: groups, locks: make([]sync.Mutex, n/lockDocs+1),
	}
	for i := range l.entries {
		l.entries[i] = l.unused
	}
	for i := range l.limits {
		l.limits[i] = most
	}
	return l
}

// AddDisjoint lets Sort fill lists that aren't full. Sort then adds the smallest missing indices
// below columns, with key 1. So pairs with key 1, such as documents without a common term, needn't
// be offered. No key may exceed 1, and all pairs with smaller keys must be offered. If square is
// set, document i doesn't enter its own list. Call AddDisjoint before the first offer.
func (l *Lists) AddDisjoint(columns int, square bool) {
	l.columns, l.square = columns, square
	below := math.Nextafter32(1, 0)
	for i := range l.limits {
		l.limits[i] = min(l.limits[i], below)
	}
}

func (l *Lists) fillDisjoint(i int, list []entry) {
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(uint32(a), uint32(b)) })
	used := sort.Search(len(list), func(at int) bool { return list[at] == l.unused })
	at, end := 0, used
	for j := 0; j < l.columns && end < len(list); j++ {
		if at < used && int(uint32(list[at])) == j {
			at++
		} else if !(l.square && i == j) && (l.groups == nil || l.groups[i] != l.groups[j]) {
			list[end] = newEntry(1, uint32(j))
			end++
		}
	}
}

// Len returns the number of lists.
func (l *Lists) Len() int { return len(l.counts) }

// List returns the sorted list of a document. Call it after Sort.
func (l *Lists) List(i int) []Neighbour { return l.lists(i, i+1)[:l.counts[i]:l.counts[i]] }

// lists returns the entries of documents first <= i < end, reinterpreted as neighbours.
func (l *Lists) lists(first, end int) []Neighbour {
	entries := l.entries[first*l.k : end*l.k]
	return unsafe.Slice((*Neighbour)(unsafe.Pointer(unsafe.SliceData(entries))), len(entries))
}

// maxSortedK is the largest k for which a list is stored sorted, with branch-free insertion. A
// longer list is stored as a heap.
const maxSortedK = 64

// offer inserts a neighbour if its key is among the k smallest, and reports whether the key was
// small enough. The caller must hold the list's lock.
func (l *Lists) offer(i int, key float32, j int) bool {
	if key <= l.limits[i] {
		l.enter(i, key, j)
		return true
	}
	return false
}

func (l *Lists) enter(i int, key float32, j int) {
	if l.k == 0 || l.groups != nil && l.groups[i] == l.groups[j] {
		return
	}
	list, e := l.entries[i*l.k:][:l.k:l.k], newEntry(key, uint32(j))
	worst := len(list) - 1
	if len(list) <= maxSortedK {
		for at := worst; at > 0; at-- {
			list[at] = max(list[at-1], min(list[at], e))
		}
		list[0] = min(list[0], e)
	} else {
		worst = 0
		if e < list[0] {
			replaceTop(list, e)
		}
	}
	l.limits[i] = min(l.limits[i], list[worst].key())
}

func replaceTop(heap []entry, e entry) {
	at := 0
	for {
		next := 2*at + 1
		if next >= len(heap) {
			break
		}
		if next+1 < len(heap) && heap[next] < heap[next+1] {
			next++
		}
		if heap[next] <= e {
			break
		}
		heap[at] = heap[next]
		at = next
	}
	heap[at] = e
}

const sortKeys = 4096

// Sort sorts all lists by key in ascending order. If values isn't nil, it then replaces keys by
// values, calls check for each list, and sorts lists by value in descending order.
func (l *Lists) Sort(
	ctx context.Context, workers int, values func(keys []float32) error, check func(i int, list []Neighbour) error,
) error {
	n, some := len(l.counts), max(sortKeys/max(l.k, 1), 1)
	buffers := make([][sortKeys]float32, max(workers, 1))
	return run.Tasks(ctx, workers, (n+some-1)/some, func(ctx context.Context, w, task int) error {
		first, end := task*some, min((task+1)*some, n)
		for i := first; i < end; i++ {
			entries := l.entries[i*l.k:][:l.k]
			if l.columns > 0 && slices.Contains(entries, l.unused) {
				l.fillDisjoint(i, entries)
			}
			if !slices.IsSorted(entries) {
				slices.Sort(entries)
			}
			list, count := l.lists(i, i+1), 0
			for _, e := range entries { // list and entries share memory
				if e == l.unused {
					break
				}
				list[count] = Neighbour{uint32(e), e.key()}
				count++
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			clear(list[count:])
			l.counts[i] = int32(count)
		}
		if values == nil {
			return nil
		}
		if err := convertKeys(buffers[w][:], l.lists(first, end), values); err != nil {
			return err
		}
		for i := first; i < end; i++ {
			list := l.List(i)
			if err := check(i, list); err != nil {
				return err
			}
			greater := func(a, b Neighbour) int { return cmp.Compare(b.Value, a.Value) }
			if !slices.IsSortedFunc(list, greater) { // rounding in the kernel can change the order
				slices.SortStableFunc(list, greater)
			}
		}
		return nil
	})
}

func convertKeys(buffer []float32, list []Neighbour, values func(keys []float32) error) error {
	for part := range slices.Chunk(list, len(buffer)) {
		keys := buffer[:len(part)]
		for at, n := range part {
			keys[at] = n.Value
		}
		if err := values(keys); err != nil {
			return err
		}
		for at, v := range keys {
			part[at].Value = v
		}
	}
	return nil
}
