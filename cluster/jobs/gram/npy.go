package gram

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/tiles"
	"github.com/gramengine/gram/tiles/atomicfile"
)

// The matrix is written in strips of up to stripBytes, because long writes are faster. A strip has
// the height of a tile. If a strip has all columns, it is written in pieces of up to writeBytes, so
// that ctx is checked often. Other strips are written row by row.
const (
	stripBytes = 128 << 20
	writeBytes = 8 << 20
)

// gatherNPY writes the n x n matrix in NumPy's format. Each worker holds one strip. Tiles below the
// diagonal are read twice, because the matrix also contains their transposes.
func (s *spec) gatherNPY(ctx context.Context, j *job.Job, out *job.Output) error {
	if err := j.Host.CheckMemory(nil, 2*s.tileBytes(), "a tile and a strip of the matrix"); err != nil {
		return err
	}
	f, err := atomicfile.Create(out.Path, "")
	if err != nil {
		return err
	}
	defer f.Abort()
	header := matrixio.NPYHeader("<f4", fmt.Sprintf("(%d, %d)", s.NumDocuments, s.NumDocuments))
	if _, err := f.WriteAt(header, 0); err != nil {
		return err
	}
	near, err := j.Host.Store.WithLocalCopies(filepath.Dir(out.Path))
	if err != nil {
		return err
	}
	defer near.Close()
	n, side := s.NumDocuments, s.tileSize()
	workers, width := s.stripWidth(j.Host)
	down, across := (n+side-1)/side, (n+width-1)/width
	held := make([]strip, min(workers, down*across))
	var done atomic.Int64
	err = run.Tasks(ctx, len(held), down*across, func(ctx context.Context, w, i int) error {
		p := &held[w]
		p.spec, p.job, p.store = s, j, near
		p.rows = [2]int{i / across * side, min((i/across+1)*side, n)}
		p.columns = [2]int{i % across * width, min((i%across+1)*width, n)}
		if err := p.fill(ctx); err != nil {
			return err
		}
		if err := p.write(ctx, f, int64(len(header))); err != nil {
			return err
		}
		out.Progress(done.Add(1), int64(down*across))
		return nil
	})
	for i := range held {
		err = errors.Join(err, held[i].close())
	}
	if err != nil {
		return err
	}
	return f.Commit()
}

func (s *spec) tileBytes() int64 { return 4 * int64(s.tileSize()) * int64(s.tileSize()) }

// stripWidth returns the number of workers, and the number of columns per strip. A strip has at
// least one tile and at most stripBytes. All strips together take at most half of the memory limit.
func (s *spec) stripWidth(h *job.Host) (workers, columns int) {
	workers, room := h.Workers, int64(stripBytes)
	if h.MemoryLimit > 0 {
		workers = max(int(min(int64(workers), h.FreeMemory(nil)/(2*s.tileBytes()))), 1)
		room = min(room, h.FreeMemory(nil)/2/int64(workers))
	}
	return workers, max(int(room/s.tileBytes()), 1) * s.tileSize()
}

// strip holds a row of adjacent tiles of the matrix in memory. Each worker has one strip.
type strip struct {
	*spec
	job           *job.Job
	store         *store.Store
	rows, columns [2]int
	values        []float32
	buf           []byte

	view *store.View // view of a task's result; nil if closed
	task int         // task of the view
}

// fill reads the tiles of a strip. Tiles right of the diagonal are transposed.
func (p *strip) fill(ctx context.Context) error {
	height, width := p.rows[1]-p.rows[0], p.columns[1]-p.columns[0]
	if len(p.values) < height*width {
		p.values = tiles.MakeFloats(height * width)
		p.buf = make([]byte, 4*p.tileSize()*p.tileSize())
	}
	transpose := asm.BestKernels().Transpose // bit-identical on all instruction sets, because it only copies values
	for column := p.columns[0]; column < p.columns[1]; column += p.tileSize() {
		dst, columns := p.values[column-p.columns[0]:], min(p.tileSize(), p.columns[1]-column)
		if column > p.rows[0] {
			tile, err := p.tile(ctx, column, columns, p.rows[0], height)
			if err != nil {
				return err
			}
			transpose(dst, width, tile, height, columns, height)
			continue
		}
		tile, err := p.tile(ctx, p.rows[0], height, column, columns)
		if err != nil {
			return err
		}
		for i := range height {
			copy(dst[i*width:], tile[i*columns:(i+1)*columns])
		}
	}
	return nil
}

// tile reads the tile whose first element is (row, column). The values are valid until the next
// call.
func (p *strip) tile(ctx context.Context, row, rows, column, columns int) (values []float32, err error) {
	task := p.taskOf(row, column)
	b := p.block(task)
	if p.view == nil || p.task != task {
		if err := p.close(); err != nil {
			return nil, err
		}
		if p.view, err = p.store.OpenView(ctx, p.job.ResultName(task), p.buf); err != nil {
			return nil, err
		}
		p.task = task
		if found, want := p.view.Len(), 4*int64(b.numValues()); found != want {
			return nil, fmt.Errorf("gram: the result of task %d has %d bytes instead of %d", task, found, want)
		}
	}
	at, _ := b.locate(row, column)
	part, err := p.view.ReadRange(ctx, 4*int64(at), 4*int64(at+rows*columns))
	if err != nil {
		return nil, err
	}
	return job.Floats(part), nil
}

// write writes the strip to the file. begin is the offset of the matrix in the file.
func (p *strip) write(ctx context.Context, f *atomicfile.File, begin int64) error {
	n, width := p.NumDocuments, p.columns[1]-p.columns[0]
	rows := 1 // rows of a strip are adjacent in the file only if the strip has all columns
	if width == n {
		rows = max(writeBytes/4/n, 1)
	}
	for i := p.rows[0]; i < p.rows[1]; i += rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		lo, hi := i-p.rows[0], min(i+rows, p.rows[1])-p.rows[0]
		at := begin + 4*(int64(i)*int64(n)+int64(p.columns[0]))
		if _, err := f.WriteAt(job.FloatBytes(p.values[lo*width:hi*width]), at); err != nil {
			return err
		}
	}
	return nil
}

func (p *strip) close() error {
	v := p.view
	if p.view = nil; v == nil {
		return nil
	}
	return v.Close()
}
