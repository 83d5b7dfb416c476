// Package page makes a page of HTML of what a command found: one file, which fetches nothing. Parts are
// figures, tables that sort, charts, a confusion matrix whose cells list their documents, and texts with
// marks.
package page

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/report"
)

// Page is what the page says. Empty fields of it and of its parts are left out.
type Page struct {
	Title, Lead string
	Figures     []Figure // the first thing to see
	Sections    []Section
}

// Figure is a number with its name, and what else is to be said of it.
type Figure struct{ Name, Value, Note string }

// Section is a part of the page with a title.
type Section struct {
	Title, Text string
	Facts       [][2]string // names and what they are
	Code        string
	Table       *report.Table
	Charts      []Chart
	Matrix      *Matrix
	Documents   []Document
}

// Section returns the section of a title, which it adds where there is none.
func (p *Page) Section(title string) *Section {
	at := slices.IndexFunc(p.Sections, func(s Section) bool { return s.Title == title })
	if at < 0 {
		at, p.Sections = len(p.Sections), append(p.Sections, Section{Title: title})
	}
	return &p.Sections[at]
}

// Chart is a picture, an svg element.
type Chart struct {
	Title string
	SVG   template.HTML
}

// NewChart makes a picture of a chart, with what is seen in it in words.
func NewChart(c *chart.Chart, description string) Chart {
	return Chart{c.Title, template.HTML(chart.SVG(c, description, 16, 11))}
}

// Document is a text with marks, and tables about it.
type Document struct {
	Name, Text string
	Parts      []Part
	Tables     []Details
}

// Part is a piece of a text, marked where Effect isn't 0.
type Part struct {
	Text, Title string
	Effect      float64
}

// Side is the class of a mark.
func (p Part) Side() string {
	if p.Effect > 0 {
		return "for"
	}
	return "against"
}

// Details is a table that opens by a click.
type Details struct {
	Title string
	Open  bool
	Table *report.Table
}

// Sorts says that a click on a title of the table's columns sorts its rows.
func (s Section) Sorts() bool { return len(s.Table.Rows()) > 1 }

// Sorts says that the table stays as it is.
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

// policy has a browser refuse whatever isn't in the page: it knows the one script by its digest.
func policy() string {
	digest := sha256.Sum256([]byte(script))
	return fmt.Sprintf("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; "+
		"form-action 'none'", base64.StdEncoding.EncodeToString(digest[:]))
}

// Write writes the page.
func (p *Page) Write(w io.Writer) error {
	return parsed.Execute(w, struct {
		*Page
		Policy string
		Style  template.CSS
		Script template.JS
	}{p, policy(), template.CSS(Style), template.JS(script)})
}
