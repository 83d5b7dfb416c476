//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"math"
	"slices"

	"github.com/gramengine/gram/cuda/internal/timemodel"
	"github.com/gramengine/gram/sparse"
)

// mostChunks bounds how often results are read and written, and how many roundings a sum goes
// through.
const mostChunks = 16

// layout is the order and the division of the terms: ranks by falling document frequency, of which
// the first are the dense end, where there is one, and the next the head's, in chunks from the
// rarest terms on. There is at least one chunk, which may have no terms.
type layout struct {
	pairing sparse.Pairing
	rank    []uint32 // of each column
	dense   int      // terms
	head    int      // those and the terms of the chunks
	terms   []int32  // number of terms of each chunk
	base    []int    // lowest rank of each chunk
	cutList int      // what has more postings than this says where they are, see split.cut
}

func (l *layout) chunks() int { return len(l.terms) }

// newLayout divides the terms of the columns' documents for panels of up to most terms at a time,
// the dense end being those of timemodel's Costs.Terms for share, 0 for none, and the tail those that
// fewer than one in tail has, or what takes the least time by the model where tail is 0.
func newLayout(rank []uint32, byRank *sparse.CSR, most int, pairing sparse.Pairing, share, tail int64) *layout {
	n := byRank.Cols
	l := &layout{pairing: pairing, rank: rank, cutList: max(32, n/tailColumns)}
	if pairing == sparse.Dot {
		l.dense = timemodel.Measured.Terms(byRank.Offsets, n, share)
	}
	l.head = l.dense
	first := byRank.Offsets[l.dense:]
	if tail == 0 {
		l.head += costsOf[pairing].Head(first, n, most, mostChunks, computedRows)
	} else {
		for l.head < min(byRank.Rows(), l.dense+mostChunks*most) &&
			(byRank.Offsets[l.head+1]-byRank.Offsets[l.head])*tail >= int64(n) && n > 0 {
			l.head++
		}
	}
	chunks := max((l.head-l.dense+most-1)/most, 1)
	for c, r := 0, l.head; c < chunks; c++ {
		low := r - (r-l.dense+chunks-c-1)/(chunks-c)
		l.terms, l.base = append(l.terms, int32(r-low)), append(l.base, low)
		r = low
	}
	return l
}

// costsOf are the model's costs. Terms of histograms take more instructions in head and tail alike:
// by the kernels' code, a division for each of the one and two polynomials for each of the other. They
// are counted, and scaled by what an H100 took for the dot product: 1.6 times what was counted for a
// value, 0.8 times for a match.
var costsOf = [pairings]timemodel.Costs{
	sparse.Dot:           timemodel.Measured,
	sparse.ChiSquare:     ofTerms(38, 0.66),
	sparse.JensenShannon: ofTerms(95, 1.6),
}

// ofTerms are the costs with others for a value in the head and a match in the tail.
func ofTerms(value, match float64) timemodel.Costs {
	c := timemodel.Measured
	c.Value, c.Match = value, match
	return c
}

// word is what a value stands for in the kernels, see kernels/words.h: a whole number of units of
// 2^-31, -1 and 1 being the nearest that there is; of a histogram the bits themselves.
func (l *layout) word(v float32) uint32 {
	if l.pairing != sparse.Dot {
		return math.Float32bits(v)
	}
	const one = 1<<31 - 1
	return uint32(int32(min(max(math.RoundToEven(0x1p31*float64(v)), -one), one)))
}

// split is a set of documents as the kernels want it, see Side in kernels/shape.h.
type split struct {
	head  []int64
	entry []entry

	tail      []int64
	tailEntry []entry

	list    []int64 // of the columns' documents alone
	posting []entry
	cut     []uint32
	cuts    int // places in each of the lists that have them

	exact      []int64
	exactTerm  []uint32
	exactValue []float64
}

// cutTerms is how many lists have such places.
func (s *split) cutTerms() int { return len(s.cut) / max(s.cuts, 1) }

// wide says whether sums of the tail are taken in two words, 1 for yes, see kernels/tail.h.
func (s *split) wide() uint64 {
	for d, at := range s.tail[1:] {
		if at-s.tail[d] > narrowValues {
			return 1
		}
	}
	return 0
}

// split divides documents, given by rank; lists says that their posting lists are wanted.
func (l *layout) split(ctx context.Context, x *sparse.Embedded, byRank *sparse.CSR, lists bool) (*split, error) {
	n, chunks := x.Rows(), l.chunks()
	inHead := byRank.Offsets[l.head]
	s := &split{
		head: make([]int64, n*chunks+1), tail: make([]int64, n+1), tailEntry: make([]entry, x.NNZ()-inHead),
		exact: x.Offsets, exactTerm: x.Terms, exactValue: make([]float64, x.NNZ()),
	}
	for c, low := range l.base {
		for r := low; r < low+int(l.terms[c]); r++ {
			docs, _ := byRank.Row(r)
			for _, d := range docs {
				s.head[int(d)*chunks+c+1]++
			}
		}
	}
	for r := l.head; r < byRank.Rows(); r++ {
		docs, _ := byRank.Row(r)
		for _, d := range docs {
			s.tail[d+1]++
		}
	}
	for i := range n * chunks {
		s.head[i+1] = s.head[i] + max(s.head[i+1]+timemodel.AtOnce-1, timemodel.AtOnce)/timemodel.AtOnce*timemodel.AtOnce
	}
	for d := range n {
		s.tail[d+1] += s.tail[d]
	}
	s.entry = make([]entry, s.head[n*chunks])
	for i := range s.entry { // what fills up has the line of zeros, and any value above 0
		s.entry[i].word = math.Float32bits(1)
	}
	fill := make([]uint32, n)
	for c, low := range l.base {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		clear(fill)
		for r := low; r < low+int(l.terms[c]); r++ {
			docs, values := byRank.Row(r)
			for k, d := range docs {
				s.entry[s.head[int(d)*chunks+c]+int64(fill[d])] = entry{uint32(1+r-low) * lineBytes, l.word(values[k])}
				fill[d]++
			}
		}
	}
	clear(fill)
	for r := l.head; r < byRank.Rows(); r++ {
		docs, values := byRank.Row(r)
		for k, d := range docs {
			s.tailEntry[s.tail[d]+int64(fill[d])] = entry{uint32(r - l.head), l.word(values[k])}
			fill[d]++
		}
	}
	if lists {
		l.lists(s, byRank)
	}
	var unit []float64
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		unit = x.Unit64(i, unit)
		copy(s.exactValue[x.Offsets[i]:], unit)
	}
	return s, nil
}

// lists makes the posting lists, and for those with more than cutList postings where they go on at
// every tailColumns documents: of no document more than one number for each of its values.
func (l *layout) lists(s *split, byRank *sparse.CSR) {
	terms, inHead := byRank.Rows()-l.head, byRank.Offsets[l.head]
	s.list, s.posting = make([]int64, terms+1), make([]entry, byRank.NNZ()-inHead)
	for t := range s.list {
		s.list[t] = byRank.Offsets[l.head+t] - inHead
	}
	for k, d := range byRank.Terms[inHead:] {
		s.posting[k] = entry{d, l.word(byRank.Values[inHead+int64(k)])}
	}
	s.cuts = (byRank.Cols+tailColumns-1)/tailColumns + 1
	for t := 0; t < terms && s.list[t+1]-s.list[t] > int64(l.cutList); t++ {
		docs, _ := byRank.Row(l.head + t)
		for c := range s.cuts {
			at, _ := slices.BinarySearch(docs, uint32(c*tailColumns))
			s.cut = append(s.cut, uint32(at))
		}
	}
}
