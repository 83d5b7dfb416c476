//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"testing"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// Tiles are smaller if memory is insufficient. It is an error only if a single row doesn't fit.
func TestMemory(t *testing.T) {
	noLeaks(t)
	const n = 200
	x := embedded(t, zipf(n, 300, 8, 3))
	var documents int64
	d := open(t, Options{})
	err := within(t, d, x, func(*columns) error { documents = d.allocated; return nil })
	if err != nil || d.allocated != 0 {
		t.Fatalf("%d bytes are held after closing, error %v", d.allocated, err)
	}
	line := int64(4 * padded(n))
	run := func(opt Options) (height int, err error) {
		d := open(t, opt)
		err = within(t, d, x, func(cols *columns) error {
			return cols.ComputeRows(t.Context(), whole(cols), func(b *device.Tile) error {
				height = max(height, b.Rows)
				compare(t, x, x, run.Range(0, n), 0, b)
				if d.allocated > d.limit {
					t.Errorf("%d bytes are held, more than %d", d.allocated, d.limit)
				}
				return nil
			})
		})
		return height, err
	}
	extra := int64(8*n + 8*tileFields*n) // numbers and order of rows, and descriptions of tiles
	if height, err := run(Options{}); err != nil || height != n {
		t.Errorf("without a bound tiles of %d rows, error %v", height, err)
	}
	height, err := run(Options{MemoryBytes: documents + 2*40*line + extra})
	if err != nil || height < 20 || height > 40 {
		t.Errorf("with room for two tiles of 40 rows, tiles of %d, error %v", height, err)
	}
	musttest.WantError(run(Options{MemoryBytes: documents + line}))(t, "without room for two tiles", cu.OutOfMemory)
	musttest.WantError(run(Options{MemoryBytes: documents / 2}))(t, "without room for the documents", cu.OutOfMemory)
	// The device has less memory than Options.MemoryBytes.
	t.Setenv("FAKE_MEMORY", fmt.Sprint(documents+2*40*line+extra))
	if height, err := run(Options{MemoryBytes: 1 << 40}); err != nil || height < 20 || height > 40 {
		t.Errorf("on a device with room for two tiles of 40 rows, tiles of %d, error %v", height, err)
	}
	t.Setenv("FAKE_MEMORY", "")
	// Insufficient page-locked memory also makes tiles smaller.
	t.Setenv("FAKE_FAIL", "cuMemHostAlloc:1:2")
	musttest.WantError(run(Options{}))(t, "without page-locked memory", cu.OutOfMemory, "cuMemHostAlloc")
}

// A request reuses the tiles of an earlier request if they are large enough, also if the buffer
// size isn't a multiple of the row size.
func TestTilesStay(t *testing.T) {
	noLeaks(t)
	d := open(t, Options{})
	d.bufferBytes.Store(10_000)
	cols := load(t, d, embedded(t, zipf(200, 300, 8, 3)))
	rows := func() error {
		return cols.ComputeRows(t.Context(), whole(cols), func(*device.Tile) error { return nil })
	}
	musttest.NoError(t, rows())
	t.Setenv("FAKE_FAIL", "cuMemHostAlloc:1:2")
	musttest.NoError(t, rows())
	if _, err := cols.Digest(t.Context(), whole(cols)); err != nil {
		t.Error(err)
	}
	cols = load(t, open(t, Options{}), embedded(t, zipf(200, 300, 8, 3)))
	if _, err := cols.Digest(t.Context(), whole(cols)); err != nil {
		t.Errorf("a digest, which copies no rows: %v", err)
	}
	musttest.WantError(rows())(t, "rows without page-locked memory")
	// Requests of two widths, with and without copied rows, reuse each other's memory.
	t.Setenv("FAKE_FAIL", "")
	turns := func() error {
		for _, r := range []*device.Request{{RowIndices: run.Range(0, 200), Hi: 128},
			{RowIndices: run.Range(0, 3), Hi: 200}} {
			if _, err := cols.Digest(t.Context(), r); err != nil {
				return err
			}
			if err := cols.ComputeRows(t.Context(), r, func(*device.Tile) error { return nil }); err != nil {
				return err
			}
		}
		return nil
	}
	musttest.NoError(t, turns())
	musttest.NoError(t, turns())
	t.Setenv("FAKE_FAIL", "cuMemHostAlloc:1:2")
	musttest.NoError(t, turns())
	t.Setenv("FAKE_FAIL", "cuMemAlloc_v2:1:2")
	musttest.NoError(t, turns())
}

// Tiles are also reused if the device had less memory than requested.
func TestTightTilesStay(t *testing.T) {
	noLeaks(t)
	const n = 200
	x := embedded(t, zipf(n, 300, 8, 3))
	var documents int64
	musttest.NoError(t, within(t, open(t, Options{}), x, func(c *columns) error { documents = c.d.allocated; return nil }))
	t.Setenv("FAKE_MEMORY", fmt.Sprint(documents+2*41*4*int64(padded(n))+1<<14))
	cols := load(t, open(t, Options{MemoryBytes: 1 << 40}), x)
	highest := 0
	rows := func() error {
		return cols.ComputeRows(t.Context(), whole(cols), func(b *device.Tile) error {
			highest = max(highest,
				b.Rows)
			return nil
		})
	}
	musttest.NoError(t, rows())
	if highest == 0 || highest >= n/2 {
		t.Fatalf("tiles of %d rows, expected less than %d", highest, n/2)
	}
	t.Setenv("FAKE_FAIL", "cuMemHostAlloc:1:2")
	musttest.NoError(t, rows())
}

// If memory is insufficient for documents of rows, the tiles of an earlier request are freed. If it
// is still insufficient, the error says that fewer documents may fit.
func TestMemoryOfOtherDocuments(t *testing.T) {
	noLeaks(t)
	const n = 200
	x := embedded(t, zipf(n, 300, 8, 3))
	test := musttest.Get(x.Embedder.Transform(zipf(120, 300, 30, 4)))(t)
	rows := func(cols *columns, y *sparse.Embedded) error {
		r := &device.Request{RowDocuments: y, RowIndices: run.Range(0, y.Rows()), Hi: n}
		return cols.ComputeRows(t.Context(), r, func(b *device.Tile) error {
			compare(t, y, x, r.RowIndices, 0, b)
			return nil
		})
	}
	var documents, others int64
	d := open(t, Options{})
	err := within(t, d, x, func(cols *columns) error {
		documents = d.allocated
		err := rows(cols, test)
		others = d.allocated - documents - 2*cols.tiles.bytes
		return err
	})
	musttest.NoError(t, err)
	extra := int64(8*n + 8*tileFields*n) // numbers and order of rows, and descriptions of tiles, were each a row
	d = open(t, Options{MemoryBytes: documents + others + extra + 6*int64(4*padded(n))})
	err = within(t, d, x, func(cols *columns) error {
		err := rows(cols, x)
		if free := d.limit - d.allocated; free >= others {
			t.Fatalf("%d bytes are free before %d are needed: tiles aren't in the way", free, others)
		}
		return errors.Join(err, rows(cols, test), rows(cols, x), rows(cols, test), rows(cols, x))
	})
	if err != nil {
		t.Error(err)
	}
	d = open(t, Options{MemoryBytes: documents + others/2})
	musttest.WantError(within(t, d, x, func(cols *columns) error { return rows(cols, test) }))(t,
		"without room for the test documents", device.ErrMemory, cu.OutOfMemory)
}

// A request reuses the arena of the previous request. The arena is freed if other allocations need
// memory.
func TestArena(t *testing.T) {
	noLeaks(t)
	const n = 150
	x := embedded(t, zipf(n, 100, 8, 3))
	d := open(t, Options{})
	cols := load(t, d, x)
	for _, p := range []*device.Program{rooted, diffusion} {
		r := &device.Request{RowIndices: run.Range(0, n), Hi: n, Program: p}
		want := gather(t, cols, r, n)
		t.Setenv("FAKE_FAIL", "cuMemAlloc_v2:1:2") // fails from now on
		got := gather(t, cols, r, n)
		t.Setenv("FAKE_FAIL", "")
		sameBits(t, n, want, r.RowIndices, 0, got)
	}
	err := d.withDevice(func() error {
		if d.arena.block.bytes == 0 || d.arena.required != 0 {
			t.Errorf("%d bytes are kept after a request, %d in use", d.arena.block.bytes, d.arena.required)
		}
		_, err := d.arena.alloc(maxArena + 1)
		if err = errors.Join(err, d.arena.end()); err != nil || d.arena.block.bytes > maxArena {
			t.Errorf("%d bytes are kept after a great request, error %v", d.arena.block.bytes, err)
		}
		d.limit = d.allocated
		m, err := d.alloc(64)
		if err != nil || d.arena.block.bytes != 0 {
			t.Errorf("%d bytes are kept that nobody uses, error %v", d.arena.block.bytes, err)
		}
		held := d.allocated
		if _, err := d.alloc(d.limit - held + 1); !errors.Is(err, cu.OutOfMemory) || d.allocated != held {
			t.Errorf("error %v, %d bytes held, expected %d", err, d.allocated, held)
		}
		return d.free(&m)
	})
	if err = errors.Join(err, cols.Close(), d.Close()); err != nil {
		t.Error(err)
	}
	if d.allocated != 0 {
		t.Errorf("%d bytes are held after closing", d.allocated)
	}
}
