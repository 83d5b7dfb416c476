package machines

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

	"github.com/gramengine/gram/cmd/grambench/internal/chart"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
	"github.com/gramengine/gram/solver/svm"
)

// writeSurface draws the errors of a search into a PNG file, through a temporary name: a surface
// over kernels and C, or, where one of them has a single value, a curve with its deviations.
func writeSurface(path string, r *gridReport) error {
	s := newSurface(r)
	title := fmt.Sprintf("%s, %s\n%s, %d folds, seed %d", report.Shorten(r.Corpus.Source, 32),
		report.Documents(r.Corpus.Documents), s.what, r.Folds, r.Seed)
	p := chart.New(title, "C", "")
	width, height := 12.0, 9.0
	if len(s.columns) > 1 && len(s.lines) > 1 {
		p.NominalY(s.lines...)
		p.NominalX(s.columns...)
		p.Add(s)
		width = max(width, 8+2.2*float64(len(s.columns)))
		height = max(height, 4+0.9*float64(len(s.lines)))
	} else {
		c := s.curve()
		if err := c.draw(p); err != nil {
			return err
		}
		p.NominalX(c.names...)
		p.X.Label.Text, p.Y.Label.Text = c.over, s.what
		if c.over == "" { // kernels name themselves, and need room for it
			p.X.Tick.Label.Rotation = math.Pi / 5
			p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = text.XRight, text.YCenter
			height += 4
		}
		width = max(width, 4+1.6*float64(len(c.names)))
	}
	return chart.Save(path, width, height, p)
}

// surface is the errors of a search, line by line from below; NaN where a point is missing. It is a
// plot.Plotter and a plot.DataRanger.
type surface struct {
	what           string // what an error is
	lines, columns []string
	errors         [][]float64 // [line][column]
	deviations     [][]float64
	best           [2]int // line and column
	format         func(v float64) string
}

// newSurface takes errors from a report: 100 % less the figure, or the figure itself where less of
// it is better.
func newSurface(r *gridReport) *surface {
	s := &surface{
		what:   "error of " + r.Measure.String() + " (%)",
		format: func(v float64) string { return fmt.Sprintf("%.2f", v) },
	}
	of := func(v report.Number) float64 { return 100 * (1 - float64(v)) }
	by := 100.0
	switch r.Measure {
	case svm.Accuracy:
		s.what = "error (%)"
	case svm.MeanSquaredError:
		s.what, by = r.Measure.String(), 1
		of = func(v report.Number) float64 { return float64(v) }
		s.format = func(v float64) string { return fmt.Sprintf("%.4g", v) }
	}
	for _, c := range r.c {
		s.columns = append(s.columns, fmt.Sprint(c))
	}
	lines := r.lines()
	for i := len(lines) - 1; i >= 0; i-- { // the first line of the table is to be on top
		errors, deviations := make([]float64, len(r.c)), make([]float64, len(r.c))
		for j, c := range r.c {
			errors[j], deviations[j] = math.NaN(), math.NaN()
			row := r.at(lines[i], c)
			if row == nil {
				continue
			}
			errors[j], deviations[j] = of(row.Mean), by*float64(row.SD)
			if row == r.Best {
				s.best = [2]int{len(s.lines), j}
			}
		}
		s.lines = append(s.lines, r.name(lines[i]))
		s.errors, s.deviations = append(s.errors, errors), append(s.deviations, deviations)
	}
	return s
}

// DataRange is half a cell around the cells.
func (s *surface) DataRange() (xmin, xmax, ymin, ymax float64) {
	return -0.5, float64(len(s.columns)) - 0.5, -0.5, float64(len(s.lines)) - 0.5
}

// Plot implements plot.Plotter: a cell is the darker the smaller its error, by the logarithm, and
// has it written in; a frame marks the best.
func (s *surface) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	least, most := math.Inf(1), math.Inf(-1)
	for _, line := range s.errors {
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
	for i, line := range s.errors {
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
			style.Color = color.Black
			if at < 0.5 {
				style.Color = color.White
			}
			c.FillText(style, vg.Point{X: x(float64(j)), Y: y(float64(i))}, s.format(v))
			if s.best == [2]int{i, j} {
				frame = append(cell, cell[0])
			}
		}
	}
	if frame != nil {
		c.StrokeLines(draw.LineStyle{Color: chart.Red, Width: 3}, frame)
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

func (s *surface) curve() *curve {
	if len(s.lines) == 1 {
		return &curve{"C", s.columns, s.errors[0], s.deviations[0], s.best[1]}
	}
	c := &curve{}
	for i := len(s.lines) - 1; i >= 0; i-- {
		c.names, c.errors = append(c.names, s.lines[i]), append(c.errors, s.errors[i][0])
		c.deviations = append(c.deviations, s.deviations[i][0])
	}
	c.best = len(s.lines) - 1 - s.best[0]
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
	deviations.Color, deviations.CapWidth = chart.Gray, 0
	p.Add(deviations)
	if c.over != "" {
		chart.Curve(p, "", chart.Colors[0], points, false)
	}
	marks := func(points plotter.XYs, of color.Color) {
		p.Add(
			&plotter.Scatter{
				XYs:        points,
				GlyphStyle: draw.GlyphStyle{Color: of, Radius: 3.5, Shape: draw.CircleGlyph{}},
			},
		)
	}
	marks(points, chart.Colors[0])
	marks(points[c.best:c.best+1], chart.Red)
	return nil
}
