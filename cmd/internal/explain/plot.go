package explain

import (
	"slices"

	"github.com/gramengine/gram/internal/chart"
)

// maxPanels is the maximum number of decision functions in a plot.
const maxPanels = 8

// draw plots weights or mean effects as bars, largest at the top, in up to maxPanels panels.
func (x *modelReport) draw(path string) error {
	var panels []*chart.Chart
	longest := 1
	for _, r := range x.Functions[:min(len(x.Functions), maxPanels)] {
		p := chart.New(functionTitle(&r), x.valueName(), "")
		bar := func(of chart.Color, term string, weight float64) {
			y := float64(len(p.Y.Categories))
			p.AddPolygon(of, chart.Point{Y: y - 0.3}, chart.Point{X: weight, Y: y - 0.3}, chart.Point{X: weight, Y: y + 0.3},
				chart.Point{Y: y + 0.3})
			p.Y.Categories = append(p.Y.Categories, term)
		}
		for _, w := range r.Negative {
			bar(chart.Palette[1], w.Term, w.Weight)
		}
		for _, w := range slices.Backward(r.Positive) {
			bar(chart.Palette[0], w.Term, w.Weight)
		}
		longest = max(longest, len(p.Y.Categories))
		panels = append(panels, p)
	}
	return chart.Save(path, 9, 3+0.45*float64(longest), panels...)
}
