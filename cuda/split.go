//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"math"
	"runtime"
	"slices"

	"github.com/gramengine/gram/cuda/internal/timemodel"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// maxChunks is the maximum number of chunks. Results are read, rounded and written once per chunk.
const maxChunks = 16

// layout divides the terms into dense terms, head and tail. Terms are ranked by descending document
// frequency. The dense terms (see timemodel), if any, have the first ranks. The head follows,
// divided into chunks. The first chunk has the rarest terms of the head. There is at least one
// chunk, but it may be empty.
type layout struct {
	pairing    sparse.Pairing
	rank       []uint32 // rank of each column
	dense      int      // number of dense terms
	head       int      // lowest rank of the tail, equal to the number of dense and head terms
	chunkTerms []int32  // number of terms of each chunk
	chunkStart []int    // lowest rank of each chunk
	cutList    int      // maximum length of a posting list that has no cuts, see deviceFormat.cut
}

func (l *layout) chunks() int { return len(l.chunkTerms) }

// newLayout creates a layout for documents whose columns have the given ranks. perChunk is the
// maximum number of terms per chunk. For the cosine, timemodel.Costs.DenseTerms chooses the dense
// terms from share. The head has the other terms that occur in at least 1/tail of the documents, up
// to maxChunks chunks. If tail is 0, newLayout chooses the head with the minimum predicted time.
func newLayout(rank []uint32, byRank *sparse.CSR, perChunk int, pairing sparse.Pairing, share, tail int64) *layout {
	n := byRank.Cols
	l := &layout{pairing: pairing, rank: rank, cutList: max(32, n/tailColumns)}
	if pairing == sparse.Cosine {
		l.dense = timemodel.MeasuredCosts.DenseTerms(byRank.Offsets, n, share)
	}
	l.head = l.dense
	first := byRank.Offsets[l.dense:]
	if tail == 0 {
		l.head += pairingCosts[pairing].HeadTerms(first, n, perChunk, maxChunks, computedRows)
	} else {
		for l.head < min(byRank.Rows(), l.dense+maxChunks*perChunk) &&
			(byRank.Offsets[l.head+1]-byRank.Offsets[l.head])*tail >= int64(n) && n > 0 {
			l.head++
		}
	}
	chunks := max((l.head-l.dense+perChunk-1)/perChunk, 1)
	for c, r := 0, l.head; c < chunks; c++ {
		low := r - (r-l.dense+chunks-c-1)/(chunks-c)
		l.chunkTerms, l.chunkStart = append(l.chunkTerms, int32(r-low)), append(l.chunkStart, low)
		r = low
	}
	return l
}

// pairingCosts holds the costs per pairing. Histograms take more instructions per value and match:
// a division for χ², and a division and two polynomials for Jensen-Shannon. For histograms, each
// cost is an instruction count times the dot product's ratio of measured cost to instruction count
// on an H100. The ratio is 1.6 for a value and 0.8 for a match.
var pairingCosts = [pairings]timemodel.Costs{
	sparse.Cosine:        timemodel.MeasuredCosts,
	sparse.ChiSquare:     costsWith(38, 0.66),
	sparse.JensenShannon: costsWith(95, 1.6),
}

func costsWith(value, match float64) timemodel.Costs {
	c := timemodel.MeasuredCosts
	c.Value, c.Match = value, match
	return c
}

// encode encodes v for the device, see kernels/words.h. The encoding is an integer in units of
// 2^-31, from 1-2^31 to 2^31-1. For histograms, the encoding is the bit pattern of the float32 v.
func (l *layout) encode(v float32) uint32 {
	if l.pairing != sparse.Cosine {
		return math.Float32bits(v)
	}
	const one = 1<<31 - 1
	return uint32(int32(min(max(math.RoundToEven(0x1p31*float64(v)), -one), one)))
}

// deviceFormat holds documents in the kernels' format, see Side in kernels/shape.h.
type deviceFormat struct {
	head  []int64
	entry []entry

	tail      []int64
	tailEntry []entry

	list    []int64 // list, posting and cut are nil unless the documents are columns
	posting []entry
	cut     []uint32
	cuts    int // number of positions in cut for each list

	exact      []int64
	exactTerm  []uint32
	exactValue []float64
}

func (s *deviceFormat) cutTerms() int { return len(s.cut) / max(s.cuts, 1) }

// longDocuments returns a bitmap of the documents that have more than narrowValues values in the
// tail, or nil if there are no such documents.
func (s *deviceFormat) longDocuments() (bits []uint32) {
	n := len(s.tail) - 1
	for d := range n {
		if s.tail[d+1]-s.tail[d] <= narrowValues {
			continue
		}
		if bits == nil {
			bits = make([]uint32, padded(n)/32)
		}
		bits[d/32] |= 1 << (d % 32)
	}
	return bits
}

// split converts documents to the kernels' format, in parallel. If lists is set, it also creates
// the posting lists.
func (l *layout) split(ctx context.Context, x *sparse.Embedded, byRank *sparse.CSR, lists bool) (*deviceFormat, error) {
	n, chunks := x.Rows(), l.chunks()
	inHead := byRank.Offsets[l.head]
	s := &deviceFormat{
		head: make([]int64, n*chunks+1), tail: make([]int64, n+1), tailEntry: make([]entry, x.NNZ()-inHead),
		exact: x.Offsets, exactTerm: x.Terms, exactValue: make([]float64, x.NNZ()),
	}
	workers := runtime.GOMAXPROCS(0)
	each := func(work func(part documentRange)) error {
		return run.Tasks(ctx, workers, workers, func(ctx context.Context, _, task int) error {
			work(documentRange{ctx, byRank, n * task / workers, n * (task + 1) / workers})
			return nil
		})
	}
	err := each(func(part documentRange) {
		for c, low := range l.chunkStart {
			part.postings(low, low+int(l.chunkTerms[c]), func(_ int, d uint32, _ float32) { s.head[int(d)*chunks+c+1]++ })
		}
		part.postings(l.head, byRank.Rows(), func(_ int, d uint32, _ float32) { s.tail[d+1]++ })
	})
	if err != nil {
		return nil, err
	}
	for i := range n * chunks {
		s.head[i+1] = s.head[i] + max(s.head[i+1]+timemodel.ValuePadding-1,
			timemodel.ValuePadding)/timemodel.ValuePadding*timemodel.ValuePadding
	}
	for d := range n {
		s.tail[d+1] += s.tail[d]
	}
	s.entry = make([]entry, s.head[n*chunks])
	fill := make([]uint32, n)
	err = each(func(part documentRange) {
		// Padding entries multiply a positive value by the zeros at the start of a panel.
		for i := s.head[part.first*chunks]; i < s.head[part.end*chunks]; i++ {
			s.entry[i].word = math.Float32bits(1)
		}
		mine := fill[part.first:part.end]
		for c, low := range l.chunkStart {
			clear(mine)
			part.postings(low, low+int(l.chunkTerms[c]), func(r int, d uint32, v float32) {
				s.entry[s.head[int(d)*chunks+c]+int64(fill[d])] = entry{uint32(1+r-low) * lineBytes, l.encode(v)}
				fill[d]++
			})
		}
		clear(mine)
		part.postings(l.head, byRank.Rows(), func(r int, d uint32, v float32) {
			s.tailEntry[s.tail[d]+int64(fill[d])] = entry{uint32(r - l.head), l.encode(v)}
			fill[d]++
		})
		var unit []float64
		for i := part.first; i < part.end && ctx.Err() == nil; i++ {
			unit = x.UnitVector64(i, unit)
			copy(s.exactValue[x.Offsets[i]:], unit)
		}
	})
	if err == nil && lists {
		err = l.lists(ctx, workers, s, byRank)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// documentRange is the set of documents first to end-1 in byRank.
type documentRange struct {
	ctx        context.Context
	byRank     *sparse.CSR
	first, end int
}

// postings calls visit for each value of the documents in p whose term has a rank in [low, high).
// It stops when ctx is done.
func (p *documentRange) postings(low, high int, visit func(r int, d uint32, v float32)) {
	for r := low; r < high && p.ctx.Err() == nil; r++ {
		docs, values := p.byRank.Row(r)
		k, _ := slices.BinarySearch(docs, uint32(p.first))
		for ; k < len(docs) && docs[k] < uint32(p.end); k++ {
			visit(r, docs[k], values[k])
		}
	}
}

// lists creates the posting lists. Lists with more than cutList postings also get cuts: for each
// block of tailColumns documents, the position of the block's first posting.
func (l *layout) lists(ctx context.Context, workers int, s *deviceFormat, byRank *sparse.CSR) error {
	terms, inHead := byRank.Rows()-l.head, byRank.Offsets[l.head]
	s.list, s.posting = make([]int64, terms+1), make([]entry, byRank.NNZ()-inHead)
	for t := range s.list {
		s.list[t] = byRank.Offsets[l.head+t] - inHead
	}
	all := len(s.posting)
	err := run.Tasks(ctx, workers, workers, func(_ context.Context, _, task int) error {
		for k := all * task / workers; k < all*(task+1)/workers; k++ {
			at := inHead + int64(k)
			s.posting[k] = entry{byRank.Terms[at], l.encode(byRank.Values[at])}
		}
		return nil
	})
	s.cuts = (byRank.Cols+tailColumns-1)/tailColumns + 1
	for t := 0; t < terms && s.list[t+1]-s.list[t] > int64(l.cutList); t++ {
		docs, _ := byRank.Row(l.head + t)
		for c := range s.cuts {
			at, _ := slices.BinarySearch(docs, uint32(c*tailColumns))
			s.cut = append(s.cut, uint32(at))
		}
	}
	return err
}
