package machines

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Train is the command that trains a support vector machine.
var Train = &cli.Command{
	Name:    "train",
	Summary: "train a support vector machine and write its model",
	Args:    "[SOURCE [MODEL]]",
	Help: `
Trains a support vector machine on documents and writes a model for grambench predict. Of text and
measurements, embedding, kernel, C and scheme are chosen by folds of samples, but for what is given.`,
	Examples: `
grambench train -in mail/ -o mail.model                    a folder with a sub-folder per class
grambench train -c 10 -kernel diffusion:t=0.3 train.tsv.gz news.model
grambench train -s 0 -t 2 -g 0.5 -c 10 -w1 5 train.svm     writes train.svm.model`,
	Setup: func(f *cli.Flags) cli.Work {
		t := &train{}
		f.MaxArgs = 2
		t.declare(f)
		t.shorthand.declare(f)
		t.DeclareSets(f)
		f.Group("Training", "")
		f.IntVar(&t.folds, "v", 0, "cross-validate with `N` folds, as grambench cv does, and write no model")
		t.declareChoice(1, "choose what isn't given with `X` times the training's work; 0: don't")
		f.Group("Output", "")
		f.WritesBinary(&t.out, "o", "write the model to `FILE`, - for standard output (default: SOURCE.model)",
			func() string {
				if t.to == "gram" {
					return "a model in the form gram"
				}
				return ""
			})
		f.Choose(&t.to, "to", "gram", "write `FORMAT`: gram, libsvm or libsvm-precomputed", modelFormats)
		f.Check(t.check)
		f.Check(t.named)
		return t.run
	},
}

// train is one run of the command.
type train struct {
	machine
	out, to string
	folds   int // of -v
}

// modelFormats are the forms in which a model is written.
var modelFormats = []string{"gram", "libsvm", "libsvm-precomputed"}

// check checks that the flags make sense together, and takes the source and the model's name from
// the arguments behind them.
func (t *train) check() error {
	if t.f.Given("v") {
		t.out = "" // no model is written
		return t.validation().check()
	}
	if err := t.takeSource(); err != nil {
		return err
	}
	if args := t.f.Args; len(args) > 1 {
		if t.out != "" {
			return cli.Usagef("-o %s and the argument %q both name a model, expected one of them", t.out, args[1])
		}
		t.out = args[1]
	}
	switch {
	case t.out == "" && t.In == "-":
		return cli.Usagef("-o FILE is missing: standard input gives the model no name")
	case t.out == "":
		t.out = defaultModel(t.In)
	}
	return t.checkKernel()
}

// defaultModel names the model of a source, in the present folder, as svm-train does.
func defaultModel(source string) string {
	name, _, _ := strings.Cut(source, ":") // synthetic:docs=...
	return filepath.Base(filepath.Clean(name)) + ".model"
}

// checkKernel checks that there is one kernel, and that LIBSVM knows it where it shall read the
// model.
func (t *train) checkKernel() error {
	if t.learner.Learner != nil {
		return nil
	}
	k, err := t.kernelOf(nil)
	if err != nil || t.to != "libsvm" {
		return err
	}
	if !engine.IsPrecomputed(k) && !slices.Contains(kernelNames, kernel.Family(k)) {
		return cli.Usagef(
			"-to libsvm: LIBSVM doesn't know the kernel %s, expected linear, polynomial, rbf or sigmoid, "+
				"or -to libsvm-precomputed",
			k,
		)
	}
	if e := k.Embedding(); e.Pairing != sparse.Dot {
		return cli.Usagef(
			"-to libsvm: LIBSVM doesn't know the embedding %s, expected one whose kernels are functions of "+
				"dot products, or -to libsvm-precomputed",
			e,
		)
	}
	return nil
}

// checkRoom checks before the training that LIBSVM's form has room for what is trained.
func (t *train) checkRoom(c *sparse.Corpus, settings svm.Settings) error {
	if t.to == "gram" || !settings.Type.Classifies() {
		return nil
	}
	if settings.Scheme != solver.OneVsOne && !(settings.Scheme == solver.OneVsRest && len(c.Classes) == 2) {
		return fmt.Errorf("-to %s: LIBSVM's models are one-vs-one, and this one would be %s for %s", t.to,
			settings.Scheme, report.Counted(len(c.Classes), "class", "classes"))
	}
	if _, err := (&model.Model{Classes: c.Classes}).Labels(); err != nil {
		return fmt.Errorf("-to %s: %w", t.to, err)
	}
	return nil
}

// validation is the cross-validation that svm-train has for -v.
func (t *train) validation() *validation { return &validation{machine: &t.machine, folds: t.folds} }

// run reads, trains, writes and reports.
func (t *train) run(ctx context.Context, e *cli.Env) error {
	if t.f.Given("v") {
		return t.validation().run(ctx, e)
	}
	if t.learner.Learner != nil {
		return t.runLearner(ctx, e)
	}
	p := e.Progress(true)
	defer p.Clear()
	t.once = true
	r := &trainReport{}
	j, err := t.prepare(ctx, e, p, func(c *sparse.Corpus, s svm.Settings) (out svm.Settings, err error) {
		out, r.Choice, err = t.choose(ctx, e, p, c, s)
		return out, err
	}, func(c *sparse.Corpus, s svm.Settings) error {
		r.Corpus = source.Line{
			Source:    c.Source,
			Documents: c.Documents.Rows(),
			Classes:   len(c.Classes),
			Values:    c.Documents.NNZ(),
		}
		return t.checkRoom(c, s)
	})
	if err != nil {
		return err
	}
	m, result, err := j.problem.Train(ctx, j.settings)
	if err != nil {
		return err
	}
	p.Clear()
	t.warnStore(e, j.problem)
	if result.Unfinished > 0 {
		e.Warn("%s of %s stopped before -tolerance was reached", report.Count(result.Unfinished),
			report.Counted(result.Machines, "machine", "machines"))
	}
	writing := time.Now()
	p.Stage("writing " + filepath.Base(t.out))
	if r.FileBytes, err = t.write(ctx, e, m); err != nil {
		return err
	}
	p.Clear()
	r.SecondsWrite = time.Since(writing).Seconds()
	r.fill(t, m, result, j)
	if t.f.Quiet && !t.f.JSON {
		return nil
	}
	return t.Report(e, t.f, r)
}

// write writes the model and returns the size of its file.
func (t *train) write(ctx context.Context, e *cli.Env, m *model.Model) (int64, error) {
	return matrixio.Make(t.out, func(w io.Writer) error {
		if t.to == "gram" {
			return m.Write(ctx, w)
		}
		labels, err := m.WriteLIBSVM(ctx, w, model.LIBSVMOptions{Precomputed: t.to == "libsvm-precomputed"})
		if err != nil {
			return err
		}
		for i, name := range m.Classes {
			if v, err := strconv.ParseFloat(name, 64); err != nil || v != float64(labels[i]) {
				e.Say("label %d stands for class %s", labels[i], name)
			}
		}
		return nil
	})
}
