package learners

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/solver"
)

// settingsLine describes the trained model in the reports of train, cv and grid.
type settingsLine struct {
	Type      string `json:"type"`
	Kernel    string `json:"kernel,omitempty"`
	Embedding string `json:"embedding,omitempty"`
	Scheme    string `json:"scheme,omitempty"`
	solver.Regularization
	ISA           string `json:"isa"`
	BackendReason string `json:"backend_reason,omitempty"` // reason for the choice of -backend auto
	Workers       int    `json:"workers"`
}

// newSettingsLine returns the settings of a model, with the values of -isa and -workers.
func (m *trainingFlags) newSettingsLine(a *learn.About) settingsLine {
	l := settingsLine{Type: a.Type, Kernel: a.Kernel, Embedding: a.Embedding, Regularization: a.Regularization,
		ISA: cmp.Or(m.ISA, string(asm.BestKernels().ISA)), Workers: m.NumWorkers()}
	if m.learner.Type == "" || m.learner.Type.Classifies() {
		l.Scheme = a.SchemeName()
	}
	return l
}

// setBackend copies the name of the back end and the number of workers from the engine of j.
func (l *settingsLine) setBackend(m interface{ Reason() string }, j *trainingJob) {
	e := j.problem.Engine()
	l.ISA, l.BackendReason, l.Workers = e.Info().Backend, m.Reason(), e.Info().Workers
}

// format describes the model in one line. It inserts others before the back end.
func (l *settingsLine) format(others ...string) string {
	what := l.Type
	switch {
	case l.Kernel != "":
		what = describeKernel(l.Kernel, l.Embedding) + ", " + what
	case l.Embedding != "":
		what += ", " + l.Embedding
	}
	parts := []string{formatParameters(what, l.C, l.Nu, l.Epsilon)}
	if l.Scheme != "" {
		parts = append(parts, l.Scheme)
	}
	parts = append(append(parts, others...), backend.WithReason(l.ISA, l.BackendReason),
		report.FormatCountOf(l.Workers, "worker", "workers"))
	return strings.Join(parts, ", ")
}

// solverLine describes the computation of an SVM's kernel values.
type solverLine struct {
	PrepareSeconds float64           `json:"seconds_prepare"` // time for embedding the documents and creating the engine
	GramSeconds    float64           `json:"seconds_gram"`
	DotProducts    int64             `json:"dot_products"`
	Cache          engine.CacheStats `json:"cache"`
}

func (j *trainingJob) newSolverLine(gram time.Duration) *solverLine {
	stats := j.problem.CacheStats()
	if n := int64(j.problem.Len()); stats.FitsInMemory && stats.Bytes == 0 {
		stats.Bytes = 4 * n * n // the matrix holds kernel values instead of c
	}
	return &solverLine{j.prepareSeconds, gram.Seconds(), stats.PairsComputed, stats}
}

// describe adds a line with the number of dot products and the cache usage to d.
func (l *solverLine) describe(d *report.Document) {
	c := l.Cache
	kept := "matrix stored in " + report.FormatBytes(c.Bytes)
	switch {
	case !c.FitsInMemory && c.Hits == 0:
		kept = "rows computed on demand"
	case !c.FitsInMemory:
		kept = fmt.Sprintf("tile cache %s, hit rate %s", report.FormatBytes(c.Bytes),
			report.FormatPercent(report.Ratio(float64(c.Hits), float64(c.Hits+c.Misses))))
	}
	d.AddLinef("%s, %s", report.FormatCountOf(l.DotProducts, "dot product", "dot products"), kept)
}

// warnUnconverged warns about classifiers that stopped before convergence. It returns the number of
// such classifiers.
func warnUnconverged(e *cli.Env, d learn.Convergence) int {
	if d.UnfinishedCount > 0 {
		e.Warnf("%s", d)
	}
	return d.UnfinishedCount
}

func describeKernel(kernel, embedding string) string {
	if strings.Contains(kernel, "embed=") || kernel == model.Precomputed {
		return kernel
	}
	return kernel + ", " + embedding
}

// formatParameters appends the nonzero values of C, nu and epsilon to a description.
func formatParameters(what string, c, nu, epsilon float64) string {
	for _, q := range []struct {
		name string
		v    float64
	}{{"C", c}, {"nu", nu}, {"epsilon", epsilon}} {
		if q.v != 0 {
			what += fmt.Sprintf(", %s = %v", q.name, q.v)
		}
	}
	return what
}

func describeThresholds(d *report.Document, t *solver.Thresholds) {
	if t == nil {
		return
	}
	what := "thresholds"
	if slices.Min(t.Above) == slices.Max(t.Above) {
		what = fmt.Sprintf("one threshold, %.3g", t.Above[0])
	}
	if t.AtLeastOneLabel {
		what += ", with at least one label per document"
	}
	d.AddLinef("%s: cross-validated micro F1 %s (%s with threshold 0)", what,
		tune.MicroF1.Format(t.F1), tune.MicroF1.Format(t.Sign))
}

func describeCalibration(d *report.Document, r *svm.Report) {
	c := r.Calibration
	if c == nil {
		return
	}
	how := "by sigmoids"
	if r.Temperature != nil {
		how += fmt.Sprintf(" and a temperature of %.3g", r.Temperature.T)
	}
	d.AddLinef("probabilities %s; cross-validated log loss %.4f, expected calibration error %.4f", how, c.LogLoss, c.ECE)
	if j := r.Rejection; j != nil {
		d.AddLinef("predicts %s if the probability is below %.3g; cross-validated coverage %s, error rate %s",
			learn.RejectedLabel, j.MinProbability, report.FormatPercent(j.Coverage), report.FormatPercent(j.ErrorRate))
	}
	if o := r.Alternatives; o != nil {
		text := fmt.Sprintf("cross-validated error rate %s without rejection", report.FormatPercent(o.UnthresholdedErrorRate))
		for _, t := range o.ErrorTargets {
			text += fmt.Sprintf("; error=%.6g%% would have coverage %s", 100*t.ErrorRate, report.FormatPercent(t.Coverage))
		}
		d.AddLine(text)
	}
}
