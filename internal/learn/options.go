package learn

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Options are settings other than the parameters of a [Trainer]. The zero value works.
type Options struct {
	Seed           uint64          // seed of folds, samples and learners
	VectorDefaults *VectorDefaults // defaults for vectors whose values aren't counts; nil for text and counts

	// WorkBudget is the time budget for choosing unset parameters, in multiples of one training
	// run. If it is 0, nothing is chosen.
	WorkBudget float64

	ISA         string // instruction set; "" = best available
	Workers     int    // number of goroutines; 0 = one per CPU
	MemoryBytes int64  // memory limit in bytes; 0 = no limit
	HeldBytes   int64  // memory in use by the rest of the process, subtracted from MemoryBytes by predictors and SVMs

	// Device creates the device for predictions and support vector machines, see engine.Options;
	// nil = no device.
	Device func(ctx context.Context, x *sparse.Embedded) (engine.Device, error)

	Kernels []kernel.Kernel // user-defined kernels, for predictions and support vector machines

	Predictor Predictor // predictor of the model, for explanations and evaluations

	// OnProblem is called with each SVM problem and its kernels before the problem is solved. An
	// error from OnProblem stops the work. OnProblem may be nil.
	OnProblem func(p *svm.Problem, kernels []kernel.Kernel) error

	SolverProgress func(svm.Progress)                                       // replaces Progress for SVMs; may be nil
	Progress       func(stage string, done, total int64, details ...string) // receives progress; may be nil
	Warn           func(format string, args ...any)                         // receives warnings; may be nil
	Info           func(format string, args ...any)                         // receives intermediate results; may be nil
}

// VectorKernel is the default kernel for vectors whose values aren't counts. Columns are scaled to
// variance 1. gamma is 1 divided by the number of columns, as with gamma='scale' in scikit-learn.
const VectorKernel = "rbf:embed=standard"

// Embedding is a trainer's parameter for the document embedding. If it is nil, the embedding of the
// kernel is used or, for learners without a kernel, the learner's default.
type Embedding struct{ *sparse.Embedding }

// UnmarshalText parses text, an embedding specification, and sets e. It fails if text is invalid.
func (e *Embedding) UnmarshalText(text []byte) error {
	own, err := sparse.ParseEmbedding(string(text))
	e.Embedding = &own
	return err
}

// String returns the specification, or "" if e is nil.
func (e Embedding) String() string {
	if e.Embedding == nil {
		return ""
	}
	return e.Embedding.String()
}

// addEmbedding returns the requested kernel specification with embedding e. If requested is "", the
// kernel is rbf if e scales columns. If e is nil and o.VectorDefaults is set, the default kernel
// for vectors is used. Otherwise the kernel is countKernel.
func (o *Options) addEmbedding(requested, countKernel string, e Embedding) (string, error) {
	spec := cmp.Or(requested, countKernel)
	switch {
	case requested != "":
	case e.Embedding != nil && e.Scales():
		spec = "rbf"
	case e.Embedding == nil && o.VectorDefaults != nil:
		spec = o.VectorDefaults.Kernel
	}
	if e.Embedding == nil {
		return spec, nil
	}
	k, err := kernel.ParseIn(spec, *e.Embedding)
	if err != nil {
		return spec, err
	}
	return k.String(), nil
}

func (o *Options) ReportProgress(stage string, done, total int64, details ...string) {
	if o.Progress != nil {
		o.Progress(stage, done, total, details...)
	}
}

// TaskOptions converts the options for learners that use package task.
func (o *Options) TaskOptions() task.Options {
	return task.Options{ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes, Progress: o.reportRun}
}

func (o *Options) reportRun(p run.Progress) { o.ReportProgress(p.Stage, p.Done, p.Total, p.Details...) }

func (o *Options) Warnf(format string, args ...any) {
	if o.Warn != nil {
		o.Warn(format, args...)
	}
}

func (o *Options) Infof(format string, args ...any) {
	if o.Info != nil {
		o.Info(format, args...)
	}
}

// SchemeOf returns the scheme of a trainer, or the zero value if the trainer has none.
func SchemeOf(t Trainer) solver.Scheme {
	scheme, _ := params.Get(t, "scheme").(solver.Scheme)
	return scheme
}

// AdaptTrainer sets parameters that depend on the corpus. It sets the scheme to labels if a
// document has several labels and no scheme is set. In class weights, it replaces names such as
// "+1" by the class name "1" of the corpus. It fails if the learner requires one label per
// document, if a weight is for an unknown class, if thresholds are set without independent labels,
// or if labels can't be classes ([corpus.Corpus.CheckClasses]).
func (l *Learner) AdaptTrainer(t Trainer, c *corpus.Corpus) error {
	for i := range c.Documents.Rows() {
		if n := len(c.Labels.Classes(i)); n > 1 && !t.IsSet("scheme") && (l.Type == "" || l.Type.Classifies()) {
			if params.SetUnrecorded(t, "scheme", solver.MultiLabel.String()) != nil {
				return flagtext.Errorf("-type %s requires one class per document, but got %d for %s", l.Name, n, c.DocumentName(i))
			}
			break
		}
	}
	weights, _ := params.Get(t, "weight").(map[string]float64)
	for name, w := range weights {
		own := name
		if v, err := strconv.ParseFloat(name, 64); err == nil && !slices.Contains(c.Classes, name) {
			own = strconv.FormatFloat(v+0, 'g', -1, 64)
		}
		if !slices.Contains(c.Classes, own) {
			return flagtext.Errorf("-weight: %q is not a class of %s; valid classes are %s", name, c.Source,
				firstNames(c.Classes))
		}
		delete(weights, name)
		weights[own] = w
	}
	if tune, _ := params.Get(t, "thresholds").(bool); tune && SchemeOf(t) != solver.MultiLabel {
		return flagtext.Errorf("-thresholds 1 requires -scheme labels, got %s", SchemeOf(t))
	}
	if l.Type == "" || l.Type.Classifies() {
		return c.CheckClasses()
	}
	return nil
}
