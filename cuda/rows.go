//go:build cuda && cgo && linux

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// maxParts is the maximum number of thread blocks in the second dimension of a grid.
const maxParts = 1<<16 - 1

// ComputeRows implements device.Backend. It calls visit from one goroutine. During a call of visit,
// the device copies the next piece of a tile and computes the next tile.
//
// visit must not use the device, because ComputeRows holds the device's lock. If visit panics,
// ComputeRows waits for all work in progress before it panics.
func (c *columns) ComputeRows(ctx context.Context, r *device.Request, visit func(t *device.Tile) error) error {
	return c.request(ctx, r, true, func(j *job) error { return j.stream(ctx, visit) })
}

// request copies the data of a request to the device and runs work. If copied is set, it also
// allocates host buffers for the values.
func (c *columns) request(ctx context.Context, r *device.Request, copied bool, work func(*job) error) error {
	rows := c.x
	if r.RowDocuments != nil {
		rows = r.RowDocuments
	}
	docs := make([]uint32, len(r.RowIndices))
	for i, d := range r.RowIndices {
		docs[i] = uint32(d)
	}
	if len(docs) == 0 || r.Lo == r.Hi {
		return ctx.Err()
	}
	err := c.withDevice(func() (err error) {
		run := job{c: c, r: r, arena: &c.d.arena}
		defer func() { err = errors.Join(err, run.end()) }()
		if err := run.begin(ctx, rows, docs); isOutOfMemory(err) && c.tiles.bytes > 0 {
			// Tiles of an earlier request may occupy the memory. Free these tiles and retry.
			if err := errors.Join(run.end(), c.tiles.free()); err != nil {
				return err
			}
			if err := run.begin(ctx, rows, docs); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		if err := c.tiles.prepare(min(len(docs), c.x.Rows()), padded(r.Hi-r.Lo), copied); err != nil {
			return err
		}
		return work(&run)
	})
	if isOutOfMemory(err) {
		err = fmt.Errorf("%w: %w", device.ErrMemory, err)
	}
	return err
}

// begin copies the data of a request to the device, except the columns, which Load has copied.
func (j *job) begin(ctx context.Context, rows *sparse.Embedded, docs []uint32) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if j.rows, err = j.c.rowSetFor(ctx, j.r.RowDocuments); err != nil {
		return err
	}
	if rows == j.c.x {
		j.sameDocuments = 1
	}
	if j.header, j.program, err = uploadProgram(j.arena, j.r, rows, j.c.x); err != nil {
		return err
	}
	j.docs, err = upload(j.arena, docs)
	return err
}

func (j *job) end() error { return j.arena.end() }

// padded returns the row stride, in values, of a tile with the given number of columns.
func padded(cols int) int { return (cols + panelWidth - 1) / panelWidth * panelWidth }

type job struct {
	c             *columns
	r             *device.Request
	arena         *arena
	rows          documentSet
	docs          uint64 // docs, order and program are addresses
	order         uint64
	program       uint64
	header        []uint64 // fields of Program in kernels/shape.h
	programStride uint64   // bytes between the programs of consecutive tiles; 0 if all tiles have the same program
	sameDocuments uint64
	tiles         []device.Tile
	tilesAddr     uint64 // address of the tile descriptions
}

// tileFields is the number of 8-byte fields of Tile in kernels/shape.h.
const tileFields = 9

func (j *job) describeTile(at uint64, b *device.Tile) []uint64 {
	return []uint64{at, j.docs + 4*uint64(b.FirstRow), j.order + 4*uint64(b.FirstRow), uint64(b.RowStride),
		uint64(b.Rows), uint64(b.Lo), uint64(b.Cols()), uint64(b.FirstRow), uint64(j.c.tiles.closeBitmap.addr)}
}

// plan divides the rows into tiles, and copies the tile descriptions and row orders to the device.
func (j *job) plan() error {
	t, width := &j.c.tiles, padded(j.r.Hi-j.r.Lo)
	var fields []uint64
	var headers []uint64 // the tiles' programs, which differ in the address of the tile's first column attribute
	height := min(int(t.bytes/int64(4*width)), j.c.d.tileRows)
	order := make([]uint32, 0, len(j.r.RowIndices))
	for docs := range slices.Chunk(j.r.RowIndices, height) {
		order = j.rows.appendOrder(order, docs)
	}
	var err error
	if j.order, err = upload(j.arena, order); err != nil {
		return err
	}
	for first := 0; first < len(j.r.RowIndices); first += height {
		b := device.Tile{
			FirstRow: first, Rows: min(height, len(j.r.RowIndices)-first), Lo: j.r.Lo, Hi: j.r.Hi,
			ProgramApplied: j.r.Program != nil, ColStride: 1,
		}
		if j.r.UpperOnly {
			b.Lo = j.r.RowIndices[first] / device.ColumnAlignment * device.ColumnAlignment
		}
		b.RowStride = padded(b.Cols())
		if j.header != nil {
			headers = append(headers, j.header...)
			headers[len(headers)-len(j.header)+programY] += 8 * uint64(b.Lo-j.r.Lo)
		}
		fields = append(fields, j.describeTile(uint64(t.tile[len(j.tiles)%2].addr), &b)...)
		j.tiles = append(j.tiles, b)
	}
	if headers != nil && j.r.UpperOnly {
		if j.program, err = upload(j.arena, headers); err != nil {
			return err
		}
		j.programStride = 8 * uint64(len(j.header))
	}
	return j.describe(fields)
}

// appendOrder appends the indices into docs to order, sorted by descending number of tail values.
// The sort rounds the numbers of tail values down to powers of two.
func (s *documentSet) appendOrder(order []uint32, docs []int) []uint32 {
	var at [64]int
	class := func(d int) int { return 63 - bits.Len64(uint64(s.tail[d+1]-s.tail[d])) }
	for _, d := range docs {
		at[class(d)]++
	}
	place := len(order)
	for c, n := range at {
		at[c], place = place, place+n
	}
	order = slices.Grow(order, len(docs))[:place]
	for i, d := range docs {
		order[at[class(d)]] = uint32(i)
		at[class(d)]++
	}
	return order
}

func (j *job) describe(fields []uint64) (err error) {
	if j.tilesAddr, err = upload(j.arena, fields); err != nil {
		return err
	}
	return waitForCopies()
}

// transfer is a range of rows of a tile that is copied to a host buffer at once.
type transfer struct{ tile, first, rows int }

func (j *job) transfers() (all []transfer) {
	for k := range j.tiles {
		t := &j.tiles[k]
		height := max(int(j.c.tiles.bufferBytes/int64(4*t.RowStride)), 1)
		for first := 0; first < t.Rows; first += height {
			all = append(all, transfer{k, first, min(height, t.Rows-first)})
		}
	}
	return all
}

// stream computes the tiles in order, and passes each piece to visit.
func (j *job) stream(ctx context.Context, visit func(t *device.Tile) error) (err error) {
	if err := j.plan(); err != nil {
		return err
	}
	t := &j.c.tiles
	// After an error, wait for the device, because memory in use must not be freed.
	ended := false
	defer func() {
		if err != nil || !ended { // ended is false if visit panicked
			err = errors.Join(err,
				driverError("cuStreamSynchronize", t.compute.Synchronize()),
				driverError("cuStreamSynchronize", t.copy.Synchronize()))
		}
	}()
	if err := j.start(0); err != nil {
		return err
	}
	pieces := j.transfers()
	for k := range len(pieces) + 1 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if k < len(pieces) {
			if err := j.copy(k, pieces[k]); err != nil {
				return err
			}
		}
		if k == 0 {
			continue
		}
		p, b := pieces[k-1], &t.buffers[(k-1)%2]
		if err := b.copied.Synchronize(); err != nil {
			return driverError("cuEventSynchronize", err)
		}
		tile := j.tiles[p.tile]
		tile.FirstRow, tile.Rows = tile.FirstRow+p.first, p.rows
		tile.Values = b.host.floats(tile.Rows * tile.RowStride)
		if err := visit(&tile); err != nil {
			return err
		}
	}
	ended = true
	return nil
}

func (j *job) start(k int) error {
	if err := j.compute(k); err != nil {
		return err
	}
	t := &j.c.tiles
	return driverError("cuEventRecord", t.buffers[k%2].computed.Record(t.compute))
}

// copy starts copying piece k. For the first piece of a tile, it also starts computing the next
// tile, which overwrites the previous tile.
func (j *job) copy(k int, p transfer) error {
	t, b, tile := &j.c.tiles, &j.c.tiles.buffers[k%2], &j.tiles[p.tile]
	if p.first == 0 {
		if k > 0 {
			if err := t.compute.Wait(t.buffers[(k-1)%2].copied, 0); err != nil {
				return driverError("cuStreamWaitEvent", err)
			}
		}
		// Wait before tile p.tile+2 starts, because that tile records the same event again.
		if err := t.copy.Wait(t.buffers[p.tile%2].computed, 0); err != nil {
			return driverError("cuStreamWaitEvent", err)
		}
		if p.tile+1 < len(j.tiles) {
			if err := j.start(p.tile + 1); err != nil {
				return err
			}
		}
	}
	line := int64(4 * tile.RowStride)
	from := t.tile[p.tile%2].addr + cu.DevicePtr(int64(p.first)*line)
	err := j.c.d.timer.measure("copy", t.copy, func() error {
		return driverError("cuMemcpyDtoHAsync", cu.MemcpyDtoHAsync(b.host.pointer, from, int64(p.rows)*line, t.copy))
	})
	if err != nil {
		return err
	}
	return driverError("cuEventRecord", b.copied.Record(t.copy))
}

func (j *job) compute(k int) error {
	c, t, block := j.c, &j.c.tiles, &j.tiles[k]
	tile, program := j.tilesAddr+8*tileFields*uint64(k), j.program+j.programStride*uint64(k)
	f, pairing := c.d.kernels, c.x.Embedder.Pairing
	names := pairingKernels[pairing]
	grid := func(per int) int { return (block.Cols() + per - 1) / per }
	parts := block.Hi/tailColumns - block.Lo/tailColumns
	if block.Hi%tailColumns > 0 {
		parts++
	}
	err := c.d.launch(names[0], f.tailAdd[pairing], block.Rows, parts, tailThreads, 0, t.compute,
		j.rows.addr, c.columnSet.addr, tile)
	if err != nil {
		return err
	}
	if steps := c.layout.steps(); steps > 0 {
		parts := (block.Rows + tensorRows - 1) / tensorRows
		err := c.d.launch("panelTensor", f.panelTensor, grid(tensorColumns), parts, tensorThreads, 0, t.compute,
			j.rows.addr, c.columnSet.addr, tile, uint64(steps))
		if err != nil {
			return err
		}
	}
	panels := grid(panelWidth)
	shared := (1 + int(c.layout.chunkTerms[0])) * lineBytes
	blocks := 1
	if pairing == sparse.Cosine {
		blocks = panelBlocks
	}
	height, parts := heightOfBlocks(&c.d.info, block.Rows, panels, shared, blocks)
	err = c.d.launch(names[1], f.panel[pairing], panels, parts, panelThreads, shared, t.compute,
		j.rows.addr, c.columnSet.addr, c.head, tile, program, uint64(height), j.sameDocuments)
	if err != nil {
		return err
	}
	if j.header != nil && j.header[programOnly] == 0 {
		err := c.d.launch("applyProgram", f.applyProgram, block.Rows, 1, reduceThreads, 0, t.compute, tile, program)
		if err != nil {
			return err
		}
	}
	words := block.Rows * padded(block.Cols()) / 32
	return c.d.launch("closePairs", f.closePairs, (words+closeThreads-1)/closeThreads, 1, closeThreads, 0, t.compute,
		j.rows.addr, c.columnSet.addr, tile, program, uint64(pairing))
}

// heightOfBlocks returns the number of rows per thread block and the number of thread blocks per
// panel that minimise the predicted time. A multiprocessor runs at most blocks thread blocks at a
// time. Filling a panel is assumed to take as long as processing fillRows rows.
func heightOfBlocks(info *Info, rows, panels, shared, blocks int) (height, parts int) {
	const minHeight, maxRounds, fillRows, systemBytes = 64, 8, 48, 1024
	atOnce := info.Multiprocessors * max(min((info.SharedBytes+systemBytes)/(shared+systemBytes), blocks), 1)
	least := 0
	for p := 1; p == 1 || rows/p >= minHeight && (p-1)*panels < maxRounds*atOnce; p++ {
		h := (rows + p - 1) / p
		if time := (panels*p + atOnce - 1) / atOnce * (h + fillRows); least == 0 || time < least {
			least, height = time, h
		}
	}
	return height, (rows + height - 1) / height
}
