package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// Block is the number of documents in a block: within a segment of the head, the documents of each
// block of Block consecutive ones are stored in the order of how many values they have there, so
// that a loop over one document's values runs as often as that over the next one's.
const Block = 128

// HeadTail holds documents in the form that a [Layout] describes, values in float32.
type HeadTail struct {
	Layout *Layout
	Rows   int
	Head   []Segment // the head's values, a segment after the other
	Tail   CSR       // the tail's values, ranks less Layout.Head as columns, descending within a row
}

// Segment holds the values of all documents in the terms of one segment of the head. The documents
// of block b take the places b*Block <= p < (b+1)*Block; that at place p has Value[k] at Offset[k]
// for Start[p] <= k < Start[p+1], rarest term first, where an offset is the rank within the segment
// times Layout.Panel: the place of the term's row in the segment of a dense panel.
type Segment struct {
	Start  []int64
	Doc    []uint8 // the document at place p is p - p%Block + Doc[p]
	Place  []uint8 // document i is at place i - i%Block + Place[i]
	Offset []uint16
	Value  []float32
}

// Of returns the part of Offset and Value that belongs to document i. It panics where there is no
// such document.
func (s *Segment) Of(i int) (lo, hi int64) {
	p := i - i%Block + int(s.Place[i])
	return s.Start[p], s.Start[p+1]
}

// Split brings documents into the form that the layout describes. byRank is their transpose, as
// [ByRank] returns it for the ranks of the layout; they must have been made by the same embedder as
// the document frequencies behind these. It works on a number of goroutines, 0 standing for one a
// processor.
//
// Errors: a layout that [Layout.Validate] refuses, a transpose that [CSR.Validate] refuses or whose
// rows aren't the layout's columns, the end of ctx.
func (l *Layout) Split(ctx context.Context, byRank *CSR, workers int) (*HeadTail, error) {
	if err := given(ctx); err != nil {
		return nil, err
	}
	if err := l.Validate(); err != nil {
		return nil, err
	}
	if err := byRank.Validate(); err != nil {
		return nil, fmt.Errorf("documents by rank: %w", err)
	}
	if byRank.Rows() != l.Cols {
		return nil, fmt.Errorf("sparse: documents by rank have %d rows, expected %d, the columns of the layout",
			byRank.Rows(), l.Cols)
	}
	workers, err := goroutines(workers)
	if err != nil {
		return nil, err
	}
	n := byRank.Cols
	if int64(n) > NoDocument {
		return nil, fmt.Errorf("sparse: %d documents by rank, expected at most %d", n, int64(NoDocument))
	}
	h := &HeadTail{Layout: l, Rows: n, Head: make([]Segment, l.Segments())}
	err = parallel(ctx, workers, len(h.Head)+1, func(task int) {
		if task == 0 { // first, because it takes longest
			h.Tail = newTail(ctx, byRank, l.Head(), l.Cols)
		} else {
			h.Head[task-1] = newSegment(byRank, l.Bounds[task-1], l.Bounds[task], l.Panel)
		}
	})
	if err != nil {
		return nil, err
	}
	return h, nil
}

// stopValues is how many values pass between looks at a context.
const stopValues = 1 << 20

// newTail takes the ranks from head on out of the documents' transpose. What it returns when ctx
// ends is of no use.
func newTail(ctx context.Context, byRank *CSR, head, cols int) CSR {
	n := byRank.Cols
	start := rowStarts(byRank.Terms[byRank.Offsets[head]:], n)
	tail := CSR{Cols: cols - head, Offsets: start, Terms: make([]uint32, start[n]), Values: make([]float32, start[n])}
	next := slices.Clone(start)
	looked := byRank.Offsets[cols]
	for rank := cols - 1; rank >= head; rank-- {
		if looked-byRank.Offsets[rank] > stopValues {
			if looked = byRank.Offsets[rank]; ctx.Err() != nil {
				return tail
			}
		}
		docs, values := byRank.Row(rank)
		for k, d := range docs {
			tail.Terms[next[d]] = uint32(rank - head)
			tail.Values[next[d]] = values[k]
			next[d]++
		}
	}
	return tail
}

// newSegment takes the ranks from lo to hi out of the documents' transpose.
func newSegment(byRank *CSR, lo, hi, panel int) Segment {
	n := byRank.Cols
	from, to := byRank.Offsets[lo], byRank.Offsets[hi]
	next := make([]int64, n)
	count := next
	for _, d := range byRank.Terms[from:to] {
		count[d]++
	}
	s := Segment{
		Start: make([]int64, 1, n+1), Doc: make([]uint8, n), Place: make([]uint8, n),
		Offset: make([]uint16, to-from), Value: make([]float32, to-from),
	}
	for first := 0; first < n; first += Block {
		docs := s.Doc[first:min(first+Block, n)]
		for i := range docs {
			docs[i] = uint8(i)
		}
		slices.SortStableFunc(docs, func(a, b uint8) int { return int(count[first+int(a)] - count[first+int(b)]) })
		for p, d := range docs {
			s.Place[first+int(d)] = uint8(p)
			s.Start = append(s.Start, s.Start[first+p]+count[first+int(d)])
		}
	}
	// Walking the ranks downwards leaves every row sorted by falling rank, without a sort.
	for i := range next {
		next[i], _ = s.Of(i)
	}
	for rank := hi - 1; rank >= lo; rank-- {
		docs, values := byRank.Row(rank)
		for k, d := range docs {
			s.Offset[next[d]] = uint16((rank - lo) * panel)
			s.Value[next[d]] = values[k]
			next[d]++
		}
	}
	return s
}

// Postings are the posting lists of the tail: list t, of the term of rank Head+t, is
// Doc[Offsets[t]:Offsets[t+1]], documents ascending, with their values at the same places. Each
// list ends with NoDocument, so that a loop over it needs to look at documents alone.
type Postings struct {
	Offsets []int64
	Doc     []uint32
	Value   []float32
}

// NoDocument ends a posting list; it is above all documents.
const NoDocument = math.MaxUint32

// Bytes returns the memory that the lists hold, in bytes.
func (p *Postings) Bytes() int64 { return 8 * int64(len(p.Offsets)+len(p.Doc)) }

// Postings returns the posting lists of the tail. place[k] says where the tail's value k stands in
// its list: at Offsets[t]+place[k] for the term t = Tail.Terms[k].
//
// Errors: a tail that isn't as [Layout.Split] makes it, the end of ctx.
func (h *HeadTail) Postings(ctx context.Context) (lists *Postings, place []uint32, err error) {
	if err := given(ctx); err != nil {
		return nil, nil, err
	}
	if err := h.validateTail(); err != nil {
		return nil, nil, err
	}
	start := rowStarts(h.Tail.Terms, h.Tail.Cols)
	lists = &Postings{Offsets: start, Doc: make([]uint32, len(h.Tail.Terms)+h.Tail.Cols), Value: make([]float32, len(h.Tail.Terms)+h.Tail.Cols)}
	for t := range start {
		start[t] += int64(t) // an end for each list before
	}
	for t := range h.Tail.Cols {
		lists.Doc[start[t+1]-1] = NoDocument
	}
	place = make([]uint32, len(h.Tail.Terms))
	next := make([]uint32, h.Tail.Cols)
	var looked int64
	for i := range h.Rows {
		if h.Tail.Offsets[i]-looked > stopValues {
			if looked = h.Tail.Offsets[i]; ctx.Err() != nil {
				return nil, nil, ctx.Err()
			}
		}
		for k := h.Tail.Offsets[i]; k < h.Tail.Offsets[i+1]; k++ {
			t := h.Tail.Terms[k]
			q := start[t] + int64(next[t])
			lists.Doc[q], lists.Value[q] = uint32(i), h.Tail.Values[k]
			place[k] = next[t]
			next[t]++
		}
	}
	return lists, place, ctx.Err()
}

// validateTail checks that the tail has a row for each document, with ranks that descend.
func (h *HeadTail) validateTail() error {
	if h == nil {
		return fmt.Errorf("sparse: no documents in head/tail form, expected some")
	}
	m := &h.Tail
	if err := m.validateShape(); err != nil {
		return fmt.Errorf("tail: %w", err)
	}
	if m.Rows() != h.Rows {
		return fmt.Errorf("sparse: tail of %d documents, expected %d", m.Rows(), h.Rows)
	}
	return m.eachRow(func(i int) error {
		if err := m.validateSpan(i); err != nil {
			return fmt.Errorf("tail: %w", err)
		}
		last := int64(m.Cols)
		for _, t := range m.Terms[m.Offsets[i]:m.Offsets[i+1]] {
			if int64(t) >= last {
				return fmt.Errorf("sparse: tail: document %d: rank %d is not below %d", i, t, last)
			}
			last = int64(t)
		}
		return nil
	})
}

// Bytes returns the memory that the documents hold in this form, in bytes.
func (h *HeadTail) Bytes() int64 {
	b := h.Tail.Bytes()
	for i := range h.Head {
		s := &h.Head[i]
		b += int64(len(s.Start))*8 + int64(len(s.Doc)+len(s.Place)) + int64(len(s.Offset))*2 + int64(len(s.Value))*4
	}
	return b
}

// rowStarts counts how often each row below n occurs and returns the offsets that a matrix with
// these rows has.
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
