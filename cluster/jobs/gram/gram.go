// Package gram implements jobs that compute a Gram matrix, one block per task. The lower triangle
// is divided into strips of h rows. A strip that ends before row e has columns 0 to e-1, divided
// evenly into the fewest blocks of at most w columns. Blocks are wide, so that many columns share
// the cost of preparing a panel of rows. A result consists of the block's square tiles up to the
// diagonal, row by row, see block.go.
package gram

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/tiles"
)

// Kind implements `gramcluster plan gram`.
var Kind = job.Kind{
	Name: "gram", Summary: "compute the Gram matrix of one kernel, one block per task",
	Declare: declare,
	Open:    open,
	Gather:  gather,
	Help: `
Needs documents, and a store: a folder that all machines mount, or a bucket.

A task computes at most -block-rows x -block-columns values of the symmetric half. gather -o K.npy
writes the same bytes as gram matrix -o K.npy.

Example:
  gramcluster plan gram -store run -in train.svm -kernel diffusion:t=0.5 > tasks.jsonl
  gramcluster work -store run < tasks.jsonl
  gramcluster gather -store run -o K.npy`,
}

// spec holds the settings in Description.Spec.
type spec struct {
	Kernel    string `json:"kernel"`
	Documents int    `json:"documents"`
	Rows      int    `json:"rows"`    // height of a strip, h
	Columns   int    `json:"columns"` // maximum width of a block, w
}

// maxSide bounds the height and width of a block.
const maxSide = 1 << 16

type planner struct {
	kernel, embedding string
	rows, columns     int
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	f.StringVar(&p.kernel, "kernel", "diffusion:t=0.5", "compute the kernel `SPEC`; see gram kernels")
	f.StringVar(&p.embedding, "embed", "",
		"embed documents as `EMBEDDING`, such as tfidf-l2 (default: the kernel's)")
	f.IntVar(&p.rows, "block-rows", 2048, "number of rows `N` per task, a multiple of 128; multiples of 512 are fastest")
	f.IntVar(&p.columns, "block-columns", 8192,
		"maximum number of columns `N` per task, a multiple of 128 and at least twice -block-rows")
	return p
}

// Plan implements job.Planner.
func (p *planner) Plan(_ context.Context, from *job.Planning) (any, int, error) {
	if from.Corpus == nil {
		return nil, 0, errors.New("-in SOURCE is required")
	}
	k, err := job.ParseKernel(p.kernel, p.embedding)
	if err != nil {
		return nil, 0, err
	}
	if err := checkSides(p.rows, p.columns); err != nil {
		return nil, 0, err
	}
	s := spec{k.String(), from.Corpus.Documents.Rows(), p.rows, p.columns}
	if s.Documents == 0 {
		return nil, 0, errors.New("-in has no documents")
	}
	tasks := s.tasks()
	if tasks > job.MostTasks {
		return nil, 0, fmt.Errorf("%d tasks exceed the maximum of %d; raise -block-rows and -block-columns", tasks,
			job.MostTasks)
	}
	return s, tasks, nil
}

func checkSides(rows, columns int) error {
	if rows < device.Columns || rows > maxSide || rows%device.Columns != 0 {
		return fmt.Errorf("-block-rows must be a multiple of %d up to %d, got %d", device.Columns, maxSide, rows)
	}
	if columns < 2*rows || columns > maxSide || columns%device.Columns != 0 {
		return fmt.Errorf("-block-columns must be a multiple of %d from %d (twice -block-rows) to %d, got %d",
			device.Columns, 2*rows, maxSide, columns)
	}
	return nil
}

// strip returns the end row of strip i, and the number of blocks in the strip.
func (s *spec) strip(i int) (end, blocks int) {
	end = min((i+1)*s.Rows, s.Documents)
	return end, (end + s.Columns - 1) / s.Columns
}

func (s *spec) strips() int { return (s.Documents + s.Rows - 1) / s.Rows }

func (s *spec) tasks() (tasks int) {
	for i := range s.strips() {
		_, blocks := s.strip(i)
		tasks += blocks
	}
	return tasks
}

// specOf decodes and checks the settings in a description, and parses the kernel.
func specOf(d *job.Description) (s spec, k kernel.Kernel, err error) {
	if err := d.DecodeSpec(&s); err != nil {
		return s, nil, err
	}
	if err := checkSides(s.Rows, s.Columns); err != nil {
		return s, nil, fmt.Errorf("gram: %w", err)
	}
	if s.Documents < 1 || s.Documents > math.MaxInt32 || s.tasks() != d.Tasks {
		return s, nil, fmt.Errorf("gram: blocks of %d x %d do not match %d documents and %d tasks", s.Rows,
			s.Columns, s.Documents, d.Tasks)
	}
	k, err = kernel.Parse(s.Kernel)
	return s, k, err
}

type worker struct {
	spec
	kernel kernel.Kernel
	engine *engine.Engine
	values []float32 // buffer for the result of a task
}

func open(ctx context.Context, j *job.Job) (job.Worker, error) {
	s, k, err := specOf(&j.Description)
	if err != nil {
		return nil, err
	}
	e, err := j.Engine(ctx, k)
	if err != nil {
		return nil, err
	}
	if e.Len() != s.Documents {
		return nil, fmt.Errorf("gram: found %d documents, but the job has %d", e.Len(), s.Documents)
	}
	c, err := j.Host.Corpus(ctx, j.Corpus)
	if err == nil {
		err = j.Host.Fits(c, e.Info().Bytes+4*int64(s.most()), "the documents and a %d×%d block", s.Rows, s.Columns)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &worker{s, k, e, tiles.Make(s.most())}, nil
}

// Do implements job.Worker.
func (w *worker) Do(ctx context.Context, task int) ([][]byte, error) {
	b := w.block(task)
	values := w.values[:b.values()]
	transpose := asm.Best().Transpose // doesn't round, so all instruction sets give the same bits
	q := engine.Request{Rows: b.rows, Columns: b.columns, Half: true}
	err := w.engine.Each(ctx, w.kernel, q, func(t *engine.Tile) error {
		b.each(t.Column, t.Cols, t.First, t.Rows, func(row, rows, column, columns int) {
			from := t.C[(column-t.First)*t.Width+row-t.Column:]
			at, width := b.place(row, column)
			transpose(values[at:], width, from, t.Width, columns, rows)
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return [][]byte{job.FloatBytes(values)}, nil
}

// Close implements job.Worker.
func (w *worker) Close() error { return w.engine.Close() }

func gather(ctx context.Context, j *job.Job, out *job.Output) error {
	s, _, err := specOf(&j.Description)
	if err != nil {
		return err
	}
	if out.To != "npy" && (out.To != "" || !strings.HasSuffix(out.Path, ".npy")) {
		return fmt.Errorf("a Gram matrix is written in NumPy format, got -o %s; use -o FILE.npy or -to npy", out.Path)
	}
	return s.gatherNPY(ctx, j, out)
}
