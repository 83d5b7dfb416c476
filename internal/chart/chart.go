// Package chart draws curves, points, bars and cells as SVG, for pages and for files.
package chart

import (
	"math"
	"slices"
	"strconv"
)

// Chart is a picture over two axes. Marks that are added widen the axes, whose ends may be set after that.
type Chart struct {
	Title  string
	X, Y   Axis
	NoAxes bool // points of a plane: the axes mean nothing

	marks  []mark
	legend []mark // each with its name as text
}

// Axis is one of the axes of a chart.
type Axis struct {
	Label    string
	Min, Max float64
	Log      bool
	Names    []string               // of the values 0, 1, 2, …
	At       []float64              // where ticks are; nil for round numbers
	Step     float64                // the least distance of ticks
	Write    func(v float64) string // labels of ticks; nil for the shortest decimal number
}

// Point is a point in the units of the axes.
type Point struct{ X, Y float64 }

// Color is a colour: one of Colors, [Gray], [Red], or any other in hexadecimal digits, such as #440154.
type Color string

// Colors tell curves apart; more curves than these share them.
var Colors = []Color{"#1f77b4", "#c43c1a", "#2c8a3c", "#8c56b0", "#d68b00", "#179ca8", "#7f5a4b", "#333333"}

// Gray is for what isn't a curve; Red marks the best.
const (
	Gray Color = "#606060"
	Red  Color = "#d62728"
)

// Shape is how a point is drawn.
type Shape int

// The shapes of points.
const (
	Circle Shape = iota
	Triangle
	Square
	Plus
	Cross
)

// mark is a line through points, an area between them, points of a shape, or a text at a point.
type mark struct {
	points []Point
	color  Color
	line   float64 // its width; 0 for none
	area   bool
	radius float64 // of shapes; 0 for none
	shape  Shape
	text   string
	middle bool // the text is centred on its point
}

// New makes a chart with the titles of it and of its axes.
func New(title, x, y string) *Chart {
	none := func(label string) Axis { return Axis{Label: label, Min: math.Inf(1), Max: math.Inf(-1)} }
	return &Chart{Title: title, X: none(x), Y: none(y)}
}

// add adds a mark. Points that aren't finite are left out.
func (c *Chart) add(m mark) {
	m.points = slices.DeleteFunc(slices.Clone(m.points), func(p Point) bool {
		return math.IsNaN(p.X-p.X) || math.IsNaN(p.Y-p.Y)
	})
	for _, p := range m.points {
		c.X.Min, c.X.Max = min(c.X.Min, p.X), max(c.X.Max, p.X)
		c.Y.Min, c.Y.Max = min(c.Y.Min, p.Y), max(c.Y.Max, p.Y)
	}
	c.marks = append(c.marks, m)
}

// name puts a mark into the legend, if it has a name.
func (c *Chart) name(name string, m mark) {
	if m.text = name; name != "" {
		c.legend = append(c.legend, m)
	}
}

// Curve draws a line through points, with marks on them if asked; without a name it isn't in the legend.
func (c *Chart) Curve(name string, of Color, points []Point, marks bool) {
	line := mark{points: points, color: of, line: 1.2}
	c.add(line)
	if marks {
		c.add(mark{points: points, color: of, radius: 2.5})
	}
	c.name(name, line)
}

// Points draws points of a shape; without a name they aren't in the legend.
func (c *Chart) Points(name string, of Color, shape Shape, radius float64, points []Point) {
	m := mark{points: points, color: of, radius: radius, shape: shape}
	c.add(m)
	c.name(name, m)
}

// Area fills a polygon.
func (c *Chart) Area(of Color, points ...Point) { c.add(mark{points: points, color: of, area: true}) }

// Bars draws groups of bars, one of each series, from 0 on. If there are several series, the legend names them.
func (c *Chart) Bars(groups, series []string, value func(group, series int) float64) {
	const wide = 0.8 // of the room that a group has
	width := wide / float64(len(series))
	for s, name := range series {
		of := Colors[s%len(Colors)]
		for g := range groups {
			left, top := float64(g)-wide/2+float64(s)*width, value(g, s)
			c.Area(of, Point{left, 0}, Point{left, top}, Point{left + width, top}, Point{left + width, 0})
		}
		if len(series) > 1 {
			c.name(name, mark{color: of, area: true})
		}
	}
	c.X.Names, c.X.Min, c.X.Max = groups, -0.5, float64(len(groups))-0.5
}

// ends returns the ends of an axis, apart from each other.
func (a *Axis) ends() (least, most float64) {
	switch least, most = a.Min, a.Max; {
	case !(least <= most):
		return 0, 1
	case least == most && a.Log:
		return least / 2, most * 2
	case least == most:
		return least - 1, most + 1
	}
	return least, most
}

// tick is a place on an axis, with its label if it has one.
type tick struct {
	at    float64
	label string
}

// ticks are those of the axis: its names, where At says, powers of ten, or multiples of 1, 2 or 5 times a power
// of ten.
func (a *Axis) ticks() (ticks []tick) {
	least, most := a.ends()
	write := a.Write
	if write == nil {
		write = func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	}
	switch {
	case a.Names != nil:
		for i, name := range a.Names {
			ticks = append(ticks, tick{float64(i), name})
		}
	case a.At != nil:
		for _, v := range a.At {
			ticks = append(ticks, tick{v, write(v)})
		}
	case a.Log:
		// labels at each power of ten, and at 2 and 5 times that where the axis has less than two powers
		few := math.Floor(math.Log10(most))-math.Ceil(math.Log10(least)) < 1
		for e := math.Floor(math.Log10(least)); e <= math.Log10(most); e++ {
			for d := 1; d < 10; d++ {
				t := tick{at: float64(d) * math.Pow(10, e)}
				if d == 1 || few && (d == 2 || d == 5) {
					t.label = write(t.at)
				}
				if t.at >= least && t.at <= most {
					ticks = append(ticks, t)
				}
			}
		}
	default:
		const labels = 5 // about
		step := max(math.Pow(10, math.Floor(math.Log10((most-least)/labels))), a.Step)
		for _, more := range []float64{2, 2.5, 2} {
			if (most-least)/step > labels+1 {
				step *= more
			}
		}
		for k := math.Ceil(least / step); k <= most/step; k++ {
			v := k*step + 0 // + 0 turns −0 into 0
			ticks = append(ticks, tick{v, write(v)})
		}
	}
	return ticks
}

// place returns where a value is on the axis, from 0 to 1.
func (a *Axis) place(v float64) float64 {
	least, most := a.ends()
	if a.Log {
		return math.Log(v/least) / math.Log(most/least)
	}
	return (v - least) / (most - least)
}
