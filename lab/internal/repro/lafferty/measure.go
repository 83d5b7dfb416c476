package lafferty

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// curves are the measurements behind Tables 1 to 4.
type curves struct {
	p       *protocol
	r       *repro.Run
	corpora []*dataset
}

// series is one kernel with one kind of features.
type series struct {
	features string
	kernel   int
}

// plan is what is measured with each kernel and scale of a corpus.
func (c *curves) plan(corpus *dataset) *plan {
	p := &plan{Splits: c.p.splits, C: c.p.c, Folds: c.p.folds, Seed: c.r.Seed}
	for _, t := range corpus.tasks {
		p.Tasks = append(p.Tasks, &t.task)
	}
	return p
}

// measure goes through corpora, features and embeddings.
func (c *curves) measure(ctx context.Context, report *repro.Report) error {
	var done, total int64
	for _, corpus := range c.corpora {
		n := int64(corpus.docs.Rows())
		if err := c.r.Fits(fmt.Sprintf("two matrices of %d documents", n), 8*n*n, corpus.docs); err != nil {
			return err
		}
		for k := range kernels {
			total += int64(len(c.p.features.Chosen) * len(corpus.tasks) * c.p.splits * len(c.p.scalesOf(k)))
		}
	}
	for _, corpus := range c.corpora {
		for _, features := range c.p.features.Chosen {
			for _, suffix := range suffixes {
				if err := c.embedding(ctx, corpus, features, suffix, &done, total, report); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// embedding measures the kernels of one embedding on a corpus. done and total are progress.
func (c *curves) embedding(ctx context.Context, corpus *dataset, features, suffix string, done *int64, total int64,
	report *repro.Report) (err error) {
	plan := c.plan(corpus)
	loops, err := c.r.Kernels()
	if err != nil {
		return err
	}
	var p *pairs // nil until something is measured
	defer func() { err = errors.Join(err, p.Close()) }()
	measure := func(e sparse.Embedding, k kernel.Kernel) (found result, err error) {
		if p == nil {
			stage := fmt.Sprintf("dot products of %s, %s", corpus.name, e)
			if p, err = newPairs(ctx, c.r, e.Fit(corpus.docs), corpus.docs, stage); err != nil {
				return found, err
			}
			report.DotProducts += p.dotProducts()
		}
		m, err := p.matrix(ctx, k, c.r.Threads())
		if err != nil {
			return found, err
		}
		return plan.measure(ctx, m, c.r.Threads(), loops, c.r.Counter("tables 1 to 4", *done, total))
	}
	add := func(k int, found result) {
		of := series{features, k}
		corpus.results[of] = append(corpus.results[of], found)
		report.Trainings += found.Trainings
		*done += int64(len(corpus.tasks) * c.p.splits)
	}
	return eachScale(c.p, features, suffix, measure, add)
}

// eachScale measures the kernels of an embedding, features+suffix, with their scales, in order, and
// calls add with each result.
func eachScale[R any](p *protocol, features, suffix string,
	measure func(e sparse.Embedding, k kernel.Kernel) (R, error), add func(k int, found R)) error {
	e, err := sparse.ParseEmbedding(features + suffix)
	if err != nil {
		return err
	}
	for k, row := range kernels {
		if row.suffix != suffix {
			continue
		}
		for _, scale := range p.scalesOf(k) {
			own, err := kernel.ParseIn(row.spec(scale), e)
			if err != nil {
				return err
			}
			found, err := measure(e, own)
			if err != nil {
				return err
			}
			add(k, found)
		}
	}
	return nil
}
