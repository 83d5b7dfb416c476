// Package selection ranks features by their mutual information with the class,
//
//	I = Σ_b Σ_y p(b, y) log₂( p(b, y) / (p(b) p(y)) )   bits
//
// over the bins b of a histogram of the feature's values, and the classes y. p denotes fractions of
// the documents. If all values of a feature are nonnegative integers below the number of bins, each
// value has its own bin. For larger integers, the bins are 0, 1, 2-3, 4-7 and so on. Other features
// have bins of equal width from the minimum to the maximum. The estimate is nonnegative. For a
// feature that is independent of the class, the estimate is about (bins-1)(classes-1)/(2 n ln 2)
// for n documents.
//
// Source: Cho, Kernel methods for deep learning, UCSD thesis 2012, §5.2.3; Guyon and Elisseeff,
// JMLR 3 (2003). For the bias: Miller, Information theory in psychology (1955).
package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Options configures the estimate. The zero value selects the defaults.
type Options struct {
	Bins    int // number of bins of equal width; default: 10
	Workers int // number of goroutines, which doesn't affect results; default: number of CPUs
}

// Ranking lists features in descending order of mutual information. Ties are broken by column.
type Ranking struct {
	Terms             []uint32  // columns with at least one nonzero value
	MutualInformation []float64 // mutual information of each term, in bits
	ClassEntropy      float64   // entropy of the classes in bits, an upper bound of MutualInformation
	DocumentCount     int       // number of documents with exactly one class
}

// Rank ranks the terms of a corpus. Documents that don't have exactly one class are ignored. Time
// and memory are proportional to the number of values. Rank fails if no document has exactly one
// class, or if ctx is done.
func Rank(ctx context.Context, c *corpus.Corpus, opt Options) (*Ranking, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if opt.Bins == 0 {
		opt.Bins = 10
	}
	opt.Workers = run.NumWorkers(opt.Workers)
	r := &Ranking{}
	classes := make([]int, len(c.Classes))
	for i := range c.Documents.Rows() {
		if of := c.Labels.Classes(i); len(of) == 1 {
			classes[of[0]]++
			r.DocumentCount++
		}
	}
	if r.DocumentCount == 0 {
		return nil, fmt.Errorf("selection: %s has no documents with one class", c.Source)
	}
	n := float64(r.DocumentCount)
	for _, count := range classes {
		if count > 0 {
			r.ClassEntropy -= float64(count) / n * math.Log2(float64(count)/n)
		}
	}
	columns := groupByTerm(c)
	r.Terms, r.MutualInformation = columns.terms, make([]float64, len(columns.terms))
	const some = 256 // number of columns per task
	tasks := (len(r.Terms) + some - 1) / some
	err := run.Tasks(ctx, opt.Workers, tasks, func(_ context.Context, _, task int) error {
		h := histogram{bins: opt.Bins, classCounts: classes, documentCount: r.DocumentCount}
		for i := task * some; i < min((task+1)*some, len(r.Terms)); i++ {
			lo, hi := columns.offsets[i], columns.offsets[i+1]
			r.MutualInformation[i] = h.mutualInformation(columns.values[lo:hi], columns.classes[lo:hi])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	order := run.Range(0, len(r.Terms))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(r.MutualInformation[b], r.MutualInformation[a]) })
	terms, scores := make([]uint32, len(order)), make([]float64, len(order))
	for to, from := range order {
		terms[to], scores[to] = r.Terms[from], r.MutualInformation[from]
	}
	r.Terms, r.MutualInformation = terms, scores
	return r, nil
}

// termValues holds the values of all documents with exactly one class, sorted by term.
type termValues struct {
	terms   []uint32 // ascending
	offsets []int64
	values  []float32
	classes []int32 // class of the document of each value
}

func groupByTerm(c *corpus.Corpus) *termValues {
	terms, _ := c.Documents.TermFrequencies()
	t := &termValues{terms: terms, offsets: make([]int64, len(terms)+1)}
	each := func(visit func(at int, value float32, class int32)) {
		for i := range c.Documents.Rows() {
			of := c.Labels.Classes(i)
			if len(of) != 1 {
				continue
			}
			row, values := c.Documents.Row(i)
			for k, term := range row {
				if at, found := slices.BinarySearch(terms, term); found {
					visit(at, values[k], of[0])
				}
			}
		}
	}
	each(func(at int, _ float32, _ int32) { t.offsets[at+1]++ })
	for i := range terms {
		t.offsets[i+1] += t.offsets[i]
	}
	n := t.offsets[len(terms)]
	t.values, t.classes = make([]float32, n), make([]int32, n)
	next := slices.Clone(t.offsets)
	each(func(at int, value float32, class int32) {
		t.values[next[at]], t.classes[next[at]] = value, class
		next[at]++
	})
	return t
}

type histogram struct {
	bins          int
	classCounts   []int // number of documents per class
	documentCount int
	counts        []int // number of documents, indexed by bin, then class
}

// mutualInformation returns the mutual information of a feature and the class. values lists the
// feature's nonzero values. labels[i] is the class of the document with values[i].
func (h *histogram) mutualInformation(values []float32, labels []int32) float64 {
	least, most, whole := float32(0), float32(0), true
	if len(values) == h.documentCount && len(values) > 0 {
		least, most = values[0], values[0]
	}
	for _, v := range values {
		least, most = min(least, v), max(most, v)
		whole = whole && v >= 0 && v == float32(math.Trunc(float64(v)))
	}
	bins := h.bins
	bin := func(v float32) int {
		return min(int(float64(bins)*(float64(v)-float64(least))/(float64(most)-float64(least))), bins-1)
	}
	if whole {
		const top = 1 << 62
		bin = func(v float32) int { return bits.Len64(uint64(min(v, top))) }
		if int(min(most, top)) < bins {
			bin = func(v float32) int { return int(v) }
		}
		bins = bin(most) + 1
	} else if most == least {
		return 0
	}
	classes := len(h.classCounts)
	h.counts = slices.Grow(h.counts[:0], bins*classes)[:bins*classes]
	clear(h.counts)
	var zero []int // row of the bin that contains 0
	if len(values) < h.documentCount {
		zero = h.counts[bin(0)*classes:][:classes]
	}
	copy(zero, h.classCounts)
	for i, v := range values {
		if zero != nil {
			zero[labels[i]]--
		}
		h.counts[bin(v)*classes+int(labels[i])]++
	}
	n, sum := float64(h.documentCount), 0.0
	for b := range bins {
		row, all := h.counts[b*classes:][:classes], 0
		for _, count := range row {
			all += count
		}
		for y, count := range row {
			if count > 0 {
				v := float64(count)
				sum += v / n * math.Log2(v*n/(float64(all)*float64(h.classCounts[y])))
			}
		}
	}
	return max(sum, 0)
}

// SelectTerms returns a copy of m with only the values of the listed terms. The terms must be in
// ascending order. Columns keep their indices.
func SelectTerms(m *sparse.CSR, terms []uint32) *sparse.CSR {
	out := &sparse.CSR{Cols: m.Cols, Offsets: []int64{0}, Views: m.Views}
	for i := range m.Rows() {
		row, values := m.Row(i)
		for k, term := range row {
			if _, found := slices.BinarySearch(terms, term); found {
				out.Terms, out.Values = append(out.Terms, term), append(out.Values, values[k])
			}
		}
		out.Offsets = append(out.Offsets, int64(len(out.Terms)))
	}
	return out
}
