package repro

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// llCurves are the measurements behind Tables 1 to 4.
type llCurves struct {
	p       *llProtocol
	r       *Run
	corpora []*llCorpus
	results map[llStage]*CurveResult
}

// llStage is what is measured at a time: one kernel with one scale on one corpus with one kind of features, all tasks and splits.
type llStage struct {
	corpus   int
	features string
	kernel   int
	scale    float64
}

func newLLCurves(p *llProtocol, r *Run, corpora []*llCorpus) *llCurves {
	return &llCurves{p, r, corpora, map[llStage]*CurveResult{}}
}

// key is the name of a stage among kept results.
func (c *llCurves) key(s llStage) string {
	return fmt.Sprintf("%s %s %s %v", c.corpora[s.corpus].name, s.features, llKernels[s.kernel].name, s.scale)
}

// plan is what is measured at each stage of a corpus.
func (c *llCurves) plan(corpus *llCorpus) *CurvePlan {
	plan := &CurvePlan{Splits: c.p.splits, Sizes: c.p.sizes, C: c.p.c, Folds: c.p.folds, Seed: c.r.Seed}
	for _, t := range corpus.tasks {
		plan.Tasks = append(plan.Tasks, &t.Task)
	}
	return plan
}

// measure goes through the stages, those of one embedding together, since they share its dot products. What is kept from an earlier run isn't done again.
func (c *llCurves) measure(ctx context.Context, report *Report) (err error) {
	var done, total int64
	for i, corpus := range c.corpora {
		n := int64(corpus.docs.Rows())
		if err := c.r.Fits(fmt.Sprintf("two matrices of %d documents", n), 8*n*n, corpus.docs); err != nil {
			return err
		}
		for range c.p.features.Chosen {
			for k := range llKernels {
				total += int64(len(c.corpora[i].tasks) * c.p.splits * len(c.p.scalesOf(k)))
			}
		}
	}
	for i := range c.corpora {
		var buffer []float32
		for _, features := range c.p.features.Chosen {
			for _, embedding := range []string{"-l2", "-l1-sqrt"} {
				if buffer, err = c.embedding(ctx, i, features, embedding, buffer, &done, total, report); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// embedding goes through the stages of one embedding; buffer is room for their matrices, which is made where there is none yet.
func (c *llCurves) embedding(ctx context.Context, i int, features, embedding string, buffer []float32, done *int64, total int64, report *Report) (_ []float32, err error) {
	corpus := c.corpora[i]
	var pairs *Pairs
	defer func() { err = errors.Join(err, pairs.Close()) }()
	for _, s := range c.stages(i, features, embedding) {
		have := &CurveResult{}
		kept, err := c.r.State.LoadFitting(c.key(s), have, func() error { return have.fits(c.plan(corpus)) })
		if err != nil {
			return nil, err
		}
		if !kept {
			if pairs == nil {
				if pairs, err = c.pairs(ctx, corpus, features+embedding); err != nil {
					return nil, err
				}
				report.DotProducts += pairs.DotProducts()
			}
			if buffer == nil {
				buffer = make([]float32, pairs.n*pairs.n)
			}
			if have, err = c.stage(ctx, s, pairs, buffer, *done, total); err != nil {
				return nil, err
			}
			if err := c.r.State.Save(c.key(s), have); err != nil {
				return nil, err
			}
		}
		c.results[s] = have
		report.Trainings += have.Trainings
		*done += int64(len(corpus.tasks) * c.p.splits)
	}
	return buffer, nil
}

// stages lists the stages of one embedding.
func (c *llCurves) stages(corpus int, features, embedding string) (out []llStage) {
	for k, kernel := range llKernels {
		if kernel.embedding == embedding {
			for _, scale := range c.p.scalesOf(k) {
				out = append(out, llStage{corpus, features, k, scale})
			}
		}
	}
	return out
}

func (c *llCurves) pairs(ctx context.Context, corpus *llCorpus, embedding string) (*Pairs, error) {
	e, err := sparse.ParseEmbedding(embedding)
	if err != nil {
		return nil, err
	}
	return c.r.NewPairs(ctx, corpus.docs, e, fmt.Sprintf("dot products of %s, %s", corpus.name, embedding))
}

// stage measures one kernel; done and total are what the progress says.
func (c *llCurves) stage(ctx context.Context, s llStage, pairs *Pairs, buffer []float32, done, total int64) (*CurveResult, error) {
	corpus, k := c.corpora[s.corpus], llKernels[s.kernel]
	e, err := sparse.ParseEmbedding(s.features + k.embedding)
	if err != nil {
		return nil, err
	}
	kernel, err := engine.ParseKernelIn(k.spec(s.scale), e)
	if err != nil {
		return nil, err
	}
	if err := pairs.Fill(ctx, kernel, buffer, c.r.Threads()); err != nil {
		return nil, err
	}
	kernels, err := c.r.Kernels()
	if err != nil {
		return nil, err
	}
	tell := c.r.Counter("tables 1 to 4", done, total)
	return c.plan(corpus).Measure(ctx, matrix{pairs.n, buffer}, c.r.Threads(), kernels, tell)
}
