// Package gram implements jobs that compute a Gram matrix, one block per task. The lower triangle
// is divided into strips of h rows. A strip that ends before row e has columns 0 to e-1, divided
// into ⌈e/w⌉ blocks of about the same width. Blocks are wide, so that many columns share the cost
// of preparing a panel of rows. A result consists of the block's tiles up to the diagonal, in
// row-major order (see block.go).
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
	DeclareFlags: declare,
	Open:         open,
	Gather:       gather,
	Help: `
Needs documents, and a store: a folder that all machines mount, or a bucket.

A task computes at most -block-rows x -block-columns values of the symmetric half. gather -o K.npy
writes the same bytes as gram matrix -o K.npy.

Example:
  gramcluster plan gram -store run -in train.svm -kernel diffusion:t=0.5 > tasks.jsonl
  gramcluster work -store run < tasks.jsonl
  gramcluster gather -store run -o K.npy`,
}

type spec struct {
	Kernel        string `json:"kernel"`
	NumDocuments  int    `json:"documents"`
	StripHeight   int    `json:"rows"`    // height of a strip, h
	MaxBlockWidth int    `json:"columns"` // maximum mean width of a strip's blocks, w
}

const maxBlockSize = 1 << 16

type planner struct {
	kernel, embedding string
	rows, columns     int
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	f.StringVar(&p.kernel, "kernel", "diffusion:t=0.5", "compute the kernel `SPEC`; see gram kernels")
	f.StringVar(&p.embedding, "embed", "",
		"embed documents as `EMBEDDING`, such as tfidf-l2 (default: from the kernel)")
	f.IntVar(&p.rows, "block-rows", 2048, "number of rows `N` per task, a multiple of 128; multiples of 512 are fastest")
	f.IntVar(&p.columns, "block-columns", 8192,
		"maximum number of columns `N` per task, a multiple of 128 and at least twice -block-rows")
	return p
}

// Plan implements job.Planner.
func (p *planner) Plan(_ context.Context, from *job.PlanArgs) (any, int, error) {
	if from.Corpus == nil {
		return nil, 0, errors.New("-in SOURCE is required")
	}
	k, err := job.ParseKernel(p.kernel, p.embedding)
	if err != nil {
		return nil, 0, err
	}
	if err := checkBlockSize(p.rows, p.columns); err != nil {
		return nil, 0, err
	}
	s := spec{k.String(), from.Corpus.Documents.Rows(), p.rows, p.columns}
	if s.NumDocuments == 0 {
		return nil, 0, errors.New("-in has no documents")
	}
	tasks := s.numTasks()
	if tasks > job.MaxTasks {
		return nil, 0, fmt.Errorf("%d tasks exceed the maximum of %d; raise -block-rows and -block-columns", tasks,
			job.MaxTasks)
	}
	return s, tasks, nil
}

func checkBlockSize(rows, columns int) error {
	if rows < device.ColumnAlignment || rows > maxBlockSize || rows%device.ColumnAlignment != 0 {
		return fmt.Errorf("-block-rows must be a multiple of %d up to %d, got %d", device.ColumnAlignment, maxBlockSize, rows)
	}
	if columns < 2*rows || columns > maxBlockSize || columns%device.ColumnAlignment != 0 {
		return fmt.Errorf("-block-columns must be a multiple of %d from %d (twice -block-rows) to %d, got %d",
			device.ColumnAlignment, 2*rows, maxBlockSize, columns)
	}
	return nil
}

// strip returns the end row of strip i, and the number of blocks in the strip.
func (s *spec) strip(i int) (end, blocks int) {
	end = min((i+1)*s.StripHeight, s.NumDocuments)
	return end, (end + s.MaxBlockWidth - 1) / s.MaxBlockWidth
}

func (s *spec) numStrips() int { return (s.NumDocuments + s.StripHeight - 1) / s.StripHeight }

func (s *spec) numTasks() (numTasks int) {
	for i := range s.numStrips() {
		_, blocks := s.strip(i)
		numTasks += blocks
	}
	return numTasks
}

func decodeSpec(d *job.Description) (s spec, k kernel.Kernel, err error) {
	if err := d.DecodeSpec(&s); err != nil {
		return s, nil, err
	}
	if err := checkBlockSize(s.StripHeight, s.MaxBlockWidth); err != nil {
		return s, nil, fmt.Errorf("gram: %w", err)
	}
	if s.NumDocuments < 1 || s.NumDocuments > math.MaxInt32 || s.numTasks() != d.NumTasks {
		return s, nil, fmt.Errorf("gram: blocks of %d x %d do not match %d documents and %d tasks", s.StripHeight,
			s.MaxBlockWidth, s.NumDocuments, d.NumTasks)
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
	s, k, err := decodeSpec(&j.Description)
	if err != nil {
		return nil, err
	}
	e, err := j.Engine(ctx, k)
	if err != nil {
		return nil, err
	}
	if e.Len() != s.NumDocuments {
		return nil, fmt.Errorf("gram: found %d documents, but the job has %d", e.Len(), s.NumDocuments)
	}
	c, err := j.Host.Corpus(ctx, j.CorpusDigest)
	if err == nil {
		err = j.Host.CheckMemory(c, e.Info().Bytes+4*int64(s.maxBlockValues()), "the documents and a %d×%d block",
			s.StripHeight, s.MaxBlockWidth)
	}
	if err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return &worker{s, k, e, tiles.MakeFloats(s.maxBlockValues())}, nil
}

// Run implements job.Worker.
func (w *worker) Run(ctx context.Context, task int) ([][]byte, error) {
	b := w.block(task)
	values := w.values[:b.numValues()]
	transpose := asm.BestKernels().Transpose // bit-identical on all instruction sets, because it only copies values
	q := engine.Request{RowRange: b.rows, ColumnRange: b.columns, OmitSymmetric: true}
	err := w.engine.EachTile(ctx, w.kernel, q, func(t *engine.Tile) error {
		b.eachTile(t.FirstColumn, t.Cols, t.FirstRow, t.Rows, func(row, rows, column, columns int) {
			from := t.Values[(column-t.FirstRow)*t.Stride+row-t.FirstColumn:]
			at, width := b.locate(row, column)
			transpose(values[at:], width, from, t.Stride, columns, rows)
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
	s, _, err := decodeSpec(&j.Description)
	if err != nil {
		return err
	}
	if out.Format != "npy" && (out.Format != "" || !strings.HasSuffix(out.Path, ".npy")) {
		return fmt.Errorf("a Gram matrix is written in NumPy format, got -o %s; use -o FILE.npy or -to npy", out.Path)
	}
	return s.gatherNPY(ctx, j, out)
}
