package nearest

import (
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine/device"
)

// Search looks through tiles. It may be used concurrently.
type Search struct {
	Kernels *asm.Kernels
	Half    bool // tiles are of the symmetric half, rows and columns the same documents
	Falling bool // keys are the values of tiles with the sign changed, which stands in the tiles then

	spare sync.Pool // of *scratch
}

// scratch is what one part of a tile needs.
type scratch struct {
	index        [partRows * lockDocs]uint32
	none, limits [lockDocs]float32
}

// partRows is the number of rows whose limits are looked at together: they grow stale.
const partRows = 64

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

// find selects keys of the rows from first on and the columns from lo on, as many as there are
// limits, that are at most the limit of their row or that of their column, and hands them to visit.
func (s *Search) find(
	w *scratch, t *device.Tile, first, lo int, rows, columns []float32, visit func(row, column int, key float32),
) {
	values := t.Value[(first-t.First)*t.RowStride+(lo-t.Lo)*t.ColStride:]
	if t.RowStride == 1 {
		for _, at := range w.index[:s.Kernels.Select(w.index[:], values, t.ColStride, columns, rows)] {
			j, r := int(at>>16), int(at&0xffff)
			visit(first+r, lo+j, values[j*t.ColStride+r])
		}
		return
	}
	for _, at := range w.index[:s.Kernels.Select(w.index[:], values, t.RowStride, rows, columns)] {
		r, j := int(at>>16), int(at&0xffff)
		visit(first+r, lo+j, values[r*t.RowStride+j])
	}
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

// Enter enters the pairs of a tile into lists: of its rows, which are documents in sequence from
// t.First on, and in the symmetric half of its columns, too. Of one row, tiles come one after the
// other.
func (s *Search) Enter(l *Lists, t *device.Tile) {
	w := s.begin(t)
	defer s.spare.Put(w)
	// The locks of the rows, then one by one those of columns behind them: always ascending.
	first, last := t.First/lockDocs, (t.First+t.Rows-1)/lockDocs
	for b := first; b <= last; b++ {
		l.locks[b].Lock()
		defer l.locks[b].Unlock()
	}
	s.parts(t, func(lo, hi int, square bool) error {
		columns := w.none[:hi-lo]
		both := s.Half && !square
		if both {
			if b := lo / lockDocs; b > last {
				l.locks[b].Lock()
				defer l.locks[b].Unlock()
			}
			columns = l.limit[lo:hi]
		}
		for first := t.First; first < t.First+t.Rows; first += partRows {
			rows := l.limit[first:min(first+partRows, t.First+t.Rows)]
			s.find(w, t, first, lo, rows, columns, func(i, j int, key float32) {
				if !s.Half || i != j {
					l.offer(i, key, j)
				}
				if both {
					l.offer(j, key, i)
				}
			})
		}
		return nil
	})
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
			s.find(w, t, first, lo, limits, w.none[:hi-lo], func(i, j int, key float32) {
				if !square || i < j {
					rows, columns, keys = append(rows, int32(i)), append(columns, int32(j)), append(keys, key)
				}
			})
		}
		if len(keys) == 0 {
			return nil
		}
		return visit(rows, columns, keys)
	})
}
