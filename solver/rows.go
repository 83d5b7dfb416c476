package solver

import (
	"context"
	"math"
	"slices"

	"github.com/gramengine/gram/internal/run"
)

// Column ranges separated by fewer than mergeGap unused columns are read as one range.
const mergeGap = 64

// directRun is the minimum average length of pieces, in documents, for using rows of the matrix in
// place. Rows with shorter pieces are copied.
const directRun = 64

// A piece of a row holds n consecutive documents of a problem. Documents to … to+n-1 of the problem
// are columns from … from+n-1 of the row.
type piece struct{ from, to, n int }

// rowStore caches rows of a problem's documents, restricted to the problem's columns, within a
// memory limit.
//
// A new row replaces a row that the current round doesn't need. Among randomly selected rows, it
// replaces the row whose document has the smallest violation of the optimality conditions, so rows
// of documents at a bound are replaced first. LRU replacement would never hit if the rows of all
// free variables don't fit, because the solver returns to the free variables cyclically. The random
// numbers are the same in each run. Results don't depend on which rows are cached.
type rowStore struct {
	m       *source
	threads int                     // number of goroutines that copy rows
	need    func(doc int32) float64 // priority of a row; low priorities are replaced first; nil = none
	direct  bool                    // rows of the matrix are used in place
	docs    []int
	columns [][2]int // column ranges that are read from each row
	runs    []piece  // pieces of a read row with the problem's documents; nil = the whole row
	span    int      // number of columns read

	// Each chunk has length values and per slots; total is the number of values in all chunks. A
	// chunk is allocated when it is first needed. A store and its restriction share the chunks.
	chunks             [][]float32
	length, total, per int

	slotOf []int32  // slot of each document's row, or -1
	docOf  []int32  // document of the row in each slot, or -1
	usedIn []uint32 // last round that needed the row of each slot
	round  uint32
	filled int       // number of slots in use: slots 0 … filled-1
	lots   uint64    // state of the random number generator
	spare  []float32 // buffer for rows that need gathering

	asked, hits int64
}

// limitRows returns how many rows of n values fit into a number of bytes, at most n.
func limitRows(n int, bytes int64) int { return int(min(int64(n), bytes/(4*int64(max(n, 1))))) }

// chunkValues is the maximum number of values in a chunk of more than one row.
const chunkValues = 4 << 20

// newRowStore returns a store for the rows of docs. room is the number of slots. buf becomes the
// first chunk if it is large enough.
func newRowStore(m *source, docs []int, room int, buf []float32) *rowStore {
	s := &rowStore{m: m}
	s.lay(docs)
	if m.rows != nil && len(docs) >= directRun*len(s.runs) {
		s.direct = true
		return s
	}
	n := max(len(docs), 1)
	s.length, s.total = max(min(chunkValues/n, room), 1)*n, room*n
	s.chunks = make([][]float32, (s.total+s.length-1)/s.length)
	if len(buf) >= s.length {
		s.chunks[0] = buf
	}
	s.divide()
	return s
}

func (s *rowStore) divide() {
	n := max(len(s.docs), 1)
	s.per = s.length / n
	room := min(s.total/s.length*s.per+s.total%s.length/n, n)
	s.usedIn, s.docOf = make([]uint32, room), make([]int32, room)
	s.empty()
}

func (s *rowStore) slot(i int32) []float32 {
	n, c := len(s.docs), int(i)/s.per
	if s.chunks[c] == nil {
		s.chunks[c] = make([]float32, min(s.length, s.total-c*s.length))
	}
	return s.chunks[c][int(i)%s.per*n:][:n:n]
}

func (s *rowStore) empty() {
	docs := s.docs
	s.slotOf = make([]int32, len(docs))
	for i := range s.slotOf {
		s.slotOf[i] = -1
	}
	for i := range s.docOf {
		s.docOf[i] = -1
	}
	clear(s.usedIn)
	s.round, s.filled, s.lots = 0, 0, 1
}

// rangesOf returns the column ranges that are read for docs, and their total length. Ranges
// separated by fewer than mergeGap columns are merged.
func rangesOf(docs []int) (columns [][2]int, span int) {
	for _, d := range docs {
		if last := len(columns) - 1; last >= 0 && d-columns[last][1] < mergeGap {
			span += d + 1 - columns[last][1]
			columns[last][1] = d + 1
		} else {
			columns = append(columns, [2]int{d, d + 1})
			span++
		}
	}
	return columns, span
}

// lay sets the documents of the store and the columns that it reads.
func (s *rowStore) lay(docs []int) {
	s.docs, s.runs, s.columns, s.span = docs, nil, [][2]int{{0, s.m.n}}, s.m.n
	if s.m.rows == nil {
		if s.columns, s.span = rangesOf(docs); s.span == len(docs) {
			return
		}
	}
	c, before := 0, 0
	for t, d := range docs {
		for ; d >= s.columns[c][1]; c++ {
			before += s.columns[c][1] - s.columns[c][0]
		}
		from := before + d - s.columns[c][0]
		if last := len(s.runs) - 1; last >= 0 && from == s.runs[last].from+s.runs[last].n {
			s.runs[last].n++
		} else {
			s.runs = append(s.runs, piece{from, t, 1})
		}
	}
}

// victim returns a slot for a new row: an empty slot or, among random slots that this round doesn't
// use, the slot of the row with the lowest priority.
func (s *rowStore) victim() int32 {
	for s.filled < len(s.docOf) {
		s.filled++
		if s.docOf[s.filled-1] < 0 {
			return int32(s.filled - 1)
		}
	}
	best, least := -1, math.Inf(1)
	for range candidates {
		s.lots ^= s.lots << 13 // Marsaglia's xorshift
		s.lots ^= s.lots >> 7
		s.lots ^= s.lots << 17
		slot := int(s.lots % uint64(len(s.docOf)))
		for s.usedIn[slot] == s.round {
			slot = (slot + 1) % len(s.docOf)
		}
		if s.need == nil {
			return int32(slot)
		}
		if need := s.need(s.docOf[slot]); best < 0 || need < least {
			best, least = slot, need
		}
	}
	return int32(best)
}

// candidates is the number of slots that victim compares. With 1, 8 and 32 candidates, a solver run
// on 25,000 documents, with memory for a seventh of the rows, computed 151,000, 121,000 and 117,000
// rows.
const candidates = 16

// pieces returns the runs of the problem's documents in the rows that fetch returns.
func (s *rowStore) pieces() []piece {
	if s.direct {
		return s.runs
	}
	return []piece{{0, 0, len(s.docs)}}
}

// column returns the column of the problem's document t in the rows that fetch returns.
func (s *rowStore) column(t int32) int32 {
	if s.direct {
		return int32(s.docs[t])
	}
	return t
}

// fetch sets rows[r] to the row of document which[r]; see pieces and column for the layout of a
// row. The rows are valid until the next call. The documents must be distinct, and there must be at
// least as many slots.
func (s *rowStore) fetch(ctx context.Context, which []int32, rows [][]float32) error {
	s.asked += int64(len(which))
	if s.direct {
		for r, t := range which {
			row, err := s.m.row(s.docs[t])
			if err != nil {
				return err
			}
			rows[r] = row
		}
		s.hits += int64(len(which))
		return nil
	}
	s.round++
	var missing []int
	for r, t := range which {
		if slot := s.slotOf[t]; slot >= 0 {
			s.usedIn[slot] = s.round
			rows[r] = s.slot(slot)
		} else {
			missing = append(missing, r)
		}
	}
	s.hits += int64(len(which) - len(missing))
	if len(missing) == 0 {
		return nil
	}
	ask, dst := make([]int, len(missing)), make([][]float32, len(missing))
	for i, r := range missing {
		t := which[r]
		slot := s.victim()
		if old := s.docOf[slot]; old >= 0 {
			s.slotOf[old] = -1
		}
		s.usedIn[slot] = s.round
		s.docOf[slot], s.slotOf[t] = t, slot
		rows[r] = s.slot(slot)
		ask[i], dst[i] = s.docs[t], rows[r]
	}
	if err := s.read(ctx, ask, dst); err != nil {
		for _, r := range missing { // these slots hold no complete row
			slot := s.slotOf[which[r]]
			s.docOf[slot], s.slotOf[which[r]] = -1, -1
		}
		return err
	}
	return nil
}

// gatherBytes bounds the buffer for rows with unused columns. The buffer has at least gatherRows
// rows, which are a panel, because computing fewer rows takes as long as computing a panel.
const (
	gatherBytes = 4 << 20
	gatherRows  = 64
)

// read reads rows of the matrix and removes the unused columns.
func (s *rowStore) read(ctx context.Context, rows []int, dst [][]float32) error {
	if s.m.rows == nil && s.runs == nil {
		return s.m.Rows(ctx, rows, s.columns, dst)
	}
	whole := make([][]float32, len(rows))
	if s.m.rows != nil {
		for i, d := range rows {
			row, err := s.m.row(d)
			if err != nil {
				return err
			}
			whole[i] = row
		}
		return s.gather(ctx, dst, whole)
	}
	panel := min(max(gatherBytes/(4*s.span), gatherRows), len(rows))
	if len(s.spare) < panel*s.span {
		s.spare = make([]float32, panel*s.span)
	}
	for i := range panel {
		whole[i] = s.spare[i*s.span : (i+1)*s.span : (i+1)*s.span]
	}
	for some := range slices.Chunk(rows, panel) {
		if err := s.m.Rows(ctx, some, s.columns, whole[:len(some)]); err != nil {
			return err
		}
		if err := s.gather(ctx, dst[:len(some)], whole); err != nil {
			return err
		}
		dst = dst[len(some):]
	}
	return nil
}

// gather copies the problem's columns of rows to dst.
func (s *rowStore) gather(ctx context.Context, dst, rows [][]float32) error {
	threads := s.threads
	if len(dst)*len(s.docs) < shareUpdates {
		threads = 1
	}
	return run.Tasks(ctx, max(threads, 1), len(dst), func(_ context.Context, _, i int) error {
		for _, r := range s.runs {
			copy(dst[i][r.to:r.to+r.n], rows[i][r.from:r.from+r.n])
		}
		return nil
	})
}

// restrict returns a store for docs, which are the documents keep[0], keep[1], … of s, with the
// cached rows of docs. It empties s and reuses the memory of s, in which more of the shorter rows
// fit. If s used rows in place, the new store is empty. Its size is then bytes, or least rows if
// these rows need more than bytes.
func (s *rowStore) restrict(keep []int32, docs []int, least int, bytes int64) *rowStore {
	if s.direct {
		r := newRowStore(s.m, docs, max(limitRows(len(docs), bytes), min(least, len(docs))), nil)
		r.threads = s.threads
		return r
	}
	r := &rowStore{m: s.m, threads: s.threads, chunks: s.chunks, length: s.length, total: s.total, asked: s.asked,
		hits: s.hits}
	r.lay(docs)
	r.divide()
	index := make(map[int32]int32, len(keep))
	for to, from := range keep {
		index[from] = int32(to)
	}
	slot := int32(0)
	for from, doc := range s.docOf {
		to, ok := index[doc]
		if !ok {
			continue
		}
		// Rows only move to lower addresses and keep is increasing, so copying in place is safe.
		row, short := s.slot(int32(from)), r.slot(slot)
		for c, t := range keep {
			short[c] = row[t]
		}
		r.slotOf[to], r.docOf[slot] = slot, to
		slot++
	}
	s.empty()
	return r
}
