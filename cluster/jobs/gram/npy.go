package gram

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/tiles"
	"github.com/gramengine/gram/tiles/atomicfile"
)

// turnedColumns is how many columns of a block are transposed at a time.
const turnedColumns = 256

// gatherNPY writes the n x n matrix in NumPy's format. Each block is read once and written to its two
// places, so that a worker holds little more than a block, however large the matrix is.
func (s *spec) gatherNPY(ctx context.Context, j *job.Job, out *job.Output) error {
	f, err := atomicfile.Create(out.Path, "")
	if err != nil {
		return err
	}
	defer f.Abort()
	header := npyHeader(s.Documents)
	if _, err := f.WriteAt(header, 0); err != nil {
		return err
	}
	transpose := asm.Best().Transpose // moves values, and so has the same bits on every machine
	type scratch struct{ block, turned []float32 }
	held := make([]scratch, min(j.Host.Workers, j.Tasks))
	var done atomic.Int64
	err = tiles.Run(ctx, len(held), j.Tasks, func(ctx context.Context, w, task int) error {
		rows, columns := s.ranges(task)
		height, width := rows[1]-rows[0], columns[1]-columns[0]
		if held[w].block == nil {
			held[w] = scratch{make([]float32, s.most()), make([]float32, s.Rows*turnedColumns)}
		}
		block := held[w].block[:height*width]
		if err := result(ctx, j, task, block); err != nil {
			return err
		}
		write := func(values []float32, row, column, height, width int) error {
			b := job.FloatBytes(values)
			for i := range height {
				at := int64(len(header)) + 4*(int64(row+i)*int64(s.Documents)+int64(column))
				if _, err := f.WriteAt(b[4*i*width:4*(i+1)*width], at); err != nil {
					return err
				}
			}
			return ctx.Err()
		}
		if err := write(block, rows[0], columns[0], height, width); err != nil {
			return err
		}
		// What lies before the diagonal has another place; the rest of the block is its own.
		for first := columns[0]; first < min(columns[1], rows[0]); first += turnedColumns {
			count := min(turnedColumns, min(columns[1], rows[0])-first)
			turned := held[w].turned[:count*height]
			transpose(turned, height, block[first-columns[0]:], width, height, count)
			if err := write(turned, first, rows[0], count, height); err != nil {
				return err
			}
		}
		out.Progress(done.Add(1), int64(j.Tasks))
		return nil
	})
	if err != nil {
		return err
	}
	return f.Commit()
}

// result reads a block.
func result(ctx context.Context, j *job.Job, task int, block []float32) error {
	own := job.FloatBytes(block)
	b, err := j.Result(ctx, task, own[:0])
	if err != nil {
		return err
	}
	if len(b) != len(own) {
		return fmt.Errorf("gram: task %d has a result of %d bytes, expected %d", task, len(b), len(own))
	}
	job.FloatsOf(block, b)
	return nil
}

// npyHeader is what stands before the values: NumPy's format, version 1.0, of float32,
// little-endian; its length is a multiple of 64.
func npyHeader(n int) []byte {
	text := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", n, n)
	for (10+len(text)+1)%64 != 0 {
		text += " "
	}
	length := len(text) + 1
	return append([]byte("\x93NUMPY\x01\x00"), append([]byte{byte(length), byte(length >> 8)}, text+"\n"...)...)
}
