package panel

import (
	"context"
	"slices"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// layout is the order of the columns and their division into head and tail. Columns are ranked by
// descending document frequency. The first ranks (the head) are multiplied through dense panels in
// segments. The other ranks (the tail) are multiplied through posting lists.
//
// By Zipf's law nearly all common terms of two documents are among the most frequent terms. Sums
// start at the rarest term, so that small products are added first. A segment has at most
// 65536/panel ranks, so that an offset into a segment of a panel fits in 16 bits.
type layout struct {
	panel  int      // documents per panel
	bounds []int    // segment s of the head has ranks bounds[s] <= rank < bounds[s+1]; bounds[0] is 0
	rank   []uint32 // rank of each column, a permutation
	scale  float32  // factor by which tail values are multiplied
}

func (l *layout) headTerms() int { return l.bounds[len(l.bounds)-1] }

// docSet is a set of documents in two forms: head and tail in float32, and embedded rows for exact
// recomputation.
type docSet struct {
	x         *sparse.Embedded
	head      []segment  // segments in order
	tail      sparse.CSR // columns are ranks minus the size of the head, descending within a row
	positions []uint16   // index of each tail value within its block of the posting list; nil without lists
	longTails []uint32   // documents with more than maxAccurateTail values in the tail, ascending
	minTails  []float32  // smallest tail value of each document in longTails
}

// segment holds the values of all documents in one segment of the head. Each block of
// sparse.BlockSize consecutive documents is sorted by number of values, so that loops over
// consecutive documents have similar lengths. The document at index p of this order has value[k] at
// offset[k], start[p] <= k < start[p+1], in ascending order of document frequency. An offset is the
// index of the term's row in a dense panel: the rank within the segment times the documents per
// panel.
type segment struct {
	start     []int64
	doc       []uint8 // the document at index p is p - p%BlockSize + doc[p]
	positions []uint8 // document i is at index i - i%BlockSize + positions[i]
	offset    []uint16
	value     []float32
}

func (s *segment) valueRange(i int) (lo, hi int64) {
	p := i - i%sparse.BlockSize + int(s.positions[i])
	return s.start[p], s.start[p+1]
}

// split converts documents to the layout with up to workers goroutines. byRank is the transpose of
// the documents by rank. Unless lists is nil, split fills it with the posting lists of the tail.
// Memory of s is reused.
func (l *layout) split(
	ctx context.Context, s *docSet, x *sparse.Embedded, byRank *sparse.CSR, workers int, lists *postings,
) error {
	s.x, s.head = x, resize(s.head, len(l.bounds)-1)
	block := 0
	if lists != nil {
		block = lists.block
	}
	err := run.Tasks(ctx, workers, len(l.bounds)+1, func(ctx context.Context, _, task int) error {
		switch {
		case task == 0: // the tail is filled first, because it takes longest
			return s.fillTail(ctx, byRank, l.headTerms(), l.scale, block)
		case task < len(l.bounds):
			s.head[task-1].fill(byRank, l.bounds[task-1], l.bounds[task], l.panel)
		case lists != nil:
			lists.fill(byRank, l.headTerms(), l.scale)
		}
		return nil
	})
	s.minTails = s.minTails[:0]
	if err == nil {
		for _, d := range s.longTails {
			s.minTails = append(s.minTails, s.minTail(int(d)))
		}
	}
	return err
}

func (s *docSet) minTail(d int) float32 {
	return slices.Min(s.tail.Values[s.tail.Offsets[d]:s.tail.Offsets[d+1]])
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

const valuesPerCheck = 1 << 20

// fillTail fills the tail with the ranks from head on, in descending order.
func (s *docSet) fillTail(ctx context.Context, byRank *sparse.CSR, head int, scale float32, block int) error {
	n, cols := byRank.Cols, byRank.Rows()
	start := resize(s.tail.Offsets, n+1)
	clear(start)
	for _, d := range byRank.Terms[byRank.Offsets[head]:] {
		start[d+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	tail := sparse.CSR{
		Cols:    cols - head,
		Offsets: start,
		Terms:   resize(s.tail.Terms, int(start[n])),
		Values:  resize(s.tail.Values, int(start[n])),
	}
	if block > 0 {
		s.positions = make([]uint16, start[n])
	}
	next := slices.Clone(start)
	looked := byRank.Offsets[cols]
	for rank := cols - 1; rank >= head; rank-- {
		if looked-byRank.Offsets[rank] > valuesPerCheck {
			if looked = byRank.Offsets[rank]; ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		docs, values := byRank.Row(rank)
		first, end := 0, 0 // first index of a document in the block, and the block's end
		for k, d := range docs {
			at := next[d]
			tail.Terms[at], tail.Values[at] = uint32(rank-head), values[k]*scale
			if block > 0 {
				if int(d) >= end {
					first, end = k, (int(d)/block+1)*block
				}
				s.positions[at] = uint16(k - first)
			}
			next[d]++
		}
	}
	s.tail, s.longTails = tail, s.longTails[:0]
	for d := range n {
		if start[d+1]-start[d] > maxAccurateTail {
			s.longTails = append(s.longTails, uint32(d))
		}
	}
	return nil
}

func (s *segment) fill(byRank *sparse.CSR, lo, hi, panel int) {
	n := byRank.Cols
	from, to := byRank.Offsets[lo], byRank.Offsets[hi]
	next := make([]int64, n)
	count := next
	for _, d := range byRank.Terms[from:to] {
		count[d]++
	}
	s.start, s.doc, s.positions = append(resize(s.start, n+1)[:0], 0), resize(s.doc, n), resize(s.positions, n)
	s.offset, s.value = resize(s.offset, int(to-from)), resize(s.value, int(to-from))
	for first := 0; first < n; first += sparse.BlockSize {
		docs := s.doc[first:min(first+sparse.BlockSize, n)]
		for i := range docs {
			docs[i] = uint8(i)
		}
		slices.SortStableFunc(docs, func(a, b uint8) int { return int(count[first+int(a)] - count[first+int(b)]) })
		for p, d := range docs {
			s.positions[first+int(d)] = uint8(p)
			s.start = append(s.start, s.start[first+p]+count[first+int(d)])
		}
	}
	// Filling by descending rank leaves every row sorted.
	for i := range next {
		next[i], _ = s.valueRange(i)
	}
	for rank := hi - 1; rank >= lo; rank-- {
		docs, values := byRank.Row(rank)
		for k, d := range docs {
			s.offset[next[d]], s.value[next[d]] = uint16((rank-lo)*panel), values[k]
			next[d]++
		}
	}
}

// bytes returns the size of the documents in bytes, excluding the embedded rows.
func (s *docSet) bytes() int64 {
	b := s.tail.Bytes() + 2*int64(len(s.positions)) + 4*int64(cap(s.longTails)+cap(s.minTails))
	for i := range s.head {
		h := &s.head[i]
		b += 8*int64(len(h.start)) + int64(len(h.doc)+len(h.positions)) + 2*int64(len(h.offset)) + 4*int64(len(h.value))
	}
	return b
}

// postings are the posting lists of the tail, split into blocks of documents. Entries of block b
// begin at base[b]. List t is for rank head+t. It extends from base[b] + first[b·(listCount+1)+t]
// to the start of list t+1. doc holds ascending indices within the block, and value the scaled
// values.
type postings struct {
	block     int // documents per block
	listCount int
	base      []int64
	first     []uint32
	doc       []uint16
	value     []float32
}

// MinTailBlockDocs is the minimum number of documents per block of posting lists. The 16 KiB of
// tail sums of a panel document fit in the L1 cache. maxTailBlockDocs is the maximum number,
// because indices in doc have 16 bits.
const (
	MinTailBlockDocs = 8 * blockDocs
	maxTailBlockDocs = 1 << 16
)

// TailBlockDocs returns the number of documents per block of posting lists. It is chosen so that
// the table of lists takes at most four bytes per value, if possible.
func TailBlockDocs(rows, cols int, values int64) int {
	block := (min(rows, MinTailBlockDocs-1)/sparse.BlockSize + 1) * sparse.BlockSize
	for block < rows && block < maxTailBlockDocs && int64((rows-1)/block+1)*int64(cols) > values {
		block *= 2
	}
	return block
}

// fill fills the posting lists of the ranks from head on with scaled values.
func (p *postings) fill(byRank *sparse.CSR, head int, scale float32) {
	from := byRank.Offsets[head]
	entries := byRank.NNZ() - from
	p.listCount = byRank.Rows() - head
	blocks, wide := p.blocks(byRank.Cols), p.listCount+1
	p.base, p.first = make([]int64, blocks+1), make([]uint32, blocks*wide)
	p.doc, p.value = make([]uint16, entries+asm.TailSlack), make([]float32, entries+asm.TailSlack)
	for t := range p.listCount {
		docs, _ := byRank.Row(head + t)
		b := 0
		for _, d := range docs {
			for int(d) >= (b+1)*p.block {
				b++
			}
			p.first[b*wide+t+1]++
		}
	}
	for b := range blocks {
		first := p.first[b*wide : (b+1)*wide]
		for t := range p.listCount {
			first[t+1] += first[t]
		}
		p.base[b+1] = p.base[b] + int64(first[p.listCount])
	}
	next := slices.Clone(p.base)
	for t := range p.listCount {
		docs, values := byRank.Row(head + t)
		b := 0
		for k, d := range docs {
			for int(d) >= (b+1)*p.block {
				b++
			}
			p.doc[next[b]], p.value[next[b]] = uint16(int(d)-b*p.block), values[k]*scale
			next[b]++
		}
	}
}

func (p *postings) blocks(documents int) int { return (documents + p.block - 1) / p.block }

func (p *postings) bytes() int64 {
	return 8*int64(len(p.base)) + 4*int64(len(p.first)) + 6*int64(len(p.doc))
}
