package chart

import (
	"fmt"
	"math"
	"strings"
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

// Save draws the surface into an SVG file, through a temporary name.
func (s *Surface) Save(path string) error {
	c, width, height := s.Chart()
	return Save(path, width, height, c)
}

// Chart makes the chart of the surface, with its size in centimeters; if one list has a single value, it is a
// curve with its deviations.
func (s *Surface) Chart() (c *Chart, width, height float64) {
	c, width, height = New(s.Title, "C", ""), 12, 9
	if len(s.Columns) > 1 && len(s.Lines) > 1 {
		c.X.Names, c.Y.Names = s.Columns, s.Lines
		s.cells(c)
		return c, max(width, 8+2.2*float64(len(s.Columns))), max(height, 4+0.9*float64(len(s.Lines)))
	}
	own := s.curve()
	own.draw(c)
	c.X.Names, c.X.Label, c.Y.Label = own.names, own.over, s.What
	if own.over == "" { // kernels name themselves, and need room for it
		height += 4
	}
	return c, max(width, 4+1.6*float64(len(own.names))), height
}

// cells draws a cell for each error, which is the darker the smaller the error, by the logarithm, with the error
// written in; a frame marks the best.
func (s *Surface) cells(c *Chart) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, line := range s.Errors {
		for _, v := range line {
			if v > 0 {
				least, most = min(least, v), max(most, v)
			}
		}
	}
	corners := func(line, column int) []Point {
		x, y := float64(column), float64(line)
		return []Point{{x - 0.5, y - 0.5}, {x + 0.5, y - 0.5}, {x + 0.5, y + 0.5}, {x - 0.5, y + 0.5}, {x - 0.5, y - 0.5}}
	}
	for i, line := range s.Errors {
		for j, v := range line {
			if math.IsNaN(v) {
				continue
			}
			at := 0.0
			if v > 0 && most > least {
				at = math.Log(v/least) / math.Log(most/least)
			}
			of := Color("#010101") // text without a color has that of the page, which may be white
			if at < 0.5 {
				of = "#ffffff"
			}
			c.Area(shade(at), corners(i, j)...)
			c.add(mark{points: []Point{{float64(j), float64(i)}}, color: of, middle: true, text: fmt.Sprintf(s.Digits, v)})
		}
	}
	c.add(mark{points: corners(s.Best[0], s.Best[1]), color: Red, line: 3})
}

// shade is a colour between dark, 0, and light, 1.
func shade(at float64) Color {
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
	return Color(fmt.Sprintf("#%02x%02x%02x", mix(0), mix(1), mix(2)))
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

// draw adds the points with their deviations to a chart, the best in red.
func (c *curve) draw(to *Chart) {
	points := make([]Point, len(c.errors))
	for i, v := range c.errors {
		points[i] = Point{float64(i), v}
		to.Curve("", Gray, []Point{{float64(i), v - c.deviations[i]}, {float64(i), v + c.deviations[i]}}, false)
	}
	if c.over != "" {
		to.Curve("", Colors[0], points, false)
	}
	to.Points("", Colors[0], Circle, 3.5, points)
	to.Points("", Red, Circle, 3.5, points[c.best:c.best+1])
}
