package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/internal/chart"
)

// Document is a report: lines, facts and sections in the order of the text output. The zero value
// is an empty report. An HTML page starts with Title, Intro and Metrics, and shows lines and facts
// in a section named Summary.
type Document struct {
	Title    string   // title of the page; default the command
	Intro    string   // first text of the page; default the first line
	Metrics  []Metric // the most important numbers, shown on a page
	elements []element
}

// element is a line, a fact with its name, or a section.
type element struct {
	name, text string
	*Section
}

// Metric is a value with its name and a note.
type Metric struct{ Name, Value, Note string }

// Section is a titled part of a report. Empty fields are omitted. Text output contains only a blank
// line, the heading and the table.
type Section struct {
	Title, Text     string      // Title defaults to the title of the first column
	Facts           [][2]string // names and values
	Code            string
	Table           *Table
	Charts          []Chart
	ConfusionMatrix *ConfusionMatrix
	Documents       []HighlightedText

	Heading   string // line above the table in text output
	TextTable *Table // table for text output; default Table
	pageOnly  bool   // true if text output omits the section
}

// AddLine appends a line of text, which may be empty.
func (d *Document) AddLine(text any) {
	d.elements = append(d.elements, element{text: fmt.Sprint(text)})
}

// AddLinef formats a line as fmt.Sprintf does and appends it.
func (d *Document) AddLinef(format string, args ...any) { d.AddLine(fmt.Sprintf(format, args...)) }

// AddWrapped adds text after head, wrapped at width columns and indented by the width of head.
func (d *Document) AddWrapped(head, text string, width int) {
	var b strings.Builder
	Wrap(&b, head, text, width)
	d.AddLine(strings.TrimSuffix(b.String(), "\n"))
}

// AddFact appends a line "name: value", with the value formatted as fmt.Sprintf does.
func (d *Document) AddFact(name, format string, args ...any) {
	d.elements = append(d.elements, element{name: name, text: fmt.Sprintf(format, args...)})
}

// AddMetric adds a metric, which only HTML pages show.
func (d *Document) AddMetric(name, value, note string) {
	d.Metrics = append(d.Metrics, Metric{name, value, note})
}

// AddSection adds a section to the end of the report.
func (d *Document) AddSection(s Section) { d.elements = append(d.elements, element{Section: &s}) }

// AddTable adds a section with a table. A page shows the heading as text if it differs from the
// title.
func (d *Document) AddTable(title, heading string, t *Table) {
	s := Section{Title: title, Heading: heading, Table: t}
	if heading != title {
		s.Text = heading
	}
	d.AddSection(s)
}

// AddPageSection adds a section that only pages show.
func (d *Document) AddPageSection(s Section) {
	s.pageOnly = true
	d.AddSection(s)
}

// AddChart adds a chart to the section with this title, or to a new section that only pages show.
func (d *Document) AddChart(title string, c *chart.Chart, description string) {
	at := slices.IndexFunc(d.elements, func(p element) bool { return p.Section != nil && p.Title == title })
	if at < 0 {
		at = len(d.elements)
		d.AddPageSection(Section{Title: title})
	}
	d.elements[at].Charts = append(d.elements[at].Charts, Chart{c, description})
}

// String returns the document as text.
func (d *Document) String() string {
	var b strings.Builder
	for _, p := range d.elements {
		switch {
		case p.name != "":
			b.WriteString(p.name + ": " + p.text + "\n")
		case p.Section == nil:
			b.WriteString(p.text + "\n")
		case !p.pageOnly && (p.Table != nil || p.TextTable != nil):
			if p.Heading != "" {
				b.WriteString("\n" + p.Heading + "\n")
			}
			cmp.Or(p.TextTable, p.Table).Write(&b)
		}
	}
	return b.String()
}

// Sections returns the sections of the HTML page, and sets an empty Intro to the first line. The
// first section contains the other lines and the facts, if any.
func (d *Document) Sections() []*Section {
	summary, all := &Section{Title: "Summary"}, []*Section(nil)
	lead := d.Intro == ""
	for _, p := range d.elements {
		text := strings.TrimSpace(p.text)
		switch {
		case p.Section != nil && (p.Table == nil || len(p.Table.Rows()) > 0):
			if all = append(all, p.Section); p.Title == "" && p.Table != nil {
				p.Title = p.Table.Titles()[0]
			}
		case p.name != "":
			summary.Facts = append(summary.Facts, [2]string{p.name, text})
		case lead && text != "":
			d.Intro, lead = text, false
		case text != "":
			summary.Text = strings.TrimPrefix(summary.Text+"\n"+text, "\n")
		}
	}
	if summary.Text == "" && summary.Facts == nil {
		return all
	}
	return append([]*Section{summary}, all...)
}
