package chart

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/matrixio"
)

// Sizes in points.
const (
	centimeter  = 72 / 2.54
	textSize    = 11
	lineHeight  = 14
	gap         = 6
	letterWidth = 0.6 * textSize // upper bound on the mean width of a letter
)

func textWidth(text string) float64 { return letterWidth * float64(utf8.RuneCountInString(text)) }

// SVG returns a chart as an svg element for an HTML page, without a visible title. The description
// is for screen readers. Width and height are in centimeters, but the page may scale the element.
//
// Colours are CSS variables of the page: Palette[i] is --curve-i, and [Gray] is --quiet.
func SVG(c *Chart, description string, width, height float64) string {
	d := &drawing{forPage: true}
	d.drawChart(c, 0, width*centimeter, height*centimeter)
	return fmt.Sprintf(`<svg role="img" fill="currentColor" viewBox="0 0 %.2f %.2f" aria-label="%s">`+
		`<title>%s</title>%s</svg>`, width*centimeter, height*centimeter, html.EscapeString(c.Title+": "+description),
		html.EscapeString(c.Title), d)
}

// Save draws charts side by side to an SVG file. width and height are the size of each chart in cm.
func Save(path string, width, height float64, charts ...*Chart) error {
	d := &drawing{}
	var titles []string
	for i, c := range charts {
		d.drawChart(c, float64(i)*width*centimeter, width*centimeter, height*centimeter)
		titles = append(titles, strings.ReplaceAll(c.Title, "\n", ", "))
	}
	w, h := width*centimeter*float64(len(charts)), height*centimeter
	return matrixio.Save(path, svgFile(fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<svg role="img" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif"
 width="%.2f" height="%.2f" viewBox="0 0 %.2[1]f %.2[2]f">
<title>%[3]s</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%[4]s</svg>
`, w, h, html.EscapeString(strings.Join(titles, "; ")), d)))
}

type svgFile string

func (f svgFile) WriteTo(w io.Writer) (int64, error) {
	n, err := io.WriteString(w, string(f))
	return int64(n), err
}

type drawing struct {
	strings.Builder
	forPage bool
}

func (d *drawing) cssColor(c Color) string {
	switch i := slices.Index(Palette, c); {
	case c == "" && d.forPage:
		return "currentColor"
	case c == "":
		return "#000000"
	case d.forPage && i >= 0:
		return fmt.Sprintf("var(--curve-%d)", i)
	case d.forPage && c == Gray:
		return "var(--quiet)"
	}
	return string(c)
}

func (d *drawing) drawText(x, y float64, anchor, text, more string) {
	fmt.Fprintf(d, `<text x="%.2f" y="%.2f" text-anchor="%s" font-size="%d"%s>%s</text>`+"\n", x, y, anchor, textSize,
		more, html.EscapeString(text))
}

// drawChart draws a chart with the upper left corner at (x, 0).
func (d *drawing) drawChart(c *Chart, x, width, height float64) {
	top := 4.0
	if !d.forPage {
		for line := range strings.SplitSeq(c.Title, "\n") {
			top += lineHeight
			d.drawText(x+width/2, top, "middle", line, ` font-weight="bold"`)
		}
	}
	if c.Y.Label != "" {
		top += lineHeight
		d.drawText(x+gap, top, "start", c.Y.Label, "")
		top += gap // space between the label and the highest tick label, because small screens enlarge text
	}
	box := box{c: c, left: x + gap, right: x + width - 2*gap, top: top + gap, bottom: height - gap}
	longest := 0.0
	for _, m := range c.legend {
		longest = max(longest, textWidth(m.text)+4*gap)
	}
	box.right -= longest
	d.drawLegend(c, box.right+gap, box.top)
	if !c.NoAxes {
		d.drawAxes(c, &box)
	}
	for _, m := range c.marks {
		d.drawMark(m, box)
	}
}

func (d *drawing) drawLegend(c *Chart, x, y float64) {
	for _, m := range c.legend {
		middle, right := y+lineHeight/2, x+2*gap
		switch at := []Point{{x, middle}, {right, middle}}; {
		case m.filled:
			d.drawPolygon(m.color, []Point{{x, y + 3}, {right, y + 3}, {right, y + lineHeight - 3}, {x, y + lineHeight - 3}})
		case m.lineWidth > 0:
			d.drawLine(m.color, m.lineWidth, at)
		default:
			d.drawShape(m, Point{x + gap, middle})
		}
		d.drawText(right+gap, middle+0.35*textSize, "start", m.text, "")
		y += lineHeight
	}
}

// drawAxes draws the axes, and shrinks the box by the space for the axis labels.
func (d *drawing) drawAxes(c *Chart, b *box) {
	across, up := c.X.ticks(), c.Y.ticks()
	widest, longest := 0.0, 0.0
	for _, t := range up {
		widest = max(widest, textWidth(t.label))
	}
	b.left += widest + gap
	for _, t := range across {
		longest = max(longest, textWidth(t.label))
	}
	const slope, sine = 36, 0.59
	turned := longest > (b.right-b.left)/float64(max(len(across), 1)) && c.X.Categories != nil
	if c.X.Label != "" {
		d.drawText((b.left+b.right)/2, b.bottom, "middle", c.X.Label, "")
		b.bottom -= lineHeight + 2
	}
	if b.bottom -= lineHeight; turned {
		longest = min(longest, (b.bottom-b.top)/2/sine)
		b.bottom -= sine * longest
	}
	d.drawLine("", 0.5, []Point{{b.left, b.top}, {b.left, b.bottom}, {b.right, b.bottom}})
	last := math.Inf(-1)
	for _, t := range across {
		x := b.x(t.value)
		d.drawLine("", 0.5, []Point{{x, b.bottom}, {x, b.bottom + 3}})
		half := textWidth(t.label) / 2
		switch {
		case turned:
			d.drawText(x, b.bottom+lineHeight, "start", t.label,
				fmt.Sprintf(` transform="rotate(%d %.2f %.2f)"`, slope, x, b.bottom+lineHeight))
		case t.label != "" && x-half > last:
			d.drawText(x, b.bottom+lineHeight, "middle", t.label, "")
			last = x + half
		}
	}
	for _, t := range up {
		y := b.y(t.value)
		d.drawLine("", 0.5, []Point{{b.left - 3, y}, {b.left, y}})
		d.drawText(b.left-gap, y+0.35*textSize, "end", t.label, "")
	}
}

type box struct {
	c                        *Chart
	left, right, top, bottom float64
}

func (b *box) x(v float64) float64 { return b.left + b.c.X.relativePosition(v)*(b.right-b.left) }
func (b *box) y(v float64) float64 { return b.bottom - b.c.Y.relativePosition(v)*(b.bottom-b.top) }

func (d *drawing) drawMark(m mark, b box) {
	at := make([]Point, len(m.points))
	for i, p := range m.points {
		at[i] = Point{b.x(p.X), b.y(p.Y)}
	}
	switch {
	case len(at) == 0:
	case m.centred:
		d.drawText(at[0].X, at[0].Y+0.35*textSize, "middle", m.text, fmt.Sprintf(` fill="%s"`, d.cssColor(m.color)))
	case m.filled:
		d.drawPolygon(m.color, at)
	case m.lineWidth > 0:
		d.drawLine(m.color, m.lineWidth, at)
	default:
		for _, p := range at {
			d.drawShape(m, p)
		}
	}
}

func svgPath(points []Point) string {
	var b strings.Builder
	for i, p := range points {
		command := 'L'
		if i == 0 {
			command = 'M'
		}
		fmt.Fprintf(&b, "%c%.2f,%.2f", command, p.X, p.Y)
	}
	return b.String()
}

func (d *drawing) drawLine(of Color, width float64, points []Point) {
	fmt.Fprintf(d, `<path d="%s" style="fill:none;stroke:%s;stroke-width:%g"/>`+"\n", svgPath(points), d.cssColor(of),
		width)
}

func (d *drawing) drawPolygon(of Color, points []Point) {
	fmt.Fprintf(d, `<path d="%sZ" style="fill:%s"/>`+"\n", svgPath(points), d.cssColor(of))
}

func (d *drawing) drawShape(m mark, at Point) {
	r := m.radius
	corner := func(x, y float64) Point { return Point{at.X + x*r, at.Y + y*r} }
	switch m.shape {
	case Triangle:
		d.drawPolygon(m.color, []Point{corner(0, -1), corner(1, 1), corner(-1, 1)})
	case Square:
		d.drawPolygon(m.color, []Point{corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)})
	case Plus:
		d.drawLine(m.color, 1, []Point{corner(-1, 0), corner(1, 0)})
		d.drawLine(m.color, 1, []Point{corner(0, -1), corner(0, 1)})
	case Cross:
		d.drawLine(m.color, 1, []Point{corner(-1, -1), corner(1, 1)})
		d.drawLine(m.color, 1, []Point{corner(-1, 1), corner(1, -1)})
	default:
		fmt.Fprintf(d, `<circle cx="%.2f" cy="%.2f" r="%g" fill="%s"/>`+"\n", at.X, at.Y, r, d.cssColor(m.color))
	}
}
