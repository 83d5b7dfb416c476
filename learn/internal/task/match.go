package task

import (
	"context"
	"hash/fnv"
	"math"
	"slices"

	"github.com/gramengine/gram/sparse"
)

// Match returns for each document of old the number of the one of c that has the same values of the terms that both
// know, and the same class unless classes, by document of old, are nil; -1 for none. Columns of old are named by a
// vocabulary, nil for none; kept are those that count. The first of several equal documents is that of the first, and
// so on.
func Match(
	ctx context.Context, old *sparse.CSR, kept *sparse.Embedder, vocabulary, classes []string, c *sparse.Corpus,
) (at []int, err error) {
	numbers, known := numbering{}, numbering{} // in c, of the terms of old, and of c itself
	if vocabulary != nil {
		names := map[term]uint32{}
		for t, name := range c.Vocabulary {
			names[termOf(c.Documents.Views, uint32(t), name)] = uint32(t)
		}
		numbers.list, known.list = unknowns(len(vocabulary)), unknowns(len(c.Vocabulary))
		for _, t := range kept.Terms {
			if n, ok := names[termOf(kept.Views, t, vocabulary[t])]; ok {
				numbers.list[t], known.list[n] = n, n
			}
		}
	}
	for j, w := range kept.Weights {
		if w != 0 {
			continue
		}
		t := kept.Terms[j] // an idf of 0 leaves it out
		if n, ok := numbers.of(t); ok && vocabulary != nil {
			numbers.list[t], known.list[n] = unknown, unknown
		} else if ok {
			numbers.out, known.out = append(numbers.out, t), append(known.out, t)
		}
	}
	damped := c.Documents.Views != nil && kept.Weighting.Damped()
	left := map[[2]uint64][]int{} // documents of c by their digest
	for i := range c.Documents.Rows() {
		class := ""
		if own := c.Labels.Of(i); classes != nil && len(own) > 0 {
			class = c.Classes[own[0]]
		}
		key := digest(c.Documents, i, &known, c.Documents.Views, damped, class)
		if left[key] = append(left[key], i); i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	at = make([]int, old.Rows())
	for i := range at {
		class := ""
		if classes != nil {
			class = classes[i]
		}
		key := digest(old, i, &numbers, c.Documents.Views, damped, class)
		if at[i] = -1; key[1] != 0 && len(left[key]) > 0 { // of none of the terms nothing is known
			at[i], left[key] = left[key][0], left[key][1:]
		}
	}
	return at, ctx.Err()
}

// numbering has the numbers of terms by a list, or takes them as they are but for some, ascending.
type numbering struct {
	list []uint32
	out  []uint32
}

const unknown = math.MaxUint32

func unknowns(n int) []uint32 { return slices.Repeat([]uint32{unknown}, n) }

func (n *numbering) of(t uint32) (uint32, bool) {
	if n.list != nil {
		return n.list[t], n.list[t] != unknown
	}
	_, out := slices.BinarySearch(n.out, t)
	return t, !out
}

// term is a term of a view: two views may have the same.
type term struct {
	view int
	name string
}

func termOf(views []sparse.View, t uint32, name string) term { return term{viewOf(views, t), name} }

// viewOf counts the views that begin up to a column.
func viewOf(views []sparse.View, t uint32) (view int) {
	for view < len(views) && views[view].First <= t {
		view++
	}
	return view
}

// digest is that of a row, of the terms that have numbers, and of a class. Models keep the values of each view, or
// their damped form, times its share of the document: those are taken as multiples of the least.
func digest(
	docs *sparse.CSR, row int, numbers *numbering, views []sparse.View, damped bool, class string,
) (key [2]uint64) {
	h := fnv.New64a()
	h.Write([]byte(class))
	key[0] = h.Sum64()
	terms, values := docs.Row(row)
	form := func(value float32) float64 {
		if damped {
			return 1 + math.Log(float64(value))
		}
		return float64(value)
	}
	var least [16]float32 // by view; there are fewer
	for k, t := range terms {
		if n, ok := numbers.of(t); ok && views != nil {
			if l := &least[viewOf(views, n)]; *l == 0 || values[k] < *l {
				*l = values[k]
			}
		}
	}
	for k, t := range terms {
		if n, ok := numbers.of(t); ok && values[k] != 0 {
			value := values[k]
			if views != nil {
				value = float32(math.Round(100 * form(value) / form(least[viewOf(views, n)])))
			}
			v := uint64(n)<<32 | uint64(math.Float32bits(value))
			key[0], key[1] = key[0]+mixed(v), key[1]+mixed(^v) // in any order
		}
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
