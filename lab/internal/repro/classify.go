package repro

import (
	"context"
	"errors"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/svm"
)

// Outcome is how a classifier did on a test set.
type Outcome struct {
	Right   string // by document: '1' where its class was found, otherwise '0'
	Support int    // different support vectors
}

// Percent is the error.
func (o *Outcome) Percent() float64 { return 100 * float64(o.Wrong()) / float64(len(o.Right)) }

// Wrong counts the documents whose class wasn't found.
func (o *Outcome) Wrong() int { return strings.Count(o.Right, "0") }

// Session trains classifiers on one corpus and tests them, with kernels of one embedding. It
// computes the dot products of the training documents once.
type Session struct {
	run    *Run
	name   string
	train  func() *corpus.Corpus
	held   int64
	report *Report

	problem *svm.Problem // nil until something is trained
	pairs   int64        // of the problem that are in the report
}

// NewSession makes a session that trains on the corpus that train returns. name names it in
// progress. held is what the caller keeps in memory, the corpus included, in bytes. The counts of
// report grow. Nothing is computed, nor train called, before the first test, since an earlier run
// may have kept all results.
func (r *Run) NewSession(name string, train func() *corpus.Corpus, held int64, report *Report) *Session {
	return &Session{run: r, name: name, train: train, held: held + programBytes, report: report}
}

// Close frees what a device holds of the corpus. A nil session holds nothing.
func (c *Session) Close() error {
	if c == nil || c.problem == nil {
		return nil
	}
	return c.problem.Engine().Close()
}

// Test trains with the given settings and classifies test, whose terms are numbered as in the
// training corpus.
func (c *Session) Test(ctx context.Context, s svm.Settings, test *corpus.Corpus) (out Outcome, err error) {
	r := c.run
	if c.problem == nil {
		opt := svm.Options{
			ISA: r.ISA, Device: r.Device, Workers: r.Threads(), MemoryBytes: r.MemoryBytes, HeldBytes: c.held,
			Progress: func(p svm.Progress) {
				if p.Stage == "computing tiles" { // the callers report what follows, by whole kernels
					r.Progress(c.name+": "+p.Stage, p.Done, p.Total)
				}
			},
		}
		if c.problem, err = svm.NewProblem(ctx, c.train(), s.Kernel.Embedding(), opt); err != nil {
			return out, err
		}
	}
	m, trained, err := c.problem.Train(ctx, s)
	pairs := c.problem.Engine().Stats().Pairs
	c.report.DotProducts, c.pairs = c.report.DotProducts+pairs-c.pairs, pairs
	if err != nil {
		return out, err
	}
	c.report.Trainings += int64(trained.Machines)
	if trained.Unfinished > 0 {
		r.Notice("%s, C = %g: %d of %d machines didn't reach the tolerance", s.Kernel, s.C, trained.Unfinished,
			trained.Machines)
	}
	p, err := svm.NewPredictor(ctx, m, svm.PredictOptions{ISA: r.ISA, Device: r.Device, Workers: r.Threads()})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	prediction, err := p.Predict(ctx, test.Documents)
	if err != nil {
		return out, err
	}
	if e := p.Engine(); e != nil {
		c.report.DotProducts += e.Stats().Pairs
	}
	right := make([]byte, test.Documents.Rows())
	for i, class := range prediction.Class {
		right[i] = '0'
		for _, id := range test.Labels.Of(i) {
			if test.Classes[id] == m.Classes[class] {
				right[i] = '1'
			}
		}
	}
	return Outcome{string(right), m.Support.Rows()}, nil
}
