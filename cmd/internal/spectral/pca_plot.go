package spectral

import (
	"context"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/report"
)

const plotWidth = 15 // width of a plot in centimetres

// maxPlotPoints is the maximum number of documents in a plot. More points would overlap.
const maxPlotPoints = 5000

// draw returns two charts. The first shows documents by their first two components, coloured by
// class. The second shows the explained variance.
func (r *componentsReport) draw(
	ctx context.Context, c *corpus.Corpus, of coordinatesFunc,
) ([]*chart.Chart, error) {
	var rows []int
	for n, i := c.Documents.Rows(), 0; i < n; i += (n + maxPlotPoints - 1) / maxPlotPoints {
		rows = append(rows, i)
	}
	z, err := of(ctx, rows)
	if err != nil {
		return nil, err
	}
	title := report.TruncateStart(r.Corpus.Source, 32) + ", " + r.Kernel
	cloud := chart.New(title, "component 1, "+report.FormatPercent(r.Rows[0].ExplainedVarianceRatio), "")
	if len(r.Rows) > 1 {
		cloud.Y.Label = "component 2, " + report.FormatPercent(r.Rows[1].ExplainedVarianceRatio)
	}
	classes := make([][]chart.Point, len(c.Classes)+1) // last element: documents without exactly one class
	for k, i := range rows {
		class, at := len(c.Classes), chart.Point{X: z.At(k, 0)}
		if of := c.Labels.Classes(i); len(of) == 1 {
			class = int(of[0])
		}
		if len(r.Rows) > 1 {
			at.Y = z.At(k, 1)
		}
		classes[class] = append(classes[class], at)
	}
	for class, points := range classes {
		if len(points) == 0 {
			continue
		}
		name, of, shape := "other", chart.Gray, chart.Cross
		if class < len(c.Classes) {
			name, of = report.TruncateStart(c.Classes[class], 20), chart.Palette[class%len(chart.Palette)]
			shape = chart.Shape(class / len(chart.Palette) % int(chart.Cross)) // distinguishes classes of equal colour
		}
		if len(c.Classes) > 20 || len(c.Classes) == 0 {
			name = ""
		}
		cloud.AddPoints(name, of, shape, 1.3, points)
	}

	scree := chart.New("explained variance", "component", "share, %")
	var each, sum []chart.Point
	for i, row := range r.Rows {
		each = append(each, chart.Point{X: float64(i + 1), Y: 100 * row.ExplainedVarianceRatio})
		sum = append(sum, chart.Point{X: float64(i + 1), Y: 100 * row.CumulativeRatio})
	}
	scree.Y.Min, scree.Y.Max = 0, 100
	scree.AddCurve("each", chart.Palette[0], each, len(each) < 40)
	scree.AddCurve("so far", chart.Palette[1], sum, len(sum) < 40)
	scree.X.MinTickStep = 1
	return []*chart.Chart{cloud, scree}, nil
}
