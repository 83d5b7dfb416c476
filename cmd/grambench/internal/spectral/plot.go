package spectral

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/report"
)

// draw draws the decay of the eigenvalues and, where there are several t, the smallest eigenvalue
// against t.
func (r *spectra) draw(path string) error {
	panels := []*plot.Plot{r.decay()}
	if p := r.smallest(); p != nil {
		panels = append(panels, p)
	}
	return chart.Save(path, 15, 13, panels...)
}

// curve returns name and colour of row i. Where there are more rows than colours, those of one
// kernel with several t share a colour, which fades with t, and the first and the last of them have
// names.
func (r *spectra) curve(i int) (string, color.Color) {
	row := r.Rows[i]
	if len(r.Rows) <= len(chart.Colors) {
		return row.Kernel, chart.Colors[i]
	}
	place, many := 0, 0 // among the rows of its family
	for j, other := range r.Rows {
		if other.family == row.family {
			if many++; j < i {
				place++
			}
		}
	}
	base := color.RGBAModel.Convert(chart.Colors[slices.Index(r.families(), row.family)%len(chart.Colors)]).(color.RGBA)
	white := 0.7 * float64(place) / float64(max(many-1, 1))
	fade := func(v uint8) uint8 { return uint8(float64(v) + white*float64(255-v)) }
	name := row.Kernel
	if place > 0 && place < many-1 {
		name = ""
	}
	return name, color.RGBA{fade(base.R), fade(base.G), fade(base.B), 0xff}
}

// families returns the kernels, each once, without t.
func (r *spectra) families() (list []string) {
	for _, row := range r.Rows {
		if !slices.Contains(list, row.family) {
			list = append(list, row.family)
		}
	}
	return list
}

// decay draws the eigenvalues above 0 by their number; the largest alone where others aren't known.
func (r *spectra) decay() *plot.Plot {
	title := report.Shorten(r.Corpus.Source, 32) + ", " + report.Documents(r.Corpus.Documents)
	p := chart.New(title, "number of the eigenvalue", "eigenvalue")
	p.Legend.Left = true // below the curves, which fall
	drawn := false
	for i, row := range r.Rows {
		values := row.Values
		if values == nil {
			for _, v := range row.Largest {
				values = append(values, v.Value)
			}
		}
		var points plotter.XYs
		for j, v := range values {
			if v > 0 && v > row.Likely/1000 { // what is further down is rounding alone, and would flatten the rest
				points = append(points, plotter.XY{X: float64(j + 1), Y: float64(v)})
			}
		}
		if len(points) > 0 {
			name, of := r.curve(i)
			chart.Curve(p, name, of, points, len(points) < 50)
			drawn = true
		}
	}
	if !drawn { // logarithmic axes want something above 0
		p.Title.Text += "\nno eigenvalue is above 0"
		return p
	}
	chart.Logarithmic(power, &p.X, &p.Y)
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		if axis.Min == axis.Max {
			axis.Min, axis.Max = axis.Min/2, axis.Max*2
		}
	}
	return p
}

// power writes a power of ten.
func power(v float64) string {
	if v < 0.01 || v >= 1e5 {
		return fmt.Sprintf("%.0e", v)
	}
	return fmt.Sprintf("%g", math.Round(v*1e6)/1e6)
}

// smallest draws the smallest eigenvalue against t, a curve for each kernel; nil where there are no
// two values of t.
func (r *spectra) smallest() *plot.Plot {
	p := chart.New("smallest eigenvalue", "t", "eigenvalue")
	p.Legend.Top = true
	least, most := math.Inf(1), 0.0
	colors := 0
	for _, family := range r.families() {
		var points plotter.XYs
		for _, row := range r.Rows {
			if row.family == family && row.T > 0 {
				points = append(points, plotter.XY{X: row.T, Y: float64(row.Min)})
				least, most = min(least, row.T), max(most, row.T)
			}
		}
		if points != nil {
			chart.Curve(p, family, chart.Colors[colors%len(chart.Colors)], points, true)
			colors++
		}
	}
	if !(least < most) {
		return nil
	}
	zero := draw.LineStyle{Color: chart.Gray, Width: 0.7}
	p.Add(&plotter.Line{XYs: plotter.XYs{{X: least}, {X: most}}, LineStyle: zero})
	chart.Logarithmic(power, &p.X)
	return p
}
