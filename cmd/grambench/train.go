package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

var trainCommand = command{
	name:    "train",
	summary: "train a support vector machine and write its model",
	args:    "[SOURCE [MODEL]]",
	help: `
Trains a support vector machine on documents and writes a model, from which grambench predict predicts the classes of other documents. The source
stands behind -in or, as svm-train has it, behind the flags, and must be named; the model's file may be, behind -o or the source. It is called
SOURCE.model where nothing else is said.

The letters of svm-train mean the same here: -s -t -g -d -r -c -n -p -e -h -b -wCLASS -v -q. The kernel is a kernel of text, diffusion:t=0.5, unless
-kernel, -t or -g ask for another. -m bounds the memory of the whole command, not that of the cache.

Sets of points: with -sets each set is a document, as in grambench gram: a normal distribution, of the class that its points have. The kernel is hyperbolic. Means and
deviations are rounded to float32, in which the model keeps them.

Files (-to):
  gram                this program's own: everything that a prediction needs, words and weights of terms included, with a checksum
  libsvm              for svm-predict, where LIBSVM knows the kernel (linear, polynomial, rbf, sigmoid); grambench corpus -o -like writes documents for it
  libsvm-precomputed  for svm-predict, any kernel: support vectors are numbers of documents, kernel values come from grambench gram -to libsvm
The file appears under its name only when it is complete. A file that is read isn't replaced: that is an error, before anything is written.

A run can be stopped and go on: -tiles DIR keeps the matrix, which takes most of the time, and another run on the same documents and embedding loads it.

Examples:
  grambench train -in mail/ -o mail.model                                a folder with a sub-folder a class
  grambench train -c 10 -kernel diffusion:t=0.3 train.tsv.gz news.model
  grambench train -sets qid -kernel hyperbolic:t=1 points.svm points.model
  grambench train -s 0 -t 2 -g 0.5 -c 10 -w1 5 train.svm                 as svm-train has it; writes train.svm.model
`,
	setup: func(f *flags) func(context.Context, *env) error {
		f.startsOver = true
		s := f.svmFlags()
		f.maxArgs = 2
		t := &trainRun{svmFlags: s}
		f.setsFlag()
		f.set.StringVar(&t.out, "o", "", "write the model to `FILE` (default: the name of the source with .model behind it)")
		f.writes("-o", &t.out)
		f.set.StringVar(&t.to, "to", "gram", "write the format `FORMAT`: gram, libsvm or libsvm-precomputed")
		f.set.IntVar(&t.folds, "v", 0, "cross-validate with `N` folds instead, as grambench cv does, and write no model")
		f.check = t.check
		return t.run
	},
}

// trainRun is one run of the command train.
type trainRun struct {
	*svmFlags
	out, to string
	folds   int // of -v
}

// modelFormats are the forms in which a model is written.
var modelFormats = []string{"gram", "libsvm", "libsvm-precomputed"}

// check holds that the flags make sense together, and takes the source and the model's name from the arguments behind them.
func (t *trainRun) check() error {
	if err := t.svmFlags.check(); err != nil {
		return err
	}
	f := t.f
	if t.given["v"] {
		t.out = "" // no model is written
		return t.validation().check()
	}
	if err := t.takeSource(); err != nil {
		return err
	}
	if len(f.args) > 1 {
		if t.out != "" {
			return usagef("-o %s and the argument %q both name a model, expected one of them", t.out, f.args[1])
		}
		t.out = f.args[1]
	}
	switch t.to {
	case modelFormats[0], modelFormats[1], modelFormats[2]:
	default:
		return usagef("-to %q, expected one of %s", t.to, join(modelFormats))
	}
	if t.out == "" {
		t.out = defaultModel(f.in)
	}
	return t.checkLIBSVMKernel()
}

// defaultModel names the model of a source, in the present folder, as svm-train does.
func defaultModel(source string) string {
	name, _, _ := strings.Cut(source, ":") // synthetic:docs=...
	return filepath.Base(filepath.Clean(name)) + ".model"
}

// checkLIBSVMKernel holds that LIBSVM knows the kernel.
func (t *trainRun) checkLIBSVMKernel() error {
	k, err := t.kernelOf(nil)
	if err != nil || t.to != "libsvm" {
		return err
	}
	if name, _, _ := strings.Cut(k.String(), ":"); !slices.Contains(libsvmKernels, name) {
		return usagef("-to libsvm: LIBSVM doesn't know the kernel %s, expected linear, polynomial, rbf or sigmoid, or -to libsvm-precomputed", k)
	}
	if e := k.Embedding(); e.Pairing != sparse.Dot {
		return usagef("-to libsvm: LIBSVM doesn't know the embedding %s, expected one whose kernels are functions of dot products, or -to libsvm-precomputed", e)
	}
	return nil
}

// checkLIBSVM holds before the training that LIBSVM's form has room for what is trained.
func (t *trainRun) checkLIBSVM(c *sparse.Corpus, settings svm.Settings) error {
	if t.to == "gram" || !settings.Type.Classifies() {
		return nil
	}
	if settings.Scheme != solver.OneVsOne && !(settings.Scheme == solver.OneVsRest && len(c.Classes) == 2) {
		return fmt.Errorf("-to %s: LIBSVM's models are one-vs-one, and this one would be %s for %s", t.to, settings.Scheme, counted(len(c.Classes), "class", "classes"))
	}
	if _, err := (&model.Model{Classes: c.Classes}).Labels(); err != nil {
		return fmt.Errorf("-to %s: %w", t.to, err)
	}
	return nil
}

// validation is the cross-validation that svm-train has for -v.
func (t *trainRun) validation() *cvRun { return &cvRun{svmFlags: t.svmFlags, folds: t.folds} }

// run reads, trains, writes and reports.
func (t *trainRun) run(ctx context.Context, e *env) error {
	if t.given["v"] {
		return t.validation().run(ctx, e)
	}
	begin := time.Now()
	f := t.f
	p := newTrainProgress(e.stderr, t.quiet)
	defer p.clear()
	corpus, err := f.read(ctx, e, p)
	if err != nil {
		return err
	}
	if corpus, err = t.trainingSets(ctx, e, p, corpus); err != nil {
		return err
	}
	read := time.Since(begin)
	k, settings, err := t.plan(e, corpus)
	if err != nil {
		return err
	}
	if err := t.checkLIBSVM(corpus, settings); err != nil {
		return err
	}
	t.once = true
	warnDoubtful(e.stderr, k)
	problem, err := t.newProblem(ctx, e, p, corpus, k.Embedding())
	if err != nil {
		return err
	}
	if !f.ofSets() {
		if err := warnZeros(e.stderr, problem.Engine(), k); err != nil {
			return err
		}
	}
	report := newTrainReport(corpus)
	corpus = nil // the matrix needs the room
	report.SecondsRead = read.Seconds()
	report.SecondsPrepare = time.Since(begin).Seconds() - report.SecondsRead

	m, result, err := problem.Train(ctx, settings)
	if err != nil {
		return err
	}
	p.clear()
	t.warnStore(e, problem)
	warnUnplaced(e, result.Unplaced)
	if result.Unfinished > 0 {
		warn(e.stderr, fmt.Sprintf("%s of %s stopped before -tolerance was reached", formatCount(result.Unfinished), counted(result.Machines, "machine", "machines")))
	}
	writing := time.Now()
	p.stage("writing " + filepath.Base(t.out))
	if report.FileBytes, err = t.write(ctx, e, m); err != nil {
		return err
	}
	p.clear()
	report.SecondsWrite = time.Since(writing).Seconds()
	report.fill(t, m, result, problem)
	report.Seconds = time.Since(begin).Seconds()
	if t.quiet && !f.json {
		return nil
	}
	return writeReport(e.stdout, f.timed(report), f.json)
}

// plan returns the kernel and the settings for a corpus, and warns of what they leave out.
func (s *svmFlags) plan(e *env, c *sparse.Corpus) (engine.Kernel, svm.Settings, error) {
	k, err := s.kernelOf(c)
	if err != nil {
		return nil, svm.Settings{}, err
	}
	settings, err := s.settings(c)
	if err != nil {
		return nil, svm.Settings{}, err
	}
	settings.Kernel = k
	return k, settings, s.checkLabels(e, c, settings)
}

// write writes the model and returns the size of its file.
func (t *trainRun) write(ctx context.Context, e *env, m *model.Model) (int64, error) {
	file, err := matrixio.Create(t.out)
	if err != nil {
		return 0, err
	}
	defer file.Abort()
	if t.to == "gram" {
		err = m.Write(ctx, file)
	} else {
		err = t.writeLIBSVM(ctx, e, file, m)
	}
	if err != nil {
		return 0, err
	}
	return file.Commit()
}

// writeLIBSVM writes the model in LIBSVM's form, and says which number stands for which class where names aren't numbers.
func (t *trainRun) writeLIBSVM(ctx context.Context, e *env, w io.Writer, m *model.Model) error {
	labels, err := m.WriteLIBSVM(ctx, w, model.LIBSVMOptions{Precomputed: t.to == "libsvm-precomputed"})
	if err != nil {
		return err
	}
	for i, name := range m.Classes {
		if v, err := strconv.ParseFloat(name, 64); err != nil || v != float64(labels[i]) {
			fmt.Fprintf(e.stderr, "grambench: label %d stands for class %s\n", labels[i], name)
		}
	}
	return nil
}
