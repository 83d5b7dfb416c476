// Package table writes tables as CSV, TSV, JSON lines or Parquet, all from the same list of
// columns.
package table

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/gramengine/gram/internal/run"
)

// Column is a column of a table with rows of type R. Exactly one of the functions is set. This
// function returns a row's value, or false if the row has no value.
type Column[R any] struct {
	Name  string
	Text  func(r *R) (string, bool)
	Float func(r *R) (float64, bool)
	Int   func(r *R) (int64, bool)
}

// TextColumn returns a column of strings; an empty string means no value.
func TextColumn[R any](name string, of func(r *R) string) Column[R] {
	return Column[R]{Name: name, Text: func(r *R) (string, bool) { s := of(r); return s, s != "" }}
}

// FloatColumn returns a column of numbers; of returns a row's value.
func FloatColumn[R any](name string, of func(r *R) float64) Column[R] {
	return Column[R]{Name: name, Float: func(r *R) (float64, bool) { return of(r), true }}
}

// Float32Column returns a column of float32 numbers, converted by [ShortestFloat64].
func Float32Column[R any](name string, of func(r *R) float32) Column[R] {
	return FloatColumn(name, func(r *R) float64 { return ShortestFloat64(of(r)) })
}

// ShortestFloat64 returns the float64 with the shortest decimal form that identifies v.
func ShortestFloat64(v float32) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(float64(v), 'g', -1, 32), 64)
	return short
}

// IntColumn returns a column of integers; of returns a row's value.
func IntColumn[R any](name string, of func(r *R) int) Column[R] {
	return Column[R]{Name: name, Int: func(r *R) (int64, bool) { return int64(of(r)), true }}
}

// Formats lists the formats of [Write], which are also file extensions.
var Formats = []string{"csv", "tsv", "jsonl", "parquet"}

// FormatOf returns the format for a file's extension, or "" if the extension isn't in [Formats].
func FormatOf(path string) string {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if slices.Contains(Formats, ending) {
		return ending
	}
	return ""
}

// rowsPerGroup is the number of rows in a Parquet row group. A row group is kept in memory until it
// is written.
const rowsPerGroup = 1 << 14

// Write writes a table as csv (RFC 4180), tsv (with TABs instead of commas), jsonl (one JSON object
// per line) or parquet. In csv and tsv, an apostrophe precedes texts that spreadsheets would
// interpret as formulas, such as =1+1. Invalid UTF-8 is replaced.
func Write[R any](ctx context.Context, w io.Writer, format string, rows iter.Seq[R], columns ...Column[R]) error {
	for k, c := range columns {
		if text := c.Text; text != nil {
			columns[k].Text = func(r *R) (string, bool) {
				s, is := text(r)
				return strings.ToValidUTF8(s, string(utf8.RuneError)), is
			}
		}
	}
	var each func(r *R) error
	var end func() error
	out := bufio.NewWriter(w)
	switch format {
	case "parquet":
		each, end = newParquetWriter(out, columns)
	case "jsonl":
		each, end = newJSONLinesWriter(out, columns), func() error { return nil }
	default:
		each, end = newCSVWriter(out, map[string]rune{"csv": ',', "tsv": '\t'}[format], columns)
	}
	n := 0
	for r := range rows {
		if n++; n%1024 == 1 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := each(&r); err != nil {
			return err
		}
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	return out.Flush()
}

// WriteAll is like [Write] for a slice, but omits columns without values in csv and tsv.
func WriteAll[R any](ctx context.Context, w io.Writer, format string, rows []R, columns ...Column[R]) error {
	if format == "csv" || format == "tsv" {
		columns = slices.DeleteFunc(columns, func(c Column[R]) bool {
			some := func(r R) bool { v := c.value(&r); return v != nil && v != "" }
			return len(rows) > 0 && !slices.ContainsFunc(rows, some)
		})
	}
	return Write(ctx, w, format, slices.Values(rows), columns...)
}

func (c *Column[R]) value(r *R) any {
	var v any
	var is bool
	switch {
	case c.Text != nil:
		v, is = c.Text(r)
	case c.Float != nil:
		v, is = c.Float(r)
	default:
		v, is = c.Int(r)
	}
	if !is {
		return nil
	}
	return v
}

// schema is a Parquet schema that keeps the order of columns.
type schema struct {
	parquet.Group
	fields []parquet.Field
}

func (s schema) Fields() []parquet.Field { return s.fields }

type field struct {
	parquet.Node
	name string
}

func (f field) Name() string { return f.name }

// Value implements parquet.Field. It isn't called, because values are written as rows.
func (f field) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// newParquetWriter returns a function that adds a row and a function that ends the file.
func newParquetWriter[R any](w io.Writer, columns []Column[R]) (func(r *R) error, func() error) {
	root := schema{Group: parquet.Group{}}
	for _, c := range columns {
		node := parquet.Int(64)
		switch {
		case c.Text != nil:
			node = parquet.String()
		case c.Float != nil:
			node = parquet.Leaf(parquet.DoubleType)
		}
		root.fields = append(root.fields, field{parquet.Optional(node), c.Name})
	}
	out := parquet.NewWriter(w, parquet.NewSchema("table", root), parquet.MaxRowsPerRowGroup(rowsPerGroup))
	row := make(parquet.Row, len(columns))
	each := func(r *R) error {
		for k := range columns {
			level := 1 // definition level of a value; 0 for null
			switch v := columns[k].value(r).(type) {
			case string:
				row[k] = parquet.ByteArrayValue([]byte(v))
			case float64:
				row[k] = parquet.DoubleValue(v)
			case int64:
				row[k] = parquet.Int64Value(v)
			default:
				row[k], level = parquet.NullValue(), 0
			}
			row[k] = row[k].Level(0, level, k)
		}
		_, err := out.WriteRows([]parquet.Row{row})
		return err
	}
	return each, out.Close
}

// newJSONLinesWriter returns a function that writes a row as a JSON object.
func newJSONLinesWriter[R any](w io.Writer, columns []Column[R]) func(r *R) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	return func(r *R) error {
		b.Reset()
		separator := byte('{')
		for k := range columns {
			v := columns[k].value(r)
			if v == nil {
				continue
			}
			b.WriteByte(separator)
			fmt.Fprintf(&b, "%q:", columns[k].Name)
			if err := e.Encode(v); err != nil {
				return err
			}
			b.Truncate(b.Len() - 1) // remove the line end
			separator = ','
		}
		if separator == '{' {
			b.WriteByte(separator)
		}
		b.WriteString("}\n")
		_, err := w.Write(b.Bytes())
		return err
	}
}

// newCSVWriter writes the header of a table. It returns a function that writes a row and a function
// that ends the file.
func newCSVWriter[R any](w io.Writer, comma rune, columns []Column[R]) (each func(r *R) error, end func() error) {
	out, record := csv.NewWriter(w), make([]string, len(columns))
	out.Comma = comma
	for k, c := range columns {
		record[k] = c.Name
	}
	err := out.Write(record)
	each = func(r *R) error {
		for k := range columns {
			switch v := columns[k].value(r).(type) {
			case string:
				record[k] = run.EscapeCell(v)
			case float64:
				record[k] = strconv.FormatFloat(v, 'g', -1, 64)
			case int64:
				record[k] = strconv.FormatInt(v, 10)
			default:
				record[k] = ""
			}
		}
		return out.Write(record)
	}
	return each, func() error { out.Flush(); return cmp.Or(err, out.Error()) }
}
