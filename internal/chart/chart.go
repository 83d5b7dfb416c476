// Package chart sets up plots in the house's way, and saves them as PNG or SVG files.
package chart

import (
	"image/color"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/gramengine/gram/internal/matrixio"
)

// Colors tell curves apart; more curves than these share them.
var Colors = []color.Color{
	color.RGBA{0x1f, 0x77, 0xb4, 0xff}, color.RGBA{0xc4, 0x3c, 0x1a, 0xff}, color.RGBA{0x2c, 0x8a, 0x3c, 0xff},
	color.RGBA{0x8c, 0x56, 0xb0, 0xff}, color.RGBA{0xd6, 0x8b, 0x00, 0xff}, color.RGBA{0x17, 0x9c, 0xa8, 0xff},
	color.RGBA{0x7f, 0x5a, 0x4b, 0xff}, color.RGBA{0x33, 0x33, 0x33, 0xff},
}

// Gray is for what isn't a curve; Red marks the best.
var (
	Gray = color.Gray{0x60}
	Red  = color.RGBA{0xd6, 0x27, 0x28, 0xff}
)

// New makes a plot with the titles of it and of its axes.
func New(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 8
	p.Title.TextStyle.Font.Size, p.Title.TextStyle.Font.Variant = 12, "Sans"
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size, axis.Label.Padding = 12, 11, 6
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
		axis.Tick.Marker = Steps{}
	}
	p.Legend.TextStyle.Font.Variant = "Sans"
	return p
}

// Steps marks the multiples of 1, 2 or 5 times a power of ten that is at least Min, so that 0 is one where the
// axis has it.
type Steps struct{ Min float64 }

// Ticks implements [plot.Ticker].
func (s Steps) Ticks(least, most float64) []plot.Tick {
	const labels = 5 // about
	step := max(math.Pow(10, math.Floor(math.Log10((most-least)/labels))), s.Min)
	for _, more := range []float64{2, 2.5, 2} {
		if (most-least)/step > labels+1 {
			step *= more
		}
	}
	var ticks []plot.Tick
	for k := math.Ceil(least / step); k <= most/step; k++ {
		value := k*step + 0 // + 0 turns −0 into 0
		ticks = append(ticks, plot.Tick{Value: value, Label: strconv.FormatFloat(value, 'g', 6, 64)})
	}
	return ticks
}

// BesideLegend widens the x axis, of a plot of so many centimeters, so that the legend at its right covers nothing.
func BesideLegend(p *plot.Plot, width float64, names ...string) {
	longest := p.Legend.ThumbnailWidth
	for _, name := range names {
		longest = max(longest, p.Legend.ThumbnailWidth+p.Legend.TextStyle.Width(name)+vg.Centimeter/2)
	}
	const axis = 2.5 // centimeters left of the plot's own area
	share := longest.Points() / vg.Length((width-axis)*float64(vg.Centimeter)).Points()
	if _, ratio := p.X.Scale.(plot.LogScale); ratio {
		p.X.Max *= math.Pow(p.X.Max/p.X.Min, share/(1-share))
	} else {
		p.X.Max += (p.X.Max - p.X.Min) * share / (1 - share)
	}
}

// Logarithmic makes axes logarithmic, with a label, as write has it, at each power of ten, and at 2 and 5 times that
// where the axis has less than two powers.
func Logarithmic(write func(v float64) string, axes ...*plot.Axis) {
	for _, axis := range axes {
		axis.Scale = plot.LogScale{}
		axis.Tick.Marker = plot.TickerFunc(func(least, most float64) []plot.Tick {
			var ticks []plot.Tick
			few := math.Floor(math.Log10(most))-math.Ceil(math.Log10(least)) < 1
			for e := math.Floor(math.Log10(least)); e <= math.Log10(most); e++ {
				for d := 1; d < 10; d++ {
					tick := plot.Tick{Value: float64(d) * math.Pow(10, e)}
					if d == 1 || few && (d == 2 || d == 5) {
						tick.Label = write(tick.Value)
					}
					if tick.Value >= least && tick.Value <= most {
						ticks = append(ticks, tick)
					}
				}
			}
			return ticks
		})
	}
}

// Curve draws points, joined by a line, with marks on them if asked; without a name it isn't in the
// legend.
func Curve(p *plot.Plot, name string, of color.Color, points plotter.XYs, marks bool) {
	line := &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: of, Width: 1.2}}
	p.Add(line)
	if marks {
		glyph := draw.GlyphStyle{Color: of, Radius: 2.5, Shape: draw.CircleGlyph{}}
		p.Add(&plotter.Scatter{XYs: points, GlyphStyle: glyph})
	}
	if name != "" {
		p.Legend.Add(name, line)
	}
}

// Name writes a name right of a point.
func Name(p *plot.Plot, name string, at plotter.XY) {
	style := p.X.Tick.Label
	style.XAlign, style.YAlign = text.XLeft, text.YCenter
	p.Add(&plotter.Labels{XYs: plotter.XYs{at}, Labels: []string{name}, TextStyle: []text.Style{style},
		Offset: vg.Point{X: 5}})
}

// Bars draws groups of bars, one of each series, from 0 on; if there are several series, the legend names
// them. Names of groups are turned if they would overlap in a page.
func Bars(p *plot.Plot, groups, series []string, value func(group, series int) float64) {
	const wide = 0.8 // of the room that a group has
	width := wide / float64(len(series))
	for s, name := range series {
		of := Colors[s%len(Colors)]
		var last *plotter.Polygon
		for g := range groups {
			left, top := float64(g)-wide/2+float64(s)*width, value(g, s)
			bar := plotter.XYs{{X: left}, {X: left, Y: top}, {X: left + width, Y: top}, {X: left + width}}
			last = &plotter.Polygon{XYs: []plotter.XYs{bar}, Color: of, LineStyle: draw.LineStyle{Color: of}}
			p.Add(last)
		}
		if len(series) > 1 && last != nil {
			p.Legend.Add(name, last)
		}
	}
	p.NominalX(groups...)
	p.X.Min, p.X.Max, p.Y.Min = -0.5, float64(len(groups))-0.5, 0
	room := 10 * vg.Centimeter / vg.Length(max(len(groups), 1))
	if slices.ContainsFunc(groups, func(g string) bool { return wider*p.X.Tick.Label.Width(g) > room }) {
		Turn(&p.X)
	}
}

// Turn turns the labels of an x axis, so that they don't overlap. They begin at their marks, since a page's font may be
// wider.
func Turn(axis *plot.Axis) {
	axis.Tick.Label.Rotation = -math.Pi / 5
	axis.Tick.Label.XAlign, axis.Tick.Label.YAlign = text.XLeft, text.YCenter
}

// Save draws plots side by side into a file, each of a size in centimeters, through a temporary name: SVG
// where the name ends in .svg, else PNG.
func Save(path string, width, height float64, panels ...*plot.Plot) error {
	const mm = vg.Millimeter
	w, h := vg.Length(width*float64(len(panels)))*vg.Centimeter, vg.Length(height)*vg.Centimeter
	var img interface {
		vg.CanvasSizer
		io.WriterTo
	} = vgimg.PngCanvas{Canvas: vgimg.New(w, h)}
	if strings.EqualFold(filepath.Ext(path), ".svg") {
		svg := titledSVG{Canvas: vgsvg.New(w, h)}
		for _, p := range panels {
			svg.titles = append(svg.titles, strings.ReplaceAll(p.Title.Text, "\n", ", "))
		}
		img = svg
	}
	canvas := draw.New(img)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	tiles := draw.Tiles{
		Rows:      1,
		Cols:      len(panels),
		PadX:      10 * mm,
		PadTop:    4 * mm,
		PadBottom: 4 * mm,
		PadLeft:   4 * mm,
		PadRight:  6 * mm,
	}
	for i, c := range plot.Align([][]*plot.Plot{panels}, tiles, canvas)[0] {
		panels[i].Draw(c)
	}
	return matrixio.Save(path, img)
}
