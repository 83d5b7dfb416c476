package repro

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
)

// Figure is a figure of a paper: curves in panels side by side, such as tf on the left and tfidf on the right.
type Figure struct {
	Key    string // for the name of its file, such as "webkb-course"
	Panels []*Panel
}

// Panel is one set of axes.
type Panel struct {
	Title, X, Y string
	Curves      []Curve
}

// Curve is a line through points, each with its deviation.
type Curve struct {
	Name   string
	Points []Point
}

// Point is a measured figure at a place; a SD of NaN or 0 draws no bar.
type Point struct{ X, Y, SD float64 }

// curveColors tell curves apart; more than these share them.
var curveColors = []color.Color{
	color.RGBA{0x1f, 0x77, 0xb4, 0xff}, color.RGBA{0xd6, 0x8b, 0x00, 0xff}, color.RGBA{0xc4, 0x3c, 0x1a, 0xff}, color.RGBA{0x2c, 0x8a, 0x3c, 0xff},
	color.RGBA{0x8c, 0x56, 0xb0, 0xff}, color.RGBA{0x17, 0x9c, 0xa8, 0xff}, color.RGBA{0x7f, 0x5a, 0x4b, 0xff}, color.RGBA{0x33, 0x33, 0x33, 0xff},
}

// WritePNG draws the figure into a PNG file, through a temporary name. All panels have the same scale of y.
func (f *Figure) WritePNG(path string) error {
	if len(f.Panels) == 0 {
		return fmt.Errorf("repro: figure %s has no panels, expected one at least", f.Key)
	}
	var panels []*plot.Plot
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range f.Panels {
		drawn := p.plot()
		panels = append(panels, drawn)
		least, most = min(least, drawn.Y.Min), max(most, drawn.Y.Max)
	}
	for _, p := range f.Panels {
		most = max(most, p.belowLegend(least))
	}
	for _, p := range panels {
		p.Y.Min, p.Y.Max = least, most
	}
	img := vgimg.New(vg.Length(len(panels))*12*vg.Centimeter, 10*vg.Centimeter)
	canvas := draw.New(img)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	tiles := draw.Tiles{Rows: 1, Cols: len(panels), PadX: vg.Centimeter, PadTop: 4 * vg.Millimeter, PadBottom: 4 * vg.Millimeter, PadLeft: 4 * vg.Millimeter, PadRight: 6 * vg.Millimeter}
	for i, c := range plot.Align([][]*plot.Plot{panels}, tiles, canvas)[0] {
		panels[i].Draw(c)
	}
	return matrixio.Save(path, vgimg.PngCanvas{Canvas: img})
}

// plot draws one panel. Curves stand a little beside each other, so that their bars can be told apart.
func (p *Panel) plot() *plot.Plot {
	to := plot.New()
	to.Title.Text, to.X.Label.Text, to.Y.Label.Text = p.Title, p.X, p.Y
	to.Title.Padding = 8
	to.Title.TextStyle.Font.Size, to.Title.TextStyle.Font.Variant = 12, "Sans"
	for _, axis := range []*plot.Axis{&to.X, &to.Y} {
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size, axis.Label.Padding = 12, 11, 6
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
	}
	to.Legend.Top, to.Legend.Padding = true, 3
	to.Legend.TextStyle.Font.Variant = "Sans"
	var places []float64
	for _, c := range p.Curves {
		for _, at := range c.Points {
			places = append(places, at.X)
		}
	}
	if len(places) == 0 {
		return to
	}
	slices.Sort(places)
	places = slices.Compact(places)
	to.X.Tick.Marker, to.Y.Tick.Marker = plot.ConstantTicks(measuredTicks(places)), plot.TickerFunc(roundTicks)
	beside := 0.006 * (places[len(places)-1] - places[0])
	for i, c := range p.Curves {
		of := curveColors[i%len(curveColors)]
		shift := beside * (float64(i) - float64(len(p.Curves)-1)/2)
		var line plotter.XYs
		for _, at := range c.Points {
			x := at.X + shift
			line = append(line, plotter.XY{X: x, Y: at.Y})
			if at.SD > 0 {
				to.Add(&plotter.Line{XYs: plotter.XYs{{X: x, Y: at.Y - at.SD}, {X: x, Y: at.Y + at.SD}}, LineStyle: draw.LineStyle{Color: of, Width: 0.8}})
			}
		}
		drawn := &plotter.Line{XYs: line, LineStyle: draw.LineStyle{Color: of, Width: 1.2}}
		to.Add(drawn, &plotter.Scatter{XYs: line, GlyphStyle: draw.GlyphStyle{Color: of, Radius: 2.5, Shape: draw.CircleGlyph{}}})
		to.Legend.Add(c.Name, drawn)
	}
	return to
}

// What the legend takes, which stands at the top on the right: shares of the axes, with some space around it, in panels of the size that WritePNG makes.
const (
	legendLine  = 0.085 // of the height, by curve
	legendWidth = 0.45
)

// belowLegend is the least end of the y axis, if it begins at least, with which the legend covers no point or bar, nor the line to one.
func (p *Panel) belowLegend(least float64) float64 {
	first, last := math.Inf(1), math.Inf(-1)
	for _, c := range p.Curves {
		for _, at := range c.Points {
			first, last = min(first, at.X), max(last, at.X)
		}
	}
	edge, top := last-legendWidth*(last-first), math.Inf(-1)
	for _, c := range p.Curves {
		for i, at := range c.Points {
			if at.X < edge {
				continue
			}
			top = max(top, at.Y)
			if at.SD > 0 {
				top = max(top, at.Y+at.SD)
			}
			if i > 0 && c.Points[i-1].X < edge { // where the line comes in
				from := c.Points[i-1]
				top = max(top, from.Y+(at.Y-from.Y)*(edge-from.X)/(at.X-from.X))
			}
		}
	}
	share := min(legendLine*float64(len(p.Curves)), 0.6)
	return least + (top-least)/(1-share)
}

// measuredTicks are ticks where something was measured, with labels as far as these don't touch.
func measuredTicks(places []float64) []plot.Tick {
	var ticks []plot.Tick
	apart := 0.055 * (places[len(places)-1] - places[0])
	last := math.Inf(-1)
	for _, x := range places {
		tick := plot.Tick{Value: x}
		if x-last >= apart {
			tick.Label, last = strconv.FormatFloat(x, 'g', 4, 64), x
		}
		ticks = append(ticks, tick)
	}
	return ticks
}

// roundTicks are some five ticks at multiples of 1, 2 or 5 times a power of ten.
func roundTicks(least, most float64) []plot.Tick {
	const about = 5
	rough := (most - least) / about
	if !(rough > 0) {
		return plot.DefaultTicks{}.Ticks(least, most)
	}
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step := power
	for _, by := range []float64{2, 5, 10} {
		if step < rough {
			step = by * power
		}
	}
	var ticks []plot.Tick
	const rounding = 1e-9 // of a step
	for k := math.Ceil(least/step - rounding); k <= most/step+rounding; k++ {
		at := k*step + 0 // not the negative zero of Ceil
		ticks = append(ticks, plot.Tick{Value: at, Label: strconv.FormatFloat(at, 'g', 4, 64)})
	}
	return ticks
}
