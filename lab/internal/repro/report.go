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

// Report holds the settings, tables, notes and charts of an experiment.
type Report struct {
	Experiment       string         `json:"experiment"`
	Paper            string         `json:"paper"`
	Settings         []Setting      `json:"settings"`
	IncompleteReason string         `json:"incomplete,omitempty"` // reason for missing tables
	Tables           []*Table       `json:"tables"`
	Notes            []string       `json:"notes,omitempty"`
	Charts           []*chart.Chart `json:"-"`

	DotProductCount int64   `json:"dot_products"` // number of dot products computed
	ClassifierCount int64   `json:"trainings"`    // number of binary classifiers trained
	Seconds         float64 `json:"seconds"`
	PeakBytes       int64   `json:"peak_bytes"`
}

// Setting is the name and value of a setting, or of a property of the data.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (r *Report) AddSetting(name, format string, args ...any) {
	r.Settings = append(r.Settings, Setting{name, fmt.Sprintf(format, args...)})
}

func (r *Report) AddNote(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Table is a table of measured figures, usually like a table in a paper.
type Table struct {
	Key     string     `json:"key"` // suffix of the file name, such as "1"
	Title   string     `json:"title"`
	Columns []string   `json:"columns"` // column titles; a leading '>' right-aligns the column
	Rows    [][]string `json:"rows"`    // each row has a cell per column
}

// AddTable appends an empty table.
func (r *Report) AddTable(key, title string, columns ...string) *Table {
	t := &Table{key, title, columns, nil}
	r.Tables = append(r.Tables, t)
	return t
}

func (t *Table) AddRow(cells ...string) { t.Rows = append(t.Rows, cells) }

// FormatFixed formats v with the given number of decimals. It formats NaN as "".
func FormatFixed(v float64, digits int) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', digits, 64)
}

// Text formats the mean and the standard deviation with the given number of decimals.
func (m Summary) Text(digits int) string {
	text := FormatFixed(m.Mean, digits)
	if !math.IsNaN(m.SD) {
		text += " ±" + FormatFixed(m.SD, digits)
	}
	return text
}

// FormatPValue formats p with three decimals, or as "<0.001" if p is smaller.
func FormatPValue(p float64) string {
	if p < 0.001 {
		return "<0.001"
	}
	return FormatFixed(p, 3)
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
		if _, err := matrixio.WriteFile(filepath.Join(folder, r.Experiment+"-"+t.Key+".tsv"), t.WriteTSV); err != nil {
			return err
		}
	}
	return nil
}

// Describe implements report.Report.
func (r *Report) Describe(d *report.Document) {
	d.AddLine(r.Paper)
	for _, s := range r.Settings {
		d.AddFact(s.Name, "%s", s.Value)
	}
	for _, t := range r.Tables {
		var columns []report.Column[[]string]
		for i, title := range t.Columns {
			columns = append(columns, report.NewColumn(title, func(row []string) string { return row[i] }))
		}
		d.AddTable(t.Title, t.Title, report.TableOf(t.Rows, columns...))
	}
	for _, c := range r.Charts {
		d.AddChart("Charts", c, c.Title)
	}
	if len(r.Tables) > 0 {
		d.AddLine("")
	}
	for _, note := range r.Notes {
		d.AddLine(note)
	}
	if r.IncompleteReason != "" {
		d.AddFact("incomplete", "%s", r.IncompleteReason)
	}
	d.AddLinef("%s dot products, %s classifiers trained, %.1f s, peak memory %s", report.FormatCount(r.DotProductCount),
		report.FormatCount(r.ClassifierCount), r.Seconds, report.FormatBytes(r.PeakBytes))
}

// Curve is a named series of points in a chart.
type Curve struct {
	Name        string
	Points      []chart.Point
	SD          []float64 // standard deviations of the points, drawn as error bars; may be nil
	DrawCrosses bool      // true to draw crosses without a line
}

// AddChart appends a chart. Curves without points are omitted.
func (r *Report) AddChart(title, x, y string, curves ...Curve) {
	c := chart.New(title, x, y)
	for i, curve := range curves {
		of := chart.Palette[i%len(chart.Palette)]
		switch {
		case len(curve.Points) == 0:
		case curve.DrawCrosses:
			c.AddPoints(curve.Name, chart.Gray, chart.Cross, 3, curve.Points)
		default:
			c.AddCurve(curve.Name, of, curve.Points, true)
		}
		for k, sd := range curve.SD {
			at := curve.Points[k]
			c.AddCurve("", of, []chart.Point{{X: at.X, Y: at.Y - sd}, {X: at.X, Y: at.Y + sd}}, false)
		}
	}
	r.Charts = append(r.Charts, c)
}
