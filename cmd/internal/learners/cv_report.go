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
	Corpus source.Summary `json:"corpus"`
	settingsLine
	NumFolds    int    `json:"folds"`
	GroupColumn string `json:"groups,omitempty"`
	Seed        uint64 `json:"seed"`

	NumScored      int               `json:"documents_scored"`
	NumCorrect     int               `json:"documents_correct"`
	source.Metrics                   // scores over all documents
	Regression     *score.Regression `json:"regression,omitempty"` // errors over all documents
	Measure        tune.Measure      `json:"measure"`              // measure of Mean, SD and Rows
	Mean           float64           `json:"mean"`                 // mean of the measure over the folds
	SD             float64           `json:"standard_deviation"`

	NumUnconverged int     `json:"unconverged"`
	MeanSupport    float64 `json:"support_vectors,omitempty"` // mean number of distinct support vectors per fold
	Iterations     int64   `json:"iterations,omitempty"`
	*solverLine            // solver statistics; nil for learners other than SVMs

	Seconds      float64 `json:"seconds"` // time since the start of reading
	ReadSeconds  float64 `json:"seconds_read"`
	SolveSeconds float64 `json:"seconds_solve"` // time for training and prediction on all folds
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"` // value of -m; 0 if unlimited

	Rows []foldRow `json:"rows"`

	LearningCurve []learn.LearningPoint `json:"learning_curve,omitempty"`

	score *score.Score
	rows  *corpus.Corpus // names and rows of the documents, for the page of a regression
}

type foldRow struct {
	Fold         int  `json:"fold"` // fold number, from 1
	NumDocuments int  `json:"documents"`
	NumSupport   *int `json:"support_vectors,omitempty"` // number of support vectors; nil for learners other than SVMs
	NumCorrect   int  `json:"documents_correct"`
	source.Metrics
}

func (r *cvReport) fill(run *cvFlags, j *trainingJob, v *learn.Validation) {
	r.settingsLine = run.newSettingsLine(&v.About)
	r.NumFolds, r.GroupColumn, r.Seed = run.folds, run.GroupColumn, run.seed
	r.score, r.NumScored, r.NumCorrect = v.Score, v.Score.Documents, v.Score.Correct
	regression, labels := v.Measure == tune.MeanSquaredError, v.Measure == tune.MicroF1
	r.Metrics = source.NewMetrics(v.Score, regression, labels)
	r.Regression = v.Score.Regression
	r.Measure, r.Mean, r.SD = v.Measure, v.Mean, v.SD
	for fold, score := range v.FoldScores {
		r.Rows = append(r.Rows, foldRow{Fold: fold + 1, NumDocuments: score.Documents, NumCorrect: score.Correct,
			Metrics: source.NewMetrics(score, regression, labels && v.FoldSupportVectorCounts == nil)})
		if v.FoldSupportVectorCounts != nil {
			r.Rows[fold].NumSupport = &v.FoldSupportVectorCounts[fold]
		}
	}
	if v.FoldSupportVectorCounts != nil {
		r.MeanSupport, r.Iterations, r.solverLine = v.MeanSupportVectorCount, v.Iterations, j.newSolverLine(v.GramTime)
		r.DotProducts, r.SolveSeconds = v.DotProducts, v.SolveTime.Seconds()
		r.setBackend(run, j)
	}
	r.ReadSeconds = j.readSeconds
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
	d.AddLine(r.Corpus)
	d.AddLine(r.format(foldsText(r.NumFolds, r.GroupColumn, r.Seed)))
	d.AddTable("Folds", "", r.table())
	writeMean(d, r.Measure, r.Mean, r.SD)
	r.DescribeAll(d)
	r.writeLines(d)
	if r.Regression != nil {
		describeErrors(d, r.Regression)
	}
	if r.LearningCurve != nil {
		d.AddSection(r.curveSection())
		d.AddLine("")
	}
	var prepared string
	if r.solverLine != nil {
		r.solverLine.describe(d)
		prepared = fmt.Sprintf("preparing %.2f s, matrix %.2f s, ", r.PrepareSeconds, r.GramSeconds)
	}
	d.AddLinef("reading %.2f s, %sfolds %.2f s, total %.2f s, %s", r.ReadSeconds, prepared, r.SolveSeconds,
		r.Seconds, report.FormatPeakMemory(r.PeakBytes, r.LimitBytes))
}

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
		report.NewColumn(">documents", func(row foldRow) string { return report.FormatCount(row.NumDocuments) }),
		report.NewColumn(">support vectors", func(row foldRow) string {
			if row.NumSupport == nil {
				return ""
			}
			return report.FormatCount(*row.NumSupport)
		}),
		figure(">accuracy", "%.2f%%", 100, r.Measure == tune.Accuracy, accuracy),
		figure(">all labels correct", "%.2f%%", 100, r.Measure == tune.MicroF1, accuracy),
		figure(">micro F1", "%.4f", 1, r.solverLine == nil || r.Measure == tune.MicroF1,
			func(row foldRow) *float64 { return row.MicroF1 }),
		figure(">macro F1", "%.4f", 1, true, func(row foldRow) *float64 { return row.MacroF1 }),
		figure(">mean squared error", "%.6g", 1, true, func(row foldRow) *float64 { return row.MSE }),
		figure(">squared correlation", "%.4f", 1, true, func(row foldRow) *float64 { return row.SquaredCorrelation }))
}

func writeMean(d *report.Document, m tune.Measure, mean, sd float64) {
	d.AddLinef("%s %s, standard deviation %s over the folds", meanTitle(m), m.Format(mean), m.Format(sd))
}

// writeLines adds the lines that svm-train -v prints, with scores over all documents.
func (r *cvReport) writeLines(d *report.Document) {
	if r.MSE != nil {
		d.AddLinef("Cross Validation Mean squared error = %.6g", *r.MSE)
		d.AddLinef("Cross Validation Squared correlation coefficient = %.6g", *r.SquaredCorrelation)
		return
	}
	d.AddLinef("Cross Validation Accuracy = %.6g%%", 100**r.Accuracy)
}

func meanTitle(m tune.Measure) string {
	if m == tune.MeanSquaredError { // its name already contains "mean"
		return m.String()
	}
	return "mean " + m.String()
}
