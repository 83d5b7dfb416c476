package mkm

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/flagtext"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Learner is the learner that gramlab offers as mkm.
var Learner = &learn.Learner{
	Name: "mkm", Summary: "multilayer kernel machines: feature selection and kernel PCA in each layer",
	FilePrefix: Format.Name, Read: learn.ReadFunc(&Format, func(m *Model) learn.Model { return multilayerModel{m} }),
	New: func() learn.Trainer { return &trainer{} },
}

type trainer struct {
	params.Record
	Settings
	Layers string `param:"layers" default:"arccos:n=1;arccos:n=1" help:"kernels of the layers, or none"`
	Width  string `param:"width" default:"auto" help:"number of selected features per layer, or auto or all"`
}

func (t *trainer) settings(o learn.Options) (Settings, error) {
	s := t.Settings
	s.Seed = o.Seed
	own := *t
	if err := params.Resolve(&own); err != nil {
		return s, err
	}
	if own.Layers != "none" {
		for spec := range strings.SplitSeq(own.Layers, ";") {
			s.Layers = append(s.Layers, strings.TrimSpace(spec))
		}
	}
	switch own.Width {
	case "auto":
	case "all":
		s.KeepAllFeatures = true
	default:
		for w := range strings.SplitSeq(own.Width, ",") {
			n, err := strconv.Atoi(strings.TrimSpace(w))
			if err != nil {
				return s, flagtext.Errorf("-type mkm: width must be auto, all, or whole numbers (for documents, then for each "+
					"layer), got %q", own.Width)
			}
			s.Widths = append(s.Widths, n)
		}
	}
	switch {
	case s.Classifier != FinalSVM && (s.Kernel != "" || s.C != 0):
		return s, flagtext.Errorf("-kernel and c require -type mkm:final=svm; parameter layers sets the kernels of layers")
	case s.Classifier != FinalLMNN && s.Steps != 0:
		return s, flagtext.Errorf("-type mkm:steps=N requires final=lmnn")
	case s.Classifier != FinalKNN && s.K != 0:
		return s, flagtext.Errorf("-type mkm:k=K requires final=knn")
	}
	return s, s.Validate()
}

// Check implements learn.Trainer.
func (t *trainer) Check(o learn.Options) error {
	_, err := t.settings(o)
	return err
}

func optionsOf(o learn.Options) Options {
	return Options{
		ISA: o.ISA, Workers: o.Workers, MemoryBytes: o.MemoryBytes,
		Progress: func(p run.Progress) { o.ReportProgress(p.Stage, p.Done, p.Total, p.Details...) },
	}
}

// Train implements learn.Trainer.
func (t *trainer) Train(ctx context.Context, c *corpus.Corpus, o learn.Options) (learn.Model, error) {
	s, err := t.settings(o)
	if err != nil {
		return nil, err
	}
	opt := optionsOf(o)
	opt.OnChoice = func(c LevelChoice) { o.Infof("%s", c) }
	m, err := Train(ctx, c, s, opt)
	if err != nil {
		return nil, err
	}
	return multilayerModel{m}, nil
}

type multilayerModel struct{ *Model }

// Predict implements learn.Model.
func (m multilayerModel) Predict(ctx context.Context, docs *sparse.CSR, o learn.Options) (*model.Prediction, error) {
	return m.Model.Predict(ctx, docs, optionsOf(o))
}

// levelRow describes a level in a report. Level 0 contains the documents.
type levelRow struct {
	Level                  int     `json:"level"`
	Kernel                 string  `json:"kernel,omitempty"`
	FeatureCount           int     `json:"features"`
	Width                  int     `json:"width"`
	K                      int     `json:"k,omitempty"`
	ErrorCount             int     `json:"wrong"`
	HeldOutCount           int     `json:"chosen_on"` // number of held-out documents
	Steps                  int     `json:"steps,omitempty"`
	MetricErrorCount       int     `json:"wrong_by_metric,omitempty"`
	ExplainedVarianceRatio float64 `json:"explained,omitempty"`
}

// About implements learn.Model.
func (m multilayerModel) About() learn.About {
	s := m.Settings
	a := learn.About{
		Origin: m.Origin, Type: "mkm" + params.Spec(s), Scheme: solver.OneVsRest, DecisionNames: m.Classes,
		HasVotes: s.Classifier != FinalSVM, Bytes: m.Bytes(),
	}
	if a.Columns = slices.Sorted(slices.Values(m.Columns)); m.Columns == nil {
		a.Columns = m.Layers[0].Embedder.Terms
	}
	a.TermCount = len(a.Columns)
	for l, c := range m.Choices {
		row := levelRow{Level: l, Kernel: c.Kernel, FeatureCount: c.Features, Width: c.Width, K: c.K, ErrorCount: c.Wrong,
			HeldOutCount: c.Documents, Steps: c.Steps, MetricErrorCount: c.StepsWrong}
		text := c.String()
		if l > 0 {
			row.ExplainedVarianceRatio = m.Layers[l-1].ExplainedVarianceRatio
			text += fmt.Sprintf("; components explain %.1f%% of the variance of %d documents", 100*row.ExplainedVarianceRatio,
				m.Layers[l-1].Base.Rows())
		}
		a.Results, a.ClassifierRows = append(a.Results, text), append(a.ClassifierRows, row)
	}
	switch {
	case m.KNN != nil:
		a.Results = append(a.Results, fmt.Sprintf("%d nearest neighbours among %d documents", m.KNN.K, len(m.KNN.Labels)))
	case m.LMNN != nil:
		a.Results = append(a.Results, fmt.Sprintf("metric: loss %.6g (Euclidean metric: %.6g), %d iterations",
			m.LMNN.Loss, m.LMNN.InitialLoss, m.LMNN.Iterations))
	case m.SVM != nil:
		a.C = svm.SettingsOf(m.SVM).C
		a.Results = append(a.Results, fmt.Sprintf("SVM: %s, %d support vectors", m.SVM.Kernel,
			m.SVM.Support.Rows()))
	}
	return a
}
