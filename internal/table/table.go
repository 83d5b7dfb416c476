// Package table writes tables as CSV, TSV, JSON lines or Parquet, each from the same list of columns.
package table

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/parquet"
	"github.com/gramengine/gram/internal/run"
)

// Column is a column of a table.
type Column = parquet.Column

// Formats lists the formats of [Write], which are also file extensions.
var Formats = []string{"csv", "tsv", "jsonl", "parquet"}

// Write writes a table as csv (RFC 4180), tsv (the same with TABs), jsonl (one JSON object per
// line) or parquet. In csv and tsv an apostrophe precedes text that spreadsheets would interpret as
// a formula, such as =1+1, and columns without values are left out. It fails if the format is
// unknown, if w fails, or if ctx is done.
func Write(ctx context.Context, w io.Writer, format string, rows int, columns []Column) error {
	if !slices.Contains(Formats, format) {
		return fmt.Errorf("table format %q, expected one of %s", format, strings.Join(Formats, ", "))
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	switch format {
	case "parquet":
		return parquet.Write(ctx, w, rows, columns)
	case "jsonl":
		return writeLines(ctx, w, rows, columns)
	}
	return writeCSV(ctx, w, map[string]rune{"csv": ',', "tsv": '\t'}[format], rows, columns)
}

// value returns the value of a column in row i, or nil.
func value(c *Column, i int) any {
	var v any
	var is bool
	switch {
	case c.Text != nil:
		v, is = c.Text(i)
	case c.Real != nil:
		v, is = c.Real(i)
	default:
		v, is = c.Whole(i)
	}
	if !is {
		return nil
	}
	return v
}

func writeLines(ctx context.Context, w io.Writer, rows int, columns []Column) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range rows {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b.Reset()
		separator := byte('{')
		for k := range columns {
			v := value(&columns[k], i)
			if v == nil {
				continue
			}
			b.WriteByte(separator)
			fmt.Fprintf(&b, "%q:", columns[k].Name)
			if err := e.Encode(v); err != nil {
				return err
			}
			b.Truncate(b.Len() - 1) // the line end
			separator = ','
		}
		b.WriteString("}\n")
		if _, err := w.Write(b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func writeCSV(ctx context.Context, w io.Writer, comma rune, rows int, columns []Column) error {
	empty := func(c Column) bool {
		for i := range rows {
			if v := value(&c, i); v != nil && v != "" {
				return false
			}
		}
		return rows > 0
	}
	columns = slices.DeleteFunc(slices.Clone(columns), empty)
	out, record := csv.NewWriter(w), make([]string, len(columns))
	out.Comma = comma
	for k, c := range columns {
		record[k] = c.Name
	}
	err := out.Write(record)
	for i := 0; i < rows && err == nil; i++ {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		for k := range columns {
			switch v := value(&columns[k], i).(type) {
			case string:
				record[k] = run.PlainCell(v)
			case float64:
				record[k] = strconv.FormatFloat(v, 'g', -1, 64)
			case int64:
				record[k] = strconv.FormatInt(v, 10)
			default:
				record[k] = ""
			}
		}
		err = out.Write(record)
	}
	out.Flush()
	return err
}
