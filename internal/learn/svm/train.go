package svm

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Settings are the parameters of training.
type Settings struct {
	Type   model.Type    // type of the SVM; default c_svc
	Kernel kernel.Kernel // kernel, default diffusion:t=0.5
	Scheme solver.Scheme `param:"scheme" max:"2" flag:""` // documents with several labels need solver.MultiLabel

	// C is multiplied by the weights of a document (corpus.Corpus) and of its class.
	C       float64 `param:"c" default:"1" above:"0" flag:""`
	Nu      float64 `param:"nu" default:"0.5" above:"0" max:"1" flag:""` // nu of nu_svc, one_class and nu_svr
	Epsilon float64 `param:"epsilon" default:"0.1" above:"0" flag:""`    // epsilon of epsilon_svr, in the targets' unit

	// Weights maps class names to factors of C. Default: 1.
	Weights map[string]float64 `param:"weight" above:"0" wants:"CLASS=W, a number above 0" flag:""`

	// Balanced weights each class not named in Weights inversely to the class's size. The weight is
	// the number of other documents divided by the class's size. In one-vs-one, it is the mean class
	// size divided by the class's size. Document weights are ignored. Default: no.
	Balanced bool `param:"balanced" flag:""`

	Tolerance         float64   `param:"tolerance" default:"1e-3" above:"0" flag:""`
	Shrinking         Shrinking `param:"shrinking" default:"1" max:"1" wants:"0 or 1" flag:""`
	Probabilities     bool      // true to compute probabilities by a sigmoid per binary classifier, as in LIBSVM
	Calibrated        bool      `param:"probabilities" wants:"0 or 1" flag:""` // calibrate probabilities, see Train
	TuneThresholds    bool      `param:"thresholds" wants:"0 or 1" flag:""`    // tune label thresholds on folds
	IndependentLabels bool      // for solver.MultiLabel: true to train a separate problem per label, see solver.Training
	Seed              uint64    // seed of the folds for probabilities and thresholds

	// Rejection leaves uncertain documents without a class. It needs one class per document.
	Rejection RejectionTarget `param:"reject" wants:"error=E or coverage=C in (0, 1], such as error=2%" flag:""`

	maxSteps int // maximum number of steps per problem; 0 = the solver's default
}

// Shrinking is the parameter shrinking, like LIBSVM's -h. The zero value enables shrinking and is
// formatted as 1.
type Shrinking int

func (s Shrinking) String() string {
	if s == 0 {
		return "1"
	}
	return "0"
}

func (s *Settings) regularization() solver.Regularization {
	return solver.Regularization{C: s.C, Nu: s.Nu, Epsilon: s.Epsilon}
}

// UsedRegularization returns the regularization parameters that the type uses.
func (s *Settings) UsedRegularization() solver.Regularization {
	return s.Type.UsedRegularization(s.regularization())
}

// SettingsOf returns the known parameters of a model's training.
func SettingsOf(m *model.Model) Settings {
	s := Settings{Type: m.Type}
	_ = params.SetAll(&s, m.Parameters) // a file may have invalid values, which keep the defaults
	return s
}

func (s *Settings) hasRejection() bool { return s.Rejection != RejectionTarget{} }

// DefaultKernel is the specification of the default kernel.
const DefaultKernel = "diffusion:t=0.5"

// Resolve sets defaults and clears parameters that the type doesn't use. It fails if a parameter is
// out of range.
func (s Settings) Resolve() (Settings, error) {
	if s.Type == "" {
		s.Type = model.CSVC
	}
	if s.Kernel == nil {
		s.Kernel = kernel.MustParse(DefaultKernel)
	}
	if err := params.Resolve(&s); err != nil {
		return s, fmt.Errorf("svm: %w", err)
	}
	used := s.UsedRegularization()
	s.Nu, s.Epsilon = used.Nu, used.Epsilon
	s.Calibrated = s.Calibrated || s.hasRejection()
	s.Probabilities = s.Probabilities || s.Calibrated
	return s, nil
}

// Train trains a model. Tiles are computed first if the whole matrix fits into memory, otherwise on
// demand.
//
// Calibrated probabilities are fitted to held-out decision values of five folds. A fold has
// consecutive documents of each class in corpus order. The training runs for the folds reuse the
// full matrix, unless the embedding is supervised. A supervised embedding is fitted to the other
// folds. Each binary classifier gets a sigmoid, and the sigmoids' probabilities are coupled
// ([solver.Classifier.Probabilities]). Unless labels are independent, a [solver.Temperature] of the
// probabilities or of the log odds is added if it reduces the log loss. For this comparison, the
// temperature for each fold is fitted on the other folds. If [CanCalibrate] is false, sigmoids are
// fitted as if Calibrated were false. In this case, Train fails if the embedding is supervised or
// Rejection is set.
//
// Rejection tunes a threshold of the largest probability on the same folds; see tuneRejection.
//
// The model is bit-identical for any number of workers, and in every run with the same settings and
// memory. Train fails if the kernel's embedding differs from the problem's, if labels don't suit
// the type, if all documents of a classification are of one class, if parameters are out of range,
// if memory doesn't suffice, or if ctx is done.
func (p *Problem) Train(ctx context.Context, s Settings) (*model.Model, *Report, error) {
	s, err := p.resolve(s)
	if err != nil {
		return nil, nil, err
	}
	report := &Report{Warnings: p.warningsBefore(&s)}
	c, err := p.trainClassifiers(ctx, &s, nil, report)
	if err != nil {
		return nil, nil, err
	}
	report.Thresholds, report.Temperature, report.Rejection = c.Thresholds, c.Temperature, c.Rejection
	out := p.model(c, &s)
	report.addClassifiers(c, out)
	report.Warnings = append(report.Warnings, p.warningsAfter(report)...)
	return out, report, nil
}

// resolve sets defaults, kernel parameters that depend on the documents, and balanced weights.
func (p *Problem) resolve(s Settings) (Settings, error) {
	s, err := p.withKernel(s).Resolve()
	if err != nil {
		return s, err
	}
	s.Kernel = kernel.Resolve(s.Kernel, p.TermCount())
	s.Weights, s.Balanced = p.weights(&s), false
	return s, nil
}

func (p *Problem) withKernel(s Settings) Settings {
	if p.values != nil && s.Kernel == nil {
		s.Kernel = kernel.Precomputed()
	}
	return s
}

// trainClassifiers trains the binary classifiers with indices in only (nil = all). It first
// computes the matrix, or only the matrix of usedDocuments, if it fits into memory.
func (p *Problem) trainClassifiers(
	ctx context.Context, s *Settings, only []int, report *Report,
) (*solver.Classifier, error) {
	opt, err := p.solverOptions(PlannedRun{Settings: *s})
	if err != nil {
		return nil, err
	}
	calibrated := s.Calibrated && only == nil && p.canCalibrate(s)
	if s.hasRejection() && !calibrated {
		return nil, fmt.Errorf("svm: rejection requires all binary classifiers, at least 5 documents, 2 classes with at " +
			"least 2 documents each, and at most 2^27 decision values")
	}
	begin := time.Now()
	known, err := p.predictSupervised(ctx, s, calibrated) // runs before the matrix of all documents occupies the memory
	if err != nil {
		return nil, err
	}
	held := time.Since(begin)
	begin = time.Now()
	g, err := p.gram(s.Kernel)
	if err != nil {
		return nil, err
	}
	var docs []int // documents of the matrix; nil for all
	if g.rows != nil {
		docs = p.usedDocuments(s, only)
	}
	m, free, err := g.trainingMatrix(ctx, docs)
	if err != nil {
		return nil, err
	}
	defer free()
	report.Gram = time.Since(begin)
	begin = time.Now()
	p.training.Store(true)
	defer p.training.Store(false)
	own := *s
	own.Probabilities = s.Probabilities && !calibrated
	own.TuneThresholds = s.TuneThresholds && known.thresholds == nil
	c, err := p.trainClassifier(ctx, m, &own, only, docs, opt)
	if err == nil && known.thresholds != nil {
		c.Thresholds = known.thresholds
		err = c.Thresholds.Apply(c)
	}
	if err == nil && calibrated {
		report.Calibration, report.Alternatives, err = p.calibrate(ctx, m, s, c, known)
	}
	report.Solve = held + time.Since(begin)
	return c, err
}

// usedDocuments returns the documents that the given binary classifiers use, in the order of the
// problem, if the matrix of only these documents is worth computing. It returns nil if part of the
// matrix has been computed, if more than 90% of the documents are used, or if the smaller matrix
// doesn't fit into memory. It also returns nil unless s is for one-vs-one classification and
// machines isn't nil.
func (p *Problem) usedDocuments(s *Settings, machines []int) []int {
	if machines == nil || !s.Type.Classifies() || s.Scheme != solver.OneVsOne || p.CacheStats().PairsComputed > 0 {
		return nil
	}
	wanted := make(map[int]bool, len(machines))
	for _, i := range machines {
		wanted[i] = true
	}
	read := make([]bool, len(p.corpus.Classes))
	for i, pair := range solver.ClassPairs(len(read)) {
		if wanted[i] {
			read[pair[0]], read[pair[1]] = true, true
		}
	}
	docs := []int{}
	for i := range p.Len() {
		if ids := p.corpus.labels.Classes(i); len(ids) > 0 && read[ids[0]] {
			docs = append(docs, i)
		}
	}
	const most = 0.9 // the matrix of 90% of the documents has about four fifths of all pairs
	if n := int64(len(docs)); float64(n) > most*float64(p.Len()) || foldMatrixBytes(n) > p.budget.tiles {
		return nil
	}
	return docs
}

func (p *Problem) solverTraining(s *Settings) (t solver.Training, err error) {
	t = solver.Training{Classes: len(p.corpus.Classes), Scheme: s.Scheme, IndependentLabels: s.IndependentLabels}
	if t.Parameters, err = p.parameters(s); err != nil {
		return t, err
	}
	switch {
	case s.Type == model.OneClass:
		t.OneClass, t.Labels = true, make([]int, p.Len())
		return t, nil
	case !s.Type.Classifies():
		t.Targets, err = p.targets()
		return t, err
	case s.Scheme != solver.MultiLabel:
		t.Labels, err = p.singleClasses()
		return t, err
	}
	t.LabelSets = p.labelSets()
	if s.TuneThresholds {
		f, err := p.divide(s, tune.Division{Folds: thresholdFolds, Seed: s.Seed}, false)
		if err != nil {
			return t, err
		}
		t.Folds = f.foldOf
	}
	return t, nil
}

// trainClassifier trains the binary classifiers with indices in only (nil = all) on the matrix of
// docs (nil = all documents).
func (p *Problem) trainClassifier(
	ctx context.Context, m solver.Matrix, s *Settings, only, docs []int, opt solver.Options,
) (*solver.Classifier, error) {
	t, err := p.solverTraining(s)
	if err != nil {
		return nil, err
	}
	if t.OnlyFunctions = only; docs != nil {
		t.Labels, t.DocumentWeights = run.Select(t.Labels, docs), run.Select(t.DocumentWeights, docs)
	}
	c, err := solver.Train(ctx, m, t, opt)
	if err != nil || docs == nil {
		return c, err
	}
	for _, machine := range c.Functions {
		if machine != nil {
			machine.Support = run.Select(docs, machine.Support)
		}
	}
	return c, nil
}

func (p *Problem) parameters(s *Settings) (solver.Parameters, error) {
	par := solver.Parameters{
		Regularization: s.regularization(), DocumentWeights: p.corpus.weights, Probabilities: s.Probabilities, Seed: s.Seed,
		ClassNames: p.corpus.Classes,
	}
	weights := p.weights(s)
	if len(weights) == 0 || !s.Type.Classifies() {
		return par, nil
	}
	par.Weights = slices.Repeat([]float64{1}, len(p.corpus.Classes))
	for name, w := range weights {
		c := slices.Index(p.corpus.Classes, name)
		if c < 0 {
			return par, fmt.Errorf("svm: class %q has a weight, but is not a class of %s", name, p.corpus.Source)
		}
		par.Weights[c] = w
	}
	return par, nil
}

func (p *Problem) weights(s *Settings) map[string]float64 {
	if !s.Balanced {
		return s.Weights
	}
	documents := make([]int, len(p.corpus.Classes))
	n := 0
	for i := range p.Len() {
		own := p.corpus.labels.Classes(i)
		if len(own) > 0 || s.Scheme == solver.MultiLabel {
			n++
		}
		for _, c := range own {
			documents[c]++
		}
	}
	out := map[string]float64{}
	for c, of := range documents {
		switch {
		case of == 0 || of == n:
		case s.Scheme == solver.OneVsOne:
			out[p.corpus.Classes[c]] = float64(n) / (float64(len(documents)) * float64(of))
		default:
			out[p.corpus.Classes[c]] = float64(n-of) / float64(of)
		}
		if own, ok := s.Weights[p.corpus.Classes[c]]; ok { // explicit weights take precedence
			out[p.corpus.Classes[c]] = own
		}
	}
	return out
}

func (p *Problem) model(c *solver.Classifier, s *Settings) *model.Model {
	rows := c.Support()
	at := make(map[int]int, len(rows))
	out := &model.Model{
		Origin: p.corpus.Origin, Type: s.Type, Kernel: s.Kernel.String(), Parameters: params.Values(s),
		Embedder: kernel.OpenEmbedder(s.Kernel, p.x.Embedder, p.corpus.Vocabulary),
		Support:  p.rawDocuments(rows), SupportDocs: make([]int64, len(rows)), SupportClasses: make([]int32, len(rows)),
		Classifier: solver.Classifier{
			Scheme: c.Scheme, Classes: c.Classes, Functions: make([]*solver.DecisionFunction, len(c.Functions)),
			AtLeastOneLabel: c.AtLeastOneLabel, Temperature: c.Temperature, Rejection: c.Rejection,
		},
	}
	if !s.Type.Classifies() {
		out.Classes = nil
	}
	if targets, err := p.targets(); err == nil && s.Measure() == tune.MeanSquaredError {
		out.TargetMean = new(stat.Mean(targets, nil))
	}
	for k, i := range rows {
		at[i] = k
		out.SupportDocs[k], out.SupportClasses[k] = int64(p.corpus.order[i]), -1
		if ids := p.corpus.labels.Classes(i); s.Type.Classifies() && len(ids) == 1 {
			out.SupportClasses[k] = ids[0]
		}
	}
	for i, machine := range c.Functions {
		if machine == nil {
			continue
		}
		own := *machine
		own.Support = make([]int, len(machine.Support))
		for t, row := range machine.Support {
			own.Support[t] = at[row]
		}
		out.Classifier.Functions[i] = &own
	}
	return out
}

// rawDocuments returns documents of the problem as in the corpus, without values that the embedding
// drops.
func (p *Problem) rawDocuments(rows []int) *sparse.CSR {
	var most int64 // initial capacity: number of embedded values, because growing slices could take twice the memory
	for _, i := range rows {
		most += p.x.Offsets[i+1] - p.x.Offsets[i]
	}
	out := &sparse.CSR{
		Cols: p.corpus.cols, Offsets: make([]int64, 1, len(rows)+1), Terms: make([]uint32, 0, most),
		Values: make([]float32, 0, most), Views: p.x.Embedder.Views,
	}
	for _, i := range rows {
		out.Terms, out.Values = appendRaw(p.x, i, out.Terms, out.Values)
		out.Offsets = append(out.Offsets, int64(len(out.Terms)))
	}
	return out
}

// appendRaw appends the original terms and values of row i of x, except terms that the embedding
// drops.
func appendRaw(x *sparse.Embedded, i int, terms []uint32, values []float32) ([]uint32, []float32) {
	f := x.Embedder
	columns, raw := x.Terms[x.Offsets[i]:x.Offsets[i+1]], x.RawValues[x.Offsets[i]:x.Offsets[i+1]]
	add := func(j int, v float32) {
		if v != 0 {
			terms, values = append(terms, f.Terms[j]), append(values, v)
		}
	}
	next := 0 // next column
	upTo := func(end int) {
		for ; f.Shifts != nil && next < end; next++ {
			add(next, float32(f.Shifts[next])) // x lacks values equal to the shift, which are scaled to 0
		}
		next = end + 1
	}
	for k, c := range columns {
		upTo(int(c))
		if int(c) < len(f.Terms) { // the last column is for documents without terms
			add(int(c), raw[k])
		}
	}
	upTo(len(f.Terms))
	return terms, values
}

func (p *Problem) warningsBefore(s *Settings) (warnings []string) {
	warn := func(format string, args ...any) { warnings = append(warnings, fmt.Sprintf(format, args...)) }
	if known := kernel.PropertiesOf(s.Kernel); known.Warning() != "" && !p.opt.AutomaticKernel {
		switch {
		case known.Definiteness != kernel.ConditionallyPositiveDefinite:
			warn(
				"kernel %s may not be positive definite (%s), so training may not reach the optimum",
				s.Kernel, known.Warning())
		case s.Type == model.OneClass:
			warn(
				"kernel %s is only conditionally positive definite, so one-class training may not reach "+
					"the optimum",
				s.Kernel,
			)
		default:
			warn(
				"kernel %s is only conditionally positive definite, which suffices for classification and "+
					"regression",
				s.Kernel,
			)
		}
	}
	if s.Type != model.OneClass && s.Scheme != solver.MultiLabel {
		if n := p.countUnlabelled(); n > 0 {
			warn("%d documents without labels are ignored", n)
		}
	}
	if n := p.EmptyCount(); n > 0 && p.values == nil {
		warn("%d documents are empty after embedding and cannot be distinguished", n)
	}
	return warnings
}
