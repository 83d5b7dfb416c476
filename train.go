package gram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// TrainOptions say what is trained. With the zero value a support vector machine is trained whose
// kernel, C and scheme are chosen by cross-validation on samples, as grambench train does.
type TrainOptions struct {
	Options

	// Type is c_svc (default), nu_svc, one_class, epsilon_svr, nu_svr, or a learner with its parameters,
	// such as "logistic", "linear:loss=hinge" or "knn:k=7"; learn.Help lists them.
	Type string

	Kernel    string // specification, or a name whose parameter is chosen; default chosen for text, else diffusion:t=0.5
	Embedding string // of documents; default that of the kernel or the learner
	Scheme    string // one-vs-one, one-vs-rest or labels; default chosen, and labels where documents have several

	C             float64            // price of a violated margin; default chosen for text, else 1
	Nu            float64            // of nu_svc, one_class, nu_svr: a bound on the share of errors; default 0.5
	Epsilon       float64            // of epsilon_svr: width of the zone without loss; default 0.1
	Weights       map[string]float64 // multiples of C by class; default 1
	Balanced      bool               // weigh classes by what makes up for their sizes
	Probabilities bool               // train for probabilities, too, with five more trainings per machine
	Thresholds    bool               // tune the threshold of each label; always where C is chosen for labels
	Tolerance     float64            // default that of the learner; 10⁻³ for support vector machines
	Seed          uint64             // of folds and samples; default 1

	// ChooseWork is what the choice may cost, as a multiple of the training; 0 is 1, below 0 nothing is
	// chosen.
	ChooseWork float64
}

// Train trains a model on labelled documents. The model has the same bits from any number of workers
// and from run to run.
//
// Errors: options out of range, documents without labels or of one class, values that the embedding
// refuses, more memory than o allows.
func Train(ctx context.Context, c *sparse.Corpus, o TrainOptions) (*Model, error) {
	if err := checked(ctx, c); err != nil {
		return nil, err
	}
	t, err := o.task(c)
	if err != nil {
		return nil, err
	}
	if t.trainer != nil {
		m, err := t.trainer.Train(ctx, c, t.o)
		if err != nil {
			return nil, c.NameValue(err)
		}
		return &Model{m: m, o: o.Options}, nil
	}
	if t.chooses {
		t.settings.Thresholds = t.settings.Scheme == solver.Labels
		from, err := t.given.Candidates(c, t.settings)
		if err != nil {
			return nil, err
		}
		from.LeastC = true
		chosen, err := svm.Choose(ctx, c, t.settings, from, o.svm())
		if err != nil {
			return nil, c.NameValue(err)
		}
		if chosen.Why != "" {
			o.warn("nothing was compared: %s; %s with C = %v is taken", chosen.Why, chosen.Settings.Kernel, chosen.Settings.C)
		}
		t.settings = chosen.Settings
	}
	own := o.svm()
	own.Once = true
	p, err := svm.NewProblem(ctx, c, t.settings.Kernel.Embedding(), own)
	if err != nil {
		return nil, c.NameValue(err)
	}
	m, report, err := p.Train(ctx, t.settings)
	if err != nil {
		return nil, err
	}
	for _, w := range report.Warnings {
		o.warn("%s", w)
	}
	if report.Unfinished > 0 {
		o.warn("%d of %d machines stopped before the tolerance was reached", report.Unfinished, report.Machines)
	}
	return &Model{m: learn.Machines{Model: m}, o: o.Options}, nil
}

// task is what options mean for a corpus: a learner's trainer, or settings of support vector machines.
type task struct {
	learner *learn.Learner
	trainer learn.Trainer
	o       learn.Options

	settings svm.Settings
	spec     string // of the kernel
	given    learn.Given
	may      bool // choose kernel, C and scheme, as far as the options say
	chooses  bool
}

// types are the problems of support vector machines.
var types = []model.Type{model.CSVC, model.NuSVC, model.OneClass, model.EpsilonSVR, model.NuSVR}

func (o *TrainOptions) task(c *sparse.Corpus) (*task, error) {
	scheme, err := o.scheme(c)
	if err != nil {
		return nil, err
	}
	if math.IsNaN(o.ChooseWork) {
		return nil, errors.New("gram: ChooseWork NaN, expected a number")
	}
	work, seed := cmp.Or(o.ChooseWork, 1), cmp.Or(o.Seed, 1)
	var embedding *sparse.Embedding
	if o.Embedding != "" {
		e, err := sparse.ParseEmbedding(o.Embedding)
		if err != nil {
			return nil, err
		}
		embedding = &e
	}
	vectors := c.Vocabulary == nil && o.Kernel == "" && o.Embedding == "" && c.Documents.NoCounts() != ""
	l, trainer, err := learn.Parse(o.Type)
	if err != nil {
		return nil, err
	}
	if l != nil {
		own := o.learn()
		own.C, own.Kernel, own.Embedding, own.Scheme = o.C, o.Kernel, embedding, scheme
		own.Tolerance, own.Seed, own.Choose = o.Tolerance, seed, work > 0
		if vectors {
			own.Vectors = learn.VectorEmbedding(c)
		}
		if own.Scheme == solver.OneVsOne {
			own.Scheme = solver.OneVsRest
		}
		return &task{learner: l, trainer: trainer, o: own}, trainer.Check(own)
	}
	t := &task{
		settings: svm.Settings{
			Type: model.Type(strings.ReplaceAll(strings.ToLower(cmp.Or(o.Type, string(model.CSVC))), "-", "_")), Scheme: scheme,
			C: cmp.Or(o.C, 1), Nu: cmp.Or(o.Nu, 0.5), Epsilon: cmp.Or(o.Epsilon, 0.1), Weights: o.Weights,
			Balanced: o.Balanced, Tolerance: o.Tolerance, Probabilities: o.Probabilities, Seed: seed,
		},
		given: learn.Given{Kernel: o.Kernel, C: o.C, Scheme: o.Scheme != "", Work: work, Seed: seed},
	}
	if !slices.Contains(types, t.settings.Type) {
		return nil, fmt.Errorf("gram: type %q, expected one of %v, or a learner: %s", o.Type, types,
			strings.Join(learn.Names(), ", "))
	}
	if o.Embedding != "" {
		t.given.Embeddings = []string{o.Embedding}
	}
	t.spec = cmp.Or(o.Kernel, svm.DefaultKernel)
	if t.given.Vectors = vectors; vectors {
		t.spec = learn.VectorKernel
	}
	if t.settings.Kernel, err = o.kernelIn(t.spec, o.Embedding); err != nil {
		return nil, err
	}
	own := slices.ContainsFunc(o.Kernels, func(k engine.Kernel) bool { return k != nil && k.String() == o.Kernel })
	t.may = work > 0 && t.settings.Type == model.CSVC && !own && !(o.C != 0 && t.given.Fixed())
	t.chooses = t.may && (vectors || c.Vocabulary != nil)
	if t.settings.Thresholds = o.Thresholds; o.Thresholds && scheme != solver.Labels {
		return nil, fmt.Errorf("gram: Thresholds with %s, expected labels", scheme)
	}
	return t, nil
}

// scheme returns the scheme that was asked for, or labels where documents have several.
func (o *TrainOptions) scheme(c *sparse.Corpus) (solver.Scheme, error) {
	if o.Scheme == "" {
		for i := range c.Documents.Rows() {
			if len(c.Labels.Of(i)) > 1 {
				return solver.Labels, nil
			}
		}
		return solver.OneVsOne, nil
	}
	for _, s := range []solver.Scheme{solver.OneVsOne, solver.OneVsRest, solver.Labels} {
		if s.String() == o.Scheme {
			return s, nil
		}
	}
	return 0, fmt.Errorf("gram: scheme %q, expected one-vs-one, one-vs-rest or labels", o.Scheme)
}

// svm returns the options as package svm has them.
func (o *Options) svm() svm.Options {
	return svm.Options{
		ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes,
		Progress: func(p svm.Progress) { o.tell(p.Stage, p.Done, p.Total) },
	}
}
