package task

import (
	"context"
	"encoding/binary"
	"hash/fnv"
	"math"
	"slices"

	"github.com/gramengine/gram/sparse"
)

// Contents are documents that may be the same as others, of another corpus.
type Contents struct {
	Count      int
	Row        func(i int) (terms []uint32, values []float32)
	Class      func(i int) string // of which those that are the same have the same; nil for none
	Embedder   *sparse.Embedder
	Vocabulary []string // nil where terms are numbers
}

// Match returns for each document of from the one of to that has the same values of the terms that both
// embeddings keep, and the same class; -1 for none. The first of several equal documents is that of the first,
// and so on.
func Match(ctx context.Context, from, to *Contents) ([]int, error) {
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
	other, both := to.kept(), map[uint32]bool{}
	numbers := map[uint32]uint32{} // in to, of the terms of from that both keep
	for t := range from.kept() {
		if n := number(t); other[n] {
			numbers[t], both[n] = n, true
		}
	}
	at := map[[16]byte][]int{} // of the documents of to that aren't taken, by their digest
	for i := range to.Count {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		key := to.digest(i, func(t uint32) (uint32, bool) { return t, both[t] })
		at[key] = append(at[key], i)
	}
	found := make([]int, from.Count)
	for i := range found {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		key := from.digest(i, func(t uint32) (uint32, bool) { n, ok := numbers[t]; return n, ok })
		if found[i] = -1; len(at[key]) > 0 {
			found[i], at[key] = at[key][0], at[key][1:]
		}
	}
	return found, nil
}

// kept are the terms that the embedding keeps: an idf of 0 leaves a term out.
func (c *Contents) kept() map[uint32]bool {
	kept := make(map[uint32]bool, len(c.Embedder.Terms))
	for j, t := range c.Embedder.Terms {
		if j >= len(c.Embedder.Weights) || c.Embedder.Weights[j] != 0 {
			kept[t] = true
		}
	}
	return kept
}

// digest is that of document i, of the terms that number knows.
func (c *Contents) digest(i int, number func(t uint32) (uint32, bool)) (key [16]byte) {
	terms, values := c.Row(i)
	var pairs []uint64 // a term above the bits of its value
	for k, t := range terms {
		if n, ok := number(t); ok && values[k] != 0 {
			pairs = append(pairs, uint64(n)<<32|uint64(math.Float32bits(values[k])))
		}
	}
	slices.Sort(pairs)
	h, b := fnv.New128a(), []byte(nil)
	for _, p := range pairs {
		b = binary.LittleEndian.AppendUint64(b, p)
	}
	if c.Class != nil {
		b = append(b, c.Class(i)...)
	}
	h.Write(b)
	h.Sum(key[:0])
	return key
}

// Missing counts the documents that [Match] hasn't found.
func Missing(found []int) (n int) {
	for _, at := range found {
		if at < 0 {
			n++
		}
	}
	return n
}
