package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// Device is a back end that computes rows of c, and of kernels of it, in place of an engine's own panels. Its columns are the documents that it was made for.
//
// It compares documents as their embedding says (sparse.Pairing), or refuses them when it is made. Its c keeps the promises of [Engine], with the same bits for (i, j) and (j, i), whatever rows and columns a request asks for.
type Device interface {
	// Name says what it is, such as "cuda: NVIDIA H200".
	Name() string

	// Rows computes what r asks for and hands it to visit a block at a time, in order. An error of visit ends it; so does the end of ctx, within a second, with its
	// error. It may be called concurrently, but not by visit: a device may do one thing at a time. Where its memory doesn't hold the rows' documents beside the columns and a row of
	// values the error is device.ErrMemory.
	Rows(ctx context.Context, r *device.Request, visit func(b *device.Block) error) error

	// HostBytes returns the memory of the machine, not of the device, that it holds.
	HostBytes() int64

	// Close gives back all that it holds. It is called once, when no call of Rows is under way.
	Close() error
}

// Backend names what computes: the device, or the instruction set.
func (e *Engine) Backend() string {
	if e.device != nil {
		return e.device.Name()
	}
	return string(e.kernels.ISA)
}

// Close gives back what a device holds. An engine without one needs no closing. No computation may
// be under way, and those that begin afterwards come back with an error. Closing it again does
// nothing.
func (e *Engine) Close() error {
	if e.closed.Swap(true) || e.device == nil {
		return nil
	}
	return e.device.Close()
}

// open returns an error where the engine is closed.
func (e *Engine) open() error {
	if e.closed.Load() {
		return errors.New("engine: it is closed, and can't be used any more")
	}
	return nil
}

// programs keeps the programs of the kernels that were asked for last.
type programs struct {
	mu sync.Mutex
	of map[Kernel]*device.Program
}

// mostPrograms is how many are kept: a search goes through one after the other and back.
const mostPrograms = 16

// program returns the program of a kernel, nil where there is none that holds for the engine's documents and those of the rows.
func (e *Engine) program(k Kernel, from *sparse.Embedded) (p *device.Program, err error) {
	e.programs.mu.Lock()
	defer e.programs.mu.Unlock()
	defer kernel.Caught(k, &err) // a table is made of the kernel's values
	p, ok := e.programs.of[k]
	if !ok {
		if p = ProgramOf(k); p != nil && !p.Holds(e.own.x) {
			p = nil
		}
		if e.programs.of == nil || len(e.programs.of) >= mostPrograms {
			e.programs.of = map[Kernel]*device.Program{}
		}
		e.programs.of[k] = p
	}
	if p != nil && from != e.own.x && !p.Holds(from) {
		return nil, nil
	}
	return p, nil
}

// onDevice has the device compute k for a request, on documents of from, and hands the blocks to visit. What no program expresses is mapped here, from the device's c.
func (e *Engine) onDevice(ctx context.Context, k Kernel, from *sparse.Embedded, r *device.Request, visit func(b *device.Block) error) error {
	if from != e.own.x {
		r.From = from
	}
	if _, plain := k.(kernel.C); !plain {
		var err error
		if r.Program, err = e.program(k, from); err != nil {
			return err
		}
		if r.Program == nil {
			inner := visit
			visit = func(b *device.Block) error {
				err := tiles.Run(ctx, e.workers, b.Rows, func(_ context.Context, _, i int) error {
					row, x := b.Row(i), [1]float32{}
					if from.Norms != nil { // else it is a kernel of c alone
						x[0] = float32(from.Norms[r.Docs[b.First+i]])
					}
					return kernel.Map(k, e.kernels, row, row, x[:], e.own.norms[r.Lo:r.Lo+b.Cols])
				})
				if err != nil {
					return err
				}
				return inner(b)
			}
		}
	}
	next := 0
	err := e.device.Rows(ctx, r, func(b *device.Block) error {
		if err := validBlock(b, r, next); err != nil {
			return err
		}
		next += b.Rows
		e.mu.Lock()
		e.stats.Pairs += int64(b.Rows) * int64(b.Cols)
		e.mu.Unlock()
		return visit(b)
	})
	if err == nil && next != len(r.Docs) {
		err = fmt.Errorf("engine: %d rows from the device, expected %d", next, len(r.Docs))
	}
	return err
}

// validBlock checks that a block from a device holds rows of a request from the next one on, with
// all their columns.
func validBlock(b *device.Block, r *device.Request, next int) error {
	if b == nil {
		return errors.New("engine: no block from the device, expected one")
	}
	if b.First != next || b.Rows < 1 || b.Rows > len(r.Docs)-next {
		return fmt.Errorf("engine: %d rows from row %d on from the device, expected up to %d from row %d on", b.Rows, b.First, len(r.Docs)-next, next)
	}
	least, most := r.Hi-r.Lo, r.Hi-r.Lo
	if r.Half {
		least = min(r.Docs[next+b.Rows-1]+1-r.Lo, most)
	}
	if b.Cols < least || b.Cols > most {
		return fmt.Errorf("engine: %d columns from the device, expected %d to %d", b.Cols, least, most)
	}
	if b.Width < b.Cols || len(b.Value) < b.Cols || b.Rows > 1 && (len(b.Value)-b.Cols)/(b.Rows-1) < b.Width {
		return fmt.Errorf("engine: %d values for %d rows of %d columns, %d apart, from the device", len(b.Value), b.Rows, b.Cols, b.Width)
	}
	return nil
}

// deviceC has the device compute c between documents of the engine and those of columns lo <= j < hi.
func (e *Engine) deviceC(ctx context.Context, docs []int, lo, hi int, visit func(b *device.Block) error) error {
	return e.onDevice(ctx, kernel.C{}, e.own.x, &device.Request{Docs: docs, Lo: lo, Hi: hi}, visit)
}

// deviceRows is rows on the device.
func (e *Engine) deviceRows(ctx context.Context, k Kernel, from *sparse.Embedded, docs []int, dst *Dense, report *progress) error {
	return e.onDevice(ctx, k, from, &device.Request{Docs: docs, Hi: e.Len()}, func(b *device.Block) error {
		err := tiles.Run(ctx, e.workers, b.Rows, func(_ context.Context, _, i int) error {
			copy(dst.Row(b.First+i), b.Row(i))
			return nil
		})
		report.done.Add(int64(b.Rows) * int64(b.Cols))
		return err
	})
}

// deviceGram computes the symmetric half of the matrix of k on the device and stores it twice.
func (e *Engine) deviceGram(ctx context.Context, k Kernel, data []float32, report *progress) error {
	n := e.Len()
	return e.onDevice(ctx, k, e.own.x, &device.Request{Docs: sequence(n), Hi: n, Half: true}, func(b *device.Block) error {
		err := tiles.Run(ctx, e.workers, b.Rows, func(_ context.Context, _, i int) error {
			copy(data[(b.First+i)*n:], b.Row(i))
			return nil
		})
		if err != nil {
			return err
		}
		// What lies left of the block's own rows is mirrored, in pieces that stay in the cache.
		err = tiles.Run(ctx, e.workers, (b.First+blockDocs-1)/blockDocs, func(_ context.Context, _, piece int) error {
			lo := piece * blockDocs
			hi := min(lo+blockDocs, b.First)
			e.kernels.Transpose(data[lo*n+b.First:], n, b.Value[lo:], b.Width, b.Rows, hi-lo)
			return nil
		})
		report.done.Add(triangle(b.First, b.Rows))
		return err
	})
}

// sequence returns 0, 1, … n-1.
func sequence(n int) []int {
	docs := make([]int, n)
	for i := range docs {
		docs[i] = i
	}
	return docs
}

// triangle counts the pairs j <= i of rows first <= i < first+rows.
func triangle(first, rows int) int64 {
	return int64(rows)*int64(first) + int64(rows)*int64(rows+1)/2
}

// deviceTiles is Tiles on the device: a tile is a block of rows with all columns up to the last of them.
func (e *Engine) deviceTiles(ctx context.Context, visit func(t *Tile) error, report *progress) error {
	n := e.Len()
	return e.onDevice(ctx, kernel.C{}, e.own.x, &device.Request{Docs: sequence(n), Hi: n, Half: true}, func(b *device.Block) error {
		err := visit(&Tile{First: b.First, Rows: b.Rows, Cols: b.First + b.Rows, Width: b.Width, C: b.Value})
		report.done.Add(triangle(b.First, b.Rows))
		return err
	})
}

// deviceCrossTiles is CrossTiles on the device, which has the test documents as rows.
func (e *Engine) deviceCrossTiles(ctx context.Context, k Kernel, test *sparse.Embedded, visit func(t *Tile) error) error {
	width, n := e.kernels.Panel, e.Len()
	tile := make([]float32, blockDocs*width)
	return e.onDevice(ctx, k, test, &device.Request{Docs: sequence(test.Rows()), Hi: n}, func(b *device.Block) error {
		for first := 0; first < b.Rows; first += width {
			for lo := 0; lo < n; lo += blockDocs {
				rows := min(blockDocs, n-lo)
				cols := min(width, b.Rows-first)
				t := Tile{First: lo, Rows: rows, Column: b.First + first, Cols: cols, Width: width, C: tile[:rows*width]}
				e.kernels.Transpose(t.C, width, b.Value[first*b.Width+lo:], b.Width, t.Cols, t.Rows)
				if err := visit(&t); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
