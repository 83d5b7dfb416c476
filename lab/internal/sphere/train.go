package sphere

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/archive"
	"github.com/gramengine/gram/internal/learn/lbfgs"
	"github.com/gramengine/gram/internal/learn/logistic"
	"github.com/gramengine/gram/internal/learn/task"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Settings holds the training settings. The zero value selects the defaults.
type Settings struct {
	C      float64       `param:"c" default:"10" above:"0" max:"+Inf" flag:""` // +Inf means no regularisation
	Scheme solver.Scheme `param:"scheme" default:"one-vs-rest" min:"1" max:"2" flag:""`

	// Weights maps the name of a class to a factor for the losses of its documents, as in package
	// logistic. Models don't contain Weights.
	Weights  map[string]float64 `param:"weight" above:"0" wants:"CLASS=W, a number above 0" flag:""`
	Balanced bool               `param:"balanced" flag:""`

	// Tolerance stops the optimisation when the gradient norm falls below 2·Tolerance times the
	// gradient norm of the Euclidean objective at w = 0.
	Tolerance  float64 `param:"tolerance" default:"1e-4" above:"0" below:"1" flag:""`
	Iterations int     `param:"iterations" default:"1000" min:"1" help:"maximum number of iterations"`
}

func (s Settings) resolve() (Settings, error) {
	err := params.Resolve(&s)
	if err != nil {
		err = fmt.Errorf("sphere: %w", err)
	}
	return s, err
}

// Options controls training and predictions, see package task.
type Options = task.Options

// Classifier is a trained decision function f for a class against the other classes. P(class | x)
// is 1/(1 + e^-f(x)).
type Classifier struct {
	Weights      []float64 `json:"-"` // û, indexed by column of the embedding
	Objective    float64   `json:"objective"`
	GradientNorm float64   `json:"gradient"`
	Iterations   int       `json:"iterations"`
	Evaluations  int       `json:"evaluations"` // number of evaluations of the objective and its gradient
	Converged    bool      `json:"converged"`   // true if the tolerance was reached or the value stopped decreasing
	Theta        float64   `json:"theta"`       // θ; 0 if the decision function is the constant Bias
	// ThetaAtMax is true if θ is at its maximum, as for separable documents without regularisation.
	ThetaAtMax bool    `json:"theta_bounded,omitempty"`
	Bias       float64 `json:"bias"`
}

// Problem is a set of training documents. It may be used concurrently.
type Problem struct {
	*task.TrainingMatrix
	squaredNorms []float64 // Σ values² of each document
	columnCount  int       // number of columns of the embedding
}

// NewProblem copies the listed rows of embedded documents. If a value is negative, it fails with a
// [sparse.ValueError].
func NewProblem(x *sparse.Embedded, rows []int) (*Problem, error) {
	if err := checkNonnegative(x, 0); err != nil {
		return nil, err
	}
	p := &Problem{TrainingMatrix: task.NewTrainingMatrix(x, rows), columnCount: x.Cols}
	for i := range rows {
		_, values := p.Rows.Row(i)
		p.squaredNorms = append(p.squaredNorms, squaredNorm(values))
	}
	return p, nil
}

func squaredNorm(values []float32) (sum float64) {
	for _, v := range values {
		sum += float64(v) * float64(v)
	}
	return sum
}

// checkNonnegative returns an error for the first negative value. In the error, documents are
// numbered from first.
func checkNonnegative(x *sparse.Embedded, first int) error {
	for i := range x.Rows() {
		terms, values := x.Row(i)
		if at := slices.IndexFunc(values, func(v float32) bool { return v < 0 }); at >= 0 {
			return &sparse.ValueError{
				Row: first + i, Term: x.Embedder.Terms[terms[at]], Value: values[at],
				Expected: fmt.Sprintf("nonnegative in embedding %s to lie on the positive sphere", x.Embedder),
			}
		}
	}
	return nil
}

// Train trains a binary classifier for each C in cValues. If cValues is nil, it uses Settings.C.
// positive[i] is true if document i has the class. If no document or every document has the class,
// θ is 0, and the bias gives the class a probability of 1/(n+2) or (n+1)/(n+2) (Laplace's rule of
// succession).
func (p *Problem) Train(
	ctx context.Context, positive []bool, cValues []float64, s Settings, workers int,
) ([]*Classifier, error) {
	s, err := s.resolve()
	if err != nil {
		return nil, err
	}
	if cValues == nil {
		cValues = []float64{s.C}
	}
	return p.train(ctx, task.BinaryProblem{Positive: positive, Workers: run.NumWorkers(workers)}, cValues, s)
}

func (p *Problem) train(
	ctx context.Context, k task.BinaryProblem, cValues []float64, s Settings,
) (out []*Classifier, err error) {
	if bias, ok := logistic.ConstantBias(k.Positive); ok {
		for range cValues {
			out = append(out, &Classifier{Weights: make([]float64, p.columnCount), Bias: bias, Converged: true})
		}
		return out, nil
	}
	o := newObjective(p, k)
	reference, err := o.ZeroGradientNorm(ctx)
	if err != nil {
		return nil, err
	}
	const gained = 1e-3 // minimum decrease of the objective in ten steps, relative to the tolerance
	stop := lbfgs.Criteria{
		GradientThreshold: s.Tolerance * 2 * reference, MinDecrease: s.Tolerance * gained, MaxIterations: s.Iterations,
	}
	w := make([]float64, len(p.Terms))
	for _, c := range cValues {
		clear(w)
		o.c = c
		if err := o.start(ctx, w, reference); err != nil { // an optimisation that starts near 0 would stay there
			return nil, err
		}
		m, err := lbfgs.Minimise(ctx, o.value, w, stop)
		if err != nil {
			return nil, err
		}
		length := math.Sqrt(lbfgs.Dot(m.W, m.W))
		machine := &Classifier{
			Weights: make([]float64, p.columnCount), Theta: min(length, maxTheta), ThetaAtMax: length >= maxTheta,
			Objective:    m.Value,
			GradientNorm: m.GradientNorm, Iterations: m.Iterations, Evaluations: m.Evaluations, Converged: m.Converged,
		}
		for j, t := range p.Terms {
			machine.Weights[t] = m.W[j] * (1 / length)
		}
		out = append(out, machine)
	}
	return out, nil
}

// Train trains a model on the labelled documents of a corpus. If labels are trained independently,
// unlabelled documents are also used. Train neither changes nor retains the corpus. Results are
// bit-identical for any number of workers.
//
// Train fails if there are no documents, or too few classes for the scheme. It fails if the
// embedding isn't compared by dot products, a value is negative, or a setting is out of range. It
// also fails if memory is insufficient, and within a second after ctx is done.
func Train(ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, opt Options) (*Model, error) {
	models, err := TrainPath(ctx, c, e, s, nil, opt)
	if err != nil {
		return nil, err
	}
	return models[0], nil
}

// TrainPath is like [Train], but trains a model for each C in cValues. If cValues is nil, it uses
// Settings.C.
func TrainPath(
	ctx context.Context, c *corpus.Corpus, e sparse.Embedding, s Settings, cValues []float64, opt Options,
) (_ []*Model, err error) {
	if s, err = s.resolve(); err != nil {
		return nil, err
	}
	t := &task.Training{Options: opt, Name: "sphere", Corpus: c, Scheme: s.Scheme, CValues: cValues}
	if err := t.Prepare(ctx, e, s.C, s.Weights, s.Balanced); err != nil {
		return nil, err
	}
	s.Weights, s.Balanced = nil, false
	err = run.CheckMemory(logistic.TrainBytes(c.Size(), len(t.CValues), opt.Workers), opt.MemoryBytes,
		"sphere: training on %d documents with %d values in total", c.Documents.Rows(), c.Documents.NNZ())
	if err != nil {
		return nil, err
	}
	x, err := e.Fit(c.Documents).TransformRows(ctx, c.Documents, nil, t.Workers)
	if err != nil {
		return nil, err
	}
	p, err := NewProblem(x, t.Rows)
	if err != nil {
		return nil, err
	}
	p.Weights = t.DocumentWeights
	machines := make([][]*Classifier, len(c.Classes))
	err = t.ForEachClass(ctx, func(ctx context.Context, k task.BinaryProblem) (err error) {
		machines[k.Index], err = p.train(ctx, k, t.CValues, s)
		return err
	})
	if err != nil {
		return nil, err
	}
	origin := archive.OriginOf(c, c.Digest())
	var out []*Model
	for i, penalty := range t.CValues {
		m := &Model{Origin: origin, Settings: s, Embedder: x.Embedder}
		m.Settings.C = penalty
		for _, own := range machines {
			if own == nil { // the class is mirrored, see [task.Training.IsBinary]
				m.Classifiers = append(m.Classifiers, m.Classifiers[0].negated())
			} else {
				m.Classifiers = append(m.Classifiers, own[i])
			}
		}
		out = append(out, m)
	}
	return out, nil
}

func (m *Classifier) negated() *Classifier {
	out := *m
	out.Bias, out.Weights = -m.Bias, slices.Clone(m.Weights)
	lbfgs.Scale(out.Weights, -1)
	return &out
}
