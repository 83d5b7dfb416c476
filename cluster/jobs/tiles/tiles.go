// Package tiles is the kind of job that computes c of all pairs, as gram train -tiles keeps it for
// later runs, a strip of rows a task. A result is the strip's tile files, one after the other; gather
// puts each into a folder.
package tiles

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/machines"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/sparse"
)

// Kind is the kind of job.
var Kind = job.Kind{
	Name: "tiles", Summary: "dot products of all pairs, for gram train -tiles, a strip a task",
	Declare: declare,
	Open:    open,
	Gather:  gather,
	Help: `
Needs documents, and a store: a folder that all machines mount, or a bucket.

Computes c = 1 - cosine of all pairs, which kernels with the same embedding share; nothing else of
-kernel counts. A task is -rows rows, from the diagonal on. gather -o DIR writes the files that
gram train, cv or grid -tiles DIR keeps, one by one, each whole. With the same documents, flags
and -isa these then compute no dot product, on a processor like that of plan: plan where you train.

Example:
  gramcluster plan tiles -store run -in train.svm -kernel diffusion > tasks.jsonl
  gramcluster work -store run < tasks.jsonl
  gramcluster gather -store run -o kept
  gram train -in train.svm -kernel diffusion:t=0.5 -c 10 -tiles kept -o a.model`,
}

// spec is what a description says of the matrix.
type spec struct {
	Embedding string `json:"embedding"`
	Documents int    `json:"documents"`
	Rows      int    `json:"rows"`
}

// mostRows bounds the rows of a task.
const mostRows = 1 << 16

type planner struct {
	kernel, embedding string
	rows              int
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	f.StringVar(&p.kernel, "kernel", svm.DefaultKernel,
		"embed documents as the kernel `SPEC` wants; see gram kernels")
	f.StringVar(&p.embedding, "embed", "", "embed documents as `EMBEDDING`, such as tfidf-l2")
	f.IntVar(&p.rows, "rows", 512, "a task is `N` rows, from the diagonal on: at most 4 x N x documents bytes")
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
	s := spec{k.Embedding().String(), from.Corpus.Documents.Rows(), p.rows}
	if _, err := s.check(); err != nil {
		return nil, 0, err
	}
	return s, s.tasks(), nil
}

func (s *spec) tasks() int { return (s.Documents + s.Rows - 1) / s.Rows }

// check checks what a description says.
func (s *spec) check() (e sparse.Embedding, err error) {
	switch {
	case s.Documents < 1 || s.Documents > math.MaxInt32:
		return e, fmt.Errorf("%d documents, expected from 1 to %d", s.Documents, math.MaxInt32)
	case s.Rows < 1 || s.Rows > mostRows:
		return e, fmt.Errorf("-rows %d, expected from 1 to %d", s.Rows, mostRows)
	}
	return sparse.ParseEmbedding(s.Embedding)
}

// specOf reads and checks what a description says.
func specOf(d *job.Description) (s spec, e sparse.Embedding, err error) {
	if err := d.DecodeSpec(&s); err != nil {
		return s, e, err
	}
	if e, err = s.check(); err == nil && s.tasks() != d.Tasks {
		err = fmt.Errorf("%d tasks of %d rows for %d documents", d.Tasks, s.Rows, s.Documents)
	}
	if err != nil {
		return s, e, fmt.Errorf("tiles: %w", err)
	}
	return s, e, nil
}

// rows returns the documents of a task.
func (s *spec) rows(task int) (first, end int) {
	return task * s.Rows, min((task+1)*s.Rows, s.Documents)
}

// most bounds the bytes of a result: the values, for which a task may have up to a panel of rows more,
// and what a file has besides.
func (s *spec) most() int64 {
	const panel, besides = 64, 1 << 7
	return int64(min(s.Rows+panel, s.Documents)) * (4*int64(s.Documents) + besides)
}

type worker struct {
	spec
	engine *engine.Engine
	result bytes.Buffer
}

// open makes documents ready: they are those of a training, which puts them in order.
func open(ctx context.Context, j *job.Job) (job.Worker, error) {
	s, embedding, err := specOf(&j.Description)
	if err != nil {
		return nil, err
	}
	c, err := j.Host.Corpus(ctx, j.Corpus)
	if err != nil {
		return nil, err
	}
	if n := c.Documents.Rows(); n != s.Documents {
		return nil, fmt.Errorf("tiles: %d documents, the job has %d", n, s.Documents)
	}
	p, err := machines.Problem(ctx, j.Host, c, embedding, j.ISA, true)
	if err != nil {
		return nil, err
	}
	w := &worker{spec: s, engine: p.Engine()}
	step := min(s.Rows, 2*j.Host.Workers*w.engine.Panel()) // what the engine computes at a time
	need := w.engine.Bytes() + s.most() + 4*int64(step)*int64(s.Documents)
	err = j.Host.Fits(c, need, "an engine and %d rows", s.Rows)
	if free := run.AvailableBound(); err == nil && j.Host.Memory == 0 && free.By != "" && s.most() > free.Bytes {
		err = fmt.Errorf("%d rows take %s, %s leaves %s", s.Rows, run.FormatBytes(s.most()), free.By,
			run.FormatBytes(free.Bytes))
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("tiles: %w: plan with a smaller -rows", err), w.Close())
	}
	return w, nil
}

// Do implements job.Worker.
func (w *worker) Do(ctx context.Context, task int) ([][]byte, error) {
	first, end := w.rows(task)
	w.result.Reset()
	w.result.Grow(int(4 * int64(end-first) * int64(w.Documents-first)))
	if err := w.engine.WriteTiles(ctx, first, end, &w.result); err != nil {
		return nil, err
	}
	return [][]byte{w.result.Bytes()}, nil
}

// Close implements job.Worker.
func (w *worker) Close() error { return w.engine.Close() }
