package learn

import (
	"context"
	"fmt"
	"io"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// KernelMachine is a support vector machine as a [Model].
type KernelMachine struct {
	*model.Model
	Trained *Trained // nil if the model was loaded
}

// Trained holds the results of training a support vector machine, except the model.
type Trained struct {
	svm.Report
	Settings svm.Settings

	Tried  *Found      // automatic choice of the settings; nil if the settings were set
	Linear *Validation // cross-validated linear models, if as good as the SVM and far cheaper; else nil
	Values int64       // number of nonzero values in the training documents
}

// KernelMachineOf returns an SVM and, if it was just trained, its training results. Both are nil
// for other models.
func KernelMachineOf(m Model) (*model.Model, *Trained) {
	own, _ := m.(KernelMachine)
	return own.Model, own.Trained
}

// About implements Model.
func (m KernelMachine) About() About {
	a := About{
		Origin: m.Origin, Type: string(m.Type), Kernel: m.Kernel, DecisionFunctions: []string{string(m.Type)},
		Support: m.Support.Rows(), Bytes: m.bytes(),
	}
	s := svm.SettingsOf(m.Model)
	a.Regularization = s.Used()
	if m.Embedder != nil {
		a.Embedding, a.Terms = m.Embedder.String(), len(m.Embedder.Terms)
		if !m.Embedder.Open || m.Documents > 0 { // a LIBSVM model has only the columns of its support vectors
			a.Columns, a.Width = m.Embedder.Terms, m.Embedder.Width()
		}
	}
	a.OneClass = m.Type == model.OneClass
	a.TargetMean = m.TargetMean
	a.Numbers = !m.Type.Classifies() && !a.OneClass
	if m.Type.Classifies() {
		a.Scheme = m.Classifier.Scheme
		a.DecisionFunctions, a.Probabilities = m.names(), m.probabilities()
		if r := m.Classifier.Rejection; r != nil {
			a.MinProbability = r.MinProbability
		}
	}
	if t := m.Trained; t != nil {
		if a.Tried = t.Tried; a.Tried != nil && a.Tried.Chosen.Why != "" {
			a.Notes = append(a.Notes, fmt.Sprintf("parameters were not selected, because %s; using %s with C = %v",
				a.Tried.Chosen.Why, t.Settings.Kernel, t.Settings.C))
		}
		a.Notes, a.Ended = append(a.Notes, t.Warnings...), Convergence{Functions: t.Functions, Unfinished: t.Unfinished}
	}
	return a
}

// names returns the names of the binary classifiers: a class, or two classes joined by /.
func (m KernelMachine) names() []string {
	if m.Classifier.Scheme != solver.OneVsOne {
		return m.Classes
	}
	var names []string
	for a, class := range m.Classes {
		for _, other := range m.Classes[a+1:] {
			names = append(names, class+"/"+other)
		}
	}
	return names
}

func (m KernelMachine) probabilities() bool {
	for _, machine := range m.Classifier.Functions {
		if machine != nil && machine.Sigmoid == nil {
			return false
		}
	}
	return true
}

func (m KernelMachine) bytes() int64 {
	const aText, aTerm, aVector, aCoefficient = 16, 16, 12, 16
	n := m.Support.Bytes() + aVector*int64(m.Support.Rows()) + aTerm*int64(len(m.Embedder.Terms))
	for _, text := range m.Vocabulary {
		n += aText + int64(len(text))
	}
	for _, machine := range m.Classifier.Functions {
		if machine != nil {
			n += aCoefficient * int64(len(machine.Coef))
		}
	}
	return n
}

// Write implements Model.
func (m KernelMachine) Write(ctx context.Context, w io.Writer) error { return m.Model.Write(ctx, w) }

// Predict implements Model. Each call creates an engine, but a predictor from [Ready] reuses one.
func (m KernelMachine) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	p, err := m.ready(ctx, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Predict(ctx, docs)
}

func (o *Options) machines() svm.Options {
	return svm.Options{
		ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes, HeldBytes: o.HeldBytes, Device: o.Device,
		Kernels: o.Kernels, Progress: func(s svm.Progress) { o.Tell(s.Stage, s.Done, s.Total) },
	}
}

func (m KernelMachine) ready(ctx context.Context, o Options) (Predictor, error) {
	p, err := svm.NewPredictor(ctx, m.Model, o.machines())
	if err != nil {
		return nil, err
	}
	return machinesReady{p}, nil
}

type machinesReady struct{ *svm.Predictor }

func (p machinesReady) Holding(bytes int64) Predictor {
	return machinesReady{p.Predictor.Holding(bytes)}
}

// Computing is a [Predictor] of a support vector machine. Engine returns the engine that computes
// kernel values, or nil if none are computed. If Weights doesn't return nil, predictions use the
// weights instead of kernel values.
type Computing interface {
	Predictor
	Engine() *engine.Engine
	Weights() *svm.Weights
}
