package repro

import (
	"context"

	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

// What is counted against the bound of memory beside corpora and problems: the program itself, and garbage between two collections.
const processBytes = 64 << 20

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
	run     *Run
	problem *svm.Problem
	held    int64
	report  *Report // its counts grow
}

// classify embeds and prepares a training corpus. held is what the caller keeps beside it, in bytes; name names it in progress.
func (r *Run) classify(ctx context.Context, name string, train *sparse.Corpus, e sparse.Embedding, held int64, report *Report) (*classifying, error) {
	c := &classifying{run: r, held: held + processBytes, report: report}
	var err error
	c.problem, err = svm.NewProblem(ctx, train, e, svm.Options{ISA: r.ISA, Workers: r.Threads(), MemoryBytes: r.MemoryBytes, HeldBytes: c.held, Progress: func(p svm.Progress) {
		if p.Total > 0 && p.Stage != "training" { // training is told by whole kernels: one is soon done
			r.Progress(name+": "+p.Stage, p.Done, p.Total)
		}
	}})
	return c, err
}

// done adds the problem's dot products to the report's.
func (c *classifying) done() { c.report.DotProducts += c.problem.Engine().Stats().Pairs }

// train trains with the given settings.
func (c *classifying) train(ctx context.Context, s svm.Settings) (*model.Model, error) {
	m, report, err := c.problem.Train(ctx, s)
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
func (c *classifying) test(ctx context.Context, s svm.Settings, test *sparse.Corpus) (*outcome, error) {
	m, err := c.train(ctx, s)
	if err != nil {
		return nil, err
	}
	p, err := svm.NewPredictor(m, svm.PredictOptions{ISA: c.run.ISA, Workers: c.run.Threads()})
	if err != nil {
		return nil, err
	}
	prediction, err := p.Predict(ctx, test.Documents)
	if err != nil {
		return nil, err
	}
	if e := p.Engine(); e != nil {
		c.report.DotProducts += e.Stats().Pairs
	}
	out := &outcome{Right: make([]bool, test.Documents.Rows()), Support: m.Support.Rows()}
	for i, class := range prediction.Class {
		for _, id := range test.Labels.Of(i) {
			if test.Classes[id] == m.Classes[class] {
				out.Right[i] = true
			}
		}
	}
	return out, nil
}
