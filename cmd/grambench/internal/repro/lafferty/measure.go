package lafferty

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/cmd/grambench/internal/repro"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// curves are the measurements behind Tables 1 to 4.
type curves struct {
	p       *protocol
	r       *repro.Run
	corpora []*corpus
	results map[series][]result // by scale
}

// series is one kernel on one corpus with one kind of features.
type series struct {
	corpus   int
	features string
	kernel   int
}

// plan is what is measured with each kernel and scale of a corpus.
func (c *curves) plan(corpus *corpus) *plan {
	p := &plan{Splits: c.p.splits, Sizes: c.p.sizes, C: c.p.c, Folds: c.p.folds, Seed: c.r.Seed}
	for _, t := range corpus.tasks {
		p.Tasks = append(p.Tasks, &t.task)
	}
	return p
}

// measure goes through corpora, features and embeddings. What an earlier run kept isn't done again.
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
	for i := range c.corpora {
		for _, features := range c.p.features.Chosen {
			for _, embedding := range embeddings {
				if err := c.embedding(ctx, i, features, embedding, &done, total, report); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// embedding measures the kernels and scales of one embedding. done and total are progress.
func (c *curves) embedding(ctx context.Context, i int, features, embedding string, done *int64, total int64,
	report *repro.Report) (err error) {
	corpus := c.corpora[i]
	plan := c.plan(corpus)
	loops, err := c.r.Kernels()
	if err != nil {
		return err
	}
	e, err := sparse.ParseEmbedding(features + embedding)
	if err != nil {
		return err
	}
	var p *pairs // nil until something isn't kept
	defer func() { err = errors.Join(err, p.Close()) }()
	for _, s := range c.p.stages(embedding) {
		kernel := kernels[s.kernel]
		key := fmt.Sprintf("%s %s %s %v", corpus.name, features, kernel.name, s.scale)
		found, err := repro.Kept(c.r.State, key, plan.fits, func() (found result, err error) {
			if p == nil {
				stage := fmt.Sprintf("dot products of %s, %s", corpus.name, e)
				if p, err = newPairs(ctx, c.r, e.Fit(corpus.docs), corpus.docs, stage); err != nil {
					return found, err
				}
				report.DotProducts += p.dotProducts()
			}
			k, err := engine.ParseKernelIn(kernel.spec(s.scale), e)
			if err != nil {
				return found, err
			}
			m, err := p.matrix(ctx, k, c.r.Threads())
			if err != nil {
				return found, err
			}
			return plan.measure(ctx, m, c.r.Threads(), loops, c.r.Counter("tables 1 to 4", *done, total))
		})
		if err != nil {
			return err
		}
		of := series{i, features, s.kernel}
		c.results[of] = append(c.results[of], found)
		report.Trainings += found.Trainings
		*done += int64(len(corpus.tasks) * c.p.splits)
	}
	return nil
}
