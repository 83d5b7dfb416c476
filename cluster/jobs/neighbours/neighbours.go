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
	Declare: declare,
	Open:    func(ctx context.Context, j *job.Job) (job.Worker, error) { return open(ctx, j) },
	Gather:  gather,
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

// spec holds the settings in Description.Spec.
type spec struct {
	Kernel string `json:"kernel"`
	blocks.Half
	K int `json:"k"`

	// The JSON key isn't "min", because older programs with that key compare values in float32.
	// With another key, old and new programs reject each other's jobs.
	Min *float64 `json:"least,omitempty"`
}

type planner struct {
	kernel, embedding, least string
	block, k                 int
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	f.StringVar(&p.kernel, "kernel", "bhattacharyya", "compare documents by the kernel `SPEC`; see gram kernels")
	f.StringVar(&p.embedding, "embed", "",
		"embed documents as `EMBEDDING`, such as tfidf-l2 (default: the kernel's)")
	f.IntVar(&p.k, "k", 10, "number of neighbours `N` per document")
	f.StringVar(&p.least, "min", "", "omit neighbours with a kernel value below `VALUE`")
	f.IntVar(&p.block, "block", 16384, "each task computes `N`×N pairs")
	return p
}

// Reading implements job.Reader. It sets MinDF to 1, because rare words distinguish documents.
func (p *planner) Reading(_ context.Context, opt *corpus.Options) error {
	if opt.MinDF == 0 {
		opt.MinDF = 1
	}
	return nil
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
	s := spec{Kernel: k.String(), Half: blocks.Half{Rows: from.Corpus.Documents.Rows(), Block: p.block}, K: p.k}
	if p.least != "" {
		v, err := strconv.ParseFloat(p.least, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, 0, fmt.Errorf("-min must be a number, got %q", p.least)
		}
		s.Min = &v
	}
	return s, s.Tasks(), s.validate()
}

func (s *spec) validate() error {
	if s.K < 1 {
		return fmt.Errorf("-k must be positive, got %d", s.K)
	}
	return s.Validate()
}

// lengths returns the numbers of lists for rows and for columns in a task's result.
func (s *spec) lengths(task int) (rows, columns int) {
	i, j := blocks.Place(task)
	a, b := s.Span(i), s.Span(j)
	if i == j {
		return a[1] - a[0], 0
	}
	return a[1] - a[0], b[1] - b[0]
}

// opened is a job with its engine.
type opened struct {
	spec
	kernel kernel.Kernel
	engine *engine.Engine
}

func (o *opened) options() engine.NeighbourOptions {
	return engine.NeighbourOptions{Count: o.K, Min: o.Min}
}

func open(ctx context.Context, j *job.Job) (o *opened, err error) {
	o = &opened{}
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
	if err := o.Check("neighbours", j.Tasks, o.engine.Len()); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Do implements job.Worker.
func (o *opened) Do(ctx context.Context, task int) ([][]byte, error) {
	i, j := blocks.Place(task)
	block, err := o.engine.NeighbourBlock(ctx, o.kernel, o.Span(i), o.Span(j), o.options())
	if err != nil {
		return nil, err
	}
	return [][]byte{encode(block.Rows), encode(block.Columns)}, nil
}

// Close implements job.Worker.
func (o *opened) Close() error { return o.engine.Close() }
