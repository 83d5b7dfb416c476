package main

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
)

// curveColors tell kernels apart; more kernels than these share them.
var curveColors = []color.Color{
	color.RGBA{0x1f, 0x77, 0xb4, 0xff}, color.RGBA{0xc4, 0x3c, 0x1a, 0xff}, color.RGBA{0x2c, 0x8a, 0x3c, 0xff}, color.RGBA{0x8c, 0x56, 0xb0, 0xff},
	color.RGBA{0xd6, 0x8b, 0x00, 0xff}, color.RGBA{0x17, 0x9c, 0xa8, 0xff}, color.RGBA{0x7f, 0x5a, 0x4b, 0xff}, color.RGBA{0x33, 0x33, 0x33, 0xff},
}

// writeSpectrum draws the decay of the eigenvalues and, where there are several t, the smallest eigenvalue against t.
func writeSpectrum(path string, r *spectrumReport) error {
	panels := []*plot.Plot{r.decayPlot()}
	if len(r.tsOf()) > 1 {
		panels = append(panels, r.smallestPlot())
	}
	img := vgimg.New(vg.Length(len(panels))*15*vg.Centimeter, 13*vg.Centimeter)
	canvas := draw.New(img)
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Centimeter, PadTop: vg.Millimeter * 4, PadBottom: vg.Millimeter * 4, PadLeft: vg.Millimeter * 4, PadRight: vg.Millimeter * 6}
	for i, c := range plot.Align([][]*plot.Plot{panels}, tiles, canvas)[0] {
		panels[i].Draw(c)
	}
	return matrixio.Save(path, vgimg.PngCanvas{Canvas: img})
}

func newSpectrumPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 8
	p.Title.TextStyle.Font.Size, p.Title.TextStyle.Font.Variant = 12, "Sans"
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size, axis.Label.Padding = 12, 11, 6
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
	}
	p.Legend.TextStyle.Font.Variant = "Sans"
	return p
}

// curve returns name and colour of row i. Where there are more rows than colours, those of one kernel with several t share a colour, which fades with t, and the first
// and the last of them have names.
func (r *spectrumReport) curve(i int) (string, color.Color) {
	row := r.Rows[i]
	if len(r.Rows) <= len(curveColors) {
		return row.Kernel, curveColors[i]
	}
	var families []string
	place, many := 0, 0 // among the rows of its family
	for j, other := range r.Rows {
		if !slices.Contains(families, other.family) {
			families = append(families, other.family)
		}
		if other.family == row.family {
			if many++; j < i {
				place++
			}
		}
	}
	base := color.RGBAModel.Convert(curveColors[slices.Index(families, row.family)%len(curveColors)]).(color.RGBA)
	white := 0.7 * float64(place) / float64(max(many-1, 1))
	fade := func(v uint8) uint8 { return uint8(float64(v) + white*float64(255-v)) }
	name := row.Kernel
	if place > 0 && place < many-1 {
		name = ""
	}
	return name, color.RGBA{fade(base.R), fade(base.G), fade(base.B), 0xff}
}

// addCurve draws points, joined by a line; without a name it isn't in the legend.
func addCurve(p *plot.Plot, name string, of color.Color, points plotter.XYs, marks bool) {
	line := &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: of, Width: 1.2}}
	p.Add(line)
	if marks {
		p.Add(&plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: of, Radius: 2.5, Shape: draw.CircleGlyph{}}})
	}
	if name != "" {
		p.Legend.Add(name, line)
	}
}

// decayPlot draws the eigenvalues above 0 by their number; the largest alone where others aren't known.
func (r *spectrumReport) decayPlot() *plot.Plot {
	p := newSpectrumPlot(fmt.Sprintf("%s, %s", shorten(r.Corpus.Source, 32), r.subjects()), "number of the eigenvalue", "eigenvalue")
	p.Legend.Left = true // below the curves, which fall
	drawn := false
	for i, row := range r.Rows {
		var points plotter.XYs
		add := func(j int, v number) {
			if v > 0 && float64(v) > float64(row.Likely)/1000 { // what is further down is rounding alone, and would flatten the rest
				points = append(points, plotter.XY{X: float64(j + 1), Y: float64(v)})
			}
		}
		for j, v := range row.Values {
			add(j, v)
		}
		if row.Values == nil {
			for j, v := range row.Largest {
				add(j, v.Value)
			}
		}
		if len(points) > 0 {
			name, of := r.curve(i)
			addCurve(p, name, of, points, len(points) < 50)
			drawn = true
		}
	}
	if !drawn { // logarithmic axes want something above 0
		p.Title.Text += "\nno eigenvalue is above 0"
		return p
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powers)
		if axis.Min == axis.Max {
			axis.Min, axis.Max = axis.Min/2, axis.Max*2
		}
	}
	return p
}

// powers is decades with labels that suit numbers below 1.
func powers(least, most float64) []plot.Tick {
	ticks := decades(least, most)
	for i, t := range ticks {
		if t.Label != "" && (t.Value < 0.01 || t.Value >= 1e5) {
			ticks[i].Label = fmt.Sprintf("%.0e", t.Value)
		} else if t.Label != "" {
			ticks[i].Label = fmt.Sprintf("%g", math.Round(t.Value*1e6)/1e6)
		}
	}
	return ticks
}

// smallestPlot draws the smallest eigenvalue against t, a curve for each kernel.
func (r *spectrumReport) smallestPlot() *plot.Plot {
	p := newSpectrumPlot("smallest eigenvalue", "t", "eigenvalue")
	p.Legend.Top = true
	var families []string
	of := map[string]plotter.XYs{}
	for _, row := range r.Rows {
		if row.T > 0 {
			if of[row.family] == nil {
				families = append(families, row.family)
			}
			of[row.family] = append(of[row.family], plotter.XY{X: row.T, Y: float64(row.Min)})
		}
	}
	for i, family := range families {
		addCurve(p, family, curveColors[i%len(curveColors)], of[family], true)
	}
	ts := r.tsOf()
	p.Add(&plotter.Line{XYs: plotter.XYs{{X: ts[0]}, {X: ts[len(ts)-1]}}, LineStyle: draw.LineStyle{Color: gray, Width: 0.7}})
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(powers)
	return p
}

// tsOf returns the different t of the rows, rising.
func (r *spectrumReport) tsOf() []float64 {
	var ts []float64
	for _, row := range r.Rows {
		if row.T > 0 && !slices.Contains(ts, row.T) {
			ts = append(ts, row.T)
		}
	}
	slices.Sort(ts)
	return ts
}
