package main

import (
	"context"
	"time"

	"github.com/gramengine/gram/solver/svm"
)

var cvCommand = command{
	name:    "cv",
	summary: "cross-validate a support vector machine",
	args:    "[SOURCE]",
	help: `
Says how well a support vector machine would do on documents that it wasn't trained on: the documents are divided into folds, and each fold is
predicted by a machine that was trained on the others. The source must be named. Nothing is written; grambench train trains on all documents, and grambench grid compares many
settings at little more than the cost of one.

A fold holds a part of each class, drawn by -seed; documents of several labels count for their first, those of regression for none. The figure is the
accuracy, for labels each for itself the micro F1, for regression the mean squared error. All documents together give the line that svm-train -v
prints; the mean over folds comes with its standard deviation, which says how much a difference between two settings means. idf weights are
those of all documents, those that are held out included.

The kernel, the problem and svm-train's letters are those of grambench train. -sets takes sets of points for documents, as grambench gram does. Each dot product is computed once for all folds.
With -solver cuda a GPU keeps the rows and the scores of all folds, and the machine no matrix.

Examples:
  grambench cv -in mail/                                 a folder with a sub-folder a class, 5 folds
  grambench cv -v 10 -c 10 -kernel diffusion:t=0.3 train.tsv.gz
  grambench cv -sets qid -kernel hyperbolic:t=1 points.svm
  grambench cv -s 3 -t 2 -g 0.5 -p 0.01 numbers.svm      regression
`,
	setup: func(f *flags) func(context.Context, *env) error {
		f.startsOver = true
		s := f.svmFlags()
		f.maxArgs = 1
		r := &cvRun{svmFlags: s}
		f.setsFlag()
		f.set.IntVar(&r.folds, "folds", svm.DefaultFolds, "divide the documents into `N` folds")
		f.set.IntVar(&r.folds, "v", svm.DefaultFolds, "-folds, `N`")
		f.check = r.check
		return r.run
	},
}

// cvRun is one run of the command cv.
type cvRun struct {
	*svmFlags
	folds int
}

// check holds that the flags make sense together, and takes the source from the argument behind them.
func (r *cvRun) check() error {
	if err := r.svmFlags.check(); err != nil {
		return err
	}
	if err := r.takeSource(); err != nil {
		return err
	}
	if _, err := r.kernelOf(nil); err != nil {
		return err
	}
	return r.checkFolds()
}

// takeSource takes the source from the argument behind the flags, if there is one.
func (s *svmFlags) takeSource() error {
	f := s.f
	if len(f.args) > 0 {
		if s.given["in"] {
			return usagef("-in %s and the argument %q both name a source, expected one of them", f.in, f.args[0])
		}
		f.in = f.args[0]
	}
	return nil
}

// checkFolds holds what is known of the folds before anything is read.
func (r *cvRun) checkFolds() error {
	if r.folds < 2 {
		return usagef("-folds %d, expected at least 2", r.folds)
	}
	if r.kind == "one_class" {
		return usagef("-type one_class: there is nothing to compare predictions with, expected c_svc, nu_svc, epsilon_svr or nu_svr")
	}
	if bool(r.prob) {
		return usagef("-probabilities (-b 1) have no part in a cross-validation")
	}
	return nil
}

// run reads, validates and reports.
func (r *cvRun) run(ctx context.Context, e *env) error {
	begin := time.Now()
	p := newTrainProgress(e.stderr, r.quiet)
	defer p.clear()
	corpus, err := r.f.read(ctx, e, p)
	if err != nil {
		return err
	}
	if corpus, err = r.trainingSets(ctx, e, p, corpus); err != nil {
		return err
	}
	read := time.Since(begin)
	k, settings, err := r.plan(e, corpus)
	if err != nil {
		return err
	}
	report := newCVReport(corpus)
	warnDoubtful(e.stderr, k)
	problem, err := r.newProblem(ctx, e, p, corpus, k.Embedding())
	if err != nil {
		return err
	}
	if !r.f.ofSets() {
		if err := warnZeros(e.stderr, problem.Engine(), k); err != nil {
			return err
		}
	}
	corpus = nil // the matrix needs the room
	report.SecondsRead = read.Seconds()
	report.SecondsPrepare = time.Since(begin).Seconds() - report.SecondsRead

	v, err := problem.CrossValidate(ctx, settings, r.folds, r.f.seed)
	if err != nil {
		return err
	}
	p.clear()
	r.warnStore(e, problem)
	warnUnplaced(e, v.Unplaced)
	if v.Unfinished > 0 {
		warn(e.stderr, counted(v.Unfinished, "machine", "machines")+" stopped before -tolerance was reached")
	}
	report.fill(r, problem, settings, v)
	report.Seconds = time.Since(begin).Seconds()
	if r.quiet && !r.f.json {
		report.writeLines(e.stdout) // what svm-train -q -v prints
		return nil
	}
	return writeReport(e.stdout, r.f.timed(report), r.f.json)
}
