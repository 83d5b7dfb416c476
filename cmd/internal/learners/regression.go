package learners

import (
	"fmt"

	"github.com/gramengine/gram/cmd/internal/effects"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/learn/score"
	"github.com/gramengine/gram/internal/report"
)

// errorsTable returns a table of R², MAE and RMSE with confidence intervals. If the training mean
// is known, the table also has a column for the baseline that always predicts the training mean.
func errorsTable(r *score.Regression) *report.Table {
	t := report.NewTable("error", ">value", ">95% interval", ">training mean")
	mean := r.Baseline
	if mean == nil {
		t, mean = report.NewTable("error", ">value", ">95% interval"), &score.MeanBaseline{}
	}
	add := func(name, format string, f score.Metric, mean float64) {
		cells := []string{name, fmt.Sprintf(format, f.Value), fmt.Sprintf(format+" to "+format, f.Low, f.High),
			fmt.Sprintf(format, mean)}
		t.Add(cells[:len(t.Titles())]...)
	}
	add("R²", "%.4f", r.R2, mean.R2)
	add("MAE", "%.5g", r.MAE, mean.MAE)
	add("RMSE", "%.5g", r.RMSE, mean.RMSE)
	return t
}

func describeErrors(d *report.Document, r *score.Regression) {
	s := report.Section{Title: "Errors", Table: errorsTable(r), Text: "R² is 1 for perfect predictions and 0 " +
		"for predicting the mean of the test targets. MAE is the mean absolute error, RMSE the root mean squared " +
		"error. \"Training mean\" is the baseline that always predicts the mean of the training targets."}
	d.AddLine("")
	d.AddSection(s)
	d.AddLine("")
}

func errorFigures(d *report.Document, r *score.Regression) {
	add := func(name, format string, f score.Metric, mean func(m *score.MeanBaseline) float64) {
		note := fmt.Sprintf("95%% interval "+format+" to "+format, f.Low, f.High)
		if r.Baseline != nil {
			note += fmt.Sprintf("; training mean "+format, mean(r.Baseline))
		}
		d.AddMetric(name, fmt.Sprintf(format, f.Value), note)
	}
	add("R²", "%.4f", r.R2, func(m *score.MeanBaseline) float64 { return m.R2 })
	add("Mean absolute error", "%.5g", r.MAE, func(m *score.MeanBaseline) float64 { return m.MAE })
	add("Root mean squared error", "%.5g", r.RMSE, func(m *score.MeanBaseline) float64 { return m.RMSE })
}

// estimatesSection draws estimates against targets, and errors against estimates.
func estimatesSection(r *score.Regression, documents int) report.Section {
	points := "Each point is a document."
	if len(r.SampledEstimates) < documents {
		points = fmt.Sprintf("The points are a random sample of %s documents.", report.FormatCount(len(r.SampledEstimates)))
	}
	s := report.Section{Title: "Estimates", Text: points + " Perfect predictions lie on the gray line."}
	against := chart.New("Predicted against actual", "actual", "predicted")
	residuals := chart.New("Errors by prediction", "predicted", "predicted minus actual")
	var estimates, errors []chart.Point
	for _, x := range r.SampledEstimates {
		estimates = append(estimates, chart.Point{X: x.Target, Y: x.Value})
		errors = append(errors, chart.Point{X: x.Value, Y: x.Value - x.Target})
	}
	for _, c := range []struct {
		chart  *chart.Chart
		points []chart.Point
		line   func(x float64) float64
	}{
		{against, estimates, func(x float64) float64 { return x }},
		{residuals, errors, func(float64) float64 { return 0 }},
	} {
		c.chart.AddPoints("", chart.Palette[0], chart.Circle, 2.5, c.points)
		low, high := c.chart.X.Min, c.chart.X.Max
		for _, axis := range []*chart.Axis{&c.chart.X, &c.chart.Y} { // adds margins between points and axes
			margin := 0.03 * (axis.Max - axis.Min)
			axis.Min, axis.Max = axis.Min-margin, axis.Max+margin
		}
		c.chart.AddCurve("", chart.Gray, []chart.Point{{X: low, Y: c.line(low)}, {X: high, Y: c.line(high)}}, false)
		s.Charts = append(s.Charts, report.Chart{Chart: c.chart, Description: fmt.Sprintf("R² %.4f", r.R2.Value)})
	}
	return s
}

// worstSection lists the documents with the largest errors in a cross-validation, and the columns
// or texts of these documents.
func worstSection(r *score.Regression, c *corpus.Corpus) report.Section {
	titles := append([]string{"document", ">actual", ">predicted", ">error"}, c.Columns...)
	if c.Texts != nil {
		titles = append(titles, "text")
	}
	s := report.Section{Title: "Largest errors", Table: report.NewTable(titles...),
		Text: "Each document is predicted by a model trained on the other folds."}
	for _, x := range r.WorstEstimates {
		cells := []string{c.DocumentName(x.Document), fmt.Sprintf("%.6g", x.Target), fmt.Sprintf("%.6g", x.Value),
			fmt.Sprintf("%.4g", x.Value-x.Target)}
		switch {
		case c.Texts != nil:
			cells = append(cells, report.Excerpt(c.Texts[x.Document], 120))
		case c.Rows != nil:
			for _, value := range c.Rows[x.Document] {
				cells = append(cells, effects.FormatValue(value, 120))
			}
		}
		s.Table.Add(cells...)
	}
	return s
}
