package repro

import (
	"fmt"
	"math"
	"slices"

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

// Save draws the figure into an .svg file file, through a temporary name. All panels have the same scale of y.
func (f *Figure) Save(path string) error {
	if len(f.Panels) == 0 {
		return fmt.Errorf("repro: figure %s has no panels, expected one at least", f.Key)
	}
	var panels []*chart.Chart
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range f.Panels {
		drawn := p.plot()
		panels = append(panels, drawn)
		least, most = min(least, drawn.Y.Min), max(most, drawn.Y.Max)
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
func (p *Panel) plot() *chart.Chart {
	to := chart.New(p.Title, p.X, p.Y)
	places := p.places()
	if len(places) == 0 {
		return to
	}
	if p.Plane {
		p.points(to)
		return to
	}
	to.X.At = places
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
		var line []chart.Point
		for _, at := range c.Points {
			x := at.X + shift
			line = append(line, chart.Point{X: x, Y: at.Y})
			if at.SD > 0 {
				to.Curve("", of, []chart.Point{{X: x, Y: at.Y - at.SD}, {X: x, Y: at.Y + at.SD}}, false)
			}
		}
		if c.Apart {
			to.Points("", of, chart.Cross, 3, line)
			to.Points(c.Name, chart.Gray, chart.Cross, 3, nil)
			continue
		}
		to.Curve(c.Name, of, line, true)
	}
	return to
}

// points draws curves as they lie in a plane.
func (p *Panel) points(to *chart.Chart) {
	to.NoAxes = true
	for i, c := range p.Curves {
		of := chart.Colors[i%len(chart.Colors)]
		if c.Name == "" {
			of = chart.Gray
		}
		var at []chart.Point
		for _, q := range c.Points {
			at = append(at, chart.Point{X: q.X, Y: q.Y})
		}
		if !c.Apart {
			to.Curve(c.Name, of, at, false)
			continue
		}
		radius := 2.0
		if c.Small {
			radius = 0.8
		}
		to.Points(c.Name, of, chart.Circle, radius, at)
	}
}
