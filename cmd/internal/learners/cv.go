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
	Setup: func(f *cli.Flags) cli.Work {
		v := &validation{machine: &machine{}}
		v.declare(f)
		v.declareFolds(f)
		f.Group("Training", "")
		f.BoolVar(&v.curve, "learning-curve", false, "also cross-validate on 1/8, 1/4 and 1/2 of the training documents")
		f.Check(v.check)
		f.Check(v.named)
		return v.run
	},
}

// validation holds the flags of cv.
type validation struct {
	*machine
	folds int
	curve bool
}

func (v *validation) declareFolds(f *cli.Flags) {
	f.Group("Output", "")
	f.Pages()
	f.Group("Training", "")
	f.IntVar(&v.folds, "folds", tune.DefaultFolds, "number `N` of folds")
	f.StringVar(&v.GroupColumn, "groups", "", "assign documents with equal values in `COLUMN` to the same fold")
	f.Group("As in svm-train", topic)
	f.IntVar(&v.folds, "v", tune.DefaultFolds, "`N`: same as -folds")
}

func (v *validation) check() error {
	if v.learner.Type != "" {
		if _, err := v.kernelOf(nil); err != nil {
			return err
		}
	}
	return v.checkFolds()
}

// checkFolds returns a usage error if -folds or -type doesn't allow cross-validation.
func (v *validation) checkFolds() error {
	switch {
	case v.folds < 2:
		return cli.Usagef("-folds must be at least 2, got %d", v.folds)
	case v.learner.Type == model.OneClass:
		return cli.Usagef("-type one_class cannot be cross-validated, because it has no labels; " +
			"use c_svc, nu_svc, epsilon_svr or nu_svr")
	}
	return nil
}

// run reads the documents, cross-validates and reports.
func (v *validation) run(ctx context.Context, e *cli.Env) error {
	p := e.Progress(true)
	defer p.Clear()
	regression := v.learner.Type == model.EpsilonSVR || v.learner.Type == model.NuSVR
	if regression && v.f.Page != "" { // keep the rows for the table of the largest errors
		v.KeepTexts = cmp.Or(v.Bytes()/4, math.MaxInt64)
	}
	j, err := v.prepare(ctx, e, p, v.unnamed(), 1, v.folds)
	if err != nil {
		return err
	}
	sizes := make([]int, len(j.corpus.Classes))
	for _, id := range j.corpus.Labels.IDs {
		sizes[id]++
	}
	for id, n := range sizes {
		if n > 0 && n < v.folds && n == slices.Min(sizes) && !regression {
			e.Warn("class %q has only %d documents for %d folds, so some folds contain none", j.corpus.Classes[id], n, v.folds)
			break
		}
	}
	begin, c := time.Now(), j.corpus
	r := &cvReport{Corpus: source.NewLine(c), rows: &corpus.Corpus{Format: c.Format, Names: c.Names, Raw: c.Raw}}
	r.Corpus.Targets = j.line.Targets
	if !v.curve {
		j.handOver()
	}
	found, err := learn.CrossValidate(ctx, c, v.learner.trainer, j.o, v.folds)
	took := time.Since(begin)
	if err == nil && v.curve {
		r.Curve, err = learn.LearningCurve(ctx, c, v.learner.trainer, j.o, v.folds, found)
	}
	if err != nil {
		return j.named(err)
	}
	p.Clear()
	r.Unfinished, r.SecondsSolve = warnOf(e, found.Ended), took.Seconds()
	r.fill(v, j, found)
	if v.f.Quiet && !v.f.JSON {
		var d report.Document
		r.writeLines(&d) // same output as svm-train -q -v
		io.WriteString(e.Stdout, d.String())
		return v.f.WritePage(r)
	}
	return v.Report(e, v.f, r)
}
