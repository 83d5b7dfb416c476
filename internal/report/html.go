package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"

	"github.com/gramengine/gram/internal/chart"
)

// Chart is a chart with a description in words.
type Chart struct {
	*chart.Chart
	Description string
}

func (c Chart) svg() string { return chart.SVG(c.Chart, c.Description, 16, 11) }

// HighlightedText is a text with highlighted words, and tables about the text.
type HighlightedText struct {
	Name, Text string
	Spans      []Span
	Tables     []CollapsibleTable
}

// Span is a piece of a text. It is highlighted unless Effect is 0.
type Span struct {
	Text, Title string
	Effect      float64
}

func (p Span) cssClass() string {
	if p.Effect > 0 {
		return "for"
	}
	return "against"
}

// CollapsibleTable is a table that can be collapsed. Open is true if the table is initially
// expanded.
type CollapsibleTable struct {
	Title string
	Open  bool
	Table *Table
}

// StyleSheet is the CSS for HTML reports and for the pages of gram serve.
//
//go:embed page.css
var StyleSheet string

//go:embed page.js
var script string

// securityPolicy returns a content security policy that forbids external resources, and scripts
// other than the page's script.
func securityPolicy() string {
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
	sections := d.Sections() // Sections sets Intro
	var b bytes.Buffer
	writedocument(&b, d, sections)
	_, err := b.WriteTo(w)
	return err
}
