// Package instrument measures hardware by what Gram computes: workloads with names and versions, whose results are
// checked before their times count; rounds until their medians are known; files of results with the machine's
// description, and their comparison.
//
// [Run] measures, [Load] and [Result.Write] keep results, [Compare] reports whether two differ. Package host describes
// the machine. What doesn't live here: flags, tables and pages, which the command has.
package instrument

import (
	"context"
	"fmt"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// Workload is work with a name and a version: what a pass of it computes never changes under them.
type Workload struct {
	Name    string
	Version int
	What    string // what a pass does
	Unit    string // what it counts

	// RunToRun is the standard deviation, between runs of one program on an idle machine, of the logarithm of the lower
	// quartile of a run's times. It was measured on six runs of one machine.
	RunToRun float64

	prepare preparation
}

// preparation makes a workload ready to run.
type preparation func(ctx context.Context, d *documents, on setting) (*job, error)

// String is the name with the version.
func (w *Workload) String() string { return fmt.Sprintf("%s/%d", w.Name, w.Version) }

// setting is what a workload runs on.
type setting struct {
	isa     asm.ISA
	workers int
}

// job is a workload that is ready to run.
type job struct {
	units  float64                                   // of a pass
	pass   func(ctx context.Context) error           // is what is timed
	digest func(ctx context.Context) (uint64, error) // of a pass' results, bit by bit
	worst  func(ctx context.Context) (Error, error)  // of a sample beside the reference
	engine *engine.Engine                            // nil where none works
}

// Error is the greatest error of a sample of values beside a reference, as a part of what it may be.
type Error struct {
	Values int     `json:"values"`
	Part   float64 `json:"part"` // of the tolerance: at most 1, or the result is wrong
}

// add takes in a value, whose error may be so large. What isn't a number counts as infinitely wrong.
func (e *Error) add(off, tolerance float64) {
	e.Values++
	part := 0.0
	if off != 0 {
		part = off / tolerance
	}
	if !(part <= e.Part) {
		e.Part = part
	}
}

// documents keeps what workloads share.
type documents struct {
	corpora  map[string]*corpus.Corpus
	embedded map[string]*sparse.Embedded
	workers  int
}

func newDocuments(workers int) *documents {
	return &documents{map[string]*corpus.Corpus{}, map[string]*sparse.Embedded{}, workers}
}

// corpus makes a synthetic corpus, once.
func (d *documents) corpus(ctx context.Context, parameters string) (c *corpus.Corpus, err error) {
	if c = d.corpora[parameters]; c == nil {
		c, err = corpus.Read(ctx, "synthetic:"+parameters, corpus.Options{Workers: d.workers})
		d.corpora[parameters] = c
	}
	return c, err
}

// engine makes an engine on a synthetic corpus, on the sphere.
func (d *documents) engine(ctx context.Context, parameters string, on setting) (*engine.Engine, *sparse.Embedded,
	error) {
	c, err := d.corpus(ctx, parameters)
	if err != nil {
		return nil, nil, err
	}
	x := d.embedded[parameters]
	if x == nil {
		if x, err = sparse.Sphere.Fit(c.Documents).Transform(c.Documents); err != nil {
			return nil, nil, err
		}
		d.embedded[parameters] = x
	}
	e, err := engine.New(x, engine.Options{ISA: string(on.isa), Workers: on.workers})
	return e, x, err
}
