package repro

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
)

// Report is the result of an experiment.
type Report struct {
	Experiment string         `json:"experiment"`
	Paper      string         `json:"paper"`
	Settings   []Setting      `json:"settings"`
	Incomplete string         `json:"incomplete,omitempty"` // reason for missing tables
	Tables     []*Table       `json:"tables"`
	Notes      []string       `json:"notes,omitempty"`
	Charts     []*chart.Chart `json:"-"`

	DotProducts int64   `json:"dot_products"` // number of dot products computed
	Trainings   int64   `json:"trainings"`    // number of binary classifiers trained
	Seconds     float64 `json:"seconds"`
	PeakBytes   int64   `json:"peak_bytes"`
}

// Setting is the name and value of a setting, or of a property of the data.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Set appends a setting.
func (r *Report) Set(name, format string, args ...any) {
	r.Settings = append(r.Settings, Setting{name, fmt.Sprintf(format, args...)})
}

// Note appends a note.
func (r *Report) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Table is a table of measured figures, usually like a table in a paper.
type Table struct {
	Key     string     `json:"key"` // suffix of the file name, such as "1"
	Title   string     `json:"title"`
	Columns []string   `json:"columns"` // column titles; a leading '>' right-aligns the column
	Rows    [][]string `json:"rows"`    // each row has a cell per column
}

// NewTable appends an empty table.
func (r *Report) NewTable(key, title string, columns ...string) *Table {
	t := &Table{key, title, columns, nil}
	r.Tables = append(r.Tables, t)
	return t
}

// Add appends a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Fixed formats a number with a fixed number of decimals. NaN becomes "".
func Fixed(v float64, digits int) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// Text formats the mean and the standard deviation with a fixed number of decimals.
func (m Measured) Text(digits int) string {
	text := Fixed(m.Mean, digits)
	if !math.IsNaN(m.SD) {
		text += " ±" + Fixed(m.SD, digits)
	}
	return text
}

// Probability formats a p value.
func Probability(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return Fixed(p, 3)
}

// WriteTSV writes column titles and rows, separated by tabs.
func (t *Table) WriteTSV(w io.Writer) error {
	titles := strings.ReplaceAll("\t"+strings.Join(t.Columns, "\t"), "\t>", "\t")
	lines := []string{strings.TrimPrefix(titles, "\t")}
	for _, row := range t.Rows {
		lines = append(lines, strings.Join(row, "\t"))
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n")+"\n")
	return err
}

// Save writes each table to the file EXPERIMENT-KEY.tsv in a folder.
func (r *Report) Save(folder string) error {
	for _, t := range r.Tables {
		if _, err := matrixio.Make(filepath.Join(folder, r.Experiment+"-"+t.Key+".tsv"), t.WriteTSV); err != nil {
			return err
		}
	}
	return nil
}

// Describe implements report.Report.
func (r *Report) Describe(d *report.Document) {
	d.Line(r.Paper)
	for _, s := range r.Settings {
		d.Fact(s.Name, "%s", s.Value)
	}
	for _, t := range r.Tables {
		var columns []report.Column[[]string]
		for i, title := range t.Columns {
			columns = append(columns, report.NewColumn(title, func(row []string) string { return row[i] }))
		}
		d.Table(t.Title, t.Title, report.TableOf(t.Rows, columns...))
	}
	for _, c := range r.Charts {
		d.Chart("Charts", c, c.Title)
	}
	if len(r.Tables) > 0 {
		d.Line("")
	}
	for _, note := range r.Notes {
		d.Line(note)
	}
	if r.Incomplete != "" {
		d.Fact("incomplete", "%s", r.Incomplete)
	}
	d.Linef("%s dot products, %s classifiers trained, %.1f s, peak memory %s", report.Count(r.DotProducts),
		report.Count(r.Trainings), r.Seconds, report.Bytes(r.PeakBytes))
}

// Curve is a curve of a chart.
type Curve struct {
	Name    string
	Points  []chart.Point
	SD      []float64 // standard deviations of the points, drawn as error bars; may be nil
	Crosses bool      // draws crosses without a line
}

// Draw appends a chart. Curves without points are omitted.
func (r *Report) Draw(title, x, y string, curves ...Curve) {
	c := chart.New(title, x, y)
	for i, curve := range curves {
		of := chart.Colors[i%len(chart.Colors)]
		switch {
		case len(curve.Points) == 0:
		case curve.Crosses:
			c.Points(curve.Name, chart.Gray, chart.Cross, 3, curve.Points)
		default:
			c.Curve(curve.Name, of, curve.Points, true)
		}
		for k, sd := range curve.SD {
			at := curve.Points[k]
			c.Curve("", of, []chart.Point{{X: at.X, Y: at.Y - sd}, {X: at.X, Y: at.Y + sd}}, false)
		}
	}
	r.Charts = append(r.Charts, c)
}
