package chart

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Surface is the errors of a search over two lists of settings, such as kernels and C, line by line from
// below; NaN where a point is missing.
type Surface struct {
	Title      string
	What       string      // what an error is
	Columns    []string    // values of C
	Lines      []string    // kernels
	Errors     [][]float64 // by line, by column
	Deviations [][]float64
	Best       [2]int // line and column
	Digits     string // the format of an error, such as %.2f
}

// Save draws the surface into a PNG or SVG file, through a temporary name.
func (s *Surface) Save(path string) error {
	p, width, height, err := s.Plot()
	if err != nil {
		return err
	}
	return Save(path, width, height, p)
}

// Plot makes the plot of the surface, with its size in centimeters; if one list has a single value, it is a
// curve with its deviations.
func (s *Surface) Plot() (p *plot.Plot, width, height float64, err error) {
	p, width, height = New(s.Title, "C", ""), 12, 9
	if len(s.Columns) > 1 && len(s.Lines) > 1 {
		p.NominalY(s.Lines...)
		p.NominalX(s.Columns...)
		p.Add(cells{s})
		width = max(width, 8+2.2*float64(len(s.Columns)))
		height = max(height, 4+0.9*float64(len(s.Lines)))
	} else {
		c := s.curve()
		if err := c.draw(p); err != nil {
			return nil, 0, 0, err
		}
		p.NominalX(c.names...)
		p.X.Label.Text, p.Y.Label.Text = c.over, s.What
		if c.over == "" { // kernels name themselves, and need room for it
			Turn(&p.X)
			height += 4
		}
		width = max(width, 4+1.6*float64(len(c.names)))
	}
	return p, width, height, nil
}

// cells is a surface as a plot.Plotter and a plot.DataRanger.
type cells struct{ *Surface }

// DataRange is half a cell around the cells.
func (s cells) DataRange() (xmin, xmax, ymin, ymax float64) {
	return -0.5, float64(len(s.Columns)) - 0.5, -0.5, float64(len(s.Lines)) - 0.5
}

// Plot implements plot.Plotter: a cell is the darker the smaller its error, by the logarithm, and
// has it written in; a frame marks the best.
func (s cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	least, most := math.Inf(1), math.Inf(-1)
	for _, line := range s.Errors {
		for _, v := range line {
			if v > 0 {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	style := p.X.Tick.Label
	style.Font.Size = 11
	style.XAlign, style.YAlign = text.XCenter, text.YCenter
	var frame []vg.Point
	for i, line := range s.Errors {
		for j, v := range line {
			if math.IsNaN(v) {
				continue
			}
			cell := []vg.Point{
				{X: x(float64(j) - 0.5), Y: y(float64(i) - 0.5)},
				{X: x(float64(j) + 0.5), Y: y(float64(i) - 0.5)},
				{X: x(float64(j) + 0.5), Y: y(float64(i) + 0.5)},
				{X: x(float64(j) - 0.5), Y: y(float64(i) + 0.5)},
			}
			at := 0.0
			if v > 0 && most > least {
				at = math.Log(v/least) / math.Log(most/least)
			}
			fill := shade(at)
			c.FillPolygon(fill, cell)
			style.Color = color.Gray{1} // black is the color of text in a page, which may be white
			if at < 0.5 {
				style.Color = color.White
			}
			c.FillText(style, vg.Point{X: x(float64(j)), Y: y(float64(i))}, fmt.Sprintf(s.Digits, v))
			if s.Best == [2]int{i, j} {
				frame = append(cell, cell[0])
			}
		}
	}
	if frame != nil {
		c.StrokeLines(draw.LineStyle{Color: Red, Width: 3}, frame)
	}
}

// shade is a color between dark, 0, and light, 1.
func shade(at float64) color.Color {
	// viridis
	stops := [][3]float64{
		{0x44, 0x01, 0x54},
		{0x3b, 0x52, 0x8b},
		{0x21, 0x91, 0x8c},
		{0x5e, 0xc9, 0x62},
		{0xfd, 0xe7, 0x25},
	}
	at = min(max(at, 0), 1) * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	f := at - float64(i)
	mix := func(k int) uint8 { return uint8(math.Round(stops[i][k]*(1-f) + stops[i+1][k]*f)) }
	return color.RGBA{mix(0), mix(1), mix(2), 0xff}
}

// curve is a surface of one line or one column.
type curve struct {
	over               string // what the points differ in; empty where they name themselves
	names              []string
	errors, deviations []float64
	best               int
}

func (s *Surface) curve() *curve {
	if len(s.Lines) == 1 {
		return &curve{"C", s.Columns, s.Errors[0], s.Deviations[0], s.Best[1]}
	}
	c := &curve{}
	for i := len(s.Lines) - 1; i >= 0; i-- {
		c.names, c.errors = append(c.names, s.Lines[i]), append(c.errors, s.Errors[i][0])
		c.deviations = append(c.deviations, s.Deviations[i][0])
	}
	c.best = len(s.Lines) - 1 - s.Best[0]
	prefix := commonPrefix(c.names)
	// kernels that differ in one number, at their end
	if at := strings.LastIndexAny(prefix, ":,"); at >= 0 && strings.HasSuffix(prefix, "=") {
		c.over = prefix[:len(prefix)-1]
		for i, name := range c.names {
			c.names[i] = name[len(prefix):]
			if strings.Contains(c.names[i], ",") {
				c.over = ""
			}
		}
		if c.over == "" {
			for i := range c.names {
				c.names[i] = prefix + c.names[i]
			}
		}
	}
	return c
}

func commonPrefix(names []string) string {
	prefix := names[0]
	for _, name := range names[1:] {
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	if at := strings.LastIndexByte(prefix, '='); at >= 0 && len(names) > 1 { // not into a number
		prefix = prefix[:at+1]
	}
	return prefix
}

// draw adds the points with their deviations to a plot, the best in red.
func (c *curve) draw(p *plot.Plot) error {
	points := make(plotter.XYs, len(c.errors))
	bars := make(plotter.YErrors, len(c.errors))
	for i, v := range c.errors {
		points[i] = plotter.XY{X: float64(i), Y: v}
		bars[i].Low, bars[i].High = c.deviations[i], c.deviations[i]
	}
	deviations, err := plotter.NewYErrorBars(struct {
		plotter.XYs
		plotter.YErrors
	}{points, bars})
	if err != nil {
		return err
	}
	deviations.Color, deviations.CapWidth = Gray, 0
	p.Add(deviations)
	if c.over != "" {
		Curve(p, "", Colors[0], points, false)
	}
	marks := func(points plotter.XYs, of color.Color) {
		p.Add(
			&plotter.Scatter{
				XYs:        points,
				GlyphStyle: draw.GlyphStyle{Color: of, Radius: 3.5, Shape: draw.CircleGlyph{}},
			},
		)
	}
	marks(points, Colors[0])
	marks(points[c.best:c.best+1], Red)
	return nil
}
