package machines

import (
	"fmt"
	"time"

	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// cvReport is the report of the command cv.
type cvReport struct {
	Corpus source.Line `json:"corpus"`
	machineLine
	Folds  int    `json:"folds"`
	Groups string `json:"groups,omitempty"`
	Seed   uint64 `json:"seed"`

	Scored         int          `json:"documents_scored"`
	Right          int          `json:"documents_right"`
	source.Figures              // of all documents together
	Measure        tune.Measure `json:"measure"` // which figure the next two and the rows have
	Mean           float64      `json:"mean"`    // over the folds
	SD             float64      `json:"standard_deviation"`

	Unfinished  int `json:"unfinished_machines"`
	*solverLine     // of support vector machines

	Seconds      float64 `json:"seconds"` // from the first byte read
	SecondsRead  float64 `json:"seconds_read"`
	SecondsSolve float64 `json:"seconds_solve"` // training and predicting all folds
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"` // what -m allows; 0 where nothing is said

	Rows []foldRow `json:"rows"`

	Curve []learn.Learned `json:"learning_curve,omitempty"`

	score *score.Score
}

// foldRow is one fold.
type foldRow struct {
	Fold      int  `json:"fold"` // from 1
	Documents int  `json:"documents"`
	Support   *int `json:"support_vectors,omitempty"` // of support vector machines
	Right     int  `json:"documents_right"`
	source.Figures
}

// fill fills in what is known when all folds are done.
func (r *cvReport) fill(run *validation, j *job, v *learn.Validation) {
	r.machineLine = run.line(&v.About)
	r.Folds, r.Groups, r.Seed = run.folds, run.GroupColumn, run.seed
	r.score, r.Scored, r.Right = v.Score, v.Score.Documents, v.Score.Right
	regression, labels := v.Measure == tune.MeanSquaredError, v.Measure == tune.MicroF1
	r.Figures = source.NewFigures(v.Score, regression, labels)
	r.Measure, r.Mean, r.SD = v.Measure, float64(v.Mean), float64(v.SD)
	for fold, score := range v.ByFold {
		r.Rows = append(r.Rows, foldRow{Fold: fold + 1, Documents: score.Documents, Right: score.Right,
			Figures: source.NewFigures(score, regression, labels && v.SupportByFold == nil)})
		if v.SupportByFold != nil {
			r.Rows[fold].Support = &v.SupportByFold[fold]
		}
	}
	if v.SupportByFold != nil {
		own := j.solverLine(run.numberOf("tolerance"), v.Support, v.Iterations, v.Gram)
		own.DotProducts = v.DotProducts
		r.solverLine, r.SecondsSolve = &own, v.Solve.Seconds()
		r.computedBy(run, j)
	}
	r.SecondsRead = j.read
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(run.Memory)
	r.Seconds = time.Since(j.begin).Seconds()
}

// foldsText describes folds, by the column of their groups if there is one.
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
	writeMean(d, r.Measure, float64(r.Mean), float64(r.SD))
	r.DescribeAll(d)
	r.writeLines(d)
	if r.Curve != nil {
		d.Add(r.curveSection())
		d.Line("")
	}
	var prepared string
	if r.solverLine != nil {
		r.Cache.write(d, r.DotProducts)
		prepared = fmt.Sprintf("preparing %.2f s, matrix %.2f s, ", r.SecondsPrepare, r.SecondsGram)
	}
	d.Linef("reading %.2f s, %sfolds %.2f s, in all %.2f s, %s", r.SecondsRead, prepared, r.SecondsSolve,
		r.Seconds, report.Peak(r.PeakBytes, r.LimitBytes))
}

// table lists the folds.
func (r *cvReport) table() *report.Table {
	percent := func(v *float64) string { return fmt.Sprintf("%.2f%%", 100*float64(*v)) }
	four := func(v *float64) string { return fmt.Sprintf("%.4f", float64(*v)) }
	columns := []struct {
		title string
		has   bool
		cell  func(row *foldRow) string
	}{
		{">fold", true, func(row *foldRow) string { return fmt.Sprint(row.Fold) }},
		{">documents", true, func(row *foldRow) string { return report.Count(row.Documents) }},
		{">support vectors", r.solverLine != nil, func(row *foldRow) string { return report.Count(*row.Support) }},
		{">accuracy", r.Measure == tune.Accuracy, func(row *foldRow) string { return percent(row.Accuracy) }},
		{">all labels right", r.Measure == tune.MicroF1, func(row *foldRow) string { return percent(row.Accuracy) }},
		{">micro F1", r.MSE == nil && (r.solverLine == nil || r.Measure == tune.MicroF1),
			func(row *foldRow) string { return four(row.MicroF1) }},
		{">macro F1", r.MSE == nil, func(row *foldRow) string { return four(row.MacroF1) }},
		{">mean squared error", r.MSE != nil, func(row *foldRow) string { return fmt.Sprintf("%.6g", float64(*row.MSE)) }},
		{">squared correlation", r.MSE != nil, func(row *foldRow) string { return four(row.R2) }},
	}
	var titles []string
	for _, c := range columns {
		if c.has {
			titles = append(titles, c.title)
		}
	}
	t := report.NewTable(titles...)
	for i := range r.Rows {
		var cells []string
		for _, c := range columns {
			if c.has {
				cells = append(cells, c.cell(&r.Rows[i]))
			}
		}
		t.Add(cells...)
	}
	return t
}

// writeMean prints the figure by which a validation is judged.
func writeMean(d *report.Document, m tune.Measure, mean, sd float64) {
	d.Linef("%s %s, standard deviation %s over the folds", meanOf(m), m.Format(mean), m.Format(sd))
}

// writeLines prints what svm-train -v prints: the figures of all documents together.
func (r *cvReport) writeLines(d *report.Document) {
	if r.MSE != nil {
		d.Linef("Cross Validation Mean squared error = %.6g", float64(*r.MSE))
		d.Linef("Cross Validation Squared correlation coefficient = %.6g", float64(*r.R2))
		d.Linef("Cross Validation Coefficient of determination = %.6g", float64(*r.Determination))
		return
	}
	d.Linef("Cross Validation Accuracy = %.6g%%", 100*float64(*r.Accuracy))
}

// meanOf names the mean of figures.
func meanOf(m tune.Measure) string {
	if m == tune.MeanSquaredError { // one already
		return m.String()
	}
	return "mean " + m.String()
}
