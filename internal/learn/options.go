package learn

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

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

// Options say how something is computed, not what: that is in the parameters of a [Trainer]. The zero value works.
type Options struct {
	Seed    uint64   // of folds, of samples, and of what a learner draws
	Vectors *Vectors // defaults for vectors that aren't counts; nil for text and counts

	// Work is what a choice of parameters that aren't given may cost, as a multiple of the training; 0:
	// none are chosen.
	Work float64

	ISA         string // "" for the best
	Workers     int    // 0 for one per processor
	MemoryBytes int64  // 0 for no bound
	HeldBytes   int64  // what the process holds beside a predictor or support vector machines, see [Ready]

	// Device is that of engine.Options, for predictions and support vector machines; nil for none.
	Device func(ctx context.Context, x *sparse.Embedded) (engine.Device, error)

	Kernels []kernel.Kernel // of the program's own, for predictions and support vector machines

	Ready Predictor // of [ExplainDocument]: the model, made ready; nil where it must be made so

	// Prepared is called with each problem of support vector machines before it is solved, and the
	// kernels that it is for. Its error ends the work. Nil for none.
	Prepared func(p *svm.Problem, kernels []kernel.Kernel) error

	Solver   func(svm.Progress)                                       // in place of Progress, of those; nil for none
	Progress func(stage string, done, total int64, details ...string) // nil for none
	Warn     func(format string, args ...any)                         // nil for none
	Say      func(format string, args ...any)                         // what was found on the way; nil for none
}

// VectorKernel is the default kernel of vectors that are no counts: with a gamma of one divided by the
// number of columns, on columns of variance 1, as gamma='scale' of scikit-learn.
const VectorKernel = "rbf:embed=standard"

// Embedding is a parameter: the embedding of documents; nil for the kernel's own, or one that suits.
type Embedding struct{ *sparse.Embedding }

// UnmarshalText reads the embedding's specification.
func (e *Embedding) UnmarshalText(text []byte) error {
	own, err := sparse.ParseEmbedding(string(text))
	e.Embedding = &own
	return err
}

// String returns the specification, "" for none.
func (e Embedding) String() string {
	if e.Embedding == nil {
		return ""
	}
	return e.Embedding.String()
}

// kernelIn returns a kernel in an embedding. If none is given it is one for counts, or one that suits vectors.
func (o *Options) kernelIn(given, counts string, e Embedding) (string, error) {
	spec := cmp.Or(given, counts)
	switch {
	case given != "":
	case e.Embedding != nil && e.Scales():
		spec = "rbf"
	case e.Embedding == nil && o.Vectors != nil:
		spec = o.Vectors.Kernel
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

// Tell reports progress.
func (o *Options) Tell(stage string, done, total int64, details ...string) {
	if o.Progress != nil {
		o.Progress(stage, done, total, details...)
	}
}

// Task returns the options of learners that use package task.
func (o *Options) Task() task.Options {
	return task.Options{Workers: o.Workers, MemoryBytes: o.MemoryBytes, Progress: o.told}
}

// told is Tell for a learner.
func (o *Options) told(p run.Progress) { o.Tell(p.Stage, p.Done, p.Total, p.Details...) }

// Warning passes a warning on.
func (o *Options) Warning(format string, args ...any) {
	if o.Warn != nil {
		o.Warn(format, args...)
	}
}

// Saying says what was found on the way.
func (o *Options) Saying(format string, args ...any) {
	if o.Say != nil {
		o.Say(format, args...)
	}
}

// SchemeOf returns the scheme of a trainer, the first one of learners that have none.
func SchemeOf(t Trainer) solver.Scheme {
	scheme, _ := params.Get(t, "scheme").(solver.Scheme)
	return scheme
}

// Suit sets parameters that follow from a corpus: labels, if a document has several and no scheme is given, and weights
// by the names of its classes, of which "+1" is 1. Errors: a weight for a class that the corpus doesn't have; labels
// that can't be classes, see [corpus.Corpus.CheckClasses].
func (l *Learner) Suit(t Trainer, c *corpus.Corpus) error {
	for i := range c.Documents.Rows() {
		if n := len(c.Labels.Of(i)); n > 1 && !t.Given("scheme") && (l.Type == "" || l.Type.Classifies()) {
			if params.Assume(t, "scheme", solver.Labels.String()) != nil {
				return flagtext.Errorf("-type %s gives each document one class, found %d of %s", l.Name, n, c.DocumentName(i))
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
			return flagtext.Errorf("-weight for class %q, which %s doesn't have, expected one of %s", name, c.Source,
				strings.Join(c.Classes[:min(len(c.Classes), 20)], ", "))
		}
		delete(weights, name)
		weights[own] = w
	}
	if tune, _ := params.Get(t, "thresholds").(bool); tune && SchemeOf(t) != solver.Labels {
		return flagtext.Errorf("-thresholds 1 with %s: labels have thresholds, expected -scheme labels", SchemeOf(t))
	}
	if l.Type == "" || l.Type.Classifies() {
		return c.CheckClasses()
	}
	return nil
}
