package machines

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

// machineLine is what the reports of train, cv and grid say about what was trained.
type machineLine struct {
	Type      string `json:"type"`
	Kernel    string `json:"kernel,omitempty"`
	Embedding string `json:"embedding,omitempty"`
	Scheme    string `json:"scheme,omitempty"`
	model.Regularization
	ISA     string `json:"isa"`
	Why     string `json:"backend_reason,omitempty"` // why -backend auto took it
	Workers int    `json:"workers"`
}

// line says what a model is, and what -isa and -workers ask for.
func (m *machine) line(a *learn.About) machineLine {
	l := machineLine{Type: a.Type, Kernel: a.Kernel, Embedding: a.Embedding, Regularization: a.Regularization,
		ISA: cmp.Or(m.ISA, string(asm.Best().ISA)), Workers: m.NumWorkers()}
	if m.learner.Type == "" || m.learner.Type.Classifies() {
		l.Scheme = a.SchemeName()
	}
	return l
}

// computedBy fills in the engine.
func (l *machineLine) computedBy(m interface{ Why() string }, j *job) {
	e := j.problem.Engine()
	l.ISA, l.Why, l.Workers = e.Info().Backend, m.Why(), e.Info().Workers
}

// text says in a line what was trained, with other facts before what computed it.
func (l *machineLine) text(others ...string) string {
	what := l.Type
	switch {
	case l.Kernel != "":
		what = describeKernel(l.Kernel, l.Embedding) + ", " + what
	case l.Embedding != "":
		what += ", " + l.Embedding
	}
	parts := []string{describe(what, l.C, l.Nu, l.Epsilon)}
	if l.Scheme != "" {
		parts = append(parts, l.Scheme)
	}
	parts = append(append(parts, others...), backend.WithWhy(l.ISA, l.Why), report.Counted(l.Workers, "worker", "workers"))
	return strings.Join(parts, ", ")
}

// solverLine is what the reports of train and cv say of support vector machines in addition.
type solverLine struct {
	Tolerance      float64   `json:"tolerance"`
	Support        float64   `json:"support_vectors"` // of cv the mean over the folds; different ones count once
	Iterations     int64     `json:"iterations"`
	SecondsPrepare float64   `json:"seconds_prepare"` // embedding the documents and making the engine
	SecondsGram    float64   `json:"seconds_gram"`
	DotProducts    int64     `json:"dot_products"`
	Cache          cacheLine `json:"cache"`
}

func (j *job) solverLine(tolerance, support float64, iterations int64, gram time.Duration) solverLine {
	stats := j.problem.Cache()
	if n := int64(j.problem.Len()); stats.Whole && stats.Bytes == 0 {
		stats.Bytes = 4 * n * n // of the kernel's own values instead of c
	}
	return solverLine{tolerance, support, iterations, j.prepare, gram.Seconds(), stats.Computed, newCacheLine(stats)}
}

// warnOf warns of machines that stopped, and returns how many did.
func warnOf(e *cli.Env, d learn.Ended) int {
	if d.Unfinished > 0 {
		e.Warn("%s", d)
	}
	return d.Unfinished
}

// describeKernel names a kernel together with its embedding.
func describeKernel(kernel, embedding string) string {
	if strings.Contains(kernel, "embed=") || kernel == model.Precomputed {
		return kernel
	}
	return kernel + ", " + embedding
}

// describe names settings: what is trained, and those of a problem's numbers that it has.
func describe(what string, c, nu, epsilon float64) string {
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

// thresholdsLine says what thresholds of labels were found.
type thresholdsLine struct {
	Above      []float64 `json:"above"`        // by label
	AtLeastOne bool      `json:"at_least_one"` // label, the best, where none is above its threshold
	F1         float64   `json:"micro_f1"`     // on folds, by thresholds of the other folds
	Sign       float64   `json:"micro_f1_sign"`
}

// newThresholdsLine describes thresholds; nil stays nil.
func newThresholdsLine(t *solver.Thresholds) *thresholdsLine {
	if t == nil {
		return nil
	}
	l := &thresholdsLine{AtLeastOne: t.AtLeastOne, F1: float64(t.F1), Sign: float64(t.Sign)}
	for _, v := range t.Above {
		l.Above = append(l.Above, float64(v))
	}
	return l
}

func (l *thresholdsLine) write(d *report.Document) {
	if l == nil {
		return
	}
	what := "thresholds"
	if slices.Min(l.Above) == slices.Max(l.Above) {
		what = fmt.Sprintf("one threshold, %.3g,", float64(l.Above[0]))
	}
	if l.AtLeastOne {
		what += " and at least one label"
	}
	d.Linef("%s by micro F1 on folds: %s, by the signs %s", what, tune.MicroF1.Format(float64(l.F1)),
		tune.MicroF1.Format(float64(l.Sign)))
}

// calibrationLine says how good calibrated probabilities are, by folds.
type calibrationLine struct {
	LogLoss float64 `json:"log_loss"`
	ECE     float64 `json:"expected_calibration_error"`
	*solver.Temperature

	Rejection *solver.Rejection `json:"rejection,omitempty"`
	Others    *svm.Alternatives `json:"rejection_alternatives,omitempty"`
}

// newCalibrationLine describes a calibration; nil stays nil.
func newCalibrationLine(r *svm.Report) *calibrationLine {
	c := r.Calibration
	if c == nil {
		return nil
	}
	return &calibrationLine{float64(c.LogLoss), float64(c.ECE), r.Temperature, r.Rejection,
		r.Alternatives}
}

func (l *calibrationLine) write(d *report.Document) {
	if l == nil {
		return
	}
	how := "by sigmoids"
	if l.Temperature != nil {
		how += fmt.Sprintf(" and a temperature of %.3g", l.T)
	}
	d.Linef("probabilities %s; on folds log loss %.4f, expected calibration error %.4f", how,
		float64(l.LogLoss), float64(l.ECE))
	if r := l.Rejection; r != nil {
		d.Linef("no answer (%s) below a probability of %.3g; on folds %s are answered, %s of these wrongly",
			learn.NoAnswer, r.Below, report.Percent(r.Coverage), report.Percent(r.Error))
	}
	if o := l.Others; o != nil {
		text := fmt.Sprintf("answering everything errs %s on folds", report.Percent(o.ErrorOfAll))
		for _, t := range o.Targets {
			text += fmt.Sprintf("; error=%.6g%% would answer %s", 100*t.Error, report.Percent(t.Coverage))
		}
		d.Line(text)
	}
}

// cacheLine says what the cache of tiles did.
type cacheLine struct {
	Whole  bool  `json:"whole"` // the whole matrix is kept
	Hits   int64 `json:"hits"`
	Misses int64 `json:"misses"`
	Bytes  int64 `json:"bytes"`
	Served int64 `json:"values_served"`
}

// newCacheLine describes a cache.
func newCacheLine(s engine.CachedStats) cacheLine {
	return cacheLine{Whole: s.Whole, Hits: s.Hits, Misses: s.Misses, Bytes: s.Bytes, Served: s.Served}
}

// write says in a line what was computed, kept and found.
func (c cacheLine) write(d *report.Document, dots int64) {
	kept := "the whole matrix kept in " + report.Bytes(c.Bytes)
	if !c.Whole {
		kept = fmt.Sprintf("tiles kept in %s, %s of those asked for were there", report.Bytes(c.Bytes),
			report.Percent(float64(c.Hits)/float64(max(c.Hits+c.Misses, 1))))
	}
	d.Linef("%s, %s", report.Counted(dots, "dot product", "dot products"), kept)
}
