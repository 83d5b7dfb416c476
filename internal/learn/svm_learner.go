package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
)

func newSVMLearner(t model.Type, summary string) *Learner {
	return &Learner{
		Name: string(t), Summary: summary, Type: t,
		FilePrefix: model.Format.Name, Read: ReadFunc(&model.Format,
			func(m *model.Model) Model { return KernelMachine{Model: m} }),
		New:             func() Trainer { return newSVMTrainer(t) },
		SupportsWeights: true,
	}
}

var svmLearners = []*Learner{
	newSVMLearner(model.CSVC, "C-support vector classification, multiclass or multilabel"),
	newSVMLearner(model.NuSVC, "ν-support vector classification; ν bounds the fraction of margin errors"),
	newSVMLearner(model.OneClass, "one-class SVM for novelty detection"),
	newSVMLearner(model.EpsilonSVR, "ε-support vector regression"),
	newSVMLearner(model.NuSVR, "ν-support vector regression; ν bounds the fraction of errors above ε"),
}

type svmTrainer struct {
	params.Record
	svm.Settings
	Kernel    string    `param:"kernel" flag:""`
	Embedding Embedding `param:"embed" flag:""`
}

func newSVMTrainer(t model.Type) *svmTrainer { return &svmTrainer{Settings: svm.Settings{Type: t}} }

// HiddenNames implements params.Hider. It returns the parameters that this type of SVM doesn't
// have.
func (t *svmTrainer) HiddenNames() (names []string) {
	used := t.Type.UsedRegularization(solver.Regularization{C: 1, Nu: 1, Epsilon: 1})
	for name, has := range map[string]bool{
		"c": used.C > 0, "nu": used.Nu > 0, "epsilon": used.Epsilon > 0, "weight": t.Type == model.CSVC,
		"balanced": t.Type == model.CSVC, "scheme": t.Type.Classifies(), "probabilities": t.Type.Classifies(),
		"thresholds": t.Type.Classifies(), "reject": t.Type.Classifies(),
	} {
		if !has {
			names = append(names, name)
		}
	}
	return names
}

func (t *svmTrainer) EstimateMemory(s corpus.Size, _ int64, count, folds, workers int) int64 {
	return svm.EstimateBytes(s, workers, svm.PlannedRun{Settings: svm.Settings{Type: t.Type}, Folds: folds,
		RegularizationCount: count})
}

// kernelOf returns the kernel of a specification with embedding e. The kernel may be user-defined.
func (o *Options) kernelOf(spec string, e Embedding) (kernel.Kernel, error) {
	switch {
	case spec == model.Precomputed:
		return kernel.Precomputed(), nil
	case e.Embedding != nil:
		return kernel.ParseIn(spec, *e.Embedding, o.Kernels...)
	}
	return kernel.Parse(spec, o.Kernels...)
}

func (o *Options) isUserKernel(spec string) bool {
	_, err := kernel.Parse(spec)
	_, known := kernel.Parse(spec, o.Kernels...)
	return err != nil && known == nil
}

func (t *svmTrainer) settings(o *Options) (svm.Settings, error) {
	s := t.Settings
	s.Seed = o.Seed
	rejects := s.Rejection != svm.RejectionTarget{}
	s.Calibrated = s.Calibrated || rejects
	if rejects && s.Scheme == solver.MultiLabel {
		return s, flagtext.Errorf("-reject %s requires c_svc or nu_svc with one class per document, got %s with scheme %s",
			s.Rejection, t.Type, s.Scheme)
	}
	err := params.Resolve(&s)
	if err == nil {
		s.Kernel, err = o.kernelOf(t.spec(o), t.Embedding)
	}
	return s, err
}

// SettingsOf returns the parameters of a trainer of support vector machines as svm.Settings.
func SettingsOf(t Trainer, o Options) (svm.Settings, error) {
	own, ok := t.(*svmTrainer)
	if !ok {
		return svm.Settings{}, fmt.Errorf("learn: the trainer must be for support vector machines, got %T", t)
	}
	return own.settings(&o)
}

func (t *svmTrainer) checkReject(c *corpus.Corpus) error {
	if t.IsSet("reject") && slices.Contains(c.Classes, RejectedLabel) {
		return flagtext.Errorf("-reject %s: rename the class %[3]s of %[2]s, because it denotes rejected "+
			"documents", t.Rejection, c.Source, RejectedLabel)
	}
	return nil
}

func (t *svmTrainer) Check(o Options) error {
	_, err := t.settings(&o)
	return err
}

func (t *svmTrainer) options(o *Options, tasks ...svm.PlannedRun) svm.Options {
	own := o.svmOptions()
	if own.PlannedRuns, own.AutomaticKernel = tasks, t.Kernel == "" || t.usesDiffusion(o); o.SolverProgress != nil {
		own.Progress = o.SolverProgress
	}
	return own
}

func (t *svmTrainer) usesDiffusion(o *Options) bool {
	k, err := o.kernelOf(t.Kernel, t.Embedding)
	return err == nil && IsDiffusion(k)
}

// problem prepares documents for training with kernels. All kernels must have the same embedding.
func (o *Options) problem(
	ctx context.Context, c *corpus.Corpus, kernels []kernel.Kernel, own svm.Options,
) (p *svm.Problem, err error) {
	if kernel.IsPrecomputed(kernels[0]) {
		p, err = svm.NewPrecomputed(ctx, c, own)
	} else {
		p, err = svm.NewProblem(ctx, c, kernels[0].Embedding(), own)
	}
	if err != nil {
		return nil, c.DescribeError(err)
	}
	if o.OnProblem != nil {
		err = o.OnProblem(p, kernels)
	}
	return p, err
}

// constraints returns the settings that the user fixed. If embeddings isn't empty, only these
// embeddings are allowed.
func (t *svmTrainer) constraints(o *Options, embeddings []string) *Constraints {
	g := &Constraints{
		Kernel: t.Kernel, Embeddings: embeddings,
		Regularization: solver.Regularization{C: t.C, Epsilon: t.Epsilon}, SchemeFixed: t.IsSet("scheme"),
		WorkBudget: o.WorkBudget, Seed: o.Seed,
		UseVectorKernels: (t.needsVectorKernel(o) || o.VectorDefaults != nil &&
			slices.Contains(vectorKernelFamilies, t.Kernel)) && !o.VectorDefaults.hasTermWeights &&
			(len(embeddings) == 0 || t.IsSet("embed")),
	}
	if t.Embedding.Embedding != nil {
		g.Embeddings = []string{t.Embedding.String()}
	}
	return g
}

func (t *svmTrainer) needsVectorKernel(o *Options) bool {
	return t.Kernel == "" && o.VectorDefaults != nil
}

func (t *svmTrainer) spec(o *Options) string {
	switch {
	case t.needsVectorKernel(o) && t.Embedding.Embedding != nil:
		return "rbf"
	case t.needsVectorKernel(o):
		return o.VectorDefaults.Kernel
	}
	return cmp.Or(t.Kernel, svm.DefaultKernel)
}

// mayChoose reports whether unset parameters (kernel, C, scheme and epsilon) may be selected.
func (t *svmTrainer) mayChoose(o *Options) bool {
	return o.WorkBudget > 0 && SelectsParameters(t.Type) && t.Kernel != model.Precomputed &&
		!o.isUserKernel(t.Kernel) && !(t.IsSet("c") && t.constraints(o, nil).KernelFixed())
}

// SelectsParameters reports whether training an SVM of type t may select unset parameters. nu_svc
// has no C, and one_class has no labels for validation.
func SelectsParameters(t model.Type) bool {
	return t == model.CSVC || t == model.EpsilonSVR || t == model.NuSVR
}

// candidates returns the values to compare, and the settings that the candidates don't override.
func (t *svmTrainer) candidates(
	o *Options, c *corpus.Corpus, s svm.Settings, embeddings []string,
) (from tune.Candidates, _ svm.Settings, err error) {
	s.TuneThresholds = s.Type.Classifies() && s.Scheme == solver.MultiLabel && (t.TuneThresholds || !t.IsSet("thresholds"))
	if s, err = s.Resolve(); err == nil {
		from, err = t.constraints(o, embeddings).Candidates(c, s)
	}
	if s.Measure() == tune.MeanSquaredError && !t.IsSet("tolerance") {
		s.Tolerance = run.RoundSignificant(from.ParameterUnit*s.Tolerance, 12) // the tolerance is in units of the targets
	}
	from.LowMemory = o.MemoryBytes > 0
	return from, s, err
}

func isMemoryError(err error) bool {
	memory := (*corpus.MemoryError)(nil)
	return errors.As(err, &memory)
}

// choose selects unset parameters and, if texts were kept, the tokenizer. It returns the documents
// as tokenized by the selected tokenizer, or nil if c's tokenizer was selected.
func (t *svmTrainer) choose(
	ctx context.Context, c *corpus.Corpus, s svm.Settings, o Options, trained *TrainingResult,
) (cut *corpus.Corpus, err error) {
	begin := time.Now()
	from, with, err := t.candidates(&o, c, s, nil)
	if err != nil {
		return nil, err
	}
	if from.PreferSmallC = true; !t.constraints(&o, nil).KernelFixed() {
		from.FinerNeighbours = NeighbourKernels
	}
	terms, reading, err := o.compareTokenizers(ctx, c, DefaultTerms(c), t.constraints(&o, nil), &from)
	if err != nil {
		return nil, err
	}
	var tasks []svm.PlannedRun // final training run for each scheme
	for _, scheme := range from.Schemes {
		next := with
		next.Scheme = scheme
		tasks = append(tasks, svm.PlannedRun{Settings: next})
	}
	if with.Calibrated && !svm.CanCalibrate(c, from.Schemes[len(from.Schemes)-1]) {
		from.SupervisedKernels = nil // with supervised embeddings, probabilities require a calibration
	}
	whole := with
	// Probabilities aren't needed to compare candidates.
	with.Calibrated, with.Probabilities, with.Rejection = false, false, svm.RejectionTarget{}
	on := &svm.SampleEvaluator{Corpus: c, Settings: with, Candidates: &from, Options: t.options(&o, tasks...)}
	found, err := tune.Choose(ctx, c, from, on)
	if err != nil {
		return nil, err
	}
	trained.Search = t.newSearchResult(found, on, terms, time.Since(begin))
	chosen := &trained.Search.Choice.Settings
	if n := c.Documents.Rows(); n >= minReportedDocuments {
		price := strconv.FormatFloat(chosen.C, 'g', -1, 64)
		settings := []string{chosen.Kernel.String(), "C = " + price}
		if t.Type.Classifies() {
			settings = append(settings, chosen.Scheme.String())
		}
		if terms != nil {
			settings = append(settings, terms[found.Tokenizer].String())
		}
		o.Infof("selected %s; training on %s", strings.Join(settings, ", "), pluralize(n, "document", "documents"))
	}
	if chosen.Calibrated, chosen.Rejection = whole.Calibrated, whole.Rejection; found.Tokenizer == 0 {
		return nil, nil
	}
	if cut, found.Corpus = found.Corpus, nil; cut == nil {
		return terms[found.Tokenizer].Tokenize(ctx, c, reading)
	}
	cut.Raw = corpus.Raw{}
	return cut, nil
}

// minReportedDocuments is the minimum number of documents at which the chosen settings are reported
// before training, because training may take long. A test lowers this minimum.
var minReportedDocuments = 20_000

func (t *svmTrainer) chosenProblem(
	ctx context.Context, c *corpus.Corpus, s svm.Settings, o Options, trained *TrainingResult,
) (*svm.Problem, error) {
	if t.mayChoose(&o) && (c.Vocabulary != nil || t.needsVectorKernel(&o)) {
		cut, err := t.choose(ctx, c, s, o, trained)
		if err != nil {
			return nil, err
		}
		if s = trained.Search.Choice.Settings; cut != nil {
			o.HeldBytes += c.Documents.Bytes()
			c = cut
		}
		if trained.LinearAlternative, err = t.linearAlternative(ctx, c, trained.Search.Choice, o); err != nil {
			return nil, err
		}
		if v := trained.LinearAlternative; v != nil {
			o.Infof("-type linear has %s %s on the same folds and needs much less time and memory", v.Measure,
				v.Measure.Format(v.Mean))
		}
	}
	trained.Settings, trained.ValueCount = s, c.Documents.NNZ()
	own := t.options(&o, svm.PlannedRun{Settings: s})
	own.SingleUse = true
	return o.problem(ctx, c, []kernel.Kernel{s.Kernel}, own)
}

// mayUseLinear reports whether the settings allow linear models instead of an SVM.
func (t *svmTrainer) mayUseLinear(o *Options) bool {
	given := slices.ContainsFunc([]string{"kernel", "embed", "c", "reject"}, t.IsSet)
	return t.Type == model.CSVC && t.mayChoose(o) && !given && o.Device == nil && !t.Calibrated && !t.TuneThresholds &&
		!(t.IsSet("scheme") && t.Scheme == solver.OneVsOne)
}

// minLinearDocuments is the minimum number of documents at which an SVM takes far more time and
// memory than linear models. The kernel matrix of so many documents takes 1.6 GB.
var minLinearDocuments = 20000

func (t *svmTrainer) newLinearTrainer() *linearTrainer {
	l := &linearTrainer{Record: t.Record}
	l.Weights, l.Balanced, l.Tolerance = t.Weights, t.Balanced, t.Settings.Tolerance
	l.Scheme = max(t.Scheme, solver.OneVsRest)
	return l
}

// linearAlternative cross-validates linear models on the documents and folds of the choice's last
// round. It returns nil for fewer than minLinearDocuments documents, for vectors and for
// independent labels, and if memory doesn't suffice. It also returns nil if the mean accuracy of
// the linear models is more than one standard error below the accuracy of the best SVM.
func (t *svmTrainer) linearAlternative(
	ctx context.Context, c *corpus.Corpus, chosen *SVMChoice, o Options,
) (*Validation, error) {
	if c.Documents.Rows() < minLinearDocuments || chosen.Sample == nil || chosen.Settings.Measure() != tune.Accuracy ||
		c.Vocabulary == nil {
		return nil, nil
	}
	last := &chosen.Rounds[len(chosen.Rounds)-1]
	o.MemoryBytes = MemoryLeft(o.MemoryBytes, o.HeldBytes+2*c.Documents.Bytes())
	v, err := CrossValidate(ctx, c.Select(chosen.Sample), t.newLinearTrainer(), o, last.Folds)
	if err != nil || !(v.Mean >= last.Points[last.BestIndex].Mean-last.StandardError()) {
		if isMemoryError(err) {
			err = nil
		}
		return nil, err
	}
	return v, nil
}

// trainLinear trains linear models after an SVM failed with the memory error cause. If memory
// doesn't suffice for linear models either, it returns the error that reports less needed memory.
func (t *svmTrainer) trainLinear(ctx context.Context, c *corpus.Corpus, o Options, cause error) (Model, error) {
	held := o.HeldBytes + c.Documents.Bytes()
	o.MemoryBytes = MemoryLeft(o.MemoryBytes, held)
	m, err := t.newLinearTrainer().Train(ctx, c, o)
	if own := (*run.MemoryError)(nil); errors.As(err, &own) {
		kernels := (*run.MemoryError)(nil)
		if errors.As(cause, &kernels) && kernels.NeedBytes < own.NeedBytes+held {
			return nil, cause
		}
		return nil, withMemoryInUse(err, held)
	}
	if err == nil {
		o.Warnf("%v: training linear SVMs instead", cause)
	}
	return m, err
}

// Train implements Trainer. For text, and for vectors whose values aren't counts, it selects unset
// parameters. If memory doesn't suffice for an SVM on text, and no parameter requires an SVM, it
// trains linear models and warns. It releases the corpus before it computes the kernel matrix.
func (t *svmTrainer) Train(ctx context.Context, c *corpus.Corpus, o Options) (Model, error) {
	s, err := t.settings(&o)
	if err == nil {
		err = t.checkReject(c)
	}
	if err != nil {
		return nil, err
	}
	trained := &TrainingResult{}
	p, err := t.chosenProblem(ctx, c, s, o, trained)
	if c.HasRawDocuments() && isMemoryError(err) { // retry without texts, which are needed only to try other terms
		words := *c
		words.Raw = corpus.Raw{}
		c = &words
		p, err = t.chosenProblem(ctx, c, s, o, trained)
	}
	if isMemoryError(err) && t.mayUseLinear(&o) && c.Vocabulary != nil {
		return t.trainLinear(ctx, c, o, err)
	}
	if err != nil {
		return nil, c.DescribeError(err)
	}
	s = trained.Settings
	m, report, err := p.Train(ctx, s)
	if err != nil {
		return nil, err
	}
	trained.Report = *report
	if n := int(m.NumDocuments); t.Type == model.EpsilonSVR && n > 0 && trained.Search == nil {
		if bounded := m.Classifier.Functions[0].Bounded; bounded >= n-n/10 {
			o.Warnf("C = %[3]g may be too small, because %[1]d of %[2]d documents are at this bound; "+
				"try larger values of C and epsilon", bounded, n, s.C)
		}
	}
	return KernelMachine{m, trained}, nil
}

func validationOf(t model.Type, p tune.Point) *Validation {
	out := &Validation{
		Point: Point{Trainer: newSVMTrainer(t), Kernel: p.Kernel.String(), Spec: string(t), Scheme: p.Scheme,
			Tokenizer: p.Tokenizer},
		Convergence: Convergence{UnfinishedCount: p.UnfinishedCount}, Result: p.Result,
	}
	out.Regularization = t.UsedRegularization(p.Regularization)
	out.About = About{Type: string(t), Kernel: out.Kernel, Embedding: p.Kernel.Embedding().String(),
		Scheme: p.Scheme, Regularization: out.Regularization, Convergence: out.Convergence}
	return out
}
