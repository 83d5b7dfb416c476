package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/gramengine/gram/internal/chart"
)

// Chart is a chart with a description in words.
type Chart struct {
	*chart.Chart
	Description string
}

// SVG returns the chart as an svg element.
func (c Chart) SVG() template.HTML { return template.HTML(chart.SVG(c.Chart, c.Description, 16, 11)) }

// Marked is a text with highlighted words, and tables about it.
type Marked struct {
	Name, Text string
	Parts      []Part
	Tables     []Details
}

// Part is a piece of a text. It is highlighted unless Effect is 0.
type Part struct {
	Text, Title string
	Effect      float64
}

// Side returns the CSS class of a mark.
func (p Part) Side() string {
	if p.Effect > 0 {
		return "for"
	}
	return "against"
}

// Details is a collapsible table.
type Details struct {
	Title string
	Open  bool
	Table *Table
}

// Sorts reports whether clicking a column title sorts the table.
func (s *Section) Sorts() bool { return len(s.Table.Rows()) > 1 }

// Sorts returns false, because the table can't be sorted.
func (d Details) Sorts() bool { return false }

//go:embed page.html
var html string

// Style is the style sheet.
//
//go:embed page.css
var Style string

//go:embed page.js
var script string

var parsed = template.Must(template.New("page").Funcs(template.FuncMap{
	"number": func(i int) int { return i + 1 },
	"short":  Short,
}).Parse(html))

// policy returns a content security policy that forbids external resources, and scripts other than
// the page's own.
func policy() string {
	digest := sha256.Sum256([]byte(script))
	return fmt.Sprintf("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; "+
		"form-action 'none'", base64.StdEncoding.EncodeToString(digest[:]))
}

// WriteHTML writes the page of a command's report as a self-contained file.
func WriteHTML(w io.Writer, command string, r Report) error {
	d := &Document{Title: command}
	r.Describe(d)
	return d.WriteHTML(w)
}

// WriteHTML writes the document as a page.
func (d *Document) WriteHTML(w io.Writer) error {
	sections := d.Sections() // first, because Sections sets Lead
	return parsed.Execute(w, struct {
		*Document
		Sections []*Section
		Policy   string
		Style    template.CSS
		Script   template.JS
	}{d, sections, policy(), template.CSS(Style), template.JS(script)})
}
