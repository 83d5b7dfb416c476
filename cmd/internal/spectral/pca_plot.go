package spectral

import (
	"context"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/report"
)

const width = 15 // width of a plot in centimetres

// maxPoints is the maximum number of documents in a plot. More points would overlap.
const maxPoints = 5000

// draw returns two charts: documents by their first two components, coloured by class, and the
// explained variance.
func (r *componentsReport) draw(
	ctx context.Context, c *corpus.Corpus, of coordinates,
) ([]*chart.Chart, error) {
	var rows []int
	for n, i := c.Documents.Rows(), 0; i < n; i += (n + maxPoints - 1) / maxPoints {
		rows = append(rows, i)
	}
	z, err := of(ctx, rows)
	if err != nil {
		return nil, err
	}
	title := report.Shorten(r.Corpus.Source, 32) + ", " + r.Kernel
	cloud := chart.New(title, "component 1, "+report.Percent(r.Rows[0].Share), "")
	if len(r.Rows) > 1 {
		cloud.Y.Label = "component 2, " + report.Percent(r.Rows[1].Share)
	}
	classes := make([][]chart.Point, len(c.Classes)+1) // the last is for documents with no class or several
	for k, i := range rows {
		class, at := len(c.Classes), chart.Point{X: z.At(k, 0)}
		if of := c.Labels.Of(i); len(of) == 1 {
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
			name, of = report.Shorten(c.Classes[class], 20), chart.Colors[class%len(chart.Colors)]
			shape = chart.Shape(class / len(chart.Colors) % int(chart.Cross)) // distinguishes classes of equal colour
		}
		if len(c.Classes) > 20 || len(c.Classes) == 0 {
			name = ""
		}
		cloud.Points(name, of, shape, 1.3, points)
	}

	scree := chart.New("explained variance", "component", "share, %")
	var each, sum []chart.Point
	for i, row := range r.Rows {
		each = append(each, chart.Point{X: float64(i + 1), Y: 100 * row.Share})
		sum = append(sum, chart.Point{X: float64(i + 1), Y: 100 * row.Sum})
	}
	scree.Y.Min, scree.Y.Max = 0, 100
	scree.Curve("each", chart.Colors[0], each, len(each) < 40)
	scree.Curve("so far", chart.Colors[1], sum, len(sum) < 40)
	scree.X.Step = 1
	return []*chart.Chart{cloud, scree}, nil
}
