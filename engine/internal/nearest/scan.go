package nearest

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
)

// Search looks through tiles. It may be used concurrently.
type Search struct {
	Kernels *asm.Kernels
	Half    bool // tiles are of the symmetric half, rows and columns the same documents
	Falling bool // keys are the values of tiles with the sign changed, which stands in the tiles then

	// Wanted reports whether a pair may enter a list, by its row, column and key. Nil: every pair may. It must allow
	// concurrent calls.
	Wanted func(i, j int, key float32) bool

	Found, Entered atomic.Int64 // see device.Stats

	spare sync.Pool // of *scratch
}

// scratch is what one part of a tile needs.
type scratch struct {
	index        [partRows * lockDocs]uint32
	none, limits [lockDocs]float32
	least        []float32 // see bound
	turned       []float32 // a tile of rows, by columns
}

// partRows is the number of rows whose limits are looked at together: they grow stale.
const partRows = 64

// never is a limit that no key is below.
var never = float32(math.Inf(-1))

// begin borrows scratch space, and turns the values of a tile into keys.
func (s *Search) begin(t *device.Tile) *scratch {
	if s.Falling {
		lines, length, stride := t.Rows, t.Cols(), t.RowStride
		if t.ColStride != 1 {
			lines, length, stride = length, lines, t.ColStride
		}
		for i := range lines {
			line := t.Value[i*stride:][:length]
			for j, v := range line {
				line[j] = 0 - v // never -0
			}
		}
	}
	if w, ok := s.spare.Get().(*scratch); ok {
		return w
	}
	w := &scratch{}
	for i := range w.none {
		w.none[i] = never
	}
	return w
}

// part is a part of a tile that is looked through at a time.
type part struct {
	values    []float32
	stride    int
	byColumns bool // lines are columns
	first, lo int  // row and column of the first value
}

// find selects keys of the rows from first on and the columns from lo on, as many as there are
// limits, that are at most the limit of their row or that of their column. Their pairs are those of
// the part.
func (s *Search) find(w *scratch, t *device.Tile, first, lo int, rows, columns []float32) ([]uint32, part) {
	p := part{t.Value[(first-t.First)*t.RowStride+(lo-t.Lo)*t.ColStride:], t.RowStride, t.RowStride == 1, first, lo}
	if p.byColumns {
		p.stride, rows, columns = t.ColStride, columns, rows
	}
	return w.index[:s.Kernels.Select(w.index[:], p.values, p.stride, rows, columns)], p
}

// pair returns what was found.
func (p *part) pair(at uint32) (row, column int, key float32) {
	row, column = int(at>>16), int(at&0xffff)
	key = p.values[row*p.stride+column]
	if p.byColumns {
		row, column = column, row
	}
	return p.first + row, p.lo + column, key
}

// parts cuts a tile: its columns where locks end and, in the symmetric half, where its own rows do,
// those before being square; its rows into pieces.
func (s *Search) parts(t *device.Tile, visit func(lo, hi int, square bool) error) error {
	for lo := t.Lo; lo < t.Hi; {
		hi := min(lo/lockDocs*lockDocs+lockDocs, t.Hi)
		square := false
		if end := t.First + t.Rows; s.Half && lo < end {
			square, hi = true, min(hi, end)
		}
		if err := visit(lo, hi, square); err != nil {
			return err
		}
		lo = hi
	}
	return nil
}

// Enter enters the pairs of a tile into the lists l of its rows, consecutive documents, and, unless nil, m of its
// columns, the same lists in the symmetric half. Tiles of a row come one after the other.
func (s *Search) Enter(l, m *Lists, t *device.Tile) {
	w := s.begin(t)
	defer s.spare.Put(w)
	// The locks of the rows, then one by one those of columns after them: always ascending.
	first, last := t.First/lockDocs, (t.First+t.Rows-1)/lockDocs
	for b := first; b <= last; b++ {
		l.locks[b].Lock()
		defer l.locks[b].Unlock()
	}
	s.bound(w, l, t)
	selected, entered := 0, 0
	s.parts(t, func(lo, hi int, square bool) error {
		columns := w.none[:hi-lo]
		both := m != nil && !square
		if both {
			if b := lo / lockDocs; m != l || b > last {
				m.locks[b].Lock()
				defer m.locks[b].Unlock()
			}
			columns = m.limit[lo:hi]
		}
		for first := t.First; first < t.First+t.Rows; first += partRows {
			rows := l.limit[first:min(first+partRows, t.First+t.Rows)]
			found, p := s.find(w, t, first, lo, rows, columns)
			selected += len(found)
			for _, at := range found {
				i, j, key := p.pair(at)
				if s.Half && i == j || s.Wanted != nil && !s.Wanted(i, j, key) {
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
	s.Found.Add(int64(selected))
	s.Entered.Add(int64(entered))
}

// bound lowers the limits of a tile's rows to what their k-th key can't be above, where their lists
// have met few documents before: most of what enters a list would enter it here, and soon leave it. The k-th key may be
// that of a pair that isn't wanted, so limits stay if some pairs aren't.
func (s *Search) bound(w *scratch, l *Lists, t *device.Tile) {
	met, levels, lines := t.Lo, l.k, t.Cols()
	if s.Half {
		met -= t.First
		levels++ // a row's own key is none of its list
	}
	if l.k == 0 || l.k > shortList || l.groups != nil || s.Wanted != nil || met > lines || lines < 2*levels {
		return
	}
	least := slices.Grow(w.least[:0], levels*t.Rows)[:levels*t.Rows]
	for i := range least {
		least[i] = float32(math.Inf(1))
	}
	c, stride := t.Value, t.ColStride
	if t.RowStride != 1 {
		c, stride = slices.Grow(w.turned[:0], lines*t.Rows)[:lines*t.Rows], t.Rows
		s.Kernels.Transpose(c, stride, t.Value, t.RowStride, t.Rows, lines)
		w.turned = c
	}
	// A third of three times as many values are nearly the least of all.
	s.Kernels.Min(least, levels, c, stride, lines, t.Rows, max(lines/(3*levels), 1))
	for r, most := range least[(levels-1)*t.Rows:] {
		l.limit[t.First+r] = min(l.limit[t.First+r], most)
	}
	w.least = least
}

// Pairs hands the pairs of a tile with keys up to most to visit, a part of the tile at a time, as
// rows, columns and keys, which visit may overwrite; in the symmetric half those of a row below the
// column.
func (s *Search) Pairs(most float32, t *device.Tile, visit func(rows, columns []int32, keys []float32) error) error {
	w := s.begin(t)
	defer s.spare.Put(w)
	for i := range w.limits {
		w.limits[i] = most
	}
	var rows, columns []int32
	var keys []float32
	return s.parts(t, func(lo, hi int, square bool) error {
		rows, columns, keys = rows[:0], columns[:0], keys[:0]
		for first := t.First; first < t.First+t.Rows; first += partRows {
			limits := w.limits[:min(partRows, t.First+t.Rows-first)]
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
