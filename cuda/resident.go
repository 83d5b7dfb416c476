//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// leastResident is how many rows must fit to be worth keeping: a working set of the greatest size.
const leastResident = 256

// residentPart is the part of the free memory that rows get, as a fraction of its eighths: the rest
// is for the scores of problems, and for tiles.
const residentPart = 6

// resident is a device.Resident: it keeps rows of a matrix on the device, for problems of the solver.
//
// Any row that a call doesn't need makes room for others, those of one call from a place that is
// drawn by lot on: next to each other, so that they are computed in one tile, and by lot since a
// search comes back to its rows in turns. The lots are the same in each run; which rows are kept
// has no part in what is computed.
type resident struct {
	handle
	c       *columns
	program *device.Program
	pool    pool
	fields  []uint64 // of the program, but for the attributes of rows
	parcel  parcel
	solve   *solveKernels

	rows   memory
	stride int64
	room   int      // rows
	slotOf []int32  // by document: where its row is, -1 nowhere
	docOf  []int32  // by place: whose row it has, -1 nobody's
	usedIn []uint64 // by place: the last call that needed it
	call   uint64
	filled int     // places that have had a row, the first so many
	fresh  *wanted // of the call under way
	lots   uint64  // state of the generator
}

// solveKernels are the functions of kernels/solve.h.
type solveKernels struct{ addRows, extremes, beyondCount, beyondList, pick cu.Function }

// Resident makes room on the device for rows of c between the columns' documents, or of a program
// of it: for all, or as many as memory holds. The caller closes it, after the scores that it has
// made and before the columns.
func (c *columns) Resident(p *device.Program) (device.Resident, error) {
	if err := (&device.Request{Program: p}).Validate(c.x); err != nil {
		return nil, err
	}
	n := c.x.Rows()
	r := &resident{
		handle: handle{d: c.d, what: "rows on the GPU", of: &c.handle},
		c:      c, program: p, pool: pool{d: c.d}, parcel: parcel{d: c.d},
		stride: int64(padded(n)), slotOf: make([]int32, n), lots: 1,
	}
	err := c.do(func() error {
		r.begin()
		if err := r.prepare(); err != nil {
			return err
		}
		return r.takeRows(n)
	})
	if isOutOfMemory(err) {
		err = fmt.Errorf("%w: %w", device.ErrMemory, err)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("rows of %s on the GPU: %w", sparse.FormatBytes(4*r.stride), err), r.Close())
	}
	for i := range r.slotOf {
		r.slotOf[i] = -1
	}
	r.docOf, r.usedIn = make([]int32, r.room), make([]uint64, r.room)
	for i := range r.docOf {
		r.docOf[i] = -1
	}
	return r, nil
}

// prepare makes streams and copies the program.
func (r *resident) prepare() error {
	r.solve = &r.c.d.kernels.solve
	if err := r.c.tiles.begin(); err != nil {
		return err
	}
	if r.program == nil {
		return nil
	}
	u := uploader{p: &r.pool}
	y := attributes(r.program, r.c.x.Norms, nil)
	r.fields = sendProgram(&u, r.program, send(&u, y), r.c.x.Rows())
	if u.err != nil {
		return u.err
	}
	return arrived()
}

// takeRows takes memory for up to n rows, fewer where it doesn't suffice.
func (r *resident) takeRows(n int) error {
	d, line := r.c.d, 4*r.stride
	least := min(leastResident, n)
	most := int((d.limit - d.held) / 8 * residentPart / max(line, 1))
	for r.room = min(n, max(most, least)); ; r.room = max(r.room/2, least) {
		var err error
		if r.rows, err = r.pool.alloc(int64(r.room) * line); err == nil {
			return nil
		}
		if !isOutOfMemory(err) || r.room == least {
			return err
		}
	}
}

// Close gives its memory back; a second call does nothing. Its scores must be closed before:
// otherwise it does nothing but say so.
func (r *resident) Close() error {
	return r.close(func() error { return errors.Join(r.parcel.close(), r.pool.close()) })
}

// Rows is how many rows there is room for.
func (r *resident) Rows() int { return r.room }

// with does work of one call with the device, for itself or for scores: what it launches ends
// before it returns, even after an error. After one the rows that it wanted computed are taken for
// not computed: they may not be, even where the error came after them.
func (r *resident) with(h *handle, work func(stream cu.Stream) error) error {
	return h.do(func() error {
		stream := r.c.tiles.compute
		err := errors.Join(work(stream), failed("cuStreamSynchronize", stream.Synchronize()))
		if err != nil {
			r.fresh.forget()
		}
		r.fresh = nil
		return err
	})
}

// wanted are the rows of one call: where they begin, and what is to be computed of them.
type wanted struct {
	r       *resident
	from    []int64 // by document asked for, in values from the first row on
	missing []int32
	run     job
}

// parcelBytes bounds what a call with so many rows packs for them: their numbers, attributes, and a
// tile each, and the program.
func (r *resident) parcelBytes(rows int) int {
	norms := 0
	if r.program != nil {
		norms = len(r.program.Norms)
	}
	return 1024 + rows*(8+8+8*norms+8*tileFields)
}

// want finds the rows of documents, which may come several times, and packs what is needed to
// compute those that aren't there.
func (r *resident) want(docs []int) (*wanted, error) {
	w := &wanted{r: r, from: make([]int64, len(docs))}
	r.fresh = w
	r.call++
	for _, doc := range docs {
		if slot := r.slotOf[doc]; slot >= 0 {
			r.usedIn[slot] = r.call
		}
	}
	slot := r.filled // one after the other until all places are filled
	if slot >= r.room {
		slot = int(r.draw() % uint64(max(r.room, 1)))
	}
	var slots []int32
	for i, doc := range docs {
		if r.slotOf[doc] < 0 {
			for passed := 0; r.usedIn[slot] == r.call; slot = (slot + 1) % r.room {
				if passed++; passed > r.room {
					const text = "cuda: more rows at a time than the %d that fit into the GPU's memory"
					return nil, fmt.Errorf(text, r.room)
				}
			}
			if old := r.docOf[slot]; old >= 0 {
				r.slotOf[old] = -1
			}
			r.docOf[slot], r.slotOf[doc], r.usedIn[slot] = int32(doc), int32(slot), r.call
			r.filled = max(r.filled, slot+1)
			w.missing, slots = append(w.missing, int32(doc)), append(slots, int32(slot))
		}
		w.from[i] = int64(r.slotOf[doc]) * r.stride
	}
	return w, w.plan(slots)
}

// draw is Marsaglia's xorshift.
func (r *resident) draw() uint64 {
	r.lots ^= r.lots << 13
	r.lots ^= r.lots >> 7
	r.lots ^= r.lots << 17
	return r.lots
}

// plan packs the missing rows' tiles, one for each sequence of places.
func (w *wanted) plan(slots []int32) error {
	if len(slots) == 0 {
		return nil
	}
	r := w.r
	p := &r.parcel
	docs, list := make([]uint32, len(w.missing)), make([]int, len(w.missing))
	for i, doc := range w.missing {
		docs[i], list[i] = uint32(doc), int(doc)
	}
	w.run = job{c: r.c, rows: r.c.own, same: 1, docs: pack(p, docs)}
	if r.program != nil {
		x := pack(p, attributes(r.program, r.c.x.Norms, list))
		w.run.program = pack(p, withRows(r.fields, x, len(list)))
	}
	n := r.c.x.Rows()
	if err := r.c.tiles.closeBits(int64(min(len(slots), computedRows)) * r.stride); err != nil {
		return err
	}
	var fields []uint64
	for first := 0; first < len(slots); {
		end := first + 1
		for end < len(slots) && slots[end] == slots[end-1]+1 && end-first < computedRows {
			end++
		}
		tile := device.Tile{First: first, Rows: end - first, Hi: n, RowStride: int(r.stride)}
		at := uint64(r.rows.at) + 4*uint64(slots[first])*uint64(r.stride)
		fields = append(fields, w.run.describeTile(at, &tile)...)
		w.run.tiles = append(w.run.tiles, tile)
		first = end
	}
	w.run.fields = pack(p, fields)
	return nil
}

// compute sends the parcel and starts the kernels of the missing rows.
func (w *wanted) compute(ctx context.Context) error {
	err := w.r.parcel.send()
	for k := range w.run.tiles {
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = w.run.compute(k)
		}
	}
	return err
}

// forget takes the missing rows for not computed.
func (w *wanted) forget() {
	if w == nil {
		return
	}
	for _, doc := range w.missing {
		slot := w.r.slotOf[doc]
		w.r.docOf[slot], w.r.slotOf[doc] = -1, -1
	}
}
