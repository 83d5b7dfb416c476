package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/internal/chart"
)

// Document is a report: lines, facts and sections in the order of the text output. The zero value
// is an empty report. An HTML page starts with Title, Lead and Figures, and shows lines and facts
// in a section named Summary.
type Document struct {
	Title   string   // title of the page; default the command
	Lead    string   // first text of the page; default the first line
	Figures []Figure // the most important numbers, shown on a page
	parts   []part
}

// part is a line, a fact with its name, or a section.
type part struct {
	name, text string
	*Section
}

// Figure is a value with its name and a note.
type Figure struct{ Name, Value, Note string }

// Section is a titled part of a report. Empty fields are omitted. Text output contains only a blank
// line, the heading and the table.
type Section struct {
	Title, Text string      // Title defaults to the title of the first column
	Facts       [][2]string // names and values
	Code        string
	Table       *Table
	Charts      []Chart
	Matrix      *Matrix
	Documents   []Marked

	Heading string // line above the table in text output
	Brief   *Table // table for text output; default Table
	onPage  bool   // omitted in text output
}

// Line adds a line, which may be empty.
func (d *Document) Line(text any) { d.parts = append(d.parts, part{text: fmt.Sprint(text)}) }

// Linef adds a formatted line.
func (d *Document) Linef(format string, args ...any) { d.Line(fmt.Sprintf(format, args...)) }

// Wrap adds text after head, wrapped at width columns and indented by the width of head.
func (d *Document) Wrap(head, text string, width int) {
	var b strings.Builder
	Wrap(&b, head, text, width)
	d.Line(strings.TrimSuffix(b.String(), "\n"))
}

// Fact adds a line "name: value".
func (d *Document) Fact(name, format string, args ...any) {
	d.parts = append(d.parts, part{name: name, text: fmt.Sprintf(format, args...)})
}

// Figure adds a figure.
func (d *Document) Figure(name, value, note string) {
	d.Figures = append(d.Figures, Figure{name, value, note})
}

// Add adds a section.
func (d *Document) Add(s Section) { d.parts = append(d.parts, part{Section: &s}) }

// Table adds a section with a table. A page shows the heading as text if it differs from the title.
func (d *Document) Table(title, heading string, t *Table) {
	s := Section{Title: title, Heading: heading, Table: t}
	if heading != title {
		s.Text = heading
	}
	d.Add(s)
}

// Page adds a section that only pages show.
func (d *Document) Page(s Section) {
	s.onPage = true
	d.Add(s)
}

// Chart adds a chart to the section with this title, or to a new section that only pages show.
func (d *Document) Chart(title string, c *chart.Chart, description string) {
	at := slices.IndexFunc(d.parts, func(p part) bool { return p.Section != nil && p.Title == title })
	if at < 0 {
		at = len(d.parts)
		d.Page(Section{Title: title})
	}
	d.parts[at].Charts = append(d.parts[at].Charts, Chart{c, description})
}

// String returns the document as text.
func (d *Document) String() string {
	var b strings.Builder
	for _, p := range d.parts {
		switch {
		case p.name != "":
			b.WriteString(p.name + ": " + p.text + "\n")
		case p.Section == nil:
			b.WriteString(p.text + "\n")
		case !p.onPage && (p.Table != nil || p.Brief != nil):
			if p.Heading != "" {
				b.WriteString("\n" + p.Heading + "\n")
			}
			cmp.Or(p.Brief, p.Table).Write(&b)
		}
	}
	return b.String()
}

// Sections returns the sections of the HTML page, and sets an empty Lead to the first line. The
// first section contains the other lines and the facts.
func (d *Document) Sections() []*Section {
	summary, all := &Section{Title: "Summary"}, []*Section(nil)
	lead := d.Lead == ""
	for _, p := range d.parts {
		text := strings.TrimSpace(p.text)
		switch {
		case p.Section != nil && (p.Table == nil || len(p.Table.Rows()) > 0):
			if all = append(all, p.Section); p.Title == "" && p.Table != nil {
				p.Title = p.Table.Titles()[0]
			}
		case p.name != "":
			summary.Facts = append(summary.Facts, [2]string{p.name, text})
		case lead && text != "":
			d.Lead, lead = text, false
		case text != "":
			summary.Text = strings.TrimPrefix(summary.Text+"\n"+text, "\n")
		}
	}
	if summary.Text == "" && summary.Facts == nil {
		return all
	}
	return append([]*Section{summary}, all...)
}
