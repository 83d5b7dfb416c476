package repro

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// Report is what an experiment found. The command prints it and marshals it; Incomplete says why
// some of it is missing.
type Report struct {
	Experiment string    `json:"experiment"`
	Paper      string    `json:"paper"`
	Settings   []Setting `json:"settings"` // what the paper leaves open, and how it was decided
	Incomplete string    `json:"incomplete,omitempty"`
	Tables     []*Table  `json:"-"` // the command marshals their rows, see [Table.Objects]
	Notes      []string  `json:"notes,omitempty"`
	Figures    []*Figure `json:"-"`

	DotProducts int64   `json:"dot_products"` // pairs of documents whose inner product was computed
	Trainings   int64   `json:"trainings"`    // machines
	Seconds     float64 `json:"seconds"`      // set by the command
	PeakBytes   int64   `json:"peak_bytes"`   // the same
}

// Setting is a choice in words.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Set appends a setting.
func (r *Report) Set(name, format string, args ...any) {
	r.Settings = append(r.Settings, Setting{name, fmt.Sprintf(format, args...)})
}

// Table is a table of a paper with what was measured.
type Table struct {
	Key     string // such as "1"; the value of "table" in the JSON rows
	Title   string
	Columns []Column
	Rows    [][]Cell // each as long as Columns
}

// Column is a column of a table.
type Column struct {
	Key   string // in JSON, in snake_case, with the unit at the end where there is one
	Title string // in text
	Left  bool   // aligned to the left, as words are; numbers are aligned to the right
	Data  bool   // in JSON only
}

// Left is a column of words.
func Left(key, title string) Column { return Column{Key: key, Title: title, Left: true} }

// Right is a column of numbers.
func Right(key, title string) Column { return Column{Key: key, Title: title} }

// Data is a column that is in JSON only.
func Data(key string) Column { return Column{Key: key, Data: true} }

// Add appends a row.
func (t *Table) Add(cells ...Cell) {
	if len(cells) != len(t.Columns) {
		panic(fmt.Sprintf("repro: %d cells for %d columns", len(cells), len(t.Columns)))
	}
	t.Rows = append(t.Rows, cells)
}

// Cell is a value with the form that it has in text.
type Cell struct {
	Text  string
	Value any // as JSON has it; nil is null
}

// Empty is a cell without a value, such as a figure that the paper doesn't print.
func Empty() Cell { return Cell{} }

// Word is a cell with a text.
func Word(s string) Cell { return Cell{s, s} }

// Count is a cell with a whole number.
func Count(n int) Cell { return Cell{strconv.Itoa(n), n} }

// Number is a cell with a number in as many digits as it takes.
func Number(v float64) Cell { return Cell{fmt.Sprint(v), v} }

// Value is a cell with a number in fixed digits; NaN is an empty one, and infinities have no JSON
// value.
func Value(v float64, digits int) Cell {
	if math.IsNaN(v) {
		return Cell{}
	}
	if math.IsInf(v, 0) {
		return Cell{Text: fmt.Sprint(v)}
	}
	return Cell{strconv.FormatFloat(v, 'f', digits, 64), v}
}

// Cell is a cell with a mean and its standard deviation in fixed digits, marshalled as
// {"mean":…,"sd":…,"n":…}.
func (m Measured) Cell(digits int) Cell {
	if m.N == 0 || math.IsNaN(m.Mean) || math.IsInf(m.Mean, 0) || math.IsInf(m.SD, 0) {
		return Value(m.Mean, digits)
	}
	v := struct {
		Mean float64  `json:"mean"`
		SD   *float64 `json:"sd"`
		N    int      `json:"n"`
	}{m.Mean, nil, m.N}
	text := strconv.FormatFloat(m.Mean, 'f', digits, 64)
	if !math.IsNaN(m.SD) {
		v.SD = &m.SD
		text += " ±" + strconv.FormatFloat(m.SD, 'f', digits, 64)
	}
	return Cell{text, v}
}

// Probability is a cell with the p value of a test.
func Probability(p float64) Cell {
	c := Value(p, 3)
	if p < 0.001 {
		c.Text = "<0.001"
	}
	return c
}

// Objects returns the rows as JSON objects whose keys stand in the order of the columns, after
// "table", the table's key.
func (t *Table) Objects() ([]json.RawMessage, error) {
	var rows []json.RawMessage
	for _, row := range t.Rows {
		var b bytes.Buffer
		key, err := json.Marshal(t.Key)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, `{"table":%s`, key)
		for i, c := range row {
			value, err := json.Marshal(c.Value)
			if err != nil {
				return nil, fmt.Errorf("table %s, column %s: %w", t.Key, t.Columns[i].Key, err)
			}
			fmt.Fprintf(&b, `,%q:%s`, t.Columns[i].Key, value)
		}
		b.WriteByte('}')
		rows = append(rows, b.Bytes())
	}
	return rows, nil
}
