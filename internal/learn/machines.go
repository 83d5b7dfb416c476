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
	Training *TrainingResult // nil if the model was loaded
}

// TrainingResult holds the results of training a support vector machine, except the model.
type TrainingResult struct {
	svm.Report
	Settings svm.Settings

	Search            *SearchResult // automatic choice of the settings; nil if the settings were set
	LinearAlternative *Validation   // cross-validated linear models, if as good as the SVM and far faster; else nil
	ValueCount        int64         // number of nonzero values in the training documents
}

// KernelMachineOf returns an SVM and, if it was just trained, its training results. Both are nil
// for other models.
func KernelMachineOf(m Model) (*model.Model, *TrainingResult) {
	own, _ := m.(KernelMachine)
	return own.Model, own.Training
}

func (m KernelMachine) About() About {
	a := About{
		Origin: m.Origin, Type: string(m.Type), Kernel: m.Kernel, DecisionNames: []string{string(m.Type)},
		SupportVectorCount: m.Support.Rows(), Bytes: m.bytes(),
	}
	s := svm.SettingsOf(m.Model)
	a.Regularization = s.UsedRegularization()
	if m.Embedder != nil {
		a.Embedding, a.TermCount = m.Embedder.String(), len(m.Embedder.Terms)
		if !m.Embedder.Open || m.NumDocuments > 0 { // a LIBSVM model has only the columns of its support vectors
			a.Columns, a.ColumnCount = m.Embedder.Terms, m.Embedder.TrainingCols()
		}
	}
	a.OneClass = m.Type == model.OneClass
	a.TargetMean = m.TargetMean
	a.IsRegression = !m.Type.Classifies() && !a.OneClass
	if m.Type.Classifies() {
		a.Scheme = m.Classifier.Scheme
		a.DecisionNames, a.HasProbabilities = m.names(), m.hasProbabilities()
		if r := m.Classifier.Rejection; r != nil {
			a.MinProbability = r.MinProbability
		}
	}
	if t := m.Training; t != nil {
		if a.Search = t.Search; a.Search != nil && a.Search.Choice.Reason != "" {
			a.Notes = append(a.Notes, fmt.Sprintf("parameters were not selected, because %s; using %s with C = %v",
				a.Search.Choice.Reason, t.Settings.Kernel, t.Settings.C))
		}
		a.Notes, a.Convergence = append(a.Notes, t.Warnings...),
			Convergence{ClassifierCount: t.Functions, UnfinishedCount: t.Unfinished}
	}
	return a
}

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

func (m KernelMachine) hasProbabilities() bool {
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

func (m KernelMachine) Write(ctx context.Context, w io.Writer) error { return m.Model.Write(ctx, w) }

// Predict implements Model. Each call creates an engine. [NewPredictor] creates it only once.
func (m KernelMachine) Predict(ctx context.Context, docs *sparse.CSR, o Options) (*model.Prediction, error) {
	p, err := m.newPredictor(ctx, o)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Predict(ctx, docs)
}

func (o *Options) svmOptions() svm.Options {
	return svm.Options{
		ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes, HeldBytes: o.HeldBytes, Device: o.Device,
		Kernels: o.Kernels, Progress: func(s svm.Progress) { o.ReportProgress(s.Stage, s.Done, s.Total) },
	}
}

func (m KernelMachine) newPredictor(ctx context.Context, o Options) (Predictor, error) {
	p, err := svm.NewPredictor(ctx, m.Model, o.svmOptions())
	if err != nil {
		return nil, err
	}
	return svmPredictor{p}, nil
}

type svmPredictor struct{ *svm.Predictor }

func (p svmPredictor) WithHeldBytes(bytes int64) Predictor {
	return svmPredictor{p.Predictor.WithHeldBytes(bytes)}
}

// EnginePredictor is a [Predictor] of a support vector machine. Engine returns the engine that
// computes kernel values, or nil if none are computed. Weights returns the weights of the decision
// functions if predictions use weights instead of kernel values, else nil.
type EnginePredictor interface {
	Predictor
	Engine() *engine.Engine
	Weights() *svm.Weights
}
