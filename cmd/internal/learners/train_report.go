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
	Corpus source.Summary `json:"corpus"`
	Choice *choiceReport  `json:"choice,omitempty"`

	settingsLine
	File      string `json:"file"`
	FileBytes int64  `json:"file_bytes"`

	NumClassifiers int         `json:"decision_functions"`
	NumUnconverged int         `json:"unconverged"`
	Training       *svm.Report `json:"training,omitempty"` // training report; nil for learners other than SVMs
	*solverLine

	Seconds      float64 `json:"seconds"` // time from the start of reading to the end of writing
	ReadSeconds  float64 `json:"seconds_read"`
	SolveSeconds float64 `json:"seconds_solve"`
	WriteSeconds float64 `json:"seconds_write"`
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"` // value of -m; 0 if unlimited

	Rows []any `json:"rows"`

	detailLines []string // report lines for learners other than SVMs
}

// functionRow describes a decision function. Class is empty if the model isn't a classifier.
type functionRow struct {
	Class      string  `json:"class,omitempty"`
	OtherClass string  `json:"against,omitempty"` // in one-vs-one, the second class
	Objective  float64 `json:"objective"`
	Iterations int     `json:"iterations"`
	NumSupport int     `json:"support_vectors"`
	Rho        float64 `json:"rho"`
	Gap        float64 `json:"gap"`
	Converged  bool    `json:"converged"`
}

func (r *trainReport) fill(t *train, m learn.Model, a *learn.About, j *trainingJob) {
	r.Corpus, r.Corpus.TermCount = j.corpusLine, a.TermCount
	r.File = t.out
	r.settingsLine, r.detailLines, r.Rows = t.newSettingsLine(a), a.Results, a.ClassifierRows
	if a.Search != nil {
		r.Choice = t.newChoiceReport(a.Search, nil)
	}
	if r.NumClassifiers = len(a.DecisionNames); a.HasVotes {
		r.NumClassifiers = 0
	}
	if own, found := learn.KernelMachineOf(m); own != nil {
		r.fillSVM(t, own, found, j)
	} else if j.corpus != nil { // j.corpus is nil if automatic selection trained a linear SVM
		digest := j.corpus.Digest()
		r.Corpus.Digest = hex.EncodeToString(digest[:])
	}
	r.ReadSeconds = j.readSeconds
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(t.Memory)
	r.Seconds = time.Since(j.begin).Seconds()
}

// fillSVM sets the fields for support vector machines. The corpus digest is taken from the model,
// because releaseCorpus has dropped the corpus.
func (r *trainReport) fillSVM(t *train, m *model.Model, found *learn.TrainingResult, j *trainingJob) {
	r.Corpus.Digest = hex.EncodeToString(m.Digest[:])
	if t.isPrecomputed() {
		r.Corpus.TermCount = m.NumDocuments
	}
	s := found.Settings
	r.Regularization = s.UsedRegularization()
	r.Training, r.solverLine = &found.Report, j.newSolverLine(found.Gram)
	r.setBackend(t, j)
	r.NumClassifiers, r.SolveSeconds = found.Report.Functions, found.Solve.Seconds()
	if tried := found.Search; tried != nil {
		settings := t.settingsOf(tried, "")
		if tried.Choice.Tokenizer > 0 {
			r.Corpus.ValueCount = found.ValueCount
		}
		r.Choice.addLinearHint(found.LinearAlternative, vocabularyFlags(tried))
		r.Choice.TrainCommand = t.commandLine([]string{"scheme", "epsilon", "nu", "o", "choose-time", "thresholds", "q",
			"json"},
			append(settings, "-o", t.out))
	}
	r.Rows = functionRows(m)
}

func functionRows(m *model.Model) []any {
	rows := []any{}
	add := func(i int, class, against string) {
		if c := m.Classifier.Functions[i]; c != nil {
			rows = append(rows, functionRow{class, against, c.Objective, c.Iterations, len(c.Support), c.Rho, c.Gap,
				c.Converged})
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
	d.AddLine(r.Corpus)
	if r.Choice != nil {
		r.Choice.Describe(d)
	}
	machines := report.FormatCountOf(r.NumClassifiers, "decision function", "decision functions")
	times := fmt.Sprintf("writing %.2f s, total %.2f s", r.WriteSeconds, r.Seconds)
	if of := r.Training; of != nil {
		d.AddLinef("%s\n%s, %s, %s, objective %.8g, max. gap %.2g", r.format(), machines,
			report.FormatCountOf(of.Support, "support vector", "support vectors"),
			report.FormatCountOf(of.Iterations, "iteration", "iterations"), of.Objective, of.Gap)
		describeThresholds(d, of.Thresholds)
		describeCalibration(d, of)
		r.solverLine.describe(d)
		d.AddLinef("reading %.2f s, preparing %.2f s, matrix %.2f s, solver %.2f s, %s", r.ReadSeconds,
			r.PrepareSeconds, r.GramSeconds, r.SolveSeconds, times)
	} else {
		if r.NumClassifiers == 0 {
			d.AddLine(r.format())
		} else {
			d.AddLine(r.format(machines))
		}
		for _, line := range r.detailLines {
			d.AddLine(line)
		}
		d.AddLinef("reading %.2f s, training %.2f s, %s", r.ReadSeconds, r.SolveSeconds, times)
	}
	d.AddLinef("%s: model, %s, %s", r.File, report.FormatBytes(r.FileBytes),
		report.FormatPeakMemory(r.PeakBytes, r.LimitBytes))
}
