package learn

import (
	"cmp"
	"context"
	"errors"
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

func machinesOf(t model.Type, summary string) *Learner {
	return &Learner{
		Name: string(t), Summary: summary, Type: t,
		Form: model.Form.Name, Read: Reads(&model.Form, func(m *model.Model) Model { return KernelMachine{Model: m} }),
		New:    func() Trainer { return machinesLike(t) },
		Weighs: true,
	}
}

var machineLearners = []*Learner{
	machinesOf(model.CSVC, "C-support vector classification, multiclass or multilabel"),
	machinesOf(model.NuSVC, "ν-support vector classification; ν bounds the fraction of margin errors"),
	machinesOf(model.OneClass, "one-class SVM for novelty detection"),
	machinesOf(model.EpsilonSVR, "ε-support vector regression"),
	machinesOf(model.NuSVR, "ν-support vector regression; ν bounds the fraction of errors above ε"),
}

// machines trains support vector machines of one type.
type machines struct {
	params.Record
	svm.Settings
	Kernel    string    `param:"kernel" flag:""`
	Embedding Embedding `param:"embed" flag:""`
}

func machinesLike(t model.Type) *machines { return &machines{Settings: svm.Settings{Type: t}} }

// Hidden implements params.Hiding. It returns the parameters that this type of SVM doesn't have.
func (t *machines) Hidden() (names []string) {
	used := t.Type.Used(solver.Regularization{C: 1, Nu: 1, Epsilon: 1})
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

func (t *machines) Need(s corpus.Size, _ int64, count, folds, workers int) int64 {
	return svm.TrainBytes(s, workers, svm.Task{Settings: svm.Settings{Type: t.Type}, Folds: folds, Cells: count})
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

// own reports whether a specification names a user-defined kernel.
func (o *Options) own(spec string) bool {
	_, err := kernel.Parse(spec)
	_, known := kernel.Parse(spec, o.Kernels...)
	return err != nil && known == nil
}

func (t *machines) settings(o *Options) (svm.Settings, error) {
	s := t.Settings
	s.Seed = o.Seed
	rejects := s.Reject != svm.RejectionTarget{}
	s.Calibrated = s.Calibrated || rejects
	if rejects && s.Scheme == solver.Labels {
		return s, flagtext.Errorf("-reject %s requires c_svc or nu_svc with one class per document, got %s, %s", s.Reject,
			t.Type, s.Scheme)
	}
	err := params.Resolve(&s)
	if err == nil {
		s.Kernel, err = o.kernelOf(t.spec(o), t.Embedding)
	}
	return s, err
}

// SettingsOf returns the parameters of a trainer of support vector machines as svm.Settings.
func SettingsOf(t Trainer, o Options) (svm.Settings, error) {
	own, ok := t.(*machines)
	if !ok {
		return svm.Settings{}, errors.New("learn: model is not a support vector machine")
	}
	return own.settings(&o)
}

// checkReject returns an error if a class has the same name as the label of rejected documents.
func (t *machines) checkReject(c *corpus.Corpus) error {
	if t.Given("reject") && slices.Contains(c.Classes, NoAnswer) {
		return flagtext.Errorf("-reject %s: rename the class %[3]s of %[2]s, because it denotes rejected "+
			"documents", t.Reject, c.Source, NoAnswer)
	}
	return nil
}

func (t *machines) Check(o Options) error {
	_, err := t.settings(&o)
	return err
}

func (t *machines) options(o *Options, tasks ...svm.Task) svm.Options {
	own := o.machines()
	if own.Tasks, own.Unnamed = tasks, t.Kernel == "" || t.proposed(o); o.Solver != nil {
		own.Progress = o.Solver
	}
	return own
}

// proposed reports whether [Proposes] is true for the kernel.
func (t *machines) proposed(o *Options) bool {
	k, err := o.kernelOf(t.Kernel, t.Embedding)
	return err == nil && Proposes(k)
}

// problem prepares documents for training with kernels, which must all have the same embedding.
func (o *Options) problem(
	ctx context.Context, c *corpus.Corpus, kernels []kernel.Kernel, own svm.Options,
) (p *svm.Problem, err error) {
	if kernel.IsPrecomputed(kernels[0]) {
		p, err = svm.NewPrecomputed(ctx, c, own)
	} else {
		p, err = svm.NewProblem(ctx, c, kernels[0].Embedding(), own)
	}
	if err != nil {
		return nil, c.NameValue(err)
	}
	if o.Prepared != nil {
		err = o.Prepared(p, kernels)
	}
	return p, err
}

// given returns the settings that the user fixed. If embeddings isn't empty, no other embeddings
// are tried.
func (t *machines) given(o *Options, embeddings []string) *Constraints {
	g := &Constraints{
		Kernel: t.Kernel, Embeddings: embeddings,
		Regularization: solver.Regularization{C: t.C, Epsilon: t.Epsilon}, Scheme: t.Given("scheme"),
		Work: o.Work, Seed: o.Seed,
		Vectors: (t.ofVectors(o) || o.Vectors != nil && slices.Contains(vectorFamilies, t.Kernel)) && !o.Vectors.weights &&
			(len(embeddings) == 0 || t.Given("embed")),
	}
	if t.Embedding.Embedding != nil {
		g.Embeddings = []string{t.Embedding.String()}
	}
	return g
}

// ofVectors reports whether a kernel for vectors must be chosen.
func (t *machines) ofVectors(o *Options) bool { return t.Kernel == "" && o.Vectors != nil }

// spec returns the requested kernel, or a default that suits the documents.
func (t *machines) spec(o *Options) string {
	switch {
	case t.ofVectors(o) && t.Embedding.Embedding != nil:
		return "rbf"
	case t.ofVectors(o):
		return o.Vectors.Kernel
	}
	return cmp.Or(t.Kernel, svm.DefaultKernel)
}

// mayChoose reports whether unset parameters (kernel, C, scheme and epsilon) may be selected.
func (t *machines) mayChoose(o *Options) bool {
	return o.Work > 0 && Chooses(t.Type) && t.Kernel != model.Precomputed &&
		!o.own(t.Kernel) && !(t.Given("c") && t.given(o, nil).Fixed())
}

// Chooses reports whether training of the type may select unset parameters. nu_svc has no C, and
// one_class has no labels for validation.
func Chooses(t model.Type) bool { return t == model.CSVC || t == model.EpsilonSVR || t == model.NuSVR }

// candidates returns the values to choose from, and the settings with which they are tried.
func (t *machines) candidates(
	o *Options, c *corpus.Corpus, s svm.Settings, embeddings []string,
) (from tune.Candidates, _ svm.Settings, err error) {
	s.Thresholds = s.Type.Classifies() && s.Scheme == solver.Labels && (t.Thresholds || !t.Given("thresholds"))
	if s, err = s.Resolve(); err == nil {
		from, err = t.given(o, embeddings).Candidates(c, s)
	}
	if s.Measure() == tune.MeanSquaredError && !t.Given("tolerance") {
		s.Tolerance = run.Round(from.Unit*s.Tolerance, 12) // the tolerance has the unit of the targets
	}
	from.LowMemory = o.MemoryBytes > 0
	return from, s, err
}

// short reports whether err is a memory error.
func short(err error) bool {
	memory := (*corpus.MemoryError)(nil)
	return errors.As(err, &memory)
}

// choose selects unset parameters and, if texts were kept, the tokenizer. It returns the documents
// as tokenized by the selected tokenizer, or nil if c's tokenizer was selected.
func (t *machines) choose(
	ctx context.Context, c *corpus.Corpus, s svm.Settings, o Options, trained *Trained,
) (cut *corpus.Corpus, err error) {
	begin := time.Now()
	from, with, err := t.candidates(&o, c, s, nil)
	if err != nil {
		return nil, err
	}
	if from.MinC = true; !t.given(&o, nil).Fixed() {
		from.Finer = Near
	}
	terms, reading, err := o.cutting(ctx, c, DefaultTerms(c), t.given(&o, nil), &from)
	if err != nil {
		return nil, err
	}
	var tasks []svm.Task // tasks of the training that follows
	for _, scheme := range from.Schemes {
		next := with
		next.Scheme = scheme
		tasks = append(tasks, svm.Task{Settings: next})
	}
	if with.Calibrated && !svm.Calibrates(c, from.Schemes[len(from.Schemes)-1]) {
		from.Supervised = nil // supervised embeddings need calibrated probabilities
	}
	whole := with
	// the choice doesn't compute probabilities
	with.Calibrated, with.Probabilities, with.Reject = false, false, svm.RejectionTarget{}
	on := &svm.Samples{Corpus: c, Settings: with, From: &from, Options: t.options(&o, tasks...)}
	found, err := tune.Choose(ctx, c, from, on)
	if err != nil {
		return nil, err
	}
	trained.Tried = t.foundOf(found, on, terms, time.Since(begin))
	chosen := &trained.Tried.Chosen.Settings
	if n := c.Documents.Rows(); n >= longFrom {
		price := strconv.FormatFloat(chosen.C, 'g', -1, 64)
		settings := []string{chosen.Kernel.String(), "C = " + price}
		if t.Type.Classifies() {
			settings = append(settings, chosen.Scheme.String())
		}
		if terms != nil {
			settings = append(settings, terms[found.Terms].String())
		}
		o.Report("selected %s; training on %s", strings.Join(settings, ", "), counted(n, "document", "documents"))
	}
	if chosen.Calibrated, chosen.Reject = whole.Calibrated, whole.Reject; found.Terms == 0 {
		return nil, nil
	}
	if cut, found.Corpus = found.Corpus, nil; cut == nil {
		return terms[found.Terms].Tokenize(ctx, c, reading)
	}
	cut.Raw = corpus.Raw{}
	return cut, nil
}

// longFrom is the minimum number of documents at which the chosen settings are reported before
// training, because training may take long. A test lowers it.
var longFrom = 20_000

// chosenProblem selects unset parameters, and prepares the documents for training with them.
func (t *machines) chosenProblem(
	ctx context.Context, c *corpus.Corpus, s svm.Settings, o Options, trained *Trained,
) (*svm.Problem, error) {
	if t.mayChoose(&o) && (c.Vocabulary != nil || t.ofVectors(&o)) {
		cut, err := t.choose(ctx, c, s, o, trained)
		if err != nil {
			return nil, err
		}
		if s = trained.Tried.Chosen.Settings; cut != nil {
			o.HeldBytes += c.Documents.Bytes()
			c = cut
		}
		if trained.Linear, err = t.lineAlternative(ctx, c, trained.Tried.Chosen, o); err != nil {
			return nil, err
		}
		if v := trained.Linear; v != nil {
			o.Report("-type linear reaches %s %s on the same folds and needs much less time and memory", v.Measure,
				v.Measure.Format(v.Mean))
		}
	}
	trained.Settings, trained.Values = s, c.Documents.NNZ()
	own := t.options(&o, svm.Task{Settings: s})
	own.Once = true
	return o.problem(ctx, c, []kernel.Kernel{s.Kernel}, own)
}

// mayFall reports whether no setting requires an SVM, so that linear models may replace the SVM.
func (t *machines) mayFall(o *Options) bool {
	given := slices.ContainsFunc([]string{"kernel", "embed", "c", "reject"}, t.Given)
	return t.Type == model.CSVC && t.mayChoose(o) && !given && o.Device == nil && !t.Calibrated && !t.Thresholds &&
		!(t.Given("scheme") && t.Scheme == solver.OneVsOne)
}

// manyDocuments is the minimum number of documents at which an SVM takes far more time and memory
// than linear models. The kernel matrix of so many documents takes 1.6 GB.
var manyDocuments = 20000

// lines returns a trainer of linear models with the parameters that it shares with t.
func (t *machines) lines() *lines {
	l := &lines{Record: t.Record}
	l.Weights, l.Balanced, l.Tolerance = t.Weights, t.Balanced, t.Settings.Tolerance
	l.Scheme = max(t.Scheme, solver.OneVsRest)
	return l
}

// lineAlternative cross-validates linear models on the documents and folds of the choice's last
// round, if there are at least manyDocuments documents. It returns nil unless the mean accuracy of
// the linear models is at most one standard error below the best SVM's.
func (t *machines) lineAlternative(
	ctx context.Context, c *corpus.Corpus, chosen *Chosen, o Options,
) (*Validation, error) {
	if c.Documents.Rows() < manyDocuments || chosen.Sample == nil || chosen.Settings.Measure() != tune.Accuracy ||
		c.Vocabulary == nil {
		return nil, nil
	}
	last := &chosen.Rounds[len(chosen.Rounds)-1]
	o.MemoryBytes = MemoryLeft(o.MemoryBytes, o.HeldBytes+2*c.Documents.Bytes())
	v, err := CrossValidate(ctx, c.Select(chosen.Sample), t.lines(), o, last.Folds)
	if err != nil || !(v.Mean >= last.Points[last.Best].Mean-last.Chance()) {
		if short(err) {
			err = nil
		}
		return nil, err
	}
	return v, nil
}

// linesFor trains linear models after an SVM failed with the memory error cause. If memory doesn't
// suffice for linear models either, it returns the error with the smaller need.
func (t *machines) linesFor(ctx context.Context, c *corpus.Corpus, o Options, cause error) (Model, error) {
	held := o.HeldBytes + c.Documents.Bytes()
	o.MemoryBytes = MemoryLeft(o.MemoryBytes, held)
	m, err := t.lines().Train(ctx, c, o)
	if own := (*run.MemoryError)(nil); errors.As(err, &own) {
		kernels := (*run.MemoryError)(nil)
		if errors.As(cause, &kernels) && kernels.Need < own.Need+held {
			return nil, cause
		}
		return nil, counting(err, held)
	}
	if err == nil {
		o.Warning("%v: training linear SVMs instead", cause)
	}
	return m, err
}

// Train implements Trainer. For text, and for vectors whose values aren't counts, it selects unset
// parameters. If memory doesn't suffice for an SVM on text, and no parameter requires an SVM, it
// trains linear models and warns. It releases the corpus before it computes the kernel matrix.
func (t *machines) Train(ctx context.Context, c *corpus.Corpus, o Options) (Model, error) {
	s, err := t.settings(&o)
	if err == nil {
		err = t.checkReject(c)
	}
	if err != nil {
		return nil, err
	}
	trained := &Trained{}
	p, err := t.chosenProblem(ctx, c, s, o, trained)
	if c.Kept() && short(err) { // retry without texts, which are needed only to try other terms
		words := *c
		words.Raw = corpus.Raw{}
		c = &words
		p, err = t.chosenProblem(ctx, c, s, o, trained)
	}
	if short(err) && t.mayFall(&o) && c.Vocabulary != nil {
		return t.linesFor(ctx, c, o, err)
	}
	if err != nil {
		return nil, c.NameValue(err)
	}
	s = trained.Settings
	m, report, err := p.Train(ctx, s)
	if err != nil {
		return nil, err
	}
	trained.Report = *report
	if n := int(m.Documents); t.Type == model.EpsilonSVR && n > 0 && trained.Tried == nil {
		if bounded := m.Classifier.Functions[0].Bounded; bounded >= n-n/10 {
			o.Warning("C = %[3]g may be too small, because %[1]d of %[2]d documents are at this bound; "+
				"try larger values of C and epsilon", bounded, n, s.C)
		}
	}
	return KernelMachine{m, trained}, nil
}

// validationOf converts point p to a Validation for SVMs of type t.
func validationOf(t model.Type, p tune.Point) *Validation {
	out := &Validation{
		Point: Point{Trainer: machinesLike(t), Kernel: p.Kernel.String(), Spec: string(t), Scheme: p.Scheme, Terms: p.Terms},
		Ended: Convergence{Unfinished: p.Unfinished}, Result: p.Result,
	}
	out.Regularization = t.Used(p.Regularization)
	out.About = About{Type: string(t), Kernel: out.Kernel, Embedding: p.Kernel.Embedding().String(),
		Scheme: p.Scheme, Regularization: out.Regularization, Ended: out.Ended}
	return out
}
