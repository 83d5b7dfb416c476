package machines

import (
	"encoding/hex"
	"fmt"
	"io"
	"time"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
	"github.com/gramengine/gram/solver"
)

// trainReport is the report of the command train.
type trainReport struct {
	Corpus source.Line   `json:"corpus"`
	Choice *choiceReport `json:"choice,omitempty"`

	machineLine
	File       string `json:"file"`
	FileFormat string `json:"file_format"`
	FileBytes  int64  `json:"file_bytes"`

	Machines   int           `json:"machines"`
	Support    int           `json:"support_vectors"`
	Bounded    int           `json:"bounded_coefficients"`
	Iterations int64         `json:"iterations"`
	Unfinished int           `json:"unfinished_machines"`
	Objective  report.Number `json:"objective"`
	Gap        report.Number `json:"gap"`

	Thresholds *thresholdsLine `json:"thresholds,omitempty"`

	Seconds        float64 `json:"seconds"` // from the first byte read to the last written
	SecondsRead    float64 `json:"seconds_read"`
	SecondsPrepare float64 `json:"seconds_prepare"` // embedding the documents and making the engine
	SecondsGram    float64 `json:"seconds_gram"`
	SecondsSolve   float64 `json:"seconds_solve"`
	SecondsWrite   float64 `json:"seconds_write"`

	DotProducts int64     `json:"dot_products"`
	Cache       cacheLine `json:"cache"`
	PeakBytes   int64     `json:"peak_bytes"`
	LimitBytes  int64     `json:"limit_bytes"` // what -m allows; 0 where nothing is said and nothing known

	Rows []machineRow `json:"rows"`
}

// machineRow is one machine: of two classes, of one against the rest, or of the one that there is.
type machineRow struct {
	Class      string        `json:"class,omitempty"`
	Against    string        `json:"against,omitempty"` // in one-vs-one
	Objective  report.Number `json:"objective"`
	Iterations int           `json:"iterations"`
	Support    int           `json:"support_vectors"`
	Bounded    int           `json:"bounded_coefficients"`
	Rho        report.Number `json:"rho"`
	Gap        report.Number `json:"gap"`
	Converged  bool          `json:"converged"`
}

// fill fills in what is known when the model is trained; the terms and the digest of the corpus are
// in the model.
func (r *trainReport) fill(t *train, m *model.Model, result *svm.Report, j *job) {
	r.Corpus.Terms, r.Corpus.Digest = len(m.Embedder.Terms), hex.EncodeToString(m.Corpus[:])
	if t.precomputed() {
		r.Corpus.Terms = m.Documents
	}
	r.machineLine = newMachineLine(j.settings)
	r.Kernel, r.Embedding = m.Kernel, m.Embedder.Embedding.String()
	e := j.problem.Engine()
	r.computedBy(e.Backend(), t.Why(), e.Workers())
	r.File, r.FileFormat = t.out, t.to
	r.Machines, r.Support, r.Bounded = result.Machines, result.Support, result.Bounded
	r.Iterations, r.Unfinished = result.Iterations, result.Unfinished
	r.Thresholds = newThresholdsLine(result.Thresholds)
	r.Objective, r.Gap = report.Number(result.Objective), report.Number(result.Gap)
	r.SecondsRead, r.SecondsPrepare = j.read, j.prepare
	r.SecondsGram, r.SecondsSolve = result.Gram.Seconds(), result.Solve.Seconds()
	stats := j.problem.Cache()
	if n := int64(j.problem.Len()); stats.Whole && stats.Bytes == 0 {
		stats.Bytes = 4 * n * n // of the kernel's own values instead of c
	}
	r.DotProducts, r.Cache = stats.Computed, newCacheLine(stats)
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(t.Memory)
	r.Rows = machineRows(m)
	r.Seconds = time.Since(j.begin).Seconds()
}

// machineRows lists the machines of a model in their order.
func machineRows(m *model.Model) []machineRow {
	rows := []machineRow{}
	add := func(i int, class, against string) {
		if c := m.Classifier.Machines[i]; c != nil {
			rows = append(
				rows,
				machineRow{
					class,
					against,
					report.Number(c.Objective),
					c.Iterations,
					len(c.Support),
					c.Bounded,
					report.Number(c.Rho),
					report.Number(c.Gap),
					c.Converged,
				},
			)
		}
	}
	if !m.Type.Classifies() {
		add(0, "", "")
		return rows
	}
	i := 0
	for a, class := range m.Classes {
		if m.Classifier.Scheme != solver.OneVsOne {
			add(a, class, "")
			continue
		}
		for _, against := range m.Classes[a+1:] {
			add(i, class, against)
			i++
		}
	}
	return rows
}

func (r *trainReport) WriteText(w io.Writer) {
	fmt.Fprintln(w, r.Corpus)
	if r.Choice != nil {
		r.Choice.WriteText(w)
	}
	fmt.Fprintln(w, r.text())
	fmt.Fprintf(w, "%s, %s, %s, objective %.8g, greatest gap %.2g\n",
		report.Counted(r.Machines, "machine", "machines"),
		report.Counted(r.Support, "support vector", "support vectors"),
		report.Counted(r.Iterations, "step", "steps"), float64(r.Objective), float64(r.Gap))
	r.Thresholds.write(w)
	r.Cache.write(w, r.DotProducts)
	fmt.Fprintf(w, "reading %.2f s, preparing %.2f s, matrix %.2f s, solver %.2f s, writing %.2f s, in all %.2f s\n",
		r.SecondsRead, r.SecondsPrepare, r.SecondsGram, r.SecondsSolve, r.SecondsWrite, r.Seconds)
	fmt.Fprintf(w, "%s: model, %s, %s\n", r.File, report.Bytes(r.FileBytes), report.Peak(r.PeakBytes, r.LimitBytes))
}
