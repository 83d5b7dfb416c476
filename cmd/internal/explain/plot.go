package explain

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"github.com/gramengine/gram/internal/chart"
)

// mostPanels is how many machines are drawn: more can't be read.
const mostPanels = 8

// draw draws the weights as bars, one panel for each machine, the greatest at the top.
func (x *explanation) draw(path string) error {
	var panels []*plot.Plot
	longest := 1
	for _, r := range x.Rows[:min(len(x.Rows), mostPanels)] {
		p := chart.New(title(&r), x.what(), "")
		var names []string
		var up, down plotter.Values
		for i := range r.Not {
			names, up, down = append(names, r.Not[i].Term), append(up, 0), append(down, r.Not[i].Weight)
		}
		for i := len(r.For) - 1; i >= 0; i-- {
			names, up, down = append(names, r.For[i].Term), append(up, r.For[i].Weight), append(down, 0)
		}
		longest = max(longest, len(names))
		for k, values := range []plotter.Values{up, down} {
			if len(values) == 0 {
				continue
			}
			bars, err := plotter.NewBarChart(values, vg.Points(8))
			if err != nil {
				return err
			}
			bars.Horizontal, bars.Color, bars.LineStyle.Width = true, chart.Colors[k], 0
			p.Add(bars)
		}
		p.NominalY(names...)
		panels = append(panels, p)
	}
	return chart.Save(path, 9, 3+0.45*float64(longest), panels...)
}
