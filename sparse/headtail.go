package sparse

import "sort"

// Layout is the order and the division of the columns that panel dot products want: columns renumbered by falling document frequency,
// so that a column's number is its rank; the first Head ranks, in segments, are multiplied through dense panels of Panel documents; the others, the
// tail, through posting lists.
//
// Words are distributed by Zipf's law: nearly all matches between two documents come from the few most frequent terms. Sums are
// taken from the rarest term to the most frequent one, so that small products meet small sums.
type Layout struct {
	Panel  int      // documents in a panel
	Head   int      // ranks below Head are the head; at most Cols
	Bounds []int    // segment s of the head holds the ranks Bounds[s] <= rank < Bounds[s+1]; from 0 to Head
	Cols   int      // number of columns
	Rank   []uint32 // Rank[column]
}

// Segments returns the number of segments that the head has.
func (l *Layout) Segments() int { return len(l.Bounds) - 1 }

// Order returns the columns in the order of falling document frequency, equal ones in their own order.
func Order(df []int32) []uint32 {
	order := make([]uint32, len(df))
	for j := range order {
		order[j] = uint32(j)
	}
	sort.SliceStable(order, func(a, b int) bool { return df[order[a]] > df[order[b]] })
	return order
}

// NewLayout makes a layout whose ranks follow order, as [Order] returns it. Its first segment has first terms and the others at most
// others; others*panel <= 65536, so that an offset into a segment of a panel fits 16 bits.
func NewLayout(order []uint32, panel, head, first, others int) *Layout {
	l := &Layout{Panel: panel, Head: min(head, len(order)), Bounds: []int{0}, Cols: len(order), Rank: make([]uint32, len(order))}
	for r, j := range order {
		l.Rank[j] = uint32(r)
	}
	for size, at := first, 0; at < l.Head; size = others {
		at = min(at+size, l.Head)
		l.Bounds = append(l.Bounds, at)
	}
	return l
}

// HeadTail holds documents in the form that a [Layout] describes, values in float32.
type HeadTail struct {
	Layout *Layout
	Rows   int
	Head   []Segment // the head's values, a segment after the other
	Tail   CSR       // the tail's values, ranks less Layout.Head as columns, descending within a row
}

// Segment holds the values of all documents in the terms of one segment of the head, rarest term first. Document i has Value[k] at Offset[k] for
// Start[i] <= k < Start[i+1], where an offset is the rank within the segment times Layout.Panel: the place of the term's row in the segment of a dense panel.
type Segment struct {
	Start  []int64
	Offset []uint16
	Value  []float32
}

// Split brings embedded documents into the form that the layout describes. The documents must have been made by the same embedder
// as the document frequencies behind the layout.
func (l *Layout) Split(x *Embedded) *HeadTail {
	n := x.Rows()
	h := &HeadTail{Layout: l, Rows: n, Head: make([]Segment, l.Segments())}
	byRank := transpose(&x.CSR, l.Rank)
	headEnd := byRank.Offsets[l.Head]
	for s := range h.Head {
		lo, hi := byRank.Offsets[l.Bounds[s]], byRank.Offsets[l.Bounds[s+1]]
		h.Head[s] = Segment{Start: rowStarts(byRank.Terms[lo:hi], n), Offset: make([]uint16, hi-lo), Value: make([]float32, hi-lo)}
	}
	tailStart := rowStarts(byRank.Terms[headEnd:], n)
	tailLen := tailStart[n]
	h.Tail = CSR{Cols: l.Cols - l.Head, Offsets: tailStart, Terms: make([]uint32, tailLen), Values: make([]float32, tailLen)}

	// Walking the ranks downwards leaves every row sorted by falling rank, without a sort.
	next := make([]int64, n)
	for s := range h.Head {
		seg := &h.Head[s]
		copy(next, seg.Start)
		for rank := l.Bounds[s+1] - 1; rank >= l.Bounds[s]; rank-- {
			offset := uint16((rank - l.Bounds[s]) * l.Panel)
			docs, values := byRank.Row(rank)
			for k, d := range docs {
				seg.Offset[next[d]] = offset
				seg.Value[next[d]] = values[k]
				next[d]++
			}
		}
	}
	copy(next, tailStart)
	for rank := l.Cols - 1; rank >= l.Head; rank-- {
		docs, values := byRank.Row(rank)
		for k, d := range docs {
			h.Tail.Terms[next[d]] = uint32(rank - l.Head)
			h.Tail.Values[next[d]] = values[k]
			next[d]++
		}
	}
	return h
}

// Postings returns the posting lists of the tail: row t holds the documents, ascending, with the term of rank Head+t, and their values.
func (h *HeadTail) Postings() *CSR { return transpose(&h.Tail, nil) }

// Bytes returns the memory that the documents hold in this form, in bytes.
func (h *HeadTail) Bytes() int64 {
	b := h.Tail.Bytes()
	for i := range h.Head {
		s := &h.Head[i]
		b += int64(len(s.Start))*8 + int64(len(s.Offset))*2 + int64(len(s.Value))*4
	}
	return b
}

// rowStarts counts how often each row below n occurs and returns the offsets that a matrix with these rows has.
func rowStarts(rows []uint32, n int) []int64 {
	start := make([]int64, n+1)
	for _, r := range rows {
		start[r+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	return start
}

// transpose returns the transpose of m, its row rank[j] (or j, where rank is nil) being column j of m; rows are ascending.
func transpose(m *CSR, rank []uint32) *CSR {
	t := &CSR{Cols: m.Rows(), Offsets: make([]int64, m.Cols+1), Terms: make([]uint32, len(m.Terms)), Values: make([]float32, len(m.Values))}
	to := func(j uint32) uint32 {
		if rank == nil {
			return j
		}
		return rank[j]
	}
	for _, j := range m.Terms {
		t.Offsets[to(j)+1]++
	}
	for j := range m.Cols {
		t.Offsets[j+1] += t.Offsets[j]
	}
	next := append([]int64(nil), t.Offsets[:m.Cols]...)
	for i := range m.Rows() {
		terms, values := m.Row(i)
		for k, j := range terms {
			q := next[to(j)]
			next[to(j)]++
			t.Terms[q] = uint32(i)
			t.Values[q] = values[k]
		}
	}
	return t
}
