package task

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/gramengine/gram/sparse"
)

// Contents are documents that may be the same as others, of another corpus.
type Contents struct {
	Count      int
	Row        func(i int) (terms []uint32, values []float32)
	Class      func(i int) string // of which those that are the same have the same; nil for none
	Terms      []uint32           // that count
	Vocabulary []string           // nil where terms are numbers
}

// Terms are those that an embedding keeps: an idf of 0 leaves a term out.
func Terms(f *sparse.Embedder) (kept []uint32) {
	for j, t := range f.Terms {
		if j >= len(f.Weights) || f.Weights[j] != 0 {
			kept = append(kept, t)
		}
	}
	return kept
}

// leastFound is the share of documents below which Match reports that the others aren't all that it needs.
const leastFound = 0.5

// Match returns for each document of from, which what names, the one of to, of a source, that has the same values
// of the terms that count in both, and the same class; -1 for none. The first of several equal documents is that of
// the first, and so on. found counts them. It is an error if less than half of them are there.
func Match(ctx context.Context, from, to *Contents, what, source string) (at []int, found int, err error) {
	names, number := map[string]uint32{}, func(t uint32) uint32 { return t }
	if from.Vocabulary != nil {
		for t, name := range to.Vocabulary {
			names[name] = uint32(t)
		}
		number = func(t uint32) uint32 {
			if own, ok := names[from.Vocabulary[t]]; ok {
				return own
			}
			return math.MaxUint32
		}
	}
	other, both := map[uint32]bool{}, map[uint32]bool{}
	for _, t := range to.Terms {
		other[t] = true
	}
	numbers := map[uint32]uint32{} // in to, of the terms that count in both
	for _, t := range from.Terms {
		if n := number(t); other[n] {
			numbers[t], both[n] = n, true
		}
	}
	left := map[[2]uint64][]int{} // of the documents of to, by their digest
	for i := range to.Count {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		key := to.digest(i, func(t uint32) (uint32, bool) { return t, both[t] })
		left[key] = append(left[key], i)
	}
	at = make([]int, from.Count)
	for i := range at {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, 0, ctx.Err()
		}
		key := from.digest(i, func(t uint32) (uint32, bool) { n, ok := numbers[t]; return n, ok })
		if at[i] = -1; len(left[key]) > 0 {
			at[i], left[key] = left[key][0], left[key][1:]
			found++
		}
	}
	if float64(found) < leastFound*float64(from.Count) {
		return nil, found, fmt.Errorf("%s holds %d of the %d %s of the model, expected most of them: it must hold all "+
			"documents, old and new, cut into the same terms", source, found, from.Count, what)
	}
	return at, found, nil
}

// digest is that of document i, of the terms that number knows, in any order.
func (c *Contents) digest(i int, number func(t uint32) (uint32, bool)) (key [2]uint64) {
	terms, values := c.Row(i)
	add := func(v uint64) { key[0], key[1] = key[0]+mixed(v), key[1]+mixed(^v) }
	for k, t := range terms {
		if n, ok := number(t); ok && values[k] != 0 {
			add(uint64(n)<<32 | uint64(math.Float32bits(values[k])))
		}
	}
	if c.Class != nil {
		h := fnv.New64a()
		h.Write([]byte(c.Class(i)))
		add(h.Sum64())
	}
	return key
}

// mixed is a permutation of numbers without pattern: SplitMix64's.
func mixed(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}
