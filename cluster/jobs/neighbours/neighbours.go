// Package neighbours implements jobs that find the exact nearest neighbours of each document. A
// task finds the nearest neighbours within one block of the Gram matrix, for each row and each
// column.
package neighbours

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"strconv"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/blocks"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
)

// Kind implements `gramcluster plan neighbours`.
var Kind = job.Kind{
	Name: "neighbours", Summary: "find the exact nearest neighbours of each document, one block per task",
	DeclareFlags: declare,
	Open:         func(ctx context.Context, j *job.Job) (job.Worker, error) { return open(ctx, j) },
	Gather:       gather,
	Help: `
Needs documents, and a store: a folder that all machines mount, or a bucket.

A task finds the k nearest within a block of -block x -block pairs, for its rows and its columns;
gather merges the lists. No matrix is kept. gather -o FILE.tsv writes what gram neighbours -o
FILE.tsv does, to the byte: document, neighbour and value on a line, the nearest first.

Example:
  gramcluster plan neighbours -store run -in mail/ -k 10 > tasks.jsonl
  gramcluster work -store run < tasks.jsonl
  gramcluster gather -store run -o near.tsv`,
}

type spec struct {
	Kernel string `json:"kernel"`
	blocks.LowerTriangle
	K int `json:"k"`

	// The JSON key isn't "min", because older programs with that key compare values in float32.
	// With another key, old and new programs reject each other's jobs.
	Min *float64 `json:"min,omitempty"`
}

type planner struct {
	kernel, embedding, min string
	blockSize, k           int
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	f.StringVar(&p.kernel, "kernel", "bhattacharyya", "compare documents by the kernel `SPEC`; see gram kernels")
	f.StringVar(&p.embedding, "embed", "",
		"embed documents as `EMBEDDING`, such as tfidf-l2 (default: from the kernel)")
	f.IntVar(&p.k, "k", 10, "number of neighbours `N` per document")
	f.StringVar(&p.min, "min", "", "omit neighbours with a kernel value below `VALUE`")
	f.IntVar(&p.blockSize, "block", 16384, "each task computes `N`×N pairs")
	return p
}

// ConfigureRead implements job.ReadConfigurer. It sets MinDF to 1 by default, because rare words
// distinguish documents.
func (p *planner) ConfigureRead(_ context.Context, opt *corpus.Options) error {
	if opt.MinDF == 0 {
		opt.MinDF = 1
	}
	return nil
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
	s := spec{Kernel: k.String(), LowerTriangle: blocks.LowerTriangle{NumRows: from.Corpus.Documents.Rows(),
		BlockSize: p.blockSize}, K: p.k}
	if p.min != "" {
		v, err := strconv.ParseFloat(p.min, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, 0, fmt.Errorf("-min must be a number, got %q", p.min)
		}
		s.Min = &v
	}
	return s, s.NumTasks(), s.validate()
}

func (s *spec) validate() error {
	if s.K < 1 {
		return fmt.Errorf("-k must be positive, got %d", s.K)
	}
	return s.Validate()
}

func (s *spec) listCounts(task int) (rows, columns int) {
	i, j := blocks.BlockOfTask(task)
	a, b := s.Span(i), s.Span(j)
	if i == j {
		return a[1] - a[0], 0
	}
	return a[1] - a[0], b[1] - b[0]
}

type worker struct {
	spec
	kernel kernel.Kernel
	engine *engine.Engine
}

func (o *worker) options() engine.NeighbourOptions {
	return engine.NeighbourOptions{Count: o.K, MinValue: o.Min}
}

func open(ctx context.Context, j *job.Job) (o *worker, err error) {
	o = &worker{}
	if err := j.DecodeSpec(&o.spec); err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, fmt.Errorf("neighbours: %w", err)
	}
	if o.kernel, err = kernel.Parse(o.Kernel); err != nil {
		return nil, err
	}
	if o.engine, err = j.Engine(ctx, o.kernel); err != nil {
		return nil, err
	}
	if err := o.CheckCounts("neighbours", j.NumTasks, o.engine.Len()); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Run implements job.Worker.
func (o *worker) Run(ctx context.Context, task int) ([][]byte, error) {
	i, j := blocks.BlockOfTask(task)
	block, err := o.engine.NeighbourBlock(ctx, o.kernel, o.Span(i), o.Span(j), o.options())
	if err != nil {
		return nil, err
	}
	return [][]byte{encodeLists(block.Rows), encodeLists(block.Columns)}, nil
}

// Close implements job.Worker.
func (o *worker) Close() error { return o.engine.Close() }
