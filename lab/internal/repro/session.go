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
	CorrectMask        string // a character per test document: '1' if correctly classified, else '0'
	SupportVectorCount int    // number of distinct support vectors of all decision functions
}

// ErrorCount returns the number of misclassified documents.
func (o *Outcome) ErrorCount() int { return strings.Count(o.CorrectMask, "0") }

// ErrorPercent returns the error rate in percent.
func (o *Outcome) ErrorPercent() float64 {
	return 100 * float64(o.ErrorCount()) / float64(len(o.CorrectMask))
}

// CompareBySignTest performs the sign test for Outcome.CorrectMask of two classifiers on the same
// documents. first is the number of documents with '1' only in a. second is the number with '1'
// only in b.
func CompareBySignTest(a, b string) (test SignificanceTest, first, second int) {
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
	env            *Env
	name           string
	trainingCorpus func() *corpus.Corpus
	heldBytes      int64
	report         *Report

	problem       *svm.Problem // nil before the first test
	reportedPairs int64        // number of dot products already added to the report
}

// NewSession returns a session. The first test calls train to get the training corpus. Progress
// messages contain name. held is the memory in use by the caller in bytes, including the corpus.
// The session adds its counts to report.
func (r *Env) NewSession(name string, train func() *corpus.Corpus, held int64, report *Report) *Session {
	return &Session{env: r, name: name, trainingCorpus: train, heldBytes: held + programBytes, report: report}
}

// Close frees device memory. It does nothing if c is nil.
func (c *Session) Close() error {
	if c == nil || c.problem == nil {
		return nil
	}
	return c.problem.Engine().Close()
}

// TrainAndTest trains a classifier on the training corpus, and tests it on the corpus test. Both
// corpora must have the same vocabulary.
func (c *Session) TrainAndTest(ctx context.Context, s svm.Settings, test *corpus.Corpus) (out Outcome, err error) {
	r := c.env
	if c.problem == nil {
		opt := svm.Options{
			ISA: r.ISA, Device: r.Device, Workers: r.NumWorkers(), MemoryBytes: r.MemoryBytes, HeldBytes: c.heldBytes,
			Progress: func(p svm.Progress) {
				if p.Stage == "computing tiles" {
					r.ReportProgress(c.name+": "+p.Stage, p.Done, p.Total)
				}
			},
		}
		if c.problem, err = svm.NewProblem(ctx, c.trainingCorpus(), s.Kernel.Embedding(), opt); err != nil {
			return out, err
		}
	}
	m, trained, err := c.problem.Train(ctx, s)
	pairs := c.problem.Engine().Stats().Pairs
	c.report.DotProductCount, c.reportedPairs = c.report.DotProductCount+pairs-c.reportedPairs, pairs
	if err != nil {
		return out, err
	}
	c.report.ClassifierCount += int64(trained.Functions)
	if trained.Unfinished > 0 && r.OnWarning != nil {
		r.OnWarning(fmt.Sprintf("%s, C = %g: %d of %d binary classifiers did not converge", s.Kernel, s.C,
			trained.Unfinished, trained.Functions))
	}
	p, err := svm.NewPredictor(ctx, m, svm.Options{ISA: r.ISA, Device: r.Device, Workers: r.NumWorkers()})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	prediction, err := p.Predict(ctx, test.Documents)
	if err != nil {
		return out, err
	}
	if e := p.Engine(); e != nil {
		c.report.DotProductCount += e.Stats().Pairs
	}
	right := make([]byte, test.Documents.Rows())
	for i, class := range prediction.ClassIndices {
		right[i] = '0'
		if HasClass(test, i, m.Classes[class]) {
			right[i] = '1'
		}
	}
	return Outcome{string(right), m.Support.Rows()}, nil
}
