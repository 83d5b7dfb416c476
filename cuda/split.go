//go:build cuda && cgo && linux

package cuda

import (
	"context"

	"github.com/gramengine/gram/sparse"
)

// How the terms are divided between the head and the tail. In the head a value of a row costs a
// pass over one line of the panel for each panel of columns; in the tail it costs an atomic
// addition for each document of its posting list: guessed to be even where one document in
// tailShare has the term. mostChunks bounds how often results are read and written, and how many
// roundings a sum goes through above its segments.
const (
	tailShare  = 128
	mostChunks = 16
)

// segmentMost is how many values a document of the columns has in a segment at most, by pairing;
// see the bounds of package engine for what that does for accuracy.
var segmentMost = [pairings]int32{sparse.Dot: 48, sparse.ChiSquare: 24, sparse.JensenShannon: 16}

// layout is the order and the division of the terms: ranks by falling document frequency, of which
// the first are the dense end, where there is one, and the next the head's, in chunks and these in
// segments. Segments and chunks are numbered from the rarest terms on.
type layout struct {
	rank   []uint32 // of each column
	dense  int      // terms
	head   int      // those and the terms of the chunks
	chunk  []int32  // first segment of each chunk, and the number of segments
	terms  []int32  // number of terms of each chunk
	bounds []int    // segment s has the ranks bounds[s+1] <= rank < bounds[s]
	base   []int    // lowest rank of each chunk
}

func (l *layout) segments() int { return len(l.bounds) - 1 }
func (l *layout) chunks() int   { return len(l.terms) }

// newLayout divides the terms of the columns' documents for panels of up to most terms at a time,
// the dense end being those that one document in share has, 0 for none, and the tail those that
// fewer than one in tail has.
func newLayout(rank []uint32, byRank *sparse.CSR, most int, pairing sparse.Pairing, share, tail int64) *layout {
	n := byRank.Cols
	l := &layout{rank: rank}
	if pairing == sparse.Dot {
		l.dense = denseTerms(byRank, share)
	}
	l.head = l.dense
	for l.head < min(byRank.Rows(), l.dense+mostChunks*most) &&
		(byRank.Offsets[l.head+1]-byRank.Offsets[l.head])*tail >= int64(n) && n > 0 {
		l.head++
	}
	l.bounds = []int{l.head}
	chunks := (l.head - l.dense + most - 1) / most
	count := make([]int32, n)
	r := l.head
	for c := range chunks {
		low := r - (r-l.dense+chunks-c-1)/(chunks-c)
		l.chunk = append(l.chunk, int32(l.segments()))
		l.terms = append(l.terms, int32(r-low))
		l.base = append(l.base, low)
		clear(count)
		for ; r > low; r-- {
			docs, _ := byRank.Row(r - 1)
			full := false
			for _, d := range docs {
				count[d]++
				full = full || count[d] > segmentMost[pairing]
			}
			if full {
				l.bounds = append(l.bounds, r)
				clear(count)
				for _, d := range docs {
					count[d]++
				}
			}
		}
		l.bounds = append(l.bounds, low)
	}
	l.chunk = append(l.chunk, int32(l.segments()))
	return l
}

// split is a set of documents as the kernels want it, see Side in kernels/shape.h.
type split struct {
	head    []int64
	segment []uint32
	entry   []entry

	tail      []int64
	tailTerm  []uint32
	tailValue []float32

	list      []int64 // of the columns' documents alone
	listDoc   []uint32
	listValue []float32

	exact      []int64
	exactTerm  []uint32
	exactValue []float64
}

// split divides documents, given by rank; lists says that their posting lists are wanted.
func (l *layout) split(ctx context.Context, x *sparse.Embedded, byRank *sparse.CSR, lists bool) (*split, error) {
	n, segments := x.Rows(), l.segments()
	inDense, inHead := byRank.Offsets[l.dense], byRank.Offsets[l.head]
	s := &split{
		head: make([]int64, n+1), segment: make([]uint32, n*(segments+1)), entry: make([]entry, inHead-inDense),
		tail: make([]int64, n+1), tailTerm: make([]uint32, x.NNZ()-inHead), tailValue: make([]float32, x.NNZ()-inHead),
		exact: x.Offsets, exactTerm: x.Terms, exactValue: make([]float64, x.NNZ()),
	}
	for r := l.dense; r < byRank.Rows(); r++ {
		docs, _ := byRank.Row(r)
		starts := s.tail
		if r < l.head {
			starts = s.head
		}
		for _, d := range docs {
			starts[d+1]++
		}
	}
	for d := range n {
		s.head[d+1] += s.head[d]
		s.tail[d+1] += s.tail[d]
	}
	fill := make([]uint32, n)
	chunk := 0
	for t := range segments {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for chunk+1 < l.chunks() && int(l.chunk[chunk+1]) <= t {
			chunk++
		}
		for d := range n {
			s.segment[d*(segments+1)+t] = fill[d]
		}
		for r := l.bounds[t] - 1; r >= l.bounds[t+1]; r-- {
			docs, values := byRank.Row(r)
			for k, d := range docs {
				s.entry[s.head[d]+int64(fill[d])] = entry{uint32(r-l.base[chunk]) * lineBytes, values[k]}
				fill[d]++
			}
		}
	}
	for d := range n {
		s.segment[d*(segments+1)+segments] = fill[d]
	}
	clear(fill)
	for r := l.head; r < byRank.Rows(); r++ {
		docs, values := byRank.Row(r)
		for k, d := range docs {
			at := s.tail[d] + int64(fill[d])
			s.tailTerm[at], s.tailValue[at] = uint32(r-l.head), values[k]
			fill[d]++
		}
	}
	if lists {
		s.list = make([]int64, byRank.Rows()-l.head+1)
		for t := range s.list {
			s.list[t] = byRank.Offsets[l.head+t] - inHead
		}
		s.listDoc, s.listValue = byRank.Terms[inHead:], byRank.Values[inHead:]
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
