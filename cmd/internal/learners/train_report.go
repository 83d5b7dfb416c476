package learners

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/solver"
)

type trainReport struct {
	Corpus source.Line   `json:"corpus"`
	Choice *choiceReport `json:"choice,omitempty"`

	machineLine
	File      string `json:"file"`
	FileBytes int64  `json:"file_bytes"`

	Machines   int         `json:"machines"`
	Unfinished int         `json:"unfinished_machines"`
	Training   *svm.Report `json:"training,omitempty"` // training report; nil for learners other than SVMs
	*solverLine

	Seconds      float64 `json:"seconds"` // time from the start of reading to the end of writing
	SecondsRead  float64 `json:"seconds_read"`
	SecondsSolve float64 `json:"seconds_solve"`
	SecondsWrite float64 `json:"seconds_write"`
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"` // value of -m; 0 if unlimited

	Rows []any `json:"rows"`

	details []string // report lines for learners other than SVMs
}

// machineRow describes a decision function. Class is empty if the model has only one decision
// function.
type machineRow struct {
	Class      string  `json:"class,omitempty"`
	Against    string  `json:"against,omitempty"` // other class in one-vs-one
	Objective  float64 `json:"objective"`
	Iterations int     `json:"iterations"`
	Support    int     `json:"support_vectors"`
	Rho        float64 `json:"rho"`
	Gap        float64 `json:"gap"`
	Converged  bool    `json:"converged"`
}

// fill sets the fields that depend on the model.
func (r *trainReport) fill(t *train, m learn.Model, a *learn.About, j *job) {
	r.Corpus, r.Corpus.Terms = j.line, a.Terms
	r.File = t.out
	r.machineLine, r.details, r.Rows = t.line(a), a.Text, a.Rows
	if a.Tried != nil {
		r.Choice = t.choiceReport(a.Tried, nil)
	}
	if r.Machines = len(a.DecisionFunctions); a.Votes {
		r.Machines = 0
	}
	if own, found := learn.KernelMachineOf(m); own != nil {
		r.fillMachines(t, own, found, j)
	} else if j.corpus != nil { // nil if automatic selection trained a linear SVM
		digest := j.corpus.Digest()
		r.Corpus.Digest = hex.EncodeToString(digest[:])
	}
	r.SecondsRead = j.read
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(t.Memory)
	r.Seconds = time.Since(j.begin).Seconds()
}

// fillMachines sets the fields for support vector machines. The corpus digest is taken from the
// model, because handOver has dropped the corpus.
func (r *trainReport) fillMachines(t *train, m *model.Model, found *learn.Trained, j *job) {
	r.Corpus.Digest = hex.EncodeToString(m.Digest[:])
	if t.precomputed() {
		r.Corpus.Terms = m.Documents
	}
	s := found.Settings
	r.Regularization = s.Used()
	r.Training, r.solverLine = &found.Report, j.solverLine(found.Gram)
	r.computedBy(t, j)
	r.Machines, r.SecondsSolve = found.Report.Functions, found.Solve.Seconds()
	if tried := found.Tried; tried != nil {
		settings := t.settingsOf(tried, "")
		if tried.Chosen.Terms > 0 {
			r.Corpus.Values = found.Values
		}
		r.Choice.linear(found.Linear, cutFlags(tried))
		r.Choice.Train = t.commandLine([]string{"scheme", "epsilon", "nu", "o", "choose-time", "thresholds", "q", "json"},
			append(settings, "-o", t.out))
	}
	r.Rows = machineRows(m)
}

// machineRows returns a row for each decision function of a model.
func machineRows(m *model.Model) []any {
	rows := []any{}
	add := func(i int, class, against string) {
		if c := m.Classifier.Functions[i]; c != nil {
			rows = append(rows, machineRow{class, against, c.Objective, c.Iterations, len(c.Support), c.Rho, c.Gap, c.Converged})
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

func (r *trainReport) Describe(d *report.Document) {
	d.Line(r.Corpus)
	if r.Choice != nil {
		r.Choice.Describe(d)
	}
	machines := report.Counted(r.Machines, "decision function", "decision functions")
	times := fmt.Sprintf("writing %.2f s, total %.2f s", r.SecondsWrite, r.Seconds)
	if of := r.Training; of != nil {
		d.Linef("%s\n%s, %s, %s, objective %.8g, max. gap %.2g", r.text(), machines,
			report.Counted(of.Support, "support vector", "support vectors"),
			report.Counted(of.Iterations, "iteration", "iterations"), of.Objective, of.Gap)
		describeThresholds(d, of.Thresholds)
		describeCalibration(d, of)
		r.solverLine.describe(d)
		d.Linef("reading %.2f s, preparing %.2f s, matrix %.2f s, solver %.2f s, %s", r.SecondsRead,
			r.SecondsPrepare, r.SecondsGram, r.SecondsSolve, times)
	} else {
		if r.Machines == 0 {
			d.Line(r.text())
		} else {
			d.Line(r.text(machines))
		}
		for _, line := range r.details {
			d.Line(line)
		}
		d.Linef("reading %.2f s, training %.2f s, %s", r.SecondsRead, r.SecondsSolve, times)
	}
	d.Linef("%s: model, %s, %s", r.File, report.Bytes(r.FileBytes), report.Peak(r.PeakBytes, r.LimitBytes))
}
