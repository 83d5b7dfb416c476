package repro

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/svm"
)

// Outcome is the test result of a classifier.
type Outcome struct {
	Right   string // a character per test document: '1' if correctly classified, else '0'
	Support int    // number of distinct support vectors
}

// Wrong returns the number of misclassified documents.
func (o *Outcome) Wrong() int { return strings.Count(o.Right, "0") }

// Percent returns the error rate in percent.
func (o *Outcome) Percent() float64 { return 100 * float64(o.Wrong()) / float64(len(o.Right)) }

// Against performs the sign test for two values of Outcome.Right on the same documents. first is
// the number of documents with '1' only in a, and second the number with '1' only in b.
func Against(a, b string) (test Test, first, second int) {
	for i := range a {
		switch {
		case a[i] > b[i]:
			first++
		case a[i] < b[i]:
			second++
		}
	}
	return SignTest(first, second), first, second
}

// Session trains and tests classifiers on one corpus, with kernels that share an embedding. It
// computes the dot products of training documents only once.
type Session struct {
	run    *Run
	name   string
	train  func() *corpus.Corpus
	held   int64
	report *Report

	problem *svm.Problem // nil before the first test
	pairs   int64        // number of dot products already added to the report
}

// NewSession returns a session. The first test calls train to get the training corpus. Progress
// messages contain name. held is the memory in use by the caller in bytes, including the corpus.
// The session adds its counts to report.
func (r *Run) NewSession(name string, train func() *corpus.Corpus, held int64, report *Report) *Session {
	return &Session{run: r, name: name, train: train, held: held + programBytes, report: report}
}

// Close frees device memory. Close of a nil session does nothing.
func (c *Session) Close() error {
	if c == nil || c.problem == nil {
		return nil
	}
	return c.problem.Engine().Close()
}

// Test trains a classifier, and tests it on documents with the vocabulary of the training corpus.
func (c *Session) Test(ctx context.Context, s svm.Settings, test *corpus.Corpus) (out Outcome, err error) {
	r := c.run
	if c.problem == nil {
		opt := svm.Options{
			ISA: r.ISA, Device: r.Device, Workers: r.Threads(), MemoryBytes: r.MemoryBytes, HeldBytes: c.held,
			Progress: func(p svm.Progress) {
				if p.Stage == "computing tiles" {
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
	c.report.Trainings += int64(trained.Functions)
	if trained.Unfinished > 0 && r.Warn != nil {
		r.Warn(fmt.Sprintf("%s, C = %g: %d of %d binary classifiers did not converge", s.Kernel, s.C,
			trained.Unfinished, trained.Functions))
	}
	p, err := svm.NewPredictor(ctx, m, svm.Options{ISA: r.ISA, Device: r.Device, Workers: r.Threads()})
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
		if HasClass(test, i, m.Classes[class]) {
			right[i] = '1'
		}
	}
	return Outcome{string(right), m.Support.Rows()}, nil
}
