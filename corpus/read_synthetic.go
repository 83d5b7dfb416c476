package corpus

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

// Synthetic describes a random corpus. It is the same on every platform and for any number of
// workers.
//
// A document of class c has between Length/2 and 3·Length/2 words, uniformly distributed. Each is
// drawn independently from
//
//	p_c(t) = ¾ z(rank(t)) + ¼ z(rank_c(t)),  z(r) ∝ 1/(r + 2.7),  r = 0, 1, ..., Terms−1
//
// where z is the Zipf-Mandelbrot law (Mandelbrot 1953; 2.7 is the usual offset for English),
// rank(t) = t for all classes, and rank_c is a random order for class c. Document i has class i mod
// Classes. Drawing uses integers only, with weights 2⁴⁰/(10 r + 27), so that no platform rounds
// differently.
type Synthetic struct {
	Documents int    // docs=, default 2000
	Terms     int    // terms=, size of the vocabulary, default 20000
	Length    int    // length=, mean number of words per document, default 200
	Classes   int    // classes=, default 10
	Seed      uint64 // seed=, default 1

	// Copies of a thousand documents, evenly spread, are copies of a random earlier document, in
	// which up to Changed words (uniformly) are redrawn. A copy has the class of its own position.
	Copies  int // copies=, default 0
	Changed int // changed=, default 2
}

// DefaultSynthetic holds the default parameters.
var DefaultSynthetic = Synthetic{Documents: 2000, Terms: 20000, Length: 200, Classes: 10, Seed: 1, Changed: 2}

// String returns s as a source for [Read].
func (s Synthetic) String() string {
	text := fmt.Sprintf("synthetic:docs=%d,terms=%d,length=%d,classes=%d,seed=%d", s.Documents, s.Terms, s.Length,
		s.Classes, s.Seed)
	if s.Copies > 0 {
		text += fmt.Sprintf(",copies=%d,changed=%d", s.Copies, s.Changed)
	}
	return text
}

const syntheticExpected = "synthetic:docs=N,terms=N,length=N,classes=N,seed=N,copies=N,changed=N"

// ParseSynthetic reads docs=N,terms=N,length=N,classes=N,seed=N,copies=N,changed=N, each optional, in any
// order.
func ParseSynthetic(parameters string) (Synthetic, error) {
	s := DefaultSynthetic
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
		"copies": {&s.Copies, 0, 999}, "changed": {&s.Changed, 0, 1 << 24}} // each at most once
	for parameter := range strings.SplitSeq(parameters, ",") {
		key, text, _ := strings.Cut(parameter, "=")
		v, ok := left[key]
		if !ok {
			return s, fmt.Errorf("corpus: synthetic:%s: parameter %s, expected %s, each once", parameters, quote(key),
				syntheticExpected)
		}
		delete(left, key)
		x, err := strconv.ParseUint(text, 10, 64)
		if err != nil || x < v.min || x > v.max {
			return s, fmt.Errorf("corpus: synthetic:%s: %s is %s, expected a whole number from %d to %d", parameters,
				key, quote(text), v.min, v.max)
		}
		*v.to = int(x)
	}
	s.Seed = uint64(seed)
	if s.Terms*s.Classes > 1<<30 {
		return s, fmt.Errorf("corpus: %s: terms times classes is %d, expected at most %d", s, s.Terms*s.Classes, 1<<30)
	}
	return s, nil
}

// drawer draws bounded integers from the raw words of a generator with a stable stream.
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

// aliasTable draws from a fixed distribution in constant time with integers (Walker 1977, Vose
// 1991).
type aliasTable struct {
	total   uint64   // capacity of a column
	keep    []uint64 // share of column k that yields k, of total
	instead []uint32 // result of the remaining share of column k
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

// readSynthetic draws the corpus. Options.MinDF and MaxDF remove values but not columns, as for
// vectors.
func readSynthetic(ctx context.Context, source string, s Synthetic, opt *Options, m *meter) (*Corpus, error) {
	const aTerm, aTermOfClass, aTermOfWorker = 56, 4, 8 // bytes per term: table and name; order; counts and numbers
	tables := int64(s.Terms) * (aTerm + aTermOfClass*int64(s.Classes) + aTermOfWorker*int64(opt.Workers))
	size := Size{Documents: s.Documents, Terms: s.Terms, Classes: s.Classes, Longest: s.Length,
		Values: int64(s.Documents) * int64(s.Length)}
	if err := opt.memory.fits(source, tables+countedDocumentBytes*int64(s.Documents), size); err != nil {
		return nil, err
	}
	opt.memory.add(tables)
	zipf := newZipfTable(s.Terms)
	orders := make([][]uint32, s.Classes) // orders[c][r] is the term of rank r in class c
	err := run.Parallel(ctx, opt.Workers, s.Classes, func(c int) {
		orders[c] = randomOrder(s.Terms, newDrawer(s.Seed, uint64(c)))
	})
	if err != nil {
		return nil, err
	}
	if err := opt.askVocabulary(); err != nil {
		return nil, err
	}
	vocabulary := syntheticVocabulary(s.Terms)
	own := Options{Workers: opt.Workers, Vocabulary: opt.Vocabulary, memory: opt.memory}
	if own.Vocabulary == nil {
		own.Vocabulary = vocabulary
	}
	counters, err := newCounters(ctx, &own)
	if err != nil {
		return nil, err
	}
	some := min(s.Documents, 256)
	documents := make([]countedDocument, some)
	counts := make([][]uint32, opt.Workers)  // counts of one document, by worker; all zero between documents
	numbers := make([][]uint32, opt.Workers) // number of each term + 1 in the worker's counter, or 0
	draw := func(w, lo, hi int) {
		if counts[w] == nil {
			counts[w], numbers[w] = make([]uint32, s.Terms), make([]uint32, s.Terms)
		}
		var drawn []uint32
		var taken int64
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			drawn = s.document(i, zipf, orders, counts[w], drawn[:0])
			for _, t := range drawn {
				if numbers[w][t] == 0 {
					numbers[w][t] = counters[w].id([]byte(vocabulary[t]), &taken) + 1
				}
				counted := termCount{numbers[w][t] - 1, float32(counts[w][t])}
				counters[w].added, counts[w][t] = append(counters[w].added, counted), 0
			}
			documents[i] = counters[w].endDocument()
			m.documents.Add(1)
		}
		opt.memory.add(taken)
	}
	// The memory of all documents is extrapolated from the first ones, because the number of
	// distinct terms varies little.
	draw(0, 0, some)
	size.Values = 0
	for _, d := range documents[:some] {
		size.Values += int64(d.terms)
	}
	size.Values = size.Values * int64(s.Documents) / int64(some)
	rest, fresh := s.Documents-some, s.Terms*opt.Workers-len(counters[0].met) // documents and terms that aren't counted
	bytes := countedTermBytes*int64(fresh) + countedValueBytes*size.Values + countedDocumentBytes*int64(rest)
	if err := opt.memory.fits(source, bytes, size); err != nil {
		return nil, err
	}
	documents = append(documents, make([]countedDocument, rest)...)
	err = run.Chunks(ctx, opt.Workers, rest, func(w, lo, hi int) error {
		draw(w, some+lo, some+hi)
		return opt.memory.check(source)
	})
	if err != nil {
		return nil, err
	}
	c := &Corpus{Source: source, Format: "synthetic"}
	for i := range min(s.Classes, s.Documents) {
		c.Classes = append(c.Classes, "class"+strconv.Itoa(i+1))
	}
	for i := range s.Documents {
		c.Labels.Add(int32(i % s.Classes))
	}
	err = c.fillText(ctx, &own, counters, documents, func(i int) string {
		return fmt.Sprintf("%s, %s", source, c.DocumentName(i))
	})
	if err == nil {
		limitVectors(c, opt)
	}
	return c, err
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
func (s *Synthetic) isCopy(i int) bool { return i > 0 && i*s.Copies%1000 < s.Copies }

// document draws document i into count and returns its terms, sorted.
func (s *Synthetic) document(i int, zipf *aliasTable, orders [][]uint32, count, drawn []uint32) []uint32 {
	d := newDrawer(s.Seed, uint64(s.Classes)+uint64(i))
	if !s.isCopy(i) {
		return s.draw(d, zipf, orders[i%s.Classes], count, drawn)
	}
	from := int(d.below(uint64(i)))
	for s.isCopy(from) {
		from-- // 0 stands for none
	}
	of := newDrawer(s.Seed, uint64(s.Classes)+uint64(from))
	drawn = s.draw(of, zipf, orders[from%s.Classes], count, drawn)
	for range d.below(uint64(s.Changed) + 1) {
		at := d.below(uint64(len(drawn)))
		t := drawn[at]
		if count[t]--; count[t] == 0 {
			drawn = slices.Delete(drawn, int(at), int(at)+1)
		}
		if t = zipf.draw(d); count[t] == 0 {
			place, _ := slices.BinarySearch(drawn, t)
			drawn = slices.Insert(drawn, place, t)
		}
		count[t]++
	}
	return drawn
}

// draw draws one document into count and returns its terms, sorted.
func (s *Synthetic) draw(d drawer, zipf *aliasTable, order, count, drawn []uint32) []uint32 {
	words := uint64(s.Length-s.Length/2) + d.below(2*uint64(s.Length/2)+1)
	for range words {
		own := d.below(4) == 0
		t := zipf.draw(d)
		if own {
			t = order[t]
		}
		if count[t] == 0 {
			drawn = append(drawn, t)
		}
		count[t]++
	}
	slices.Sort(drawn)
	return drawn
}

// syntheticVocabulary names the terms t0, t1, ... with leading zeros, so that names sort like
// numbers.
func syntheticVocabulary(n int) []string {
	digits := len(strconv.Itoa(n - 1))
	vocabulary := make([]string, n)
	for t := range vocabulary {
		vocabulary[t] = fmt.Sprintf("t%0*d", digits, t)
	}
	return vocabulary
}
