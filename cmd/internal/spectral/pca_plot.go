package spectral

import (
	"context"
	"image/color"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/page"
	"github.com/gramengine/gram/internal/report"
)

const width = 15 // of a plot, in centimeters

// mostPoints is how many documents are drawn: more hide each other.
const mostPoints = 5000

// CompletePage adds the plots.
func (r *componentsReport) CompletePage(p *page.Page) (err error) {
	p.Title = "Components of " + filepath.Base(r.Corpus.Source)
	s := page.Section{Title: "Plots"}
	for i, text := range []string{"documents by their first two components, coloured by class", "as in the table"} {
		if s.Charts, err = page.AddChart(s.Charts, r.plots[i], text); err != nil {
			return err
		}
	}
	p.Sections = append(p.Sections, s)
	return nil
}

// draw plots documents by their first two components, in the colours of their classes, and the
// explained shares.
func (r *componentsReport) draw(
	ctx context.Context, c *corpus.Corpus, of coordinates,
) ([]*plot.Plot, error) {
	var rows []int
	for n, i := c.Documents.Rows(), 0; i < n; i += (n + mostPoints - 1) / mostPoints {
		rows = append(rows, i)
	}
	z, err := of(ctx, rows)
	if err != nil {
		return nil, err
	}
	title := report.Shorten(r.Corpus.Source, 32) + ", " + r.Kernel
	cloud := chart.New(title, "component 1, "+report.Percent(r.Rows[0].Share), "")
	if len(r.Rows) > 1 {
		cloud.Y.Label.Text = "component 2, " + report.Percent(r.Rows[1].Share)
	}
	classes := make([]plotter.XYs, len(c.Classes)+1) // the last: without one, or with several
	for k, i := range rows {
		class, at := len(c.Classes), plotter.XY{X: z.At(k, 0)}
		if of := c.Labels.Of(i); len(of) == 1 {
			class = int(of[0])
		}
		if len(r.Rows) > 1 {
			at.Y = z.At(k, 1)
		}
		classes[class] = append(classes[class], at)
	}
	var names []string
	for class, points := range classes {
		if len(points) == 0 {
			continue
		}
		name, of, shape := "other", color.Color(chart.Gray), draw.GlyphDrawer(draw.CrossGlyph{})
		if class < len(c.Classes) {
			name, of = report.Shorten(c.Classes[class], 20), chart.Colors[class%len(chart.Colors)]
			// beyond the colours there are shapes
			shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.TriangleGlyph{}, draw.SquareGlyph{}, draw.PlusGlyph{}}
			shape = shapes[class/len(chart.Colors)%len(shapes)]
		}
		s := &plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: of, Radius: vg.Points(1.3), Shape: shape}}
		cloud.Add(s)
		if len(c.Classes) <= 20 && len(c.Classes) > 0 {
			cloud.Legend.Add(name, s)
			names = append(names, name)
		}
	}
	cloud.Legend.Top = true
	if names != nil {
		chart.BesideLegend(cloud, width, names...)
	}

	scree := chart.New("explained variance", "component", "share, %")
	var each, sum plotter.XYs
	for i, row := range r.Rows {
		each = append(each, plotter.XY{X: float64(i + 1), Y: 100 * row.Share})
		sum = append(sum, plotter.XY{X: float64(i + 1), Y: 100 * row.Sum})
	}
	scree.Y.Min, scree.Y.Max = 0, 100
	chart.Curve(scree, "each", chart.Colors[0], each, len(each) < 40)
	chart.Curve(scree, "so far", chart.Colors[1], sum, len(sum) < 40)
	scree.X.Tick.Marker = chart.Steps{Min: 1}
	scree.Legend.Top, scree.Legend.Left = true, true // above the curves, one of which falls and one rises
	return []*plot.Plot{cloud, scree}, nil
}
