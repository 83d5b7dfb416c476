package nearest

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
)

// Search selects values from tiles. It may be used concurrently.
type Search struct {
	Kernels    *asm.Kernels
	UpperOnly  bool // true if rows and columns are the same documents, and tiles are from the upper triangle
	NegateKeys bool // true if keys are negated values; tiles are then negated in place

	// Accept reports whether a pair may enter a list, given the pair's row, column and key. If
	// Accept is nil, every pair may enter. Accept must be safe for concurrent use.
	Accept func(i, j int, key float32) bool

	Candidates, Insertions atomic.Int64 // see device.Stats

	scratchPool sync.Pool // *scratch
}

type scratch struct {
	indices      [partRows * lockDocs]uint32
	none, limits [lockDocs]float32
	minKeys      []float32 // see lowerLimits
	transposed   []float32 // transposed tile
}

const partRows = 64

var belowAllKeys = float32(math.Inf(-1))

// begin borrows scratch space, and converts the values of a tile to keys.
func (s *Search) begin(t *device.Tile) *scratch {
	if s.NegateKeys {
		lines, length, stride := t.Rows, t.Cols(), t.RowStride
		if t.ColStride != 1 {
			lines, length, stride = length, lines, t.ColStride
		}
		for i := range lines {
			line := t.Values[i*stride:][:length]
			for j, v := range line {
				line[j] = 0 - v // 0 - v is never -0
			}
		}
	}
	if w, ok := s.scratchPool.Get().(*scratch); ok {
		return w
	}
	w := &scratch{}
	for i := range w.none {
		w.none[i] = belowAllKeys
	}
	return w
}

// tilePart is a part of a tile that is scanned by one call of the selection kernel.
type tilePart struct {
	values    []float32
	stride    int
	byColumns bool // true if lines are columns
	first, lo int  // row and column of the first value
}

// find selects keys that are at most the limit of their row or column. It returns the positions of
// the keys in the returned tilePart. rows[0] is the limit of row first, and columns[0] the limit of
// column lo.
func (s *Search) find(w *scratch, t *device.Tile, first, lo int, rows, columns []float32) ([]uint32, tilePart) {
	p := tilePart{t.Values[(first-t.FirstRow)*t.RowStride+(lo-t.Lo)*t.ColStride:], t.RowStride, t.RowStride == 1, first,
		lo}
	if p.byColumns {
		p.stride, rows, columns = t.ColStride, columns, rows
	}
	return w.indices[:s.Kernels.Select(w.indices[:], p.values, p.stride, rows, columns)], p
}

func (p *tilePart) pair(at uint32) (row, column int, key float32) {
	row, column = int(at>>16), int(at&0xffff)
	key = p.values[row*p.stride+column]
	if p.byColumns {
		row, column = column, row
	}
	return p.first + row, p.lo + column, key
}

// eachPart divides the columns of a tile at lock boundaries and, if UpperOnly is set, after the
// tile's row documents. square is set for columns that are also rows of the tile.
func (s *Search) eachPart(t *device.Tile, visit func(lo, hi int, square bool) error) error {
	for lo := t.Lo; lo < t.Hi; {
		hi := min(lo/lockDocs*lockDocs+lockDocs, t.Hi)
		square := false
		if end := t.FirstRow + t.Rows; s.UpperOnly && lo < end {
			square, hi = true, min(hi, end)
		}
		if err := visit(lo, hi, square); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// Insert inserts the pairs of a tile into the lists l of its rows and, unless m is nil, into the
// lists m of its columns. Tiles of the same row must not be inserted concurrently.
func (s *Search) Insert(l, m *Lists, t *device.Tile) {
	w := s.begin(t)
	defer s.scratchPool.Put(w)
	// The locks of rows are taken first, then the locks of later columns one by one. This ascending
	// order avoids deadlocks.
	first, last := t.FirstRow/lockDocs, (t.FirstRow+t.Rows-1)/lockDocs
	for b := first; b <= last; b++ {
		l.locks[b].Lock()
		defer l.locks[b].Unlock()
	}
	s.lowerLimits(w, l, t)
	selected, entered := 0, 0
	s.eachPart(t, func(lo, hi int, square bool) error {
		columns := w.none[:hi-lo]
		both := m != nil && !square
		if both {
			if b := lo / lockDocs; m != l || b > last {
				m.locks[b].Lock()
				defer m.locks[b].Unlock()
			}
			columns = m.limits[lo:hi]
		}
		for first := t.FirstRow; first < t.FirstRow+t.Rows; first += partRows {
			rows := l.limits[first:min(first+partRows, t.FirstRow+t.Rows)]
			found, p := s.find(w, t, first, lo, rows, columns)
			selected += len(found)
			for _, at := range found {
				i, j, key := p.pair(at)
				if s.UpperOnly && i == j || s.Accept != nil && !s.Accept(i, j, key) {
					continue
				}
				if l.offer(i, key, j) {
					entered++
				}
				if both && m.offer(j, key, i) {
					entered++
				}
			}
		}
		return nil
	})
	s.Candidates.Add(int64(selected))
	s.Insertions.Add(int64(entered))
}

// lowerLimits lowers the limit of each row of a tile to an upper bound on the row's k-th smallest
// key, if the lists are still nearly empty. Otherwise most values would be inserted and soon
// replaced. If groups or Accept may reject pairs, limits don't change, because the k-th key may
// belong to a rejected pair.
func (s *Search) lowerLimits(w *scratch, l *Lists, t *device.Tile) {
	met, levels, lines := t.Lo, l.k, t.Cols()
	if s.UpperOnly {
		met -= t.FirstRow
		levels++ // one more, for the pair of a row with itself
	}
	if l.k == 0 || l.k > maxSortedK || l.groups != nil || s.Accept != nil || met > lines || lines < 2*levels {
		return
	}
	least := slices.Grow(w.minKeys[:0], levels*t.Rows)[:levels*t.Rows]
	for i := range least {
		least[i] = float32(math.Inf(1))
	}
	c, stride := t.Values, t.ColStride
	if t.RowStride != 1 {
		c, stride = slices.Grow(w.transposed[:0], lines*t.Rows)[:lines*t.Rows], t.Rows
		s.Kernels.Transpose(c, stride, t.Values, t.RowStride, t.Rows, lines)
		w.transposed = c
	}
	// The smallest third of 3·levels group minima is close to the levels smallest values.
	s.Kernels.Min(least, levels, c, stride, lines, t.Rows, max(lines/(3*levels), 1))
	for r, most := range least[(levels-1)*t.Rows:] {
		l.limits[t.FirstRow+r] = min(l.limits[t.FirstRow+r], most)
	}
	w.minKeys = least
}

// EachPairs calls visit with the pairs of a tile whose keys are at most a limit, one part of the
// tile at a time. visit may overwrite rows, columns and keys. If UpperOnly is set, only pairs with
// row < column are passed.
func (s *Search) EachPairs(
	most float32, t *device.Tile, visit func(rows, columns []int32, keys []float32) error,
) error {
	w := s.begin(t)
	defer s.scratchPool.Put(w)
	for i := range w.limits {
		w.limits[i] = most
	}
	var rows, columns []int32
	var keys []float32
	return s.eachPart(t, func(lo, hi int, square bool) error {
		rows, columns, keys = rows[:0], columns[:0], keys[:0]
		for first := t.FirstRow; first < t.FirstRow+t.Rows; first += partRows {
			limits := w.limits[:min(partRows, t.FirstRow+t.Rows-first)]
			found, p := s.find(w, t, first, lo, limits, w.none[:hi-lo])
			for _, at := range found {
				if i, j, key := p.pair(at); !square || i < j {
					rows, columns, keys = append(rows, int32(i)), append(columns, int32(j)), append(keys, key)
				}
			}
		}
		if len(keys) == 0 {
			return nil
		}
		return visit(rows, columns, keys)
	})
}
