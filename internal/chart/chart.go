// Package chart draws charts with curves, points and bars as SVG, for HTML pages and files.
package chart

import (
	"math"
	"slices"
	"strconv"
)

// Chart is a chart with two axes. Each new mark extends the axes to include its points.
type Chart struct {
	Title  string
	X, Y   Axis
	NoAxes bool // true to draw no axes, for coordinates without meaning

	marks  []mark
	legend []mark // marks with a legend entry; text is the entry's name
}

// Axis is the x-axis or the y-axis of a chart.
type Axis struct {
	Label       string
	Min, Max    float64
	IsLog       bool
	Categories  []string               // labels of the values 0, 1, 2, …
	TickValues  []float64              // values of the ticks; nil for ticks at round numbers
	MinTickStep float64                // minimum distance between ticks
	FormatTick  func(v float64) string // formats tick labels; nil for 6 significant digits
}

// Point is a point in data coordinates.
type Point struct{ X, Y float64 }

// Color is an RGB colour in hexadecimal digits, such as #440154.
type Color string

// Palette lists the colours of curves. Further curves repeat the colours.
var Palette = []Color{"#1f77b4", "#c43c1a", "#2c8a3c", "#8c56b0", "#d68b00", "#179ca8", "#7f5a4b", "#333333"}

// Gray is the colour of reference lines and labels. Red is the colour of the best point.
const (
	Gray Color = "#606060"
	Red  Color = "#d62728"
)

// Shape determines how a point is drawn.
type Shape int

const (
	Circle Shape = iota
	Triangle
	Square
	Plus
	Cross
)

// mark is a line through points, a filled polygon, points of a shape, or a text at a point.
type mark struct {
	points    []Point
	color     Color
	lineWidth float64 // 0 for no line
	filled    bool
	radius    float64 // radius of the points
	shape     Shape
	text      string
	centred   bool // true if the text is centred on its point
}

// New returns an empty chart with a title and axis labels.
func New(title, x, y string) *Chart {
	none := func(label string) Axis { return Axis{Label: label, Min: math.Inf(1), Max: math.Inf(-1)} }
	return &Chart{Title: title, X: none(x), Y: none(y)}
}

// addMark adds a mark without its infinite and NaN points, and extends the axes.
func (c *Chart) addMark(m mark) {
	m.points = slices.DeleteFunc(slices.Clone(m.points), func(p Point) bool {
		return math.IsNaN(p.X-p.X) || math.IsNaN(p.Y-p.Y)
	})
	for _, p := range m.points {
		c.X.Min, c.X.Max = min(c.X.Min, p.X), max(c.X.Max, p.X)
		c.Y.Min, c.Y.Max = min(c.Y.Min, p.Y), max(c.Y.Max, p.Y)
	}
	c.marks = append(c.marks, m)
}

// addLegendEntry adds a mark with the given name to the legend. It does nothing if name is empty.
func (c *Chart) addLegendEntry(name string, m mark) {
	if m.text = name; name != "" {
		c.legend = append(c.legend, m)
	}
}

// AddCurve draws a line through points and, if marks is true, a circle at each point. An unnamed
// curve has no legend entry.
func (c *Chart) AddCurve(name string, of Color, points []Point, marks bool) {
	line := mark{points: points, color: of, lineWidth: 1.2}
	c.addMark(line)
	if marks {
		c.addMark(mark{points: points, color: of, radius: 2.5})
	}
	c.addLegendEntry(name, line)
}

// AddPoints draws points with the given shape and radius. Unnamed points have no legend entry.
func (c *Chart) AddPoints(name string, of Color, shape Shape, radius float64, points []Point) {
	m := mark{points: points, color: of, radius: radius, shape: shape}
	c.addMark(m)
	c.addLegendEntry(name, m)
}

// AddPolygon fills the polygon whose corners are points.
func (c *Chart) AddPolygon(of Color, points ...Point) {
	c.addMark(mark{points: points, color: of, filled: true})
}

// AddBars draws groups of bars with a bar per series. The legend lists the series if there are
// several.
func (c *Chart) AddBars(groups, series []string, value func(group, series int) float64) {
	const wide = 0.8 // fraction of a group's width that its bars cover
	width := wide / float64(len(series))
	for s, name := range series {
		of := Palette[s%len(Palette)]
		for g := range groups {
			left, top := float64(g)-wide/2+float64(s)*width, value(g, s)
			c.AddPolygon(of, Point{left, 0}, Point{left, top}, Point{left + width, top}, Point{left + width, 0})
		}
		if len(series) > 1 {
			c.addLegendEntry(name, mark{color: of, filled: true})
		}
	}
	c.X.Categories, c.X.Min, c.X.Max = groups, -0.5, float64(len(groups))-0.5
}

// limits returns Min and Max, widened if they are equal, or 0 and 1 if the axis is empty.
func (a *Axis) limits() (low, high float64) {
	switch low, high = a.Min, a.Max; {
	case !(low <= high):
		return 0, 1
	case low == high && a.IsLog:
		return low / 2, high * 2
	case low == high:
		return low - 1, high + 1
	}
	return low, high
}

type tick struct {
	value float64
	label string // may be empty
}

// ticks returns the ticks of the axis: Categories, TickValues, digits times powers of ten on a
// logarithmic axis, or multiples of 1, 2 or 5 times a power of ten.
func (a *Axis) ticks() (ticks []tick) {
	low, high := a.limits()
	write := a.FormatTick
	if write == nil {
		write = func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	}
	switch {
	case a.Categories != nil:
		for i, name := range a.Categories {
			ticks = append(ticks, tick{float64(i), name})
		}
	case a.TickValues != nil:
		for _, v := range a.TickValues {
			ticks = append(ticks, tick{v, write(v)})
		}
	case a.IsLog:
		// Label powers of ten. Also label 2 and 5 times a power if the axis contains less than a
		// decade.
		short := math.Floor(math.Log10(high))-math.Ceil(math.Log10(low)) < 1
		for e := math.Floor(math.Log10(low)); e <= math.Log10(high); e++ {
			for d := 1; d < 10; d++ {
				t := tick{value: float64(d) * math.Pow(10, e)}
				if d == 1 || short && (d == 2 || d == 5) {
					t.label = write(t.value)
				}
				if t.value >= low && t.value <= high {
					ticks = append(ticks, t)
				}
			}
		}
	default:
		const labels = 5 // approximate number of labels
		step := max(math.Pow(10, math.Floor(math.Log10((high-low)/labels))), a.MinTickStep)
		for _, more := range []float64{2, 2.5, 2} {
			if (high-low)/step > labels+1 {
				step *= more
			}
		}
		for k := math.Ceil(low / step); k <= high/step; k++ {
			v := k*step + 0 // the addition turns −0 into 0
			ticks = append(ticks, tick{v, write(v)})
		}
	}
	return ticks
}

// relativePosition returns the relative position of a value on the axis, from 0 to 1.
func (a *Axis) relativePosition(v float64) float64 {
	low, high := a.limits()
	if a.IsLog {
		return math.Log(v/low) / math.Log(high/low)
	}
	return (v - low) / (high - low)
}
