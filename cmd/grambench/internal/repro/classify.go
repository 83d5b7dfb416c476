package repro

import (
	"context"
	"errors"

	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

// outcome is how a classifier did on a test set.
type outcome struct {
	Right   []bool // by document: whether its class was found
	Support int    // different support vectors
}

// wrong counts the documents whose class wasn't found.
func (o *outcome) wrong() int {
	n := 0
	for _, right := range o.Right {
		if !right {
			n++
		}
	}
	return n
}

// classifying trains on one corpus and tests on others, with kernels of one embedding: dot products of training documents are computed once.
type classifying struct {
	run    *Run
	name   string
	corpus *sparse.Corpus
	held   int64
	report *Report // its counts grow

	problem *svm.Problem // nil until something is trained
	pairs   int64        // of the problem that are in the report
}

// classifying names what will be trained on a corpus. held is what the caller keeps, the corpus included, in bytes; name names it in progress. Nothing is computed
// before the first training: all results may have been kept by an earlier run.
func (r *Run) classifying(name string, train *sparse.Corpus, held int64, report *Report) *classifying {
	return &classifying{run: r, name: name, corpus: train, held: held + programBytes, report: report}
}

// prepare embeds the corpus and makes its engine.
func (c *classifying) prepare(ctx context.Context, e sparse.Embedding) (err error) {
	if c.problem != nil {
		return nil
	}
	c.problem, err = svm.NewProblem(ctx, c.corpus, e, svm.Options{ISA: c.run.ISA, Device: c.run.Device, Workers: c.run.Threads(), MemoryBytes: c.run.MemoryBytes, HeldBytes: c.held, Progress: func(p svm.Progress) {
		if p.Stage == "computing tiles" { // what follows is told by whole kernels
			c.run.Progress(c.name+": "+p.Stage, p.Done, p.Total)
		}
	}})
	return err
}

// close gives back what a device holds of the corpus, which isn't trained on any more; a nil classifying holds nothing.
func (c *classifying) close() error {
	if c == nil || c.problem == nil {
		return nil
	}
	return c.problem.Engine().Close()
}

// train trains with the given settings.
func (c *classifying) train(ctx context.Context, s svm.Settings) (*model.Model, error) {
	if err := c.prepare(ctx, s.Kernel.Embedding()); err != nil {
		return nil, err
	}
	m, report, err := c.problem.Train(ctx, s)
	pairs := c.problem.Engine().Stats().Pairs
	c.report.DotProducts, c.pairs = c.report.DotProducts+pairs-c.pairs, pairs
	if err != nil {
		return nil, err
	}
	c.report.Trainings += int64(report.Machines)
	if report.Unfinished > 0 {
		c.run.Notice("%s, C = %g: %d of %d machines didn't reach the tolerance", s.Kernel, s.C, report.Unfinished, report.Machines)
	}
	return m, nil
}

// test trains with the given settings and classifies test, whose terms are numbered as in the training corpus.
func (c *classifying) test(ctx context.Context, s svm.Settings, test *sparse.Corpus) (out *outcome, err error) {
	m, err := c.train(ctx, s)
	if err != nil {
		return nil, err
	}
	p, err := svm.NewPredictorContext(ctx, m, svm.PredictOptions{ISA: c.run.ISA, Device: c.run.Device, Workers: c.run.Threads()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	prediction, err := p.Predict(ctx, test.Documents)
	if err != nil {
		return nil, err
	}
	if e := p.Engine(); e != nil {
		c.report.DotProducts += e.Stats().Pairs
	}
	out = &outcome{Right: make([]bool, test.Documents.Rows()), Support: m.Support.Rows()}
	for i, class := range prediction.Class {
		for _, id := range test.Labels.Of(i) {
			if test.Classes[id] == m.Classes[class] {
				out.Right[i] = true
			}
		}
	}
	return out, nil
}
