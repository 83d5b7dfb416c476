package chart

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// fonts are those that SVG names, in place of which a page's own stand.
var fonts = regexp.MustCompile(`font-family:[^;"]*;(font-(variant|weight|style):[^;"]*;)*`)

// wider is how much wider text may be in a page, in its own font and on small screens.
const wider = 1.3

// SVG draws a plot as an element of a page, whose font and colours it takes: black is the page's colour of
// text, Colors[i] its variable --curve-i, [Gray] --quiet. The description says what is seen to who can't.
// Width and height, in centimeters, are proportions: the element is as wide as the page has it. The y label is above
// the plot, where small screens don't cut it, and the legend right of it, where it covers no line.
func SVG(p *plot.Plot, description string, width, height float64) (string, error) {
	p.BackgroundColor = nil
	title := p.Title.Text // the page has it
	p.Title.Text, p.Y.Label.Text = p.Y.Label.Text, ""
	c := vgsvg.New(vg.Length(width)*vg.Centimeter, vg.Length(height)*vg.Centimeter)
	canvas := draw.Crop(draw.New(c), 0, -3*vg.Millimeter, 0, -2*vg.Millimeter) // the last label goes beyond its axis
	legend, strip := p.Legend, vg.Length(0)
	p.Legend = plot.NewLegend()
	legend.Left, legend.Top, legend.Padding, legend.XOffs, legend.YOffs = true, true, 4, 0, 0
	if size := legend.Rectangle(canvas).Size(); size.Y > 0 {
		strip = wider*size.X + 2*vg.Millimeter
		legend.Draw(draw.Crop(canvas, canvas.Size().X-strip+2*vg.Millimeter, 0, 0, -8*vg.Millimeter))
	}
	p.Draw(draw.Crop(canvas, 0, -strip, 0, 0))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	_, text, _ := strings.Cut(b.String(), "viewBox=")
	size, text, _ := strings.Cut(text, "\n")
	_, text, _ = strings.Cut(text, ">")
	colors := []string{"#000000", "currentColor"}
	of := func(c color.Color, name string) {
		r, g, b, _ := c.RGBA()
		colors = append(colors, fmt.Sprintf("#%02X%02X%02X", r>>8, g>>8, b>>8), name)
	}
	of(Gray, "var(--quiet)")
	for i, c := range Colors {
		of(c, fmt.Sprintf("var(--curve-%d)", i))
	}
	text = strings.NewReplacer(colors...).Replace(fonts.ReplaceAllString(text, ""))
	return fmt.Sprintf(`<svg role="img" fill="currentColor" viewBox=%s aria-label="%s"><title>%s</title>%s`, size,
		html.EscapeString(title+": "+description), html.EscapeString(title), text), nil
}

// titledSVG is a file that says what it shows to who can't see it: the titles of its plots.
type titledSVG struct {
	*vgsvg.Canvas
	titles []string
}

// WriteTo implements io.WriterTo.
func (c titledSVG) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	if _, err := c.Canvas.WriteTo(&b); err != nil {
		return 0, err
	}
	before, after, _ := strings.Cut(b.String(), "<svg")
	attributes, body, _ := strings.Cut(after, ">")
	n, err := fmt.Fprintf(w, "%s<svg role=\"img\"%s>\n<title>%s</title>%s", before, attributes,
		html.EscapeString(strings.Join(c.titles, "; ")), body)
	return int64(n), err
}
