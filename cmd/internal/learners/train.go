package learners

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Train is the command train, which trains a model.
var Train = &cli.Command{
	Name:      "train",
	Summary:   "train a support vector machine and write its model",
	ArgsUsage: "[SOURCE [MODEL]]",
	Help: `
Trains a support vector machine and writes a model for gram predict. For text and numbers it selects
embedding, kernel, C, scheme and epsilon by cross-validation on samples, unless flags set them.`,
	Examples: `
gram train -in mail/ -o mail.model                    a folder with a subfolder per class
gram train -s 0 -t 2 -g 0.5 -c 10 -w1 5 train.svm     writes train.svm.model`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		t := &train{}
		t.declare(f)
		f.SetArguments(source.Argument, cli.Argument{Flag: "o", ValueName: "model"})
		f.StartGroup("Training", "")
		f.IntVar(&t.folds, "v", 0, "cross-validate with `N` folds as gram cv does; write no model")
		t.declareChoice(1, "spend the time of `X` training runs on automatic selection; 0 = off")
		t.declareParameters("reject")
		f.StartGroup("Output", "")
		f.BinaryOutputVar(&t.out, "o", "write the model to `FILE`, - for standard output (default: SOURCE.model)",
			func() string {
				if t.format == "gram" {
					return "the gram format"
				}
				return ""
			})
		f.ChoiceVar(&t.format, "to", "gram", "model `FORMAT`: gram, libsvm or libsvm-precomputed", modelFormats)
		f.AddCheck(t.check)
		f.AddCheck(t.requireSource)
		return t.run
	},
}

type train struct {
	trainingFlags
	out, format string
	folds       int // value of -v
}

var modelFormats = []string{"gram", "libsvm", "libsvm-precomputed"}

func (t *train) check() error {
	if t.f.IsSet("v") {
		t.out = "" // -v writes no model
		return t.newValidation().check()
	}
	switch {
	case t.f.IsSet("reject") && t.format != "gram":
		return cli.Usagef("-reject and -to %s cannot be combined, because the format has no threshold; use -to gram",
			t.format)
	case t.out == "" && t.Source == "-":
		return cli.Usagef("-o FILE is required with -in -")
	case t.out == "":
		t.out = defaultModel(t.Source)
	}
	return t.checkKernel()
}

// defaultModel returns the default model file, in the current directory as in svm-train.
func defaultModel(source string) string {
	name, _, _ := strings.Cut(source, ":") // removes the parameters of a source such as synthetic:docs=...
	return filepath.Base(filepath.Clean(name)) + ".model"
}

// checkKernel fails if flags set several kernels. If -to is libsvm, it also checks that LIBSVM
// supports the kernel and its embedding.
func (t *train) checkKernel() error {
	if t.learner.Type == "" {
		return nil
	}
	k, err := t.kernelOf(nil)
	if err != nil || t.format != "libsvm" {
		return err
	}
	if !kernel.IsPrecomputed(k) && !slices.Contains(kernelNames, kernel.FamilyName(k)) {
		return cli.Usagef(
			"-to libsvm supports the kernels linear, polynomial, rbf and sigmoid, got %s; "+
				"-to libsvm-precomputed supports all kernels",
			k,
		)
	}
	if e := k.Embedding(); e != (sparse.Embedding{}) {
		return cli.Usagef("-to libsvm does not support the embedding %s; use -embed tf or -to libsvm-precomputed, "+
			"or embed the documents with gram corpus -embed %s -o FILE before training "+
			"(before prediction with -like TRAINING)", e, e)
	}
	return nil
}

// checkFormat checks before training that LIBSVM's format can represent the model.
func (t *train) checkFormat(j *trainingJob) error {
	if t.format == "gram" || !t.learner.Type.Classifies() {
		return nil
	}
	classes, scheme := j.corpus.Classes, learn.SchemeOf(t.learner.trainer)
	if scheme != solver.OneVsOne && !(scheme == solver.OneVsRest && len(classes) == 2) {
		return fmt.Errorf("-to %s supports only one-vs-one models, but this model has scheme %s and %s", t.format,
			scheme, report.FormatCountOf(len(classes), "class", "classes"))
	}
	if _, err := model.LIBSVMLabels(classes); err != nil {
		return fmt.Errorf("-to %s: %w", t.format, err)
	}
	return nil
}

// newValidation returns the cross-validation that -v requests, with the flags of train.
func (t *train) newValidation() *cvFlags {
	return &cvFlags{trainingFlags: &t.trainingFlags, folds: t.folds}
}

func (t *train) run(ctx context.Context, e *cli.Env) error {
	if t.f.IsSet("v") {
		return t.newValidation().run(ctx, e)
	}
	p := e.NewProgress(true)
	defer p.Clear()
	if t.format == "gram" {
		t.keepTexts()
	}
	j, err := t.prepare(ctx, e, p, t.usesDefaultKernel(), 1, 0)
	if err != nil {
		return err
	}
	if err := t.checkFormat(j); err != nil {
		return err
	}
	if t.format != "gram" {
		j.options.WorkBudget = 0
	}
	begin := time.Now()
	m, err := t.learner.trainer.Train(ctx, j.releaseCorpus(), j.options)
	if err != nil {
		return j.annotateError(err)
	}
	p.Clear()
	a := m.About()
	r := &trainReport{NumUnconverged: warnUnconverged(e, a.Convergence), SolveSeconds: time.Since(begin).Seconds()}
	begin = time.Now()
	p.StartStage("writing " + filepath.Base(t.out))
	if r.FileBytes, err = t.write(ctx, e, m); err != nil {
		return err
	}
	p.Clear()
	r.WriteSeconds = time.Since(begin).Seconds()
	r.fill(t, m, &a, j)
	if t.f.Quiet && !t.f.JSON {
		return nil
	}
	return t.PrintReport(e, t.f, r)
}

func (t *train) write(ctx context.Context, e *cli.Env, m learn.Model) (int64, error) {
	return matrixio.WriteFile(t.out, func(w io.Writer) error {
		own, _ := learn.KernelMachineOf(m)
		if t.format == "gram" || own == nil {
			return m.Write(ctx, w)
		}
		labels, err := own.WriteLIBSVM(ctx, w, t.format == "libsvm-precomputed")
		if err != nil {
			return err
		}
		for i, name := range own.Classes {
			if v, err := strconv.ParseFloat(name, 64); err != nil || v != float64(labels[i]) {
				e.Infof("label %d stands for class %s", labels[i], name)
			}
		}
		return nil
	})
}
