package repro

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gramengine/gram/internal/chart"
)

// Figure is a figure of a paper: curves in panels side by side, such as tf on the left and tfidf on
// the right.
type Figure struct {
	Key    string // for the name of its file, such as "webkb-course"
	Panels []*Panel
}

// Panel is one set of axes.
type Panel struct {
	Title, X, Y string
	Plane       bool // points lie in a plane: without ticks, and in their places
	Curves      []Curve
}

// Curve is a line through points, each with its deviation.
type Curve struct {
	Name   string // "" isn't in the legend
	Apart  bool   // points that no line joins; not in a plane, crosses in the colours of the lines, in order
	Small  bool   // these are small
	Points []Point
}

// Point is a measured figure at a place. It has no bar if SD is NaN or 0.
type Point struct{ X, Y, SD float64 }

// The size of a panel, in centimeters.
const width, height = 12, 10

// Save draws the figure into a .png or .svg file, through a temporary name. All panels have the same scale of y.
func (f *Figure) Save(path string) error {
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
	return chart.Save(path, width, height, panels...)
}

// places returns where something was measured, increasing.
func (p *Panel) places() (places []float64) {
	for _, c := range p.Curves {
		for _, at := range c.Points {
			places = append(places, at.X)
		}
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// plot draws one panel. Curves are a little beside each other, so that their bars can be told
// apart.
func (p *Panel) plot() *plot.Plot {
	to := chart.New(p.Title, p.X, p.Y)
	to.Legend.Top, to.Legend.Padding = true, 3
	places := p.places()
	if len(places) == 0 {
		return to
	}
	if p.Plane {
		p.points(to)
		return to
	}
	to.X.Tick.Marker = plot.ConstantTicks(measuredTicks(places))
	beside := 0.006 * (places[len(places)-1] - places[0])
	lines, apart := 0, 0
	for _, c := range p.Curves {
		if !c.Apart {
			lines++
		}
	}
	for i, c := range p.Curves {
		if c.Apart {
			i, apart = apart, apart+1
		}
		of := chart.Colors[i%len(chart.Colors)]
		shift := beside * (float64(i) - float64(lines-1)/2)
		var line plotter.XYs
		for _, at := range c.Points {
			x := at.X + shift
			line = append(line, plotter.XY{X: x, Y: at.Y})
			if at.SD > 0 {
				bar := plotter.XYs{{X: x, Y: at.Y - at.SD}, {X: x, Y: at.Y + at.SD}}
				to.Add(&plotter.Line{XYs: bar, LineStyle: draw.LineStyle{Color: of, Width: 0.8}})
			}
		}
		if c.Apart {
			cross := draw.GlyphStyle{Color: of, Radius: 3, Shape: draw.CrossGlyph{}}
			to.Add(&plotter.Scatter{XYs: line, GlyphStyle: cross})
			if cross.Color = chart.Gray; c.Name != "" {
				to.Legend.Add(c.Name, &plotter.Scatter{GlyphStyle: cross})
			}
			continue
		}
		chart.Curve(to, c.Name, of, line, true)
	}
	return to
}

// points draws curves as they lie in a plane.
func (p *Panel) points(to *plot.Plot) {
	to.HideAxes()
	for i, c := range p.Curves {
		of := chart.Colors[i%len(chart.Colors)]
		if c.Name == "" {
			of = chart.Gray
		}
		var at plotter.XYs
		for _, q := range c.Points {
			at = append(at, plotter.XY{X: q.X, Y: q.Y})
		}
		if !c.Apart {
			chart.Curve(to, c.Name, of, at, false)
			continue
		}
		marks := &plotter.Scatter{
			XYs: at, GlyphStyle: draw.GlyphStyle{Color: of, Radius: 2, Shape: draw.CircleGlyph{}},
		}
		to.Add(marks)
		if c.Small {
			marks.Radius = 0.8
			to.Legend.Add(c.Name, &plotter.Line{LineStyle: draw.LineStyle{Color: of, Width: 1.2}})
		} else {
			to.Legend.Add(c.Name, marks)
		}
	}
}

// What the legend takes at the top on the right: shares of the axes, with some space around it.
const (
	legendLine  = 0.085 // of the height, by curve
	legendWidth = 0.45
)

// belowLegend is the least end of the y axis, if it begins at least, with which the legend covers
// no point or bar, nor the line to one.
func (p *Panel) belowLegend(least float64) float64 {
	places := p.places()
	if len(places) == 0 || p.Plane {
		return least
	}
	first, last := places[0], places[len(places)-1]
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
	named := 0
	for _, c := range p.Curves {
		if c.Name != "" {
			named++
		}
	}
	share := min(legendLine*float64(named), 0.6)
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
