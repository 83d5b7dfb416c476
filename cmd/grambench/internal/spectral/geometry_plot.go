package spectral

import (
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/gramengine/gram/engine/geometry"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/report"
)

// draw draws the metric along x and the scalar curvature by the norm of x, over the range of those that were
// asked for, or ten times each way from a single one. Kernels without a metric have no curve.
func (c *surfaces) draw() error {
	const points = 100
	least, most := slices.Min(c.norms), slices.Max(c.norms)
	if least == most {
		least, most = least/10, most*10
	}
	along := chart.New("metric along x", "‖x‖", "g")
	curvature := chart.New("scalar curvature", "‖x‖", "S")
	var names []string
	for i, k := range c.asked {
		k = kernel.Resolve(k, c.d)
		var g, s plotter.XYs
		for j := range points {
			norm := least * math.Pow(most/least, float64(j)/(points-1))
			at, err := geometry.At(k, norm, c.d)
			if err != nil {
				break
			}
			for _, curve := range []struct {
				to *plotter.XYs
				v  float64
			}{{&g, at.Radial}, {&s, at.Curvature}} {
				if !math.IsNaN(curve.v) && !math.IsInf(curve.v, 0) {
					*curve.to = append(*curve.to, plotter.XY{X: norm, Y: curve.v})
				}
			}
		}
		of, name := chart.Colors[i%len(chart.Colors)], report.Shorten(k.String(), 32)
		names = append(names, name)
		if len(g) > 0 {
			chart.Curve(along, name, of, g, false)
		}
		if len(s) > 0 {
			chart.Curve(curvature, name, of, s, false)
		}
	}
	panels := []*plot.Plot{along, curvature}
	for _, p := range panels {
		if p.X.Min > p.X.Max {
			p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = least, most, 0, 1
			p.Title.Text += "\nno kernel has one"
		}
		chart.Logarithmic(power, &p.X)
		chart.BesideLegend(p, width, names...)
		p.Legend.Top = true
	}
	return chart.Save(c.plot, width, 13, panels...)
}
