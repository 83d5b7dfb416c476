package learn

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Options are what a learner is trained with beside its parameters, and how. The zero value works.
type Options struct {
	C         float64           // 0 where none is given
	Embedding *sparse.Embedding // nil where none is given
	Kernel    string            // specification, "" where none is given
	Vectors   *Vectors          // defaults for vectors that aren't counts; nil for text and counts
	Scheme    solver.Scheme     // see [Options.SetScheme]
	Tolerance float64           // 0 where none is given
	Seed      uint64
	Layers    string // kernels with ; between, or none; "" where they aren't given
	Width     string // auto, all, or numbers with commas between; "" where it isn't given

	// Work is what a choice of settings that aren't given may cost, as a multiple of the training; 0:
	// none are chosen.
	Work        float64
	FixedScheme bool // the scheme isn't chosen

	// Of support vector machines, as svm.Settings has them.
	Nu, Epsilon                         float64 // 0 where none is given
	Weights                             map[string]float64
	Balanced, Probabilities, Thresholds bool
	Reject                              string // error=2% or coverage=90%: class ? below a probability; "" for none
	NoThresholds                        bool   // not where settings are chosen, either
	KeepAll                             bool

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

// kernelOr is the kernel that was asked for, or one that suits the corpus: counts, or else vectors.
func (o *Options) kernelOr(counts string) string {
	switch {
	case o.Kernel != "":
		return o.Kernel
	case o.Embedding != nil && o.Embedding.Scales():
		return "rbf"
	case o.Embedding == nil && o.Vectors != nil:
		return o.Vectors.Kernel
	}
	return counts
}

// kernelIn is kernelOr in the embedding that was asked for.
func (o *Options) kernelIn(counts string) (string, error) {
	spec := o.kernelOr(counts)
	if o.Embedding == nil {
		return spec, nil
	}
	k, err := kernel.ParseIn(spec, *o.Embedding)
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

// SetScheme sets the scheme of a name: one-vs-one, one-vs-rest or labels. "" stands for labels where
// documents of the corpus, which may be nil, have several, and else for what the learner does by
// default; learners other than support vector machines have no one-vs-one. Errors: an unknown name, or one that
// the learner doesn't have; a learner of classes and labels that can't be classes, see [corpus.Corpus.CheckClasses].
func (o *Options) SetScheme(l *Learner, name string, c *corpus.Corpus) error {
	o.FixedScheme = name != ""
	schemes := []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.Labels}
	at := slices.IndexFunc(schemes, func(s solver.Scheme) bool { return s.String() == name })
	if o.FixedScheme && at < 0 {
		return fmt.Errorf("scheme %q, expected one-vs-one, one-vs-rest or labels", name)
	}
	o.Scheme = schemes[max(at, 0)]
	for i := 0; !o.FixedScheme && c != nil && i < c.Documents.Rows(); i++ {
		if len(c.Labels.Of(i)) > 1 {
			o.Scheme = solver.Labels
			break
		}
	}
	if o.Scheme == solver.OneVsOne && l != nil && l.Type == "" {
		if o.Scheme = solver.OneVsRest; o.FixedScheme {
			return flagtext.Errorf("-scheme one-vs-one does not apply to -type %s, expected one-vs-rest or labels", l.Name)
		}
	}
	if c != nil && l != nil && (l.Type == "" || l.Type.Classifies()) {
		return c.CheckClasses()
	}
	return nil
}
