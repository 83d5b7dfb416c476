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
// The number of words in a document is uniformly distributed between MeanLength/2 and
// 3·MeanLength/2. In class c, each word is drawn independently from
//
//	p_c(t) = ¾ z(rank(t)) + ¼ z(rank_c(t)),  z(r) ∝ 1/(r + 2.7),  r = 0, 1, ..., TermCount−1
//
// where z is the Zipf-Mandelbrot law (Mandelbrot 1953; 2.7 is the usual offset for English),
// rank(t) = t for all classes, and rank_c is a random order for class c. Document i has class i mod
// ClassCount. Drawing uses integers only, with weights 2⁴⁰/(10 r + 27), so that no platform rounds
// differently.
type Spec struct {
	DocumentCount int    // parameter docs, default 2000
	TermCount     int    // parameter terms: size of the vocabulary, default 20000
	MeanLength    int    // parameter length: mean number of words per document, default 200
	ClassCount    int    // parameter classes, default 10
	Seed          uint64 // parameter seed, default 1

	// CopiesPerThousand is the number of copies in each thousand documents, evenly spaced. A copy
	// is a random earlier document in which 0 to MaxChangedWords words, uniformly, are redrawn. The
	// class of a copy follows from the copy's index.
	CopiesPerThousand int // parameter copies, default 0
	MaxChangedWords   int // parameter changed, default 2
}

// DefaultSpec holds the default parameters.
var DefaultSpec = Spec{DocumentCount: 2000, TermCount: 20000, MeanLength: 200, ClassCount: 10, Seed: 1,
	MaxChangedWords: 2}

// String returns s as a source for [corpus.Read].
func (s Spec) String() string {
	text := fmt.Sprintf("synthetic:docs=%d,terms=%d,length=%d,classes=%d,seed=%d", s.DocumentCount, s.TermCount,
		s.MeanLength,
		s.ClassCount, s.Seed)
	if s.CopiesPerThousand > 0 {
		text += fmt.Sprintf(",copies=%d,changed=%d", s.CopiesPerThousand, s.MaxChangedWords)
	}
	return text
}

const syntax = "synthetic:docs=N,terms=N,length=N,classes=N,seed=N,copies=N,changed=N"

// Parse reads docs=N,terms=N,length=N,classes=N,seed=N,copies=N,changed=N, each optional, in any
// order.
func Parse(parameters string) (Spec, error) {
	s := DefaultSpec
	if parameters == "" {
		return s, nil
	}
	seed := int(s.Seed)
	type values struct {
		to       *int
		min, max uint64
	}
	left := map[string]values{"docs": {&s.DocumentCount, 1, 1<<31 - 1}, "terms": {&s.TermCount, 1, 1 << 22},
		"length": {&s.MeanLength, 1, 1 << 24}, "classes": {&s.ClassCount, 1, 1 << 16}, "seed": {&seed, 0, 1<<64 - 1},
		"copies": {&s.CopiesPerThousand, 0, 999}, "changed": {&s.MaxChangedWords, 0, 1 << 24}} // each parameter at most once
	for parameter := range strings.SplitSeq(parameters, ",") {
		key, text, _ := strings.Cut(parameter, "=")
		v, ok := left[key]
		if !ok {
			return s, fmt.Errorf("synthetic:%s: unknown or repeated parameter %s; valid parameters are %s", parameters,
				strconv.Quote(key), syntax)
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
	if s.TermCount*s.ClassCount > 1<<30 {
		return s, fmt.Errorf("%s: terms * classes must be at most %d, got %d", s, 1<<30, s.TermCount*s.ClassCount)
	}
	return s, nil
}

// Generator draws the documents of a Spec. It may be used concurrently.
type Generator struct {
	spec   Spec
	zipf   *aliasTable
	orders [][]uint32 // orders[c][r] is the term of rank r in class c
}

// TermBytes returns the size of a generator in bytes per term.
func (s Spec) TermBytes() int64 { return 12 + 4*int64(s.ClassCount) }

// NewGenerator builds a generator on up to workers goroutines. It fails if ctx is done.
func (s Spec) NewGenerator(ctx context.Context, workers int) (*Generator, error) {
	g := &Generator{spec: s, zipf: newZipfTable(s.TermCount), orders: make([][]uint32, s.ClassCount)}
	return g, run.Parallel(ctx, workers, s.ClassCount, func(c int) {
		g.orders[c] = randomOrder(s.TermCount, newRandomSource(s.Seed, uint64(c)))
	})
}

// randomOrder returns a random permutation of 0 … n-1 (Fisher and Yates).
func randomOrder(n int, d randomSource) []uint32 {
	order := make([]uint32, n)
	for i := range order {
		j := d.uint64n(uint64(i) + 1)
		order[i] = order[j]
		order[j] = uint32(i)
	}
	return order
}

func (s *Spec) isCopy(i int) bool { return i > 0 && i*s.CopiesPerThousand%1000 < s.CopiesPerThousand }

// Document draws document i. It stores the count of each term in count, whose elements must be 0
// before the call, and appends the distinct terms to drawn in ascending order.
func (g *Generator) Document(i int, count, drawn []uint32) []uint32 {
	s := &g.spec
	d := newRandomSource(s.Seed, uint64(s.ClassCount)+uint64(i))
	if !s.isCopy(i) {
		return g.draw(d, i%s.ClassCount, count, drawn)
	}
	from := int(d.uint64n(uint64(i)))
	for s.isCopy(from) {
		from-- // ends at document 0, which isn't a copy
	}
	drawn = g.draw(newRandomSource(s.Seed, uint64(s.ClassCount)+uint64(from)), from%s.ClassCount, count, drawn)
	for range d.uint64n(uint64(s.MaxChangedWords) + 1) {
		at := d.uint64n(uint64(len(drawn)))
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

func (g *Generator) draw(d randomSource, class int, count, drawn []uint32) []uint32 {
	length := g.spec.MeanLength
	words := uint64(length-length/2) + d.uint64n(2*uint64(length/2)+1)
	for range words {
		own := d.uint64n(4) == 0
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
	digits := len(strconv.Itoa(s.TermCount - 1))
	vocabulary := make([]string, s.TermCount)
	for t := range vocabulary {
		vocabulary[t] = fmt.Sprintf("t%0*d", digits, t)
	}
	return vocabulary
}

// randomSource draws bounded integers from a generator whose output is the same in every Go
// version.
type randomSource struct{ *rand.PCG }

// uint64n draws an integer below n, with a bias below n/2⁶⁴.
func (d randomSource) uint64n(n uint64) uint64 {
	hi, _ := bits.Mul64(d.Uint64(), n)
	return hi
}

// newRandomSource returns the generator of one stream. SplitMix64 mixes seed and stream, so that
// neighbouring streams are independent.
func newRandomSource(seed, stream uint64) randomSource {
	return randomSource{rand.NewPCG(mix64(seed), mix64(stream+0x632be59bd9b4e019))}
}

func mix64(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// aliasTable draws from a fixed distribution in constant time, in integer arithmetic (Walker 1977,
// Vose 1991).
type aliasTable struct {
	columnWeight uint64   // weight of a column: the sum of all weights
	thresholds   []uint64 // part of columnWeight for which column k yields k
	aliases      []uint32 // result of column k otherwise
}

// newZipfTable returns the table of weights 2⁴⁰/(10 r + 27).
func newZipfTable(n int) *aliasTable {
	t := &aliasTable{thresholds: make([]uint64, n), aliases: make([]uint32, n)}
	for r := range n {
		w := uint64(1) << 40 / uint64(10*r+27)
		t.thresholds[r] = w * uint64(n) // below 2⁵⁸ for n <= 2²²
		t.columnWeight += w
	}
	var small, large []uint32
	for r := n - 1; r >= 0; r-- {
		if t.thresholds[r] < t.columnWeight {
			small = append(small, uint32(r))
		} else {
			large = append(large, uint32(r))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		t.aliases[s] = l
		t.thresholds[l] -= t.columnWeight - t.thresholds[s]
		if t.thresholds[l] < t.columnWeight {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return t
}

func (t *aliasTable) draw(d randomSource) uint32 {
	k := d.uint64n(uint64(len(t.thresholds)))
	if d.uint64n(t.columnWeight) < t.thresholds[k] {
		return uint32(k)
	}
	return t.aliases[k]
}
