package learners

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/report"
)

// describePage adds the sections that only pages have.
func (r *cvReport) describePage(d *report.Document) {
	d.Title = "Cross-validation on " + filepath.Base(r.Corpus.Source)
	if r.Regression != nil {
		errorFigures(d, r.Regression)
		d.AddPageSection(estimatesSection(r.Regression, r.NumScored))
		d.AddPageSection(worstSection(r.Regression, r.rows))
		return
	}
	d.AddMetric("Mean "+r.Measure.String(), r.Measure.Format(r.Mean),
		"± "+r.Measure.Format(r.SD)+" over the folds")
	scoreFigures(d, r.score)
	d.AddPageSection(report.Section{Title: "Classes", Table: classTable(r.score.Classes)})
	if r.score.Confusion != nil {
		d.AddPageSection(report.Section{Title: "Confusion", Text: matrixNote, ConfusionMatrix: confusionMatrix(r.score)})
	}
}

func (r *cvReport) curveSection() report.Section {
	t := report.NewTable("share of training", ">documents", ">mean "+r.Measure.String(), ">± over folds", ">s")
	p := chart.New("Learning curve", "training documents", r.Measure.String()+", %")
	var mean, low, high []chart.Point
	var parts []string
	for _, x := range r.LearningCurve {
		t.Add(fmt.Sprintf("%g", x.Fraction), report.FormatCount(x.DocumentCount), r.Measure.Format(x.Mean),
			r.Measure.Format(x.SD),
			fmt.Sprintf("%.2f", x.Elapsed.Seconds()))
		n := float64(x.DocumentCount)
		mean = append(mean, chart.Point{X: n, Y: 100 * x.Mean})
		low = append(low, chart.Point{X: n, Y: 100 * (x.Mean - x.SD)})
		high = append(high, chart.Point{X: n, Y: 100 * (x.Mean + x.SD)})
		parts = append(parts, fmt.Sprintf("%s with %s", r.Measure.Format(x.Mean), report.FormatDocuments(x.DocumentCount)))
	}
	s := report.Section{Title: "Learning curve", Heading: "Learning curve", Table: t,
		Text: "Each fold is predicted by models trained on a fraction of the other folds. " +
			"If the curve still rises, more training documents are likely to help."}
	if r.Measure != tune.MeanSquaredError {
		p.AddCurve("", chart.Gray, low, false)
		p.AddCurve("", chart.Gray, high, false)
		p.AddCurve("", chart.Palette[0], mean, true)
		s.Charts = []report.Chart{{Chart: p, Description: strings.Join(parts, "; ")}}
	}
	return s
}

// describePage adds the best score and the train command.
func (r *gridReport) describePage(d *report.Document) {
	d.Title = "Search on " + filepath.Base(r.Corpus.Source)
	if b := r.Best; b != nil {
		d.AddMetric("Best "+r.Measure.String(), r.Measure.Format(b.Mean),
			formatParameters(b.learnerName(), b.C, b.Nu, b.Epsilon))
	}
	train := r.TrainCommand
	if r.Choice != nil {
		train = cmp.Or(train, r.Choice.TrainCommand)
	}
	if train != "" {
		d.AddPageSection(report.Section{Title: "Train with the best", Code: train})
	}
}
