//go:build cgo

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
)

// table has the layout of gram_table.
type table struct {
	columns *stringList
	kinds   *stringList  // column types; nil or empty to infer them
	texts   **stringList // texts of each column; nil for a column of numbers
	numbers **float64    // numbers of each numeric column
	rows    int64
}

// fields returns copies of the column names and rows. Numbers are converted to text. NaN becomes an
// empty field.
func (t *table) fields() (columns []string, rows [][]string, err error) {
	if columns, err = t.columns.list("columns"); err != nil {
		return nil, nil, err
	}
	n := int64(len(columns))
	texts, err := span[*stringList]{t.texts, n}.slice("texts")
	if err != nil {
		return nil, nil, err
	}
	numbers, err := span[*float64]{t.numbers, n}.slice("numbers")
	if err != nil {
		return nil, nil, err
	}
	if t.rows < 0 || t.rows > maxBytes/16/max(n, 1) {
		return nil, nil, fmt.Errorf("gram: invalid table size: %d rows and %d columns", t.rows, n)
	}
	rows = make([][]string, t.rows)
	all := make([]string, t.rows*n)
	for i := range rows {
		rows[i] = all[int64(i)*n:][:n:n]
	}
	for k, name := range columns {
		columns[k] = strings.Clone(name)
		var values []float64
		var fields []string
		if texts[k] == nil {
			values, err = span[float64]{numbers[k], t.rows}.slice("column " + name)
		} else {
			fields, err = texts[k].listN(t.rows, "column "+name)
		}
		if err != nil {
			return nil, nil, err
		}
		for i, v := range values {
			rows[i][k] = formatField(v)
		}
		for i, field := range fields {
			rows[i][k] = strings.Clone(field)
		}
	}
	return columns, rows, nil
}

// formatField formats a number, without an exponent if |v| < 2⁵³. NaN becomes an empty field.
func formatField(v float64) string {
	switch {
	case v != v:
		return ""
	case math.Abs(v) < 1<<53:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// corpus creates a corpus that shares no memory with the caller.
func (t *table) corpus(c *call, read gram.ReadOptions) (*corpus.Corpus, error) {
	columns, rows, err := t.fields()
	if err != nil {
		return nil, err
	}
	if t.kinds != nil {
		kinds, err := t.kinds.listN(int64(len(columns)), "kinds")
		if err != nil {
			return nil, err
		}
		var given []string
		for k, kind := range kinds {
			if kind != "" {
				given = append(given, columns[k]+"="+strings.Clone(kind))
			}
		}
		read.Columns = strings.Join(given, ",")
	}
	return gram.FromRows(c.ctx, columns, rows, nil, read)
}
