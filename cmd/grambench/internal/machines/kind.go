package machines

import (
	"context"
	"errors"
	"fmt"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// trained is a model that predict has read: machines of package svm, or what a learner trained.
type trained interface {
	kind() *kind

	// ready makes it ready for predictions, in a process that holds so many bytes beside it.
	ready(ctx context.Context, r *predict, p *cli.Progress, documents *readDocuments, held int64) (predictor, error)
}

// predictor is a trained model made ready.
type predictor interface {
	Predict(ctx context.Context, docs *sparse.CSR) (*svm.Prediction, error)

	// holding returns it for a process that holds so many bytes beside it.
	holding(bytes int64) predictor

	// work says what was computed.
	work(r *predictReport)
}

// kind says what a model predicts.
type kind struct {
	typ, kernel, scheme string // kernel is empty where a learner has none

	classes  []string // nil for numbers
	machines []string // names of the decision values
	votes    bool     // which are votes: there are no machines
	labels   bool     // each for itself
	oneClass bool     // classes are 1 and -1 for documents like those of training and others
	numbers  bool     // regression

	probabilities bool
	support       int

	vocabulary []string
	bytes      int64 // of memory, about
}

// score compares predictions with labels.
func (k *kind) score(p *svm.Prediction, truth *sparse.Corpus) (*svm.Score, error) {
	switch {
	case k.oneClass:
		return p.Score(&model.Model{Type: model.OneClass}, truth)
	case k.numbers:
		return svm.ScoreValues(p.Value, truth)
	case k.labels:
		return svm.ScoreLabels(k.classes, p.Labels, truth)
	}
	return svm.ScoreClasses(k.classes, p.Class, truth)
}

// machineModel is a model of package svm.
type machineModel struct{ *model.Model }

func (m machineModel) kind() *kind {
	k := &kind{
		typ: string(m.Type), kernel: m.Kernel, machines: machineNames(m.Model), oneClass: m.Type == model.OneClass,
		probabilities: hasProbabilities(m.Model), support: m.Support.Rows(), vocabulary: m.Vocabulary,
		bytes: modelBytes(m.Model),
	}
	k.numbers = !m.Type.Classifies() && !k.oneClass
	if m.Type.Classifies() {
		k.classes, k.scheme = m.Classes, m.Classifier.Scheme.String()
		k.labels = m.Classifier.Scheme == solver.Labels
	}
	return k
}

func (m machineModel) ready(
	ctx context.Context, r *predict, p *cli.Progress, documents *readDocuments, held int64,
) (predictor, error) {
	if r.OnGPU() && engine.IsHyperbolic(m.Kernel) {
		return nil, cli.Usagef(
			"-backend cuda with a model of sets of points: sets are compared by the processor, expected cpu",
		)
	}
	if r.OnGPU() && m.Kernel == model.Precomputed {
		return nil, cli.Usagef("-backend cuda with a model of a precomputed kernel, whose values are read, expected cpu")
	}
	out, err := svm.NewPredictorContext(ctx, m.Model, svm.PredictOptions{
		ISA: r.ISA, Workers: r.Workers, MemoryBytes: r.Budget(), HeldBytes: held,
		Progress: func(s svm.Progress) { p.Update(s.Done, s.Total) },
		Device: func(ctx context.Context, x *sparse.Embedded) (engine.Device, error) {
			return r.device(ctx, x, documents)
		},
	})
	if err != nil {
		return nil, err
	}
	return machinePredictor{out, r}, nil
}

// machinePredictor predicts with machines of package svm.
type machinePredictor struct {
	*svm.Predictor
	run *predict
}

func (p machinePredictor) holding(bytes int64) predictor {
	return machinePredictor{p.Holding(bytes), p.run}
}

func (p machinePredictor) work(r *predictReport) {
	r.ISA, r.Workers = string(asm.Generic), p.run.NumWorkers() // sets of points, or nothing to compute
	if e := p.Engine(); e != nil {
		s := e.Stats()
		r.ISA, r.Workers, r.Why = e.Backend(), e.Workers(), p.run.Why()
		r.DotProducts = s.Pairs
		r.SecondsGram = min((s.Load+s.Tail+s.Head+s.Close+s.Map).Seconds()/float64(e.Workers()), r.SecondsPredict)
		r.SecondsSolve -= r.SecondsGram
	}
}

// learnedModel is a model that a learner trained.
type learnedModel struct{ learn.Model }

func (m learnedModel) kind() *kind {
	a := m.About()
	return &kind{
		typ: a.Type, scheme: a.SchemeName(), classes: a.Classes, machines: a.Machines, votes: a.Votes,
		labels: a.Scheme == solver.Labels, probabilities: a.Probabilities, vocabulary: a.Vocabulary, bytes: a.Bytes,
	}
}

func (m learnedModel) ready(
	_ context.Context, r *predict, p *cli.Progress, _ *readDocuments, held int64,
) (predictor, error) {
	return learnedPredictor{m, r, p, held}, nil
}

// learnedPredictor predicts with a model that a learner trained.
type learnedPredictor struct {
	learnedModel
	run  *predict
	p    *cli.Progress
	held int64
}

func (p learnedPredictor) Predict(ctx context.Context, docs *sparse.CSR) (*svm.Prediction, error) {
	found, err := p.Model.Predict(ctx, docs, learn.Options{
		ISA: p.run.ISA, Workers: p.run.Workers, MemoryBytes: left(p.run.Budget(), p.held),
		Progress: func(_ string, done, total int64, _ ...string) { p.p.Update(done, total) },
	})
	return found, enough(err, p.held)
}

func (p learnedPredictor) holding(bytes int64) predictor {
	p.held = bytes
	return p
}

func (p learnedPredictor) work(r *predictReport) {
	r.ISA, r.Workers = p.run.ISA, p.run.NumWorkers()
	if r.ISA == "" {
		r.ISA = string(asm.Best().ISA)
	}
}

// enough says what -m would do, where an error knows how many bytes it takes beside what is held.
func enough(err error, held int64) error {
	var short interface{ Needed() int64 }
	if errors.As(err, &short) {
		return fmt.Errorf("%w: -m %dM or more", err, (short.Needed()+held)>>20+1)
	}
	return err
}

// left returns what a budget of memory leaves beside what is held, 0 for no bound.
func left(budget, held int64) int64 {
	if budget == 0 {
		return 0
	}
	return max(budget-held, 1)
}

// open reads a model of any kind.
func open(ctx context.Context, path string, early func(sparse.Tokenizer)) (trained, error) {
	if l := learn.Of(path); l != nil {
		m, err := l.Load(ctx, path, early)
		if err != nil {
			return nil, err
		}
		return learnedModel{m}, nil
	}
	m, err := model.LoadEarly(ctx, path, early)
	if err != nil {
		return nil, err
	}
	return machineModel{m}, nil
}

// heldBeside is what the process holds beside documents while it predicts.
func (k *kind) heldBeside() int64 { return backend.RuntimeBytes + k.bytes }
