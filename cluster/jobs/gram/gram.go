// Package gram is the kind of job that computes a Gram matrix, a block a task: block (I, J) of the
// symmetric half, I >= J, has the documents of rows I·b to before (I+1)·b and of columns J·b to before
// (J+1)·b, and is task I(I+1)/2 + J. A result is the block's rows, float32, little-endian.
package gram

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"strings"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// Kind is the kind of job.
var Kind job.Kind = kind{}

type kind struct{}

func (kind) Name() string { return "gram" }

func (kind) Summary() string { return "the Gram matrix of one kernel, a block a task" }

func (kind) Help() string {
	return `
A task is a block of -block x -block values of the symmetric half. gather -to npy -o K.npy writes what
grambench gram -o K.npy does, to the byte; with the kernel c, gather -to tiles -o DIR writes tile files
that grambench train -tiles DIR and others read in place of computing c.

Example:
  gramcluster plan gram -store s3://bucket/run -in train.svm -kernel diffusion:t=0.5 > tasks.jsonl
  gramcluster work -store s3://bucket/run < tasks.jsonl
  gramcluster gather -store s3://bucket/run -job JOB -o K.npy`
}

// spec is what a description says of the matrix.
type spec struct {
	Kernel string `json:"kernel"`
	Rows   int    `json:"rows"`
	Block  int    `json:"block"`
}

// mostBlock bounds the side of a block: of that size it has 1 GiB.
const mostBlock = 16384

type planner struct {
	kernel, embedding string
	block             int
}

// Declare implements job.Kind.
func (kind) Declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	f.StringVar(&p.kernel, "kernel", "diffusion:t=0.5", "compute the kernel `SPEC`; see grambench kernels")
	f.StringVar(&p.embedding, "embed", "",
		"embed documents as `EMBEDDING`, such as tfidf-l2 (default: as the kernel wants)")
	f.IntVar(&p.block, "block", 2048, "a task is a block of `N` x N values, N a multiple of 128")
	return p
}

// Plan implements job.Planner.
func (p *planner) Plan(_ context.Context, from *job.Planning) (any, int, error) {
	if from.Corpus == nil {
		return nil, 0, errors.New("no documents, expected -in SOURCE")
	}
	k, err := job.ParseKernel(p.kernel, p.embedding)
	if err != nil {
		return nil, 0, err
	}
	if p.block < device.Columns || p.block > mostBlock || p.block%device.Columns != 0 {
		return nil, 0, fmt.Errorf("-block %d, expected a multiple of %d up to %d", p.block, device.Columns, mostBlock)
	}
	s := spec{k.String(), from.Corpus.Documents.Rows(), p.block}
	if s.Rows == 0 {
		return nil, 0, errors.New("no documents in -in, expected at least one")
	}
	tasks := s.tasks()
	if tasks > job.MostTasks {
		return nil, 0, fmt.Errorf("%d tasks, expected at most %d: set a greater -block", tasks, job.MostTasks)
	}
	return s, tasks, nil
}

// blocks counts the blocks of a row of blocks.
func (s *spec) blocks() int { return (s.Rows + s.Block - 1) / s.Block }

func (s *spec) tasks() int { b := s.blocks(); return b * (b + 1) / 2 }

// specOf reads and checks what a description says.
func specOf(d *job.Description) (s spec, k engine.Kernel, err error) {
	if err := d.DecodeSpec(&s); err != nil {
		return s, nil, err
	}
	if s.Rows < 1 || s.Rows > math.MaxInt32 || s.Block < device.Columns || s.Block > mostBlock ||
		s.Block%device.Columns != 0 || s.tasks() != d.Tasks {
		return s, nil, fmt.Errorf("gram: blocks of %d for %d documents and %d tasks: these don't fit together", s.Block,
			s.Rows, d.Tasks)
	}
	k, err = engine.ParseKernel(s.Kernel)
	return s, k, err
}

// ranges returns the rows and columns of a task.
func (s *spec) ranges(task int) (rows, columns [2]int) {
	i := int((math.Sqrt(8*float64(task)+1) - 1) / 2)
	for i*(i+1)/2 > task { // rounding
		i--
	}
	for (i+1)*(i+2)/2 <= task {
		i++
	}
	j := task - i*(i+1)/2
	at := func(b int) [2]int { return [2]int{b * s.Block, min((b+1)*s.Block, s.Rows)} }
	return at(i), at(j)
}

type worker struct {
	spec
	kernel engine.Kernel
	engine *engine.Engine
	block  []float32
}

// Open implements job.Kind.
func (kind) Open(ctx context.Context, j *job.Job) (job.Worker, error) {
	s, k, err := specOf(&j.Description)
	if err != nil {
		return nil, err
	}
	e, err := j.Engine(ctx, k)
	if err != nil {
		return nil, err
	}
	if e.Len() != s.Rows {
		return nil, fmt.Errorf("gram: %d documents, the job has %d", e.Len(), s.Rows)
	}
	side := int64(min(s.Block, s.Rows))
	if need := e.Bytes() + 4*side*side; j.Host.Memory > 0 && need > j.Host.Memory {
		return nil, fmt.Errorf("gram: an engine and a block of %d x %d take %s, -m allows %s", side, side,
			sparse.FormatBytes(need), sparse.FormatBytes(j.Host.Memory))
	}
	return &worker{s, k, e, make([]float32, side*side)}, nil
}

// Do implements job.Worker.
func (w *worker) Do(ctx context.Context, task int) ([][]byte, error) {
	rows, columns := w.ranges(task)
	dst := &engine.Dense{Rows: rows[1] - rows[0], Cols: columns[1] - columns[0]}
	dst.Data = w.block[:dst.Rows*dst.Cols]
	if err := w.engine.Block(ctx, w.kernel, rows, columns, dst); err != nil {
		return nil, err
	}
	return [][]byte{job.FloatBytes(dst.Data)}, nil
}

// Close implements job.Worker.
func (w *worker) Close() error { return w.engine.Close() }

// Gather implements job.Kind.
func (kind) Gather(ctx context.Context, j *job.Job, out *job.Output) error {
	s, k, err := specOf(&j.Description)
	if err != nil {
		return err
	}
	switch {
	case out.To == "npy" || out.To == "" && strings.HasSuffix(out.Path, ".npy"):
		return s.gatherNPY(ctx, j, out)
	case out.To == "tiles":
		return s.gatherTiles(ctx, j, k, out)
	}
	return fmt.Errorf("-o %s -to %q, expected -o FILE.npy, -to npy or -to tiles", out.Path, out.To)
}
