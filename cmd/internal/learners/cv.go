package learners

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// CV is the command cv, which cross-validates a learner.
var CV = &cli.Command{
	Name:    "cv",
	Summary: "cross-validate a support vector machine",
	Help: `
Estimates how well a support vector machine predicts new documents. Each fold is predicted by a
model trained on the other folds; no model is written. Folds are stratified by class. The measure
is the accuracy, the micro F1 for several labels per document, or the mean squared error for
regression. The last line is the same as in svm-train -v. Terms and idf weights come from all
documents, scales of columns only from the other folds.`,
	Examples: `
gram cv -in mail/                                 one subfolder per class, 5 folds
gram cv -v 10 -c 10 -kernel diffusion:t=0.3 train.tsv.gz
gram cv -s 3 -t 2 -g 0.5 -p 0.01 numbers.svm      regression`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		v := &cvFlags{trainingFlags: &trainingFlags{}}
		v.declare(f)
		v.declareFolds(f)
		f.StartGroup("Training", "")
		f.BoolVar(&v.curve, "learning-curve", false, "also cross-validate on 1/8, 1/4 and 1/2 of the training documents")
		f.AddCheck(v.check)
		f.AddCheck(v.requireSource)
		return v.run
	},
}

type cvFlags struct {
	*trainingFlags
	folds int
	curve bool
}

func (v *cvFlags) declareFolds(f *cli.Flags) {
	f.StartGroup("Output", "")
	f.DeclareReport()
	f.StartGroup("Training", "")
	f.IntVar(&v.folds, "folds", tune.DefaultFolds, "number `N` of folds")
	f.StringVar(&v.GroupColumn, "groups", "", "assign documents with equal values in `COLUMN` to the same fold")
	f.StartGroup("As in svm-train", libsvmTopic)
	f.IntVar(&v.folds, "v", tune.DefaultFolds, "`N`: same as -folds")
}

func (v *cvFlags) check() error {
	if v.learner.Type != "" {
		if _, err := v.kernelOf(nil); err != nil {
			return err
		}
	}
	return v.checkFolds()
}

func (v *cvFlags) checkFolds() error {
	switch {
	case v.folds < 2:
		return cli.Usagef("-folds must be at least 2, got %d", v.folds)
	case v.learner.Type == model.OneClass:
		return cli.Usagef("-type one_class cannot be cross-validated, because it has no labels; " +
			"use c_svc, nu_svc, epsilon_svr or nu_svr")
	}
	return nil
}

func (v *cvFlags) run(ctx context.Context, e *cli.Env) error {
	p := e.NewProgress(true)
	defer p.Clear()
	regression := v.learner.Type == model.EpsilonSVR || v.learner.Type == model.NuSVR
	if regression && v.f.ReportPath != "" { // keep the rows for the table of the largest errors
		v.KeepTexts = cmp.Or(v.ReadLimitBytes()/4, math.MaxInt64)
	}
	j, err := v.prepare(ctx, e, p, v.usesDefaultKernel(), 1, v.folds)
	if err != nil {
		return err
	}
	sizes := make([]int, len(j.corpus.Classes))
	for _, id := range j.corpus.Labels.IDs {
		sizes[id]++
	}
	for id, n := range sizes {
		if n > 0 && n < v.folds && n == slices.Min(sizes) && !regression {
			e.Warnf("class %q has only %d documents for %d folds, so some folds have no document of the class",
				j.corpus.Classes[id], n, v.folds)
			break
		}
	}
	begin, c := time.Now(), j.corpus
	r := &cvReport{Corpus: source.NewSummary(c), rows: &corpus.Corpus{Format: c.Format, Names: c.Names, Raw: c.Raw}}
	r.Corpus.TargetRange = j.corpusLine.TargetRange
	if !v.curve {
		j.releaseCorpus()
	}
	found, err := learn.CrossValidate(ctx, c, v.learner.trainer, j.options, v.folds)
	took := time.Since(begin)
	if err == nil && v.curve {
		r.LearningCurve, err = learn.LearningCurve(ctx, c, v.learner.trainer, j.options, v.folds, found)
	}
	if err != nil {
		return j.annotateError(err)
	}
	p.Clear()
	r.NumUnconverged, r.SolveSeconds = warnUnconverged(e, found.Convergence), took.Seconds()
	r.fill(v, j, found)
	if v.f.Quiet && !v.f.JSON {
		var d report.Document
		r.writeLines(&d) // writes the same output as svm-train -q -v
		io.WriteString(e.Stdout, d.String())
		return v.f.WriteReportPage(r)
	}
	return v.PrintReport(e, v.f, r)
}
