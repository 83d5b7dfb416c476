package learners

import (
	"fmt"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

type cvReport struct {
	Corpus source.Line `json:"corpus"`
	machineLine
	Folds  int    `json:"folds"`
	Groups string `json:"groups,omitempty"`
	Seed   uint64 `json:"seed"`

	Scored         int               `json:"documents_scored"`
	Correct        int               `json:"documents_correct"`
	source.Figures                   // scores over all documents
	Regression     *score.Regression `json:"regression,omitempty"` // errors over all documents
	Measure        tune.Measure      `json:"measure"`              // measure for Mean, SD and Rows
	Mean           float64           `json:"mean"`                 // mean of the measure over the folds
	SD             float64           `json:"standard_deviation"`

	Unfinished  int     `json:"unfinished_machines"`
	Support     float64 `json:"support_vectors,omitempty"` // mean number of distinct support vectors per fold
	Iterations  int64   `json:"iterations,omitempty"`
	*solverLine         // solver statistics; nil for learners other than SVMs

	Seconds      float64 `json:"seconds"` // time since the start of reading
	SecondsRead  float64 `json:"seconds_read"`
	SecondsSolve float64 `json:"seconds_solve"` // time for training and prediction on all folds
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"` // value of -m; 0 if unlimited

	Rows []foldRow `json:"rows"`

	Curve []learn.LearningPoint `json:"learning_curve,omitempty"`

	score *score.Score
	rows  *corpus.Corpus // names and rows of the documents, for the page of a regression
}

// foldRow holds the scores of one fold.
type foldRow struct {
	Fold      int  `json:"fold"` // index of the fold, from 1
	Documents int  `json:"documents"`
	Support   *int `json:"support_vectors,omitempty"` // number of support vectors; nil for learners other than SVMs
	Correct   int  `json:"documents_correct"`
	source.Figures
}

// fill sets the fields that depend on the validation.
func (r *cvReport) fill(run *validation, j *job, v *learn.Validation) {
	r.machineLine = run.line(&v.About)
	r.Folds, r.Groups, r.Seed = run.folds, run.GroupColumn, run.seed
	r.score, r.Scored, r.Correct = v.Score, v.Score.Documents, v.Score.Correct
	regression, labels := v.Measure == tune.MeanSquaredError, v.Measure == tune.MicroF1
	r.Figures = source.NewFigures(v.Score, regression, labels)
	r.Regression = v.Score.Regression
	r.Measure, r.Mean, r.SD = v.Measure, v.Mean, v.SD
	for fold, score := range v.ByFold {
		r.Rows = append(r.Rows, foldRow{Fold: fold + 1, Documents: score.Documents, Correct: score.Correct,
			Figures: source.NewFigures(score, regression, labels && v.SupportByFold == nil)})
		if v.SupportByFold != nil {
			r.Rows[fold].Support = &v.SupportByFold[fold]
		}
	}
	if v.SupportByFold != nil {
		r.Support, r.Iterations, r.solverLine = v.Support, v.Iterations, j.solverLine(v.Gram)
		r.DotProducts, r.SecondsSolve = v.DotProducts, v.Solve.Seconds()
		r.computedBy(run, j)
	}
	r.SecondsRead = j.read
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(run.Memory)
	r.Seconds = time.Since(j.begin).Seconds()
}

// foldsText describes the number of folds, the grouping column if any, and the seed.
func foldsText(folds int, groups string, seed uint64) string {
	if groups != "" {
		groups = " by " + groups
	}
	return fmt.Sprintf("%d folds%s, seed %d", folds, groups, seed)
}

func (r *cvReport) Describe(d *report.Document) {
	defer r.describePage(d)
	d.Line(r.Corpus)
	d.Line(r.text(foldsText(r.Folds, r.Groups, r.Seed)))
	d.Table("Folds", "", r.table())
	writeMean(d, r.Measure, r.Mean, r.SD)
	r.DescribeAll(d)
	r.writeLines(d)
	if r.Regression != nil {
		describeErrors(d, r.Regression)
	}
	if r.Curve != nil {
		d.Add(r.curveSection())
		d.Line("")
	}
	var prepared string
	if r.solverLine != nil {
		r.solverLine.describe(d)
		prepared = fmt.Sprintf("preparing %.2f s, matrix %.2f s, ", r.SecondsPrepare, r.SecondsGram)
	}
	d.Linef("reading %.2f s, %sfolds %.2f s, total %.2f s, %s", r.SecondsRead, prepared, r.SecondsSolve,
		r.Seconds, report.Peak(r.PeakBytes, r.LimitBytes))
}

// table returns a table with a row per fold.
func (r *cvReport) table() *report.Table {
	figure := func(title, format string, factor float64, has bool, of func(row foldRow) *float64) report.Column[foldRow] {
		return report.NewColumn(title, func(row foldRow) string {
			if v := of(row); has && v != nil {
				return fmt.Sprintf(format, factor**v)
			}
			return ""
		})
	}
	accuracy := func(row foldRow) *float64 { return row.Accuracy }
	return report.TableOf(r.Rows,
		report.NewColumn(">fold", func(row foldRow) string { return fmt.Sprint(row.Fold) }),
		report.NewColumn(">documents", func(row foldRow) string { return report.Count(row.Documents) }),
		report.NewColumn(">support vectors", func(row foldRow) string {
			if row.Support == nil {
				return ""
			}
			return report.Count(*row.Support)
		}),
		figure(">accuracy", "%.2f%%", 100, r.Measure == tune.Accuracy, accuracy),
		figure(">all labels correct", "%.2f%%", 100, r.Measure == tune.MicroF1, accuracy),
		figure(">micro F1", "%.4f", 1, r.solverLine == nil || r.Measure == tune.MicroF1,
			func(row foldRow) *float64 { return row.MicroF1 }),
		figure(">macro F1", "%.4f", 1, true, func(row foldRow) *float64 { return row.MacroF1 }),
		figure(">mean squared error", "%.6g", 1, true, func(row foldRow) *float64 { return row.MSE }),
		figure(">squared correlation", "%.4f", 1, true, func(row foldRow) *float64 { return row.Correlation }))
}

// writeMean adds a line with the mean and the standard deviation over the folds.
func writeMean(d *report.Document, m tune.Measure, mean, sd float64) {
	d.Linef("%s %s, standard deviation %s over the folds", meanOf(m), m.Format(mean), m.Format(sd))
}

// writeLines adds the lines that svm-train -v prints, with scores over all documents.
func (r *cvReport) writeLines(d *report.Document) {
	if r.MSE != nil {
		d.Linef("Cross Validation Mean squared error = %.6g", *r.MSE)
		d.Linef("Cross Validation Squared correlation coefficient = %.6g", *r.Correlation)
		return
	}
	d.Linef("Cross Validation Accuracy = %.6g%%", 100**r.Accuracy)
}

// meanOf returns "mean" and the name of the measure.
func meanOf(m tune.Measure) string {
	if m == tune.MeanSquaredError { // the measure itself is a mean
		return m.String()
	}
	return "mean " + m.String()
}
