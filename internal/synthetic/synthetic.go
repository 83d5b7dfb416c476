// Package synthetic draws random documents that resemble text.
package synthetic

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/run"
)

// Spec describes random documents. They are the same on every platform and for any number of
// workers.
//
// The number of words in a document is uniformly distributed between Length/2 and 3·Length/2. In
// class c, each word is drawn independently from
//
//	p_c(t) = ¾ z(rank(t)) + ¼ z(rank_c(t)),  z(r) ∝ 1/(r + 2.7),  r = 0, 1, ..., Terms−1
//
// where z is the Zipf-Mandelbrot law (Mandelbrot 1953; 2.7 is the usual offset for English),
// rank(t) = t for all classes, and rank_c is a random order for class c. Document i has class i mod
// Classes. Drawing uses integers only, with weights 2⁴⁰/(10 r + 27), so that no platform rounds
// differently.
type Spec struct {
	Documents int    // parameter docs, default 2000
	Terms     int    // parameter terms: size of the vocabulary, default 20000
	Length    int    // parameter length: mean number of words per document, default 200
	Classes   int    // parameter classes, default 10
	Seed      uint64 // parameter seed, default 1

	// Copies is the number of copies in each thousand documents, evenly spaced. A copy is a random
	// earlier document in which 0 to Changed words, uniformly, are redrawn. The class of a copy
	// follows from the copy's index.
	Copies  int // parameter copies, default 0
	Changed int // parameter changed, default 2
}

// Default holds the default parameters.
var Default = Spec{Documents: 2000, Terms: 20000, Length: 200, Classes: 10, Seed: 1, Changed: 2}

// String returns s as a source for [corpus.Read].
func (s Spec) String() string {
	text := fmt.Sprintf("synthetic:docs=%d,terms=%d,length=%d,classes=%d,seed=%d", s.Documents, s.Terms, s.Length,
		s.Classes, s.Seed)
	if s.Copies > 0 {
		text += fmt.Sprintf(",copies=%d,changed=%d", s.Copies, s.Changed)
	}
	return text
}

const expected = "synthetic:docs=N,terms=N,length=N,classes=N,seed=N,copies=N,changed=N"

// Parse reads docs=N,terms=N,length=N,classes=N,seed=N,copies=N,changed=N, each optional, in any
// order.
func Parse(parameters string) (Spec, error) {
	s := Default
	if parameters == "" {
		return s, nil
	}
	seed := int(s.Seed)
	type values struct {
		to       *int
		min, max uint64
	}
	left := map[string]values{"docs": {&s.Documents, 1, 1<<31 - 1}, "terms": {&s.Terms, 1, 1 << 22},
		"length": {&s.Length, 1, 1 << 24}, "classes": {&s.Classes, 1, 1 << 16}, "seed": {&seed, 0, 1<<64 - 1},
		"copies": {&s.Copies, 0, 999}, "changed": {&s.Changed, 0, 1 << 24}} // each parameter at most once
	for parameter := range strings.SplitSeq(parameters, ",") {
		key, text, _ := strings.Cut(parameter, "=")
		v, ok := left[key]
		if !ok {
			return s, fmt.Errorf("synthetic:%s: unknown or repeated parameter %s; valid parameters are %s", parameters,
				strconv.Quote(key), expected)
		}
		delete(left, key)
		x, err := strconv.ParseUint(text, 10, 64)
		if err != nil || x < v.min || x > v.max {
			return s, fmt.Errorf("synthetic:%s: %s must be an integer between %d and %d, got %s", parameters,
				key, v.min, v.max, strconv.Quote(text))
		}
		*v.to = int(x)
	}
	s.Seed = uint64(seed)
	if s.Terms*s.Classes > 1<<30 {
		return s, fmt.Errorf("%s: terms * classes must be at most %d, got %d", s, 1<<30, s.Terms*s.Classes)
	}
	return s, nil
}

// Generator draws the documents of a Spec. It may be used concurrently.
type Generator struct {
	spec   Spec
	zipf   *aliasTable
	orders [][]uint32 // orders[c][r] is the term of rank r in class c
}

// TermBytes returns the memory of a generator in bytes per term.
func (s Spec) TermBytes() int64 { return 12 + 4*int64(s.Classes) }

// NewGenerator returns a generator. It fails if ctx is done.
func (s Spec) NewGenerator(ctx context.Context, workers int) (*Generator, error) {
	g := &Generator{spec: s, zipf: newZipfTable(s.Terms), orders: make([][]uint32, s.Classes)}
	return g, run.Parallel(ctx, workers, s.Classes, func(c int) {
		g.orders[c] = randomOrder(s.Terms, newDrawer(s.Seed, uint64(c)))
	})
}

// randomOrder returns a random permutation of 0 … n-1 (Fisher and Yates).
func randomOrder(n int, d drawer) []uint32 {
	order := make([]uint32, n)
	for i := range order {
		j := d.below(uint64(i) + 1)
		order[i] = order[j]
		order[j] = uint32(i)
	}
	return order
}

// isCopy reports whether document i is a copy.
func (s *Spec) isCopy(i int) bool { return i > 0 && i*s.Copies%1000 < s.Copies }

// Document draws document i. It stores the count of each term in count, whose elements must be 0
// before the call, and appends the distinct terms to drawn in ascending order.
func (g *Generator) Document(i int, count, drawn []uint32) []uint32 {
	s := &g.spec
	d := newDrawer(s.Seed, uint64(s.Classes)+uint64(i))
	if !s.isCopy(i) {
		return g.draw(d, i%s.Classes, count, drawn)
	}
	from := int(d.below(uint64(i)))
	for s.isCopy(from) {
		from-- // ends at document 0, which isn't a copy
	}
	drawn = g.draw(newDrawer(s.Seed, uint64(s.Classes)+uint64(from)), from%s.Classes, count, drawn)
	for range d.below(uint64(s.Changed) + 1) {
		at := d.below(uint64(len(drawn)))
		t := drawn[at]
		if count[t]--; count[t] == 0 {
			drawn = slices.Delete(drawn, int(at), int(at)+1)
		}
		if t = g.zipf.draw(d); count[t] == 0 {
			place, _ := slices.BinarySearch(drawn, t)
			drawn = slices.Insert(drawn, place, t)
		}
		count[t]++
	}
	return drawn
}

func (g *Generator) draw(d drawer, class int, count, drawn []uint32) []uint32 {
	length := g.spec.Length
	words := uint64(length-length/2) + d.below(2*uint64(length/2)+1)
	for range words {
		own := d.below(4) == 0
		t := g.zipf.draw(d)
		if own {
			t = g.orders[class][t]
		}
		if count[t] == 0 {
			drawn = append(drawn, t)
		}
		count[t]++
	}
	slices.Sort(drawn)
	return drawn
}

// Vocabulary returns the names of the terms, t0, t1, ... with leading zeros, so that names sort
// like numbers.
func (s Spec) Vocabulary() []string {
	digits := len(strconv.Itoa(s.Terms - 1))
	vocabulary := make([]string, s.Terms)
	for t := range vocabulary {
		vocabulary[t] = fmt.Sprintf("t%0*d", digits, t)
	}
	return vocabulary
}

// drawer draws bounded integers from a generator whose output is the same in every Go version.
type drawer struct{ *rand.PCG }

// below draws an integer below n, with a bias below n/2⁶⁴.
func (d drawer) below(n uint64) uint64 {
	hi, _ := bits.Mul64(d.Uint64(), n)
	return hi
}

// newDrawer returns the generator of one stream. SplitMix64 mixes seed and stream, so that
// neighbouring streams are independent.
func newDrawer(seed, stream uint64) drawer {
	return drawer{rand.NewPCG(scatter(seed), scatter(stream+0x632be59bd9b4e019))}
}

func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// aliasTable draws from a fixed distribution in constant time, in integer arithmetic (Walker 1977,
// Vose 1991).
type aliasTable struct {
	total   uint64   // total weight of a column
	keep    []uint64 // part of total for which column k yields k
	instead []uint32 // result of column k otherwise
}

// newZipfTable returns the table of weights 2⁴⁰/(10 r + 27).
func newZipfTable(n int) *aliasTable {
	t := &aliasTable{keep: make([]uint64, n), instead: make([]uint32, n)}
	for r := range n {
		w := uint64(1) << 40 / uint64(10*r+27)
		t.keep[r] = w * uint64(n) // below 2⁵⁸ for n <= 2²²
		t.total += w
	}
	var small, large []uint32
	for r := n - 1; r >= 0; r-- {
		if t.keep[r] < t.total {
			small = append(small, uint32(r))
		} else {
			large = append(large, uint32(r))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.instead[s] = l
		t.keep[l] -= t.total - t.keep[s]
		if t.keep[l] < t.total {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return t
}

func (t *aliasTable) draw(d drawer) uint32 {
	k := d.below(uint64(len(t.keep)))
	if d.below(t.total) < t.keep[k] {
		return uint32(k)
	}
	return t.instead[k]
}
