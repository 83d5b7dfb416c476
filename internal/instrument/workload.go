// Package instrument measures computers with Gram's workloads. Workloads have names and versions.
// Results are checked before and after the timed rounds. Rounds are repeated until the medians are
// precise. Results are written in Go's benchmark format, which benchstat reads.
//
// [Run] measures the workloads, and [Probe] the computer's peak rates.
package instrument

import (
	"context"
	"fmt"
	"math"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// Workload is a computation with a name and a version, which identify its results exactly.
type Workload struct {
	Name        string
	Version     int
	Description string // what a pass computes
	Unit        string // unit of work in a pass

	prepare prepareFunc
}

type prepareFunc func(ctx context.Context, d *documentCache, on setting) (*job, error)

// String returns the name with the version.
func (w *Workload) String() string { return fmt.Sprintf("%s/%d", w.Name, w.Version) }

type setting struct {
	isa     asm.ISA
	workers int
}

type job struct {
	unitCount float64                                        // units of work per pass
	pass      func(ctx context.Context) error                // the computation to time
	digest    func(ctx context.Context) (uint64, error)      // computes a digest of all bits of a pass's results
	maxError  func(ctx context.Context) (SampleError, error) // returns the largest error in a sample of results
}

// SampleError is the largest error in a sample of values, relative to the tolerance.
type SampleError struct {
	ValueCount     int     `json:"values"`
	ToleranceRatio float64 `json:"part"` // largest error divided by its tolerance; above 1, the result is wrong
}

// add adds a value with the error off to the sample.
func (e *SampleError) add(off, tolerance float64) {
	e.ValueCount++
	part := 0.0
	if off != 0 {
		part = off / tolerance
	}
	if !math.IsNaN(e.ToleranceRatio) && !(part <= e.ToleranceRatio) {
		e.ToleranceRatio = part
	}
}

// documentCache caches documents that several workloads share.
type documentCache struct {
	corpora  map[string]*corpus.Corpus
	embedded map[string]*sparse.Embedded
	workers  int
}

func newDocumentCache(workers int) *documentCache {
	return &documentCache{map[string]*corpus.Corpus{}, map[string]*sparse.Embedded{}, workers}
}

// corpus returns a synthetic corpus. It generates each corpus only once.
func (d *documentCache) corpus(ctx context.Context, parameters string) (c *corpus.Corpus, err error) {
	if c = d.corpora[parameters]; c == nil {
		c, err = corpus.Read(ctx, "synthetic:"+parameters, corpus.Options{Workers: d.workers})
		d.corpora[parameters] = c
	}
	return c, err
}

// engine makes an engine for a synthetic corpus with the embedding tf-l1-sqrt.
func (d *documentCache) engine(ctx context.Context, parameters string, on setting) (*engine.Engine, *sparse.Embedded,
	error) {
	c, err := d.corpus(ctx, parameters)
	if err != nil {
		return nil, nil, err
	}
	x := d.embedded[parameters]
	if x == nil {
		if x, err = sparse.SphereEmbedding.Fit(c.Documents).Transform(c.Documents); err != nil {
			return nil, nil, err
		}
		d.embedded[parameters] = x
	}
	e, err := engine.New(x, engine.Options{ISA: string(on.isa), Workers: on.workers})
	return e, x, err
}
